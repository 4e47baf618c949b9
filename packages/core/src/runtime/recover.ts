import { type Call, hasJudgement, mayBeUnderWay, type RunningCall } from "../model/call.ts";
import { isObject, type Json, type JsonObject } from "../model/json/json.ts";
import { messageOf } from "../model/result/thrown.ts";
import { modelText } from "../model/text/model-text.ts";
import type { ProbeAnswer, Tool } from "../tool-definition.ts";
import { closeApproval } from "./approval/close.ts";
import type { CallReport, Ending } from "./dispatch.ts";
import { type BatchRun, type CallRun, makeRun } from "./pipeline/call-run.ts";
import { runBody } from "./pipeline/effect.ts";
import { errorEnding, notAppliedEnding } from "./pipeline/endings.ts";
import { endCall } from "./pipeline/finish.ts";
import { callContext } from "./pipeline/intake.ts";
import { assessCall, callKey } from "./pipeline/judge.ts";
import type { ParsedCall } from "./pipeline/judged-call.ts";
import { restoreCall } from "./pipeline/restore.ts";
import { endByProposal } from "./proposal/recover.ts";
import { isAsking } from "./question/ask.ts";
import { readCallRecord } from "./session/call-record.ts";
import type { Session } from "./session/session.ts";
import { withTimeLimit } from "./waiting.ts";

export type SettledCall = { readonly seq: number; readonly run: CallRun; readonly report: CallReport };

/** The ended calls, and the arguments of calls that were only proposed. */
export type RecoveryResult = { readonly settled: readonly SettledCall[]; readonly raws: ReadonlyMap<string, Json> };

const PROBE_LIMIT_MS = 10_000;

/**
 * Ends those of the calls that an earlier process left running: by the tool's probe, by one retry with the same key if settings permit, or as
 * `unknown`. Calls that ask a person stay open.
 */
export async function recover(batch: BatchRun, calls: readonly Call[]): Promise<RecoveryResult> {
  const { session } = batch.deps;
  const settled: SettledCall[] = [];
  const raws = new Map<string, Json>();
  for (const call of calls.toSorted((left, right) => left.seq - right.seq)) {
    if (mayBeUnderWay(call) && !isAsking(batch, call.callId)) {
      const ended = await session.whileHeld(() => settleRunning(batch, call));
      if (call.index >= 0) settled.push(ended);
    }
    if (!hasJudgement(call)) {
      const { "call.proposed": proposed } = await readCallRecord(session.ledger, session.id, call.callId);
      raws.set(call.callId, proposed?.raw ?? "");
    }
  }
  const recovered = settled.map(({ report }) => ({ call: report.callId, to: report.outcome }));
  if (recovered.length > 0 || !(await isOpened(session)))
    await session.record([session.draft("session.opened", { ...session.holder, recovered })], "normal");
  return { settled, raws };
}

async function isOpened({ id, ledger, holder, state }: Session): Promise<boolean> {
  if (state.closed) return false;
  let isOurs = false;
  for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["session.opened"] }))
    isOurs = body["pid"] === holder.pid && body["host"] === holder.host && body["processStart"] === holder.processStart;
  return isOurs;
}

/** Ends a nested call whose parent is gone. */
export async function endNested(batch: BatchRun, call: Call): Promise<void> {
  const run = makeRun({ callId: call.callId, index: -1, name: call.tool, arguments: "", nested: true });
  run.tool = batch.batch.tools.get(call.tool);
  await closeApproval(batch, run, "cancelled");
  await endCall(batch, run, errorEnding("cancelled", "cancelled", modelText.cancelled("before")));
}

async function settleRunning(batch: BatchRun, call: RunningCall): Promise<SettledCall> {
  const run = makeRun({ callId: call.callId, index: -1, name: call.tool, arguments: "" });
  run.resumed = true;
  batch.runs.push(run); // so that a retry can be cancelled
  batch.live.add(run);
  const tool = batch.batch.tools.get(call.tool);
  run.tool = tool;
  const evidence = await endLeftOver(batch, call);
  const ending =
    call.judged.safe && !tool?.definition.probe ? readOnlyEnd(call, evidence) : await unsafeEnd(batch, run, { call, tool, evidence });
  const report = await endCall(batch, run, ending);
  batch.live.delete(run);
  return { seq: call.seq, run, report };
}

type UnsettledCall = { readonly call: RunningCall; readonly tool: Tool | undefined; readonly evidence: JsonObject };

async function unsafeEnd(batch: BatchRun, run: CallRun, { call, tool, evidence }: UnsettledCall): Promise<Ending> {
  const byProposal = await endByProposal(batch, call, tool);
  if (byProposal) return byProposal;
  return (tool && (await settleByTool(batch, run, { call, tool, evidence }))) ?? unknownEnd(call, evidence);
}

/** Ends processes the call left running, unless another process now has the pid. */
async function endLeftOver({ deps }: BatchRun, call: RunningCall): Promise<JsonObject> {
  if (!call.process) return {};
  const { pid } = call.process;
  if (!deps.processes) return { pid };
  const { found, survivors } = await deps.processes.endLeftOver(call.process);
  const [survivor] = survivors;
  if (survivor === undefined) return found ? { pid, alive: true, killed: true } : { pid, alive: false };
  return { pid, alive: true, survivor, ...(survivors.length > 1 && { survivors }) };
}

