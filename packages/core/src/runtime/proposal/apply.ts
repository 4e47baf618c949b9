import type { ChangeEnd } from "../../file-ports.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText, thrownWords } from "../../model/proposal/resolve-texts.ts";
import type { ToolResult } from "../../model/result/result.ts";
import { errorTypeOf } from "../../model/result/thrown.ts";
import { modelText } from "../../model/text/model-text.ts";
import { toolDigest } from "../../tool-digest.ts";
import type { Ending } from "../dispatch.ts";
import { errorEnding } from "../pipeline/endings.ts";
import { callbackResult, runCallback } from "../pipeline/run-callback.ts";
import { recordFirst, recordSurely } from "../session/record-surely.ts";
import { applyByClosure, applyByTool } from "./apply-by-code.ts";
import { isWhole, type ReducedChanges, reduceChanges } from "./part.ts";
import { appliedPreview, recordApplied, recordUnknown, withSuperseded } from "./record-applied.ts";
import { loadChanges } from "./review.ts";
import { type ClaimedProposal, restageProposal, type SettleInput, settleProposal } from "./settling.ts";
import { stagePreview } from "./stage.ts";
import type { Staging } from "./staging.ts";
import { changeSet, readStoredProposal, shownName } from "./stored.ts";

/** Applies a proposal exactly as it was shown, or the part of it that a person chose. */
export function applyProposal(staging: Staging, id: string, settling: SettleInput): Promise<Ending> {
  const act = (row: ProposalRow): Promise<Ending> =>
    row.carrier === "closure" ? applyByClosure(staging, row, settling) : applyRecorded(staging, row, settling);
  return settleProposal(staging, id, { action: "apply", act });
}

async function applyRecorded(staging: Staging, row: ProposalRow, settling: SettleInput): Promise<Ending> {
  const { session, digest } = staging;
  const tool = staging.tools().get(row.tool);
  if (!tool || toolDigest(tool, digest) !== row.toolDigest) {
    await session.record([session.draft("proposal.stale", { proposal: row.id, cause: "tool", files: [] })], "normal");
    return errorEnding("failed", "proposal_stale", resolveText.toolChanged(row.tool));
  }
  const { input, manifest } = await readStoredProposal(session, row);
  const { resolution, part } = settling;
  const reduced = part && reduceChanges(await loadChanges(session, manifest.effects), part, { cwd: row.cwd, digest });
  if (reduced && "problem" in reduced) return errorEnding("failed", "invalid_part", reduced.problem);
  if (reduced && !isWhole(reduced)) return await applyPart(staging, { row, tool, settling, input, reduced });
  const applying = session.draft("proposal.applying", { proposal: row.id, digest: row.digest, resolution });
  await recordFirst(staging, { events: [applying], durability: "full" });
  return await applyChanges(staging, { row, tool, manifest, settling, direct: false });
}

type ReducedProposal = Pick<ClaimedProposal, "row" | "tool" | "settling"> & {
  readonly input: JsonObject;
  readonly reduced: ReducedChanges;
};

/** The part is a proposal of its own, with its own digest. Once applied, it supersedes the proposal it was taken from. */
async function applyPart(staging: Staging, { row, tool, settling, input, reduced }: ReducedProposal): Promise<Ending> {
  const { toolDigest: made, kind, cwd, label } = row;
  const source = { callId: null, tool: row.tool, toolDigest: made, kind, cwd, input };
  const preview = { label: resolveText.partLabel(label), blocks: reduced.blocks, changes: reduced.changes };
  const { resolution } = settling;
  const part = { of: row.id, digest: row.digest };
  const staged = await stagePreview(staging, source, { preview, resolution, part });
  const text = resolveText.appliedPart({ id: staged.row.id, of: row, files: reduced.files });
  return await applyChanges(staging, { ...staged, tool, settling, direct: false, part: { ...part, text } });
}

