import { stopMessageOf } from "../model/hooks/combine.ts";
import { batchHookInput } from "../model/hooks/input.ts";
import { BATCH_CHARS, composeCut, cutOutput, fitBatch } from "../model/result/cut-output.ts";
import type { ToolResult } from "../model/result/result.ts";
import { messageOf } from "../model/result/thrown.ts";
import { contentText, withText } from "../model/text/content-text.ts";
import type { BatchReport, CallReport } from "./dispatch.ts";
import type { BatchRun, CallRun } from "./pipeline/call-run.ts";
import { withHookWords } from "./pipeline/hook-words.ts";
import { hookSession, hooksOf } from "./pipeline/rewrite.ts";
import { runCall } from "./pipeline/run-call.ts";

/** Runs all calls concurrently; lanes order their effects. */
export function runAll(batch: BatchRun, runs: readonly CallRun[]): Promise<readonly CallReport[]> {
  return Promise.all(runs.map((run) => runCall(batch, run)));
}

/** Reports the results, and whether the run must stop. */
export function concludeBatch(batch: BatchRun, runs: readonly CallRun[], results: readonly CallReport[]): BatchReport {
  if (batch.emit) addMessages(batch, runs, results);
  const stopMessage = stopOf(batch);
  return {
    stopRun: stopMessage !== undefined,
    stopMessage: stopMessage ?? "",
    results,
    ...(batch.endedBy && { endedBy: batch.endedBy }),
  };
}

function stopOf({ stops, batch }: BatchRun): string | undefined {
  if (stops.size === 0 || batch.signal.aborted) return undefined;
  const [stop] = [...stops.entries()].sort(([left], [right]) => left - right);
  return stop?.[1];
}

/** Adds the texts of `post_tool_batch` hooks to the last result. */
export async function withBatchHooks(
  batch: BatchRun,
  runs: readonly CallRun[],
  reports: readonly CallReport[],
): Promise<readonly CallReport[]> {
  const { hooks, warn } = batch.deps;
  const [run] = runs;
  const last = reports.at(-1);
  const apply = runs.some(({ tool, name }) => hooksOf(batch, "post_tool_batch", tool?.name ?? name));
  if (!hooks || !apply || !run || !last || reports.some(({ outcome }) => outcome === "waiting")) return reports;
  const ended = runs.map(({ callId, tool, name, input }, at) => ({
    callId,
    tool: tool?.name ?? name,
    input,
    type: reports[at]?.type ?? null,
  }));
  try {
    const said = await hooks.consult("post_tool_batch", batchHookInput(hookSession(batch, run), ended), batch.batch.signal);
    const stop = said && stopMessageOf(said);
    if (stop !== undefined) batch.stops.set(runs.length, stop || "Stopped by a post_tool_batch hook.");
    if (!said || last.outcome === "waiting") return reports;
    return [...reports.slice(0, -1), { ...last, result: withHookWords(last.result, said) }];
  } catch (error) {
    warn?.(`a post_tool_batch hook failed: ${messageOf(error)}`);
    return reports;
  }
}

/** Cuts results that exceed the limit for one batch. */
export function fitBudget(reports: readonly CallReport[]): readonly CallReport[] {
  if (totalChars(reports) <= BATCH_CHARS) return reports;
  const texts = reports.map((report) => (report.outcome === "waiting" ? "" : contentText(report.result.content)));
  const lengths = texts.map(({ length }) => length);
  const kept = fitBatch(lengths, BATCH_CHARS);
  if (kept === lengths) return reports;
  return reports.map((report, at) => {
    const room = kept[at] ?? 0;
    const text = texts[at] ?? "";
    if (report.outcome === "waiting" || text.length <= room) return report;
    const cut = cutOutput(text, { maxChars: room, maxLines: Number.POSITIVE_INFINITY, keep: "both" });
    if (!cut) return report;
    const file = report.result.spilled?.at(-1);
    const result: ToolResult = { ...report.result, content: withText(report.result.content, composeCut(cut, file)) };
    return { ...report, result };
  });
}

function totalChars(reports: readonly CallReport[]): number {
  let total = 0;
  for (const report of reports) {
    if (report.outcome === "waiting") continue;
    const { content } = report.result;
    total += typeof content === "string" ? content.length : contentText(content).length;
  }
  return total;
}

function addMessages(batch: BatchRun, runs: readonly CallRun[], reports: readonly CallReport[]): void {
  for (const [at, report] of reports.entries()) {
    if (report.outcome === "waiting") break;
    if (runs[at]?.nested) continue;
    batch.emit?.({
      type: "messageAdded",
      callId: report.callId,
      agentName: batch.batch.agentName,
      sessionId: batch.deps.session.id,
      content: report.result.content,
      isError: report.result.error !== undefined,
    });
  }
}
