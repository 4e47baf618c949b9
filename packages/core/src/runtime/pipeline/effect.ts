import { LedgerError } from "../../ledger-port.ts";
import { normalizeResult } from "../../model/result/normalize.ts";
import type { Display, ToolResult } from "../../model/result/result.ts";
import { modelText } from "../../model/text/model-text.ts";
import type { RunContext } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import { previewCall } from "../proposal/preview-call.ts";
import { keepPushed, pushFromCall } from "../proposal/push-action.ts";
import { resolveCall } from "../proposal/resolve-call.ts";
import { writePreviewed } from "../proposal/write-previewed.ts";
import { type BatchRun, type CallRun, stopCall } from "./call-run.ts";
import { errorEnding, resultEnding, stoppedEnding, thrownResult } from "./endings.ts";
import { cwdOf } from "./intake.ts";
import { isResolve } from "./judge.ts";
import type { JudgedCall, PermittedCall } from "./judged-call.ts";

const GRACE_MS = 5_000;

/** A claimed call and what its body learns about the claim. */
export type Effect = {
  readonly call: PermittedCall;
  readonly attempt: number;
  readonly gate: RunContext["gate"];
  /** No person saw the request: the body gets the plan that was judged. */
  readonly unseen: boolean;
};

/** Runs the body of a claimed call: the only place that does. A body that ignores its signal is abandoned after the grace time. */
export async function runBody(batch: BatchRun, run: CallRun, effect: Effect): Promise<Ending> {
  const { call } = effect;
  const { clock } = batch.deps;
  run.phase = "running";
  run.startedAt = clock.now();
  batch.emit?.({
    type: "toolCall",
    callId: run.callId,
    agentName: batch.batch.agentName,
    tool: call.request.tool,
    input: call.request.input,
  });
  const updates = mayStream(batch, call) ? makeUpdates(batch, run) : undefined;
  const timeoutMs = call.tool.definition.timeoutMs ?? batch.deps.timeoutMs;
  const cancelTimer = timeoutMs === undefined ? undefined : clock.timer(timeoutMs, () => stopCall(run, "timeout"), { keepsAlive: true });
  try {
    const ctx = runContext(batch, run, effect, updates?.update ?? ignoreUpdate);
    const settled = await (governsItself(batch, call) ? runOwnBody(batch, run, call, ctx) : settle(batch, run, call, ctx));
    const ending = conclude(run, call.tool.name, settled, timeoutMs);
    return run.pushed.length > 0 ? await keepPushed(batch, run, ending) : ending;
  } finally {
    cancelTimer?.();
    updates?.end();
    run.phase = "after";
  }
}

/** Live output is withheld where the hooks say that a transform may still remove some of it. */
function mayStream({ deps }: BatchRun, { tool }: JudgedCall): boolean {
  if (!tool.definition.canUpdateOutput) return false;
  return deps.hooks?.applies?.("tool_response_transform", tool.name) !== true;
}

/** These bodies change files, so they are never abandoned and report themselves how a cancel ended them. */
function governsItself(batch: BatchRun, call: PermittedCall): boolean {
  return call.tool.definition.preview !== undefined || isResolve(batch, call) || writesPreview(call);
}

/** A person approved the changes of a preview; the command itself does not run. */
function writesPreview({ consent }: PermittedCall): boolean {
  return (consent?.writes ?? null) !== null;
}

/** How a body settled; `abandoned`: not within the grace time after a cancel. */
type SettledBody = ToolResult | { readonly ending: Ending } | { readonly thrown: unknown } | "abandoned";

/** Resolves, previews or writes a proposal. Rejects only when an effect that happened could not be recorded: that failure fails the call closed. */
async function runOwnBody(batch: BatchRun, run: CallRun, call: PermittedCall, ctx: RunContext): Promise<SettledBody> {
  try {
    if (writesPreview(call)) return { ending: await writePreviewed(batch, run, call, ctx) };
    return { ending: await (isResolve(batch, call) ? resolveCall(batch, run, call, ctx) : previewCall(batch, run, call, ctx)) };
  } catch (thrown) {
    if (thrown instanceof LedgerError) throw thrown;
    return { thrown };
  }
}

