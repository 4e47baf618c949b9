import { apart, BoundInvocation, ignoreUpdate } from "../../invocation.ts";
import { LedgerError } from "../../ledger-port.ts";
import type { Yes } from "../../model/call.ts";
import { normaliseResult } from "../../model/result/normalize.ts";
import type { Display, ToolResult } from "../../model/result/result.ts";
import { errorTypeOf, messageOf } from "../../model/result/thrown.ts";
import { modelText } from "../../model/text/model-text.ts";
import type { Invocation, Maybe, RunContext } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import { isToolError } from "../proposal/apply-by-code.ts";
import { previewCall } from "../proposal/preview-call.ts";
import { keepPushed, push } from "../proposal/push-action.ts";
import { resolveCall } from "../proposal/resolve-call.ts";
import { isResolve } from "./assess-call.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import { endOfResult, stopped, synthesised } from "./endings.ts";
import { cwdOf } from "./intake.ts";
import type { Ready } from "./judge.ts";
import { makeUpdates } from "./updates.ts";

const GRACE_MS = 5_000;

/** How a nested action of a body is put through the same gate. */
export type Nested = (
  batch: BatchRun,
  parent: CallRun,
  call: { readonly name: string; readonly arguments: unknown },
) => Promise<ToolResult>;

/** A claimed call and what its body is told about the claim. */
export type Effect = {
  readonly ready: Ready;
  readonly nested: Nested;
  readonly attempt: number;
  readonly key: string | null;
  /** Nobody saw the request: the body gets the plan that was judged. */
  readonly unseen: boolean;
  /** The yes that let it pass, if one was needed. */
  readonly yes: Yes | null;
};

/** Runs the body of a claimed call: the only place that does. A body that ignores its signal is abandoned after the grace time. */
export function runBody(batch: BatchRun, run: CallRun, effect: Effect): Maybe<Ending> {
  const { ready } = effect;
  const { clock } = batch.deps;
  run.phase = "running";
  run.startedAt = run.claimedAt || clock.now();
  batch.emit?.({
    type: "toolCall",
    callId: run.callId,
    agentName: batch.batch.agentName,
    tool: ready.request.tool,
    input: ready.request.input,
  });
  const updates = mayStream(batch, ready) ? makeUpdates(batch, run) : undefined;
  const timeoutMs = ready.taken.tool.definition.timeoutMs ?? batch.deps.timeoutMs;
  const cancelTimer = timeoutMs === undefined ? undefined : clock.timer(timeoutMs, () => stopRunning(run), { keepsAlive: true });
  const body = startBody(batch, run, { effect, update: updates?.update ?? ignoreUpdate });
  const running: Running = { ready, body, timeoutMs, cancelTimer, endUpdates: updates?.end };
  if (body instanceof Promise || run.pushed !== undefined) return endLater(batch, run, running);
  const ending = conclude(run, { ready, settled: body, timeoutMs });
  endBody(run, running);
  return ending;
}

/** A body under way, and what ends with it. */
type Running = {
  readonly ready: Ready;
  readonly body: Maybe<Settled>;
  readonly timeoutMs: number | undefined;
  readonly cancelTimer: (() => void) | undefined;
  readonly endUpdates: (() => void) | undefined;
};

async function endLater(batch: BatchRun, run: CallRun, running: Running): Promise<Ending> {
  const { ready, body, timeoutMs } = running;
  try {
    const settled = await (body instanceof Promise && !governsItself(batch, ready) ? settle(batch, run, body) : body);
    return await keepPushed(batch, run, conclude(run, { ready, settled, timeoutMs }));
  } finally {
    endBody(run, running);
  }
}

function endBody(run: CallRun, { cancelTimer, endUpdates }: Running): void {
  cancelTimer?.();
  endUpdates?.();
  run.phase = "after";
}

/** What a transform may still remove is not shown early. */
function mayStream({ deps }: BatchRun, { taken: { tool } }: Ready): boolean {
  if (!tool.definition.canUpdateOutput) return false;
  return !deps.hooks || deps.hooks.applies?.("tool_response_transform", tool.name) === false;
}

function stopRunning(run: CallRun): void {
  if (run.stopped) return;
  run.stopped = "timeout";
  run.abort.abort(new DOMException("timeout", "TimeoutError"));
  run.wake?.();
}

type Body = { readonly effect: Effect; readonly update: (display: Display) => void };

/** Files may change until these have ended: nobody gives them up, and they say themselves how a cancel found them. */
function governsItself(batch: BatchRun, { taken }: Ready): boolean {
  return taken.tool.definition.preview !== undefined || isResolve(batch, taken);
}

/** A body's result, or the end of a body that says itself how it ended. */
type Done = ToolResult | { readonly ending: Ending };

