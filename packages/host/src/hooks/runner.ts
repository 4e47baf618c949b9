import { type HookOpinion, type Hooks, type JsonObject, messageOf } from "@assent/core";
import {
  combineHooks,
  HOOK_EVENTS,
  type HookEntry,
  type HookFunction,
  type HookPoint,
  type HookRan,
  sharedHookName,
  sharedToolName,
} from "@assent/core/parts";
import { readProcessTable } from "../processes/table.ts";
import { matchesAny, matchesInput, selectHooks } from "./choice.ts";
import { type HookCall, type HookRunContext, runHook } from "./run-hook.ts";
import { createSlots } from "./slots.ts";

/** Options of the hook runner. */
export type HookRunnerOptions = Omit<HookRunContext, "functions" | "slots" | "bounds"> & {
  /** In configuration order; a function is asked at every event, so that reloads take effect. */
  readonly entries: readonly HookEntry[] | (() => readonly HookEntry[]);
  readonly functions?: Readonly<Record<string, HookFunction>>;
  readonly transcriptPath?: string;
  /** Shows a message of a hook to the person. */
  readonly show?: (message: string) => void;
  readonly graceMs?: number;
  readonly lingerMs?: number;
};

/** The `Hooks` port, with control over hooks that run detached. */
export type HookRunner = Hooks & {
  /** Resolves when all detached hooks have ended. */
  readonly idle: () => Promise<void>;
  /** Ends detached hooks. */
  readonly close: () => Promise<void>;
};

const MAX_PROGRAMS = 10;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Runs configured hooks: those that may rewrite in sequence, others concurrently, at most ten programs at once. */
export function createHookRunner(deps: HookRunnerOptions): HookRunner {
  const running = createRunContext(deps);
  const closing = new AbortController();
  const left = new Set<Promise<void>>();
  const entriesOf = (event: HookPoint): readonly HookEntry[] =>
    selectHooks(typeof deps.entries === "function" ? deps.entries() : deps.entries, event);
  const conclude = createConclusion(deps);
  const detach = (entry: HookEntry, input: JsonObject): void => {
    const run = runDetached({ running, conclude, signal: closing.signal }, entry, input).finally(() => left.delete(run));
    left.add(run);
  };
  const idle = async (): Promise<void> => {
    while (left.size > 0) await Promise.all(left);
  };
  return {
    consult: async (event, input, signal) => {
      const entries = entriesOf(event);
      if (entries.length === 0) return undefined;
      const full = completeInput(deps, event, input);
      for (const entry of entries) if (entry.async) detach(entry, full);
      const waited = entries.filter((entry) => !entry.async);
      const order = HOOK_EVENTS[event].rewrites === "no" ? runConcurrently : runSequentially;
      const ran = await order(running, waited, { input: full, signal });
      return ran.length === 0 ? undefined : conclude(ran);
    },
    applies: (event, tool) => mayApply(() => entriesOf(event), HOOK_EVENTS[event].matchesOn.length > 0 ? [tool, sharedToolName(tool)] : []),
    tell: (event, input) => {
      const entries = entriesOf(event);
      if (entries.length === 0) return;
      const full = completeInput(deps, event, input);
      for (const entry of entries) detach(entry, full);
    },
    idle,
    close: async () => {
      closing.abort();
      await idle();
    },
  };
}

function createRunContext(deps: HookRunnerOptions): HookRunContext {
  const { graceMs = 2_000, lingerMs = 1_000, functions = {}, clock } = deps;
  const bounds = { clock, table: readProcessTable(), graceMs, lingerMs, maxBytes: MAX_OUTPUT_BYTES };
  return { ...deps, functions, slots: createSlots(MAX_PROGRAMS), bounds };
}

/** Adds the session's facts that the caller left out. */
function completeInput({ sessionId, transcriptPath = "", cwd, clock }: HookRunnerOptions, event: HookPoint, input: JsonObject): JsonObject {
  const path = input["transcript_path"];
  return {
    session_id: sessionId,
    cwd,
    ...input,
    transcript_path: typeof path === "string" && path !== "" ? path : transcriptPath,
    hook_event_name: sharedHookName(event),
    timestamp: new Date(clock.now()).toISOString(),
  };
}

/** In doubt, hooks apply. */
function mayApply(entries: () => readonly HookEntry[], names: readonly string[]): boolean {
  try {
    return entries().some((entry) => matchesAny(entry, names));
  } catch {
    return true;
  }
}

async function runConcurrently(running: HookRunContext, entries: readonly HookEntry[], given: HookCall): Promise<readonly HookRan[]> {
  const ran = await Promise.all(
    entries.map(async (entry) => ((await matchesInput(entry, given.input)) ? [await runHook(running, entry, given)] : [])),
  );
  return ran.flat();
}

/** Each hook sees the input as the previous one left it. */
async function runSequentially(
  running: HookRunContext,
  entries: readonly HookEntry[],
  { input, signal }: HookCall,
): Promise<readonly HookRan[]> {
  const ran: HookRan[] = [];
  let current = input;
  for (const entry of entries) {
    if (!(await matchesInput(entry, current))) continue;
    const one = await runHook(running, entry, { input: current, signal });
    ran.push(one);
    current = applyRewrite(current, one);
  }
  return ran;
}

function applyRewrite(input: JsonObject, { outcome: { updatedOutput }, rewrote }: HookRan): JsonObject {
  if (updatedOutput !== undefined) return { ...input, tool_response: updatedOutput, ...("error" in input && { error: updatedOutput }) };
  return rewrote ? { ...input, tool_input: rewrote } : input;
}

/** Shows messages to the person and returns the combined opinion. */
function createConclusion({ warn, show }: HookRunnerOptions): (ran: readonly HookRan[]) => HookOpinion {
  const said = new Set<string>();
  return (ran) => {
    const { opinion, systemMessage, warnings, ignored } = combineHooks(ran);
    for (const warning of warnings) warn(warning);
    for (const sentence of ignored) if (!said.has(sentence)) warn(sentence);
    for (const sentence of ignored) said.add(sentence);
    if (systemMessage !== "") show?.(systemMessage);
    return opinion;
  };
}

type DetachedRun = {
  readonly running: HookRunContext;
  readonly conclude: (ran: readonly HookRan[]) => HookOpinion;
  readonly signal: AbortSignal;
};

/** Runs without anyone waiting; its opinion is ignored. */
async function runDetached({ running, conclude, signal }: DetachedRun, entry: HookEntry, input: JsonObject): Promise<void> {
  try {
    if (await matchesInput(entry, input)) conclude([await runHook(running, entry, { input, signal })]);
  } catch (error) {
    running.warn(`hook ${entry.name} (${entry.event}) failed: ${messageOf(error)}`);
  }
}
