import { type Clock, type Digest, type EventBodies, type JsonObject, type Maybe, messageOf } from "@assent/core";
import {
  type HookBody,
  type HookEntry,
  type HookFunction,
  type HookOutcome,
  type HookRan,
  readHookRun,
  rewrittenInput,
} from "@assent/core/parts";
import { createCommandEnvironment, type SecretNames } from "../system/environment.ts";
import { getToolInput } from "./choice.ts";
import { runFunction } from "./run-function.ts";
import { endWithoutOutput, type HookProgram, type HookRunEnd, type ProgramBounds, runProgram } from "./run-program.ts";
import type { Slots } from "./slots.ts";

export type HookRunContext = SecretNames & {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly projectDir: string;
  readonly sessionId: string;
  readonly functions: Readonly<Record<string, HookFunction>>;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly cwd: string;
  readonly slots: Slots;
  readonly bounds: ProgramBounds;
  /** Why a hook may not run; it then counts as failed. */
  readonly refuses?: (entry: HookEntry) => string | undefined;
  readonly record: (ran: EventBodies["hook.ran"]) => Maybe<unknown>;
  readonly warn: (message: string) => void;
};

/** Runs one hook and records the run. Never rejects. */
export async function runHook(running: HookRunContext, entry: HookEntry, { input, signal }: HookCall): Promise<HookRan> {
  const { clock } = running;
  const startedAt = clock.now();
  const end = await runEntry(running, entry, { input, signal });
  const ran = describeRun(entry, input, end);
  recordRun(running, entry, { input, end, ran, durationMs: Math.max(0, clock.now() - startedAt) });
  return ran;
}

export type HookCall = { readonly input: JsonObject; readonly signal: AbortSignal };

async function runEntry(running: HookRunContext, entry: HookEntry, given: HookCall): Promise<HookRunEnd> {
  try {
    const cause = running.refuses?.(entry);
    if (cause !== undefined) return endWithoutOutput({ ended: "failed", cause });
    return entry.body.type === "command" ? await runProgramHook(running, entry, given) : await runFunctionHook(running, entry, given);
  } catch (error) {
    return endWithoutOutput({ ended: "failed", cause: messageOf(error) });
  }
}

async function runFunctionHook(
  { functions, clock }: HookRunContext,
  { body, timeoutMs }: HookEntry,
  { input, signal }: HookCall,
): Promise<HookRunEnd> {
  const name = body.type === "function" ? body.function : "";
  const call = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (!call) return endWithoutOutput({ ended: "failed", cause: `there is no function ${name}` });
  const frozen: JsonObject = JSON.parse(JSON.stringify(input), (_key, inner: unknown) => Object.freeze(inner));
  const run = await runFunction({ call, input: frozen, timeoutMs, clock }, signal);
  return { run, exit: null, output: run.ended === "value" ? stringify(run.value) : "" };
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** Waiting for a slot does not count toward the timeout. */
async function runProgramHook(running: HookRunContext, entry: HookEntry, { input, signal }: HookCall): Promise<HookRunEnd> {
  const release = await running.slots.take(signal);
  if (!release) return endWithoutOutput({ ended: "cancelled" });
  try {
    return await runProgram(createProgram(running, entry, input), running.bounds, signal);
  } finally {
    release();
  }
}

function createProgram(running: HookRunContext, entry: HookEntry, input: JsonObject): HookProgram {
  const { body, timeoutMs } = entry;
  if (body.type !== "command") throw new Error("this hook is not a program");
  const { cwd } = input;
  return {
    ...(body.args ? { file: body.command, args: body.args } : { file: "/bin/sh", args: ["-c", body.command] }),
    cwd: typeof cwd === "string" ? cwd : running.cwd,
    env: hookEnvironment(running, body, entry),
    stdin: `${JSON.stringify(input)}\n`,
    timeoutMs,
  };
}

/** The user's environment without secrets, plus the hook's variables. The project's `secretEnv` applies only to project hooks. */
function hookEnvironment(
  { environment, secretEnv, projectSecretEnv, projectDir, sessionId }: HookRunContext,
  { env, passEnv }: Extract<HookBody, { readonly type: "command" }>,
  { event, source }: Pick<HookEntry, "event" | "source">,
): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const name of passEnv ?? []) {
    const value = environment[name];
    if (value !== undefined) passed[name] = value;
  }
  return {
    ...createCommandEnvironment(environment, { secretEnv, projectSecretEnv: source === "project" ? projectSecretEnv : [] }),
    ...passed,
    ...env,
    ASSENT_PROJECT_DIR: projectDir,
    ASSENT_SESSION_ID: sessionId,
    ASSENT_HOOK_EVENT: event,
    CLAUDE_PROJECT_DIR: projectDir,
  };
}

function describeRun(entry: HookEntry, input: JsonObject, { run }: HookRunEnd): HookRan {
  const { name } = entry;
  const outcome = readHookRun(entry, run);
  try {
    const rewrote = rewrittenInput(getToolInput(input), outcome);
    return rewrote ? { name, outcome, rewrote } : { name, outcome };
  } catch {
    return { name, outcome: readHookRun(entry, { ended: "failed", cause: "invalid output" }) };
  }
}

type HookRecording = Pick<HookCall, "input"> & { readonly end: HookRunEnd; readonly ran: HookRan; readonly durationMs: number };

/** A run that cannot be recorded only warns; the call's claim or end fails for the same reason. */
function recordRun(
  { digest, record: write, warn }: HookRunContext,
  entry: HookEntry,
  { input, end, ran, durationMs }: HookRecording,
): void {
  const { outcome } = ran;
  const { tool_use_id: callId } = input;
  const changed = changedKeys(input, ran);
  const failed = (error: unknown): void => warn(`the run of hook ${entry.name} could not be recorded: ${messageOf(error)}`);
  const record = async (): Promise<unknown> =>
    write({
      event: entry.event,
      hook: entry.name,
      outcome: outcomeWord(outcome),
      durationMs,
      ...(typeof callId === "string" && { callId }),
      ...(entry.body.type === "command" && { exit: end.exit }),
      digest: digest.sha256(end.output),
      ...(outcome.failure !== undefined && { cause: outcome.failure }),
      ...(changed.length > 0 && { changed }),
    });
  record().catch(failed);
}

function outcomeWord({ failure, stop, feedback, verdict }: HookOutcome): string {
  if (failure !== undefined) return failure === "cancelled" ? "cancelled" : "failed";
  if (stop !== undefined) return "stop";
  return feedback === undefined ? verdict : "feedback";
}

const MOST_KEYS = 100;
const LONGEST_KEY = 200;

function changedKeys(input: JsonObject, { outcome, rewrote }: HookRan): readonly string[] {
  if (outcome.updatedOutput !== undefined) return ["tool_response"];
  if (!rewrote) return [];
  const before = getToolInput(input);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(rewrote)])];
  const changed = keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(rewrote[key]));
  return changed.slice(0, MOST_KEYS).map((key) => key.slice(0, LONGEST_KEY));
}