function readOnlyEnd(call: RunningCall, evidence: JsonObject): Ending {
  const text = `${modelText.execution_unknown({ name: call.tool })} It only reads; it is safe to call again.`;
  return { ...errorEnding("unknown", "execution_unknown", text), evidence: { ...("survivor" in evidence && evidence), safe: true } };
}

function unknownEnd(call: RunningCall, evidence: JsonObject): Ending {
  const known = Object.entries(evidence).map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`);
  const text = [
    modelText.execution_unknown({ name: call.tool }),
    `Started: ${call.claimedAt}. Evidence: ${known.length > 0 ? known.join(", ") : "none"}.`,
    "Check the present state before you decide what to do. Calling it again needs a new approval.",
  ].join("\n");
  return { ...errorEnding("unknown", "execution_unknown", text), evidence };
}

type SettleByToolInput = { readonly call: RunningCall; readonly tool: Tool; readonly evidence: JsonObject };

/** Undefined if the tool cannot tell and must not run again. */
async function settleByTool(batch: BatchRun, run: CallRun, { call, tool, evidence }: SettleByToolInput): Promise<Ending | undefined> {
  const { probe } = tool.definition;
  if (!probe && call.key === null) return undefined;
  const restored = await restoreCall(batch, run);
  if (!restored || "end" in restored) return undefined;
  if (probe) return await endByProbe(batch, run, { call, parsed: restored, evidence });
  return call.attempt === 1 && batch.deps.retryIdempotent ? await retryCall(batch, run, call, restored) : undefined;
}

type ProbeInput = { readonly call: RunningCall; readonly parsed: ParsedCall; readonly evidence: JsonObject };

async function endByProbe(batch: BatchRun, run: CallRun, { call, parsed, evidence }: ProbeInput): Promise<Ending> {
  const answer = await askProbe(batch, run, { call, parsed });
  const found: JsonObject = {
    ...evidence,
    ...(answer.evidence !== undefined && { probe: answer.evidence }),
    ...(answer.reportedBy !== undefined && { reportedBy: answer.reportedBy }),
  };
  if (answer.state === "applied" && answer.reportedBy !== undefined)
    return { state: "succeeded", type: null, result: { content: answer.content ?? "" }, evidence: found };
  if (answer.state === "applied") {
    const content = `${answer.content ?? `'${call.tool}' did what it was asked to do.`} (verified after a restart)`;
    return { state: "succeeded", type: "recovered", result: { content }, evidence: found };
  }
  if (answer.state === "failed") {
    const text = answer.content ?? `'${call.tool}' ran and failed.`;
    return { ...errorEnding("failed", "execution_failed", text), evidence: found };
  }
  if (answer.state === "not_applied") {
    return { ...notAppliedEnding(), evidence: found };
  }
  return unknownEnd(call, found);
}

async function askProbe(
  batch: BatchRun,
  run: CallRun,
  { call, parsed: { tool, invocation } }: Omit<ProbeInput, "evidence">,
): Promise<ProbeAnswer> {
  const ctx = { ...callContext(batch, run), callKey: callKey(batch, run, call.judged.fingerprint) };
  const unknown = (why: string): ProbeAnswer => ({ state: "unknown", evidence: why });
  try {
    const answer = Promise.resolve(tool.definition.probe?.(invocation.input, ctx) ?? unknown("no probe"));
    const given = await withTimeLimit(batch.deps.clock, {
      promise: answer,
      ms: PROBE_LIMIT_MS,
      late: () => unknown("the probe took longer than 10 s"),
    });
    return isProbeAnswer(given) ? given : unknown("the probe could not tell");
  } catch (error) {
    return unknown(`the probe failed: ${messageOf(error)}`);
  }
}

function isProbeAnswer(given: unknown): boolean {
  return isObject(given) && ["applied", "failed", "not_applied", "unknown"].includes(String(given["state"]));
}

async function retryCall(batch: BatchRun, run: CallRun, call: RunningCall, parsed: ParsedCall): Promise<Ending | undefined> {
  const { session } = batch.deps;
  const judged = await assessCall(batch, run, parsed);
  const { fingerprint } = call.judged;
  if (judged.decision.verdict === "deny" || (fingerprint !== undefined && judged.request.fingerprint !== fingerprint)) return undefined;
  if (batch.batch.signal.aborted) return undefined;
  const body = {
    call: run.callId,
    ...(fingerprint !== undefined && { fingerprint }),
    answer: call.answer,
    attempt: 2,
    durability: "full",
    idempotencyKey: call.key,
    plan: null,
  } as const;
  const claim = await session.claim(session.draft("call.claimed", body));
  if ("lost" in claim) return undefined;
  run.key = call.key;
  const ending = await runBody(batch, run, {
    call: { ...judged, consent: null },
    attempt: 2,
    gate: () => Promise.reject(new Error("a retried call cannot nest")),
    unseen: call.answer === null && judged.decision.byRules,
  });
  const { content } = ending.result;
  return {
    ...ending,
    result: { ...ending.result, content: typeof content === "string" ? `${content}\n(retried with the same key)` : content },
  };
}