/** Never throws: what a body throws is how it settled. What has happened and could not be recorded is for nobody to tell: that failure fails the call closed. */
function startBody(batch: BatchRun, run: CallRun, body: Body): Maybe<Settled> {
  const { ready, yes } = body.effect;
  const { tool } = ready.taken;
  const ctx = runContext(batch, run, body);
  if (isResolve(batch, ready.taken)) return resolveCall(batch, run, { ready, ctx, yes }).then(ended, unlessUnrecorded);
  if (tool.definition.preview !== undefined) return previewCall(batch, run, { ready, ctx }).then(ended, unlessUnrecorded);
  if (tool.definition.runtimeHandler !== undefined) return handle(batch, run, { ready, ctx });
  return perform(ready.taken.invocation, ctx);
}

function ended(ending: Ending): Done {
  return { ending };
}

function unlessUnrecorded(thrown: unknown): Settled {
  if (thrown instanceof LedgerError) throw thrown;
  return { thrown };
}

function perform(invocation: Invocation, ctx: RunContext): Maybe<Settled> {
  try {
    if (invocation instanceof BoundInvocation) return invocation.perform(ctx);
    return Promise.resolve(invocation.execute(ctx.signal, ctx.update, ctx));
  } catch (thrown) {
    return { thrown };
  }
}

async function handle(
  { deps }: BatchRun,
  { callId }: CallRun,
  { ready, ctx }: { readonly ready: Ready; readonly ctx: RunContext },
): Promise<Done> {
  const { tool, invocation: own } = ready.taken;
  const invocation = own instanceof BoundInvocation ? apart(own) : own;
  const handler = deps.handlers?.[tool.definition.runtimeHandler ?? ""];
  return normaliseResult(tool.name, await handler?.(deps.session, { callId, tool }, { invocation, ctx })).result;
}

function runContext(batch: BatchRun, run: CallRun, { effect, update }: Body): RunContext {
  const { ready, nested, attempt, key, unseen } = effect;
  const { session } = batch.deps;
  const { callId } = run;
  const ctx: Mutable<RunContext> = {
    cwd: cwdOf(session),
    callId,
    sessionId: session.id,
    signal: run.abort.signal,
    update,
    gate: (call) => nested(batch, run, call),
    attempt,
    idempotencyKey: key,
    started: async (process) => {
      if (run.phase === "after") throw new Error("The call that started this has ended.");
      await session.record([session.draft("call.started", { call: callId, ...process })], "normal");
    },
    pushPendingAction: (action) => push(batch, run, { ready, action }),
  };
  if (batch.batch.agentName !== undefined) ctx.agentName = batch.batch.agentName;
  if (unseen && ready.facts.plan !== undefined) ctx.plan = ready.facts.plan;
  return ctx;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Settled = Done | { readonly thrown: unknown } | "abandoned";

/** The body's result, or `abandoned` when it does not settle within the grace time after it was told to stop. */
function settle({ deps }: BatchRun, run: CallRun, body: Promise<Settled>): Promise<Settled> {
  return new Promise((resolve) => {
    let stopWaiting: (() => void) | undefined;
    let abandoned = false;
    const done = (settled: Settled): void => {
      stopWaiting?.();
      if (abandoned) deps.warn?.(`The late result of call ${run.callId} was dropped.`);
      resolve(settled);
    };
    body.then(done, (thrown: unknown) => done({ thrown }));
    const abandon = (): void => {
      const giveUp = (): void => {
        abandoned = true;
        resolve("abandoned");
      };
      stopWaiting ??= deps.clock.timer(GRACE_MS, giveUp, { keepsAlive: true });
    };
    if (run.abort.signal.aborted) abandon();
    else run.wake = abandon;
  });
}

type Concluding = { readonly ready: Ready; readonly settled: Settled; readonly timeoutMs: number | undefined };

/** Whoever stopped the call first names its outcome; what a body returns after that is dropped. */
function conclude(run: CallRun, { ready, settled, timeoutMs }: Concluding): Ending {
  run.wake = undefined;
  const { name } = ready.taken.tool;
  const own = typeof settled === "object" && "ending" in settled ? settled.ending : undefined;
  if (own && own.state !== "cancelled") return own;
  if (run.stopped === "timeout") {
    const text = modelText.execution_timeout({ name, seconds: (timeoutMs ?? 0) / 1_000 });
    return synthesised("timed_out", "execution_timeout", text);
  }
  if (own) return own;
  if (run.stopped || typeof settled === "string" || "ending" in settled) return stopped(run);
  return endOfResult("thrown" in settled ? thrownResult(settled.thrown) : settled);
}

function thrownResult(thrown: unknown): ToolResult {
  const message = messageOf(thrown);
  return {
    content: isToolError(thrown) ? message : modelText.execution_failed(message),
    display: message,
    error: { message, type: errorTypeOf(thrown) },
  };
}
