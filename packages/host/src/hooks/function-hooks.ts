import type { Clock, Digest, JsonObject, Session } from "@assent/core";
import { type HookEntry, type HookFunction, type HookPoint, hookPointNamed } from "@assent/core/parts";
import { createSystemClock } from "../system/clock.ts";
import { nodeDigest } from "../system/digest.ts";
import { createHookRunner, type HookRunner } from "./runner.ts";

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

/** Options of `createFunctionHooks`. */
export type FunctionHooksOptions = {
  /** Every run of a hook is recorded here; hooks end when it closes. */
  readonly session: Pick<Session, "id" | "state" | "draft" | "record" | "onClose">;
  /** Functions by event, under either name: `pre_tool_use` or `PreToolUse`. */
  readonly hooks: Readonly<Record<string, FunctionHook | readonly FunctionHook[]>>;
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
  const functions: Record<string, HookFunction> = {};
  const entries = Object.entries(options.hooks).flatMap(([named, given]) => {
    const event = hookPointNamed(named);
    if (!event) throw new Error(`There is no hook event '${named}'. The events are in docs/hooks.md.`);
    return listHooks(given).map((hook, at) => toEntry({ event, hook, at, functions }));
  });
  const { cwd = "/", workspace = cwd } = session.state.created ?? {};
  const runner = createHookRunner({
    entries,
    functions,
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

function listHooks(given: FunctionHook | readonly FunctionHook[]): readonly FunctionHook[] {
  return Array.isArray(given) ? given : [given as FunctionHook];
}

type EntryParts = {
  readonly event: HookPoint;
  readonly hook: FunctionHook;
  readonly at: number;
  readonly functions: Record<string, HookFunction>;
};

/** Every function is a hook of its own, even if another has the same settings. */
function toEntry({ event, hook, at, functions }: EntryParts): HookEntry {
  const { run, name, matcher = "", timeoutMs = TIMEOUT_MS } = typeof hook === "function" ? { run: hook } : hook;
  const id = `${event}#${at + 1}`;
  functions[id] = (input: JsonObject, context) => run(input, context);
  return {
    event,
    name: name ?? (run.name || id),
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
