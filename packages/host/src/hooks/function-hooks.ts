import type { Clock, Digest, Session } from "@assent/core";
import { type HookEntry, type HookFunction, type HookPoint, hookPointNamed, sharedHookName } from "@assent/core/parts";
import { createSystemClock } from "../system/clock.ts";
import { nodeDigest } from "../system/digest.ts";
import { createHookRunner, type HookRunner, type HookRunnerOptions } from "./runner.ts";

/** A function that hooks an event, alone or with the settings that a configured hook has. */
export type FunctionHook =
  | HookFunction
  | {
      readonly run: HookFunction;
      /** For messages and the record; defaults to the function's name. */
      readonly name?: string;
      /** A regular expression for the whole tool name, ours or the common one; for other events, for what they match on. */
      readonly matcher?: string;
      /** Defaults to 60 seconds. */
      readonly timeoutMs?: number;
    };

/** Functions by event, under either name: `pre_tool_use` or `PreToolUse`. */
export type FunctionHooks = { readonly [event: string]: FunctionHook | readonly FunctionHook[] | undefined };

/** Options of `createFunctionHooks`. */
export type FunctionHooksOptions = {
  /** Every run of a hook is recorded here; hooks end when it closes. */
  readonly session: Pick<Session, "id" | "state" | "draft" | "record" | "onClose">;
  readonly hooks: FunctionHooks;
  readonly clock?: Clock;
  readonly digest?: Digest;
  /** Gets failures and ignored fields; by default they are warnings of the process. */
  readonly warn?: (message: string) => void;
  /** Shows a hook's `systemMessage` to the person. */
  readonly show?: (message: string) => void;
};

const TIMEOUT_MS = 60_000;

/**
 * The `Hooks` port for functions of this process. They are matched, combined, timed out and recorded exactly as hook programs are, and
 * return the object that a program would print. Throws for an event that does not exist.
 *
 *     createDispatcher({ …, hooks: createFunctionHooks({ session, hooks: { pre_tool_use: () => ({ decision: "ask" }) } }) });
 */
export function createFunctionHooks(options: FunctionHooksOptions): HookRunner {
  const { session, clock = createSystemClock(), digest = nodeDigest, warn = warnProcess, show } = options;
  const { cwd = "/", workspace = cwd } = session.state.created ?? {};
  const runner = createHookRunner({
    ...readFunctionHooks(options.hooks),
    clock,
    digest,
    cwd,
    sessionId: session.id,
    projectDir: workspace,
    environment: {},
    record: (ran) => session.record([session.draft("hook.ran", ran)], "normal"),
    warn,
    ...(show && { show }),
  });
  session.onClose(runner.close);
  return runner;
}

/** Functions as entries of the hook runner, for a program that combines them with configured hooks. Throws for an unknown event. */
export function readFunctionHooks(hooks: FunctionHooks): Required<Pick<HookRunnerOptions, "functions">> & {
  readonly entries: readonly HookEntry[];
} {
  const functions: Record<string, HookFunction> = {};
  const entries: HookEntry[] = [];
  for (const [named, given] of Object.entries(hooks)) {
    const event = hookPointNamed(named);
    if (!event) throw new Error(`There is no hook event '${named}'. The events are in docs/hooks.md.`);
    for (const hook of listHooks(given)) {
      const id = `function ${entries.length + 1}`;
      const entry = toEntry(event, hook, id);
      entries.push(entry);
      functions[id] = typeof hook === "function" ? hook : hook.run;
    }
  }
  return { entries, functions };
}

function listHooks(given: FunctionHooks[string]): readonly FunctionHook[] {
  if (given === undefined) return [];
  return typeof given === "function" || "run" in given ? [given] : given;
}

/** `id` makes every function a hook of its own, even if another has the same settings. */
function toEntry(event: HookPoint, hook: FunctionHook, id: string): HookEntry {
  const { run, name, matcher = "", timeoutMs = TIMEOUT_MS } = typeof hook === "function" ? { run: hook } : hook;
  return {
    event,
    name: name ?? (run.name || sharedHookName(event)),
    source: "session",
    body: { type: "function", function: id },
    ...(matcher !== "" && matcher !== "*" && { matches: compileMatcher(matcher) }),
    timeoutMs,
    onFailure: "warn",
    async: false,
    definition: id,
  };
}

function compileMatcher(text: string): (value: string) => boolean {
  new RegExp(text); // alone first: `a)|(b` is valid only inside our parentheses
  const whole = new RegExp(`^(?:${text})$`, "s");
  return (value) => whole.test(value);
}

function warnProcess(message: string): void {
  process.emitWarning(message, "AssentHookWarning");
}
