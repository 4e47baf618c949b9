import { stagingUnavailable } from "../../invocation.ts";
import { isJsonObject, isObject, type Json, type JsonObject } from "../../model/json/json.ts";
import type { Resolution } from "../../model/proposal/events.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import { outputLimits } from "../../model/result/cut-output.ts";
import { readPlainResult } from "../../model/result/normalize.ts";
import { modelText } from "../../model/text/model-text.ts";
import type { Location, Preview, RunContext } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import { assessRequest, type Judgeable } from "../pipeline/assess.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { denialEnding, errorEnding, resultEnding, stoppedEnding } from "../pipeline/endings.ts";
import { assessmentInput } from "../pipeline/judge.ts";
import type { Assessment, JudgedCall } from "../pipeline/judged-call.ts";
import { runCallback } from "../pipeline/run-callback.ts";
import { applyChanges } from "./apply.ts";
import { asReading } from "./assess-preview.ts";
import { discardProposal } from "./discard.ts";
import { byRuntime } from "./settling.ts";
import { type ProposalSource, stagePreview } from "./stage.ts";

export const STAGING_FAILED = "staging call failed";

/** The body of a tool with `preview` and `apply`. */
export async function previewCall(batch: BatchRun, run: CallRun, judged: JudgedCall, ctx: RunContext): Promise<Ending> {
  const { staging } = batch;
  const { tool, invocation } = judged;
  if (!staging.changes) return stagingUnavailable();
  const late = (): void => staging.warn(`The late preview of call ${run.callId} was dropped.`);
  const end = await runCallback<unknown>({ clock: staging.clock, signal: ctx.signal, late }, () =>
    tool.definition.preview?.(invocation.input, ctx),
  );
  if (run.stopped || end.state === "unsettled") return stoppedEnding(run, "before");
  if (end.state === "threw") throw end.error;
  if (!isPreview(end.value)) return resultEnding(readPlainResult(tool.name, end.value));
  const previewed = { judged, ctx, preview: end.value };
  const refused = await refuseTouched(batch, run, judged, end.value);
  if (refused) return refused;
  return judged.stages ? await stageCall(batch, run, previewed) : await staging.session.whileHeld(() => applyCall(batch, run, previewed));
}

function isPreview(value: unknown): value is Preview {
  if (!isObject(value) || typeof value["label"] !== "string") return false;
  const { blocks, changes } = value;
  if (!Array.isArray(blocks) || !blocks.every((block) => typeof block === "string")) return false;
  return Array.isArray(changes) && changes.every(isPlanned);
}

/** A custom tool may return invalid content. */
function isPlanned(change: unknown): boolean {
  if (!isObject(change)) return false;
  const { path, realPath, before, after, to, mode } = change;
  const paths = [path, realPath, to ?? "/"].every((each) => typeof each === "string" && each.startsWith("/"));
  const contents = [before, after].every((each) => each === null || each instanceof Uint8Array);
  return paths && contents && (mode === undefined || (typeof mode === "number" && Number.isInteger(mode) && mode >= 0));
}

type PreviewedCall = { readonly judged: JudgedCall; readonly ctx: RunContext; readonly preview: Preview };

async function stageCall(batch: BatchRun, run: CallRun, { judged, ctx, preview }: PreviewedCall): Promise<Ending> {
  const { staging } = batch;
  const { row, manifest } = await stagePreview(staging, sourceOf(run, judged), { preview });
  if (run.stopped) {
    await discardProposal(staging, row.id, { resolution: byRuntime(staging, STAGING_FAILED), signal: new AbortController().signal, ctx });
    return stoppedEnding(run, "before");
  }
  const limits = outputLimits(judged.tool.definition);
  const content = stagedText(row, manifest.blocks, limits.maxLines);
  const details = { ...detailsOf(manifest.details), applied: false, proposalId: row.id };
  return {
    state: "succeeded",
    type: null,
    result: { content, details, ...(preview.display !== undefined && { display: preview.display }) },
  };
}