export async function applyChanges(staging: Staging, claimed: ClaimedProposal): Promise<Ending> {
  const { row, manifest } = claimed;
  if (manifest.effects.length === 0) return await applyByTool(staging, claimed);
  const end = await changeFiles(staging, claimed);
  switch (end.state) {
    case "changed":
      return await finishApply(staging, claimed);
    case "stale": {
      const files = shownNames(claimed, end.files);
      const stale = { proposal: row.id, cause: "changed", files } as const;
      await recordSurely(staging, { events: () => [staging.session.draft("proposal.stale", stale)] });
      return errorEnding("failed", "proposal_stale", resolveText.stale(files));
    }
    case "cancelled":
      await restageProposal(staging, row, {
        type: "cancelled_before_commit",
        message: "cancelled",
        cancelled: true,
        dropped: isDropped(claimed),
      });
      return cancelledEnding(claimed);
    case "failed":
      return await failApply(staging, claimed, end);
    case "unknown": {
      const { message, files } = end;
      await recordUnknown(staging, row, { message, files });
      return errorEnding("unknown", "apply_unknown", resolveText.unknown({ label: row.label, message, files }));
    }
    default:
      return end satisfies never;
  }
}

function cancelledEnding({ row, direct }: ClaimedProposal): Ending {
  return direct
    ? errorEnding("cancelled", "cancelled_before_commit", "Cancelled before anything was written.")
    : errorEnding("cancelled", "cancelled_before_commit", resolveText.cancelledBeforeCommit(row));
}

async function changeFiles(staging: Staging, { row, manifest, settling, contents }: ClaimedProposal): Promise<ChangeEnd> {
  const { changes, session } = staging;
  if (!changes) return { state: "failed", code: undefined, message: "nothing here changes files", restored: 0 };
  const set = changeSet(session, { id: row.id, effects: manifest.effects, contents });
  try {
    return await serializeChanges(staging, () => changes.apply(set, { signal: settling.signal, committing: session.confirm }));
  } catch (error) {
    return { state: "failed", code: undefined, message: thrownWords(error), restored: 0 }; // it threw before writing the first byte
  }
}

/** Two proposals may touch the same file. */
export function serializeChanges<T>(staging: Staging, act: () => Promise<T>): Promise<T> {
  const done = staging.files.then(act);
  staging.files = done.catch(() => undefined);
  return done;
}

/** Only a proposal that was staged on its own is staged again after a failure. */
function isDropped({ direct, part }: ClaimedProposal): boolean {
  return direct || part !== undefined;
}

async function failApply(staging: Staging, claimed: ClaimedProposal, end: Extract<ChangeEnd, { state: "failed" }>): Promise<Ending> {
  const { row, direct } = claimed;
  const { code, restored } = end;
  const message = restored > 0 ? `${end.message.replace(/\.?$/, ".")} ${resolveText.restored(restored)}` : end.message;
  await restageProposal(staging, row, { type: "proposal_apply_failed", message, dropped: isDropped(claimed) });
  if (!direct) return errorEnding("failed", "proposal_apply_failed", resolveText.applyFailed(message));
  const type = errorTypeOf(Object.assign(new Error(message), { code }));
  return errorEnding("failed", type === "execution_failed" ? "file_write_failure" : type, modelText.execution_failed(message));
}

async function finishApply(staging: Staging, claimed: ClaimedProposal): Promise<Ending> {
  const { row, part } = claimed;
  const superseded = await recordApplied(staging, row, { insteadOf: part?.of });
  if (part) {
    const content = withSuperseded(
      part.text,
      superseded.filter(({ id }) => id !== part.of),
    );
    return { state: "succeeded", type: "applied", result: { content } };
  }
  const result = await describeApplied(staging, claimed);
  return { state: "succeeded", type: "applied", result: { ...result, content: withSuperseded(result.content, superseded) } };
}

/** The change is made, so a failure here only loses the text. */
async function describeApplied(staging: Staging, { row, tool, manifest, settling, display }: ClaimedProposal): Promise<ToolResult> {
  const { apply } = tool.definition;
  if (!apply) return { content: resolveText.applied(row) };
  const { clock, warn } = staging;
  const words = appliedPreview({ row, manifest, settling, display });
  const late = (): void => undefined;
  const end = await runCallback({ clock, signal: settling.signal, late }, () => apply?.(words, settling.ctx));
  const result = end.state === "returned" ? callbackResult(tool.name, end.value).result : undefined;
  if (result && !result.error) return result;
  const why = end.state === "threw" ? thrownWords(end.error) : (result?.error?.message ?? "it did not end");
  warn(`Tool '${tool.name}' applied ${row.id} but could not say so: ${why}`);
  return { content: resolveText.applied(row), ...(display !== undefined && { display }) };
}

function shownNames({ row, manifest }: ClaimedProposal, real: readonly string[]): readonly string[] {
  const given = new Map(manifest.effects.flatMap(({ path, realPath }) => [[realPath, path] as const]));
  return real.map((path) => shownName(row.cwd, given.get(path) ?? path));
}
