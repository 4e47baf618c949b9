import type { ChangeEnd } from "../../file-ports.ts";
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
import { appliedPreview, recordApplied, recordUnknown, withSuperseded } from "./record-applied.ts";
import { type ClaimedProposal, restageProposal, type SettleInput, settleProposal } from "./settling.ts";
import type { Staging } from "./staging.ts";
import { changeSet, readStoredProposal } from "./stored.ts";

/** Applies a proposal exactly as it was shown. */
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
  const { manifest } = await readStoredProposal(session, row);
  const { resolution } = settling;
  const applying = session.draft("proposal.applying", { proposal: row.id, digest: row.digest, resolution });
  await recordFirst(staging, { events: [applying], durability: "full" });
  return await applyChanges(staging, { row, tool, manifest, settling, direct: false });
}

export async function applyChanges(staging: Staging, claimed: ClaimedProposal): Promise<Ending> {
  const { row, manifest, direct } = claimed;
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
      await restageProposal(staging, row, { type: "cancelled_before_commit", message: "cancelled", cancelled: true, direct });
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

async function failApply(
  staging: Staging,
  { row, direct }: ClaimedProposal,
  end: Extract<ChangeEnd, { state: "failed" }>,
): Promise<Ending> {
  const { code, restored } = end;
  const message = restored > 0 ? `${end.message.replace(/\.?$/, ".")} ${resolveText.restored(restored)}` : end.message;
  await restageProposal(staging, row, { type: "proposal_apply_failed", message, direct });
  if (!direct) return errorEnding("failed", "proposal_apply_failed", resolveText.applyFailed(message));
  const type = errorTypeOf(Object.assign(new Error(message), { code }));
  return errorEnding("failed", type === "execution_failed" ? "file_write_failure" : type, modelText.execution_failed(message));
}

async function finishApply(staging: Staging, claimed: ClaimedProposal): Promise<Ending> {
  const { row } = claimed;
  const superseded = await recordApplied(staging, row);
  const result = await describeApplied(staging, claimed);
  return { state: "succeeded", type: "applied", result: { ...result, content: withSuperseded(result.content, superseded) } };
}

/** The change is made, so a failure here only loses the text. */
async function describeApplied(staging: Staging, { row, tool, manifest, settling, display }: ClaimedProposal): Promise<ToolResult> {
  const { apply } = tool.definition;
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

/** Shortens a path inside the directory. */
export function shownName(cwd: string, path: string): string {
  const root = cwd.endsWith("/") ? cwd : `${cwd}/`;
  return path.startsWith(root) ? path.slice(root.length) : path;
}