function sourceOf(run: CallRun, { request, tool: { kind } }: JudgedCall): ProposalSource {
  const { tool, toolDigest, cwd, input } = request;
  return { callId: run.callId, tool, toolDigest, kind, cwd, input };
}

async function applyCall(batch: BatchRun, run: CallRun, { judged, ctx, preview }: PreviewedCall): Promise<Ending> {
  const { staging } = batch;
  const at = new Date(staging.clock.now()).toISOString();
  const resolution: Resolution = { action: "apply", by: "model", reason: "", callId: run.callId, at };
  const { row, manifest, contents } = await stagePreview(staging, sourceOf(run, judged), { preview, resolution });
  const settling = { resolution, signal: ctx.signal, ctx };
  const { tool } = judged;
  const ending = await applyChanges(staging, { row, tool, manifest, settling, direct: true, contents, display: preview.display });
  if (ending.type !== "applied") return ending;
  const { result } = ending;
  const details = { ...detailsOf(result.details), proposalId: row.id, ...(ctx.signal.aborted && { cancelRequested: true }) };
  return { state: "succeeded", type: null, result: { ...result, details } };
}

function detailsOf(details: Json | undefined): JsonObject {
  return isJsonObject(details) ? details : {};
}

const MOST_CHARS = 25_000;

/** The model's text, with as many whole changes as fit. */
export function stagedText(row: Pick<ProposalRow, "id" | "label">, blocks: readonly string[], maxLines: number): string {
  const lines = [resolveText.staged(row)];
  const room = { chars: MOST_CHARS - lines.join("").length - RESERVED, lines: maxLines - 2 };
  for (const [at, block] of blocks.entries()) {
    room.chars -= block.length + 1;
    room.lines -= block.split("\n").length;
    const last = at === blocks.length - 1;
    if (room.chars + (last ? RESERVED : 0) < 0 || room.lines + (last ? 1 : 0) < 0) {
      lines.push(resolveText.moreChanges(blocks.length - at, row.id));
      break;
    }
    lines.push(block);
  }
  return lines.join("\n");
}

const RESERVED = 120;

/** Judges files that the preview touches but the call did not name. */
async function refuseTouched(batch: BatchRun, run: CallRun, judged: JudgedCall, preview: Preview): Promise<Ending | undefined> {
  const unnamed = unnamedPaths(judged, preview);
  if (unnamed.length === 0) return undefined;
  const { tool, invocation, stages } = judged;
  const touching: Judgeable = {
    input: invocation.input,
    locations: () => unnamed,
    opinion: () => invocation.opinion(),
    safe: () => invocation.safe(),
  };
  const assessing = { ...assessmentInput(batch, run, judged), invocation: touching };
  const effect = await assessRequest(assessing);
  if (effect.decision.verdict === "deny") return refusedEnding(effect);
  const declared = tool.definition.locations !== undefined;
  const seen = stages ? await assessRequest(await asReading(batch.batch, assessing)) : effect;
  if (seen.decision.verdict === "deny") return refusedEnding(seen);
  const passed = judged.decision.verdict === "allow" && declared;
  return passed && seen.decision.verdict === "ask" ? unjudgedEnding(judged, unnamed) : undefined;
}

function unnamedPaths({ invocation }: JudgedCall, { changes }: Preview): readonly Location[] {
  const named = new Set(invocation.locations()?.map(({ path }) => path));
  const touched = changes.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]));
  return touched.filter((path) => !named.has(path)).map((path) => ({ path }));
}

function refusedEnding(assessed: Assessment): Ending {
  return { ...denialEnding(assessed, false), state: "failed" };
}

function unjudgedEnding({ request }: JudgedCall, unnamed: readonly Location[]): Ending {
  const message = `${unnamed[0]?.path ?? ""} is not among the files '${request.tool}' was allowed to touch`;
  return errorEnding("failed", "execution_denied", modelText.execution_failed(message));
}