/** Starts the tool's body, or the host's handler for it. Bodies are users' code: one may throw at once or return no promise. */
function startBody({ deps }: BatchRun, { callId }: CallRun, { tool, invocation }: PermittedCall, ctx: RunContext): Promise<ToolResult> {
  const { runtimeHandler } = tool.definition;
  try {
    if (runtimeHandler === undefined) return Promise.resolve(invocation.execute(ctx.signal, ctx.update, ctx));
    const returned = deps.handlers?.[runtimeHandler]?.(deps.session, { callId, tool }, { invocation, ctx });
    return Promise.resolve(returned).then((value) => normalizeResult(tool.name, value).result);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function ignoreUpdate(): void {
  // the tool does not stream, or hooks may still change its result
}

function runContext(batch: BatchRun, run: CallRun, effect: Effect, update: (display: Display) => void): RunContext {
  const { call, attempt, gate, unseen } = effect;
  const { session } = batch.deps;
  const { callId } = run;
  return {
    cwd: cwdOf(session),
    callId,
    sessionId: session.id,
    mode: call.policy.mode,
    signal: run.abort.signal,
    update,
    gate,
    attempt,
    idempotencyKey: run.key,
    started: async (process) => {
      if (run.phase === "after") throw new Error("The call that started this has ended.");
      await session.record([session.draft("call.started", { call: callId, ...process })], "normal");
    },
    pushPendingAction: (action) => pushFromCall(batch, run, call, action),
    ...(batch.batch.agentName !== undefined && { agentName: batch.batch.agentName }),
    ...(call.request.containment && { containment: call.request.containment }),
    ...(unseen && { allowedByRules: true }),
    ...(unseen && call.facts.plan !== undefined && { plan: call.facts.plan }),
  };
}

/** The body's result, or `abandoned` if it does not settle within the grace time after a cancel. */
function settle(batch: BatchRun, run: CallRun, call: PermittedCall, ctx: RunContext): Promise<SettledBody> {
  const { clock, warn } = batch.deps;
  return new Promise((resolve) => {
    let stopWaiting: (() => void) | undefined;
    let abandoned = false;
    const done = (settled: SettledBody): void => {
      stopWaiting?.();
      if (abandoned) warn?.(`The late result of call ${run.callId} was dropped.`);
      resolve(settled);
    };
    startBody(batch, run, call, ctx).then(done, (thrown: unknown) => done({ thrown }));
    const abandon = (): void => {
      const giveUp = (): void => {
        abandoned = true;
        resolve("abandoned");
      };
      stopWaiting ??= clock.timer(GRACE_MS, giveUp, { keepsAlive: true });
    };
    if (run.abort.signal.aborted) abandon();
    else run.wake = abandon;
  });
}

/** The first cause of a stop names the outcome; a later result is dropped. */
function conclude(run: CallRun, name: string, settled: SettledBody, timeoutMs: number | undefined): Ending {
  run.wake = undefined;
  const own = typeof settled === "object" && "ending" in settled ? settled.ending : undefined;
  if (own && own.state !== "cancelled") return own;
  if (run.stopped === "timeout") {
    const text = modelText.execution_timeout({ name, seconds: (timeoutMs ?? 0) / 1_000 });
    return errorEnding("timed_out", "execution_timeout", text);
  }
  if (own) return own;
  if (run.stopped || typeof settled === "string" || "ending" in settled) return stoppedEnding(run);
  return resultEnding("thrown" in settled ? thrownResult(settled.thrown) : settled);
}

const PER_SECOND = 20;
const GAP_MS = 1_000 / PER_SECOND;

/** The live display of one running call: at most 20 updates a second reach observers, the last one always. */
function makeUpdates(batch: BatchRun, run: CallRun): { readonly update: (display: Display) => void; readonly end: () => void } {
  const { clock } = batch.deps;
  let newest: Display | undefined;
  let lastAt = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | undefined;
  let over = false;
  let progress = Number.NEGATIVE_INFINITY;
  const flush = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (newest === undefined) return;
    const display = newest;
    newest = undefined;
    lastAt = clock.now();
    batch.emit?.({ type: "output", callId: run.callId, agentName: batch.batch.agentName, display });
  };
  return {
    update: (display) => {
      if (over) return;
      if (typeof display === "object" && display.type === "tool_progress") {
        if (!(display.progress > progress)) return;
        progress = display.progress;
      }
      newest = display;
      const wait = lastAt + GAP_MS - clock.now();
      if (wait <= 0) flush();
      else cancelTimer ??= clock.timer(wait, flush);
    },
    end: () => {
      flush();
      over = true;
    },
  };
}
