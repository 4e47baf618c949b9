import type { ChangeEnd, ChangeSet, FileChanges } from "../../file-ports.ts";
import type { By } from "../../model/answer.ts";
import type { Draft } from "../../model/events.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText, thrownWords } from "../../model/proposal/resolve-texts.ts";
import type { Ending } from "../dispatch.ts";
import { errorEnding } from "../pipeline/endings.ts";
import { recordFirst, recordSurely } from "../session/record-surely.ts";
import { serializeChanges } from "./apply.ts";
import { successEnding, unknownProposal } from "./settling.ts";
import { describeSettling, noticeDraft, reserveWhile, type Staging } from "./staging.ts";
import { changeSet, findProposal, readStoredProposal, shownName } from "./stored.ts";

/** `again`: an earlier process started it. */
export type UndoInput = { readonly by: By; readonly reason: string; readonly again?: boolean };

/** Restores every file, if all are as the apply left them. */
export async function undoProposal(staging: Staging, id: string, undoing: UndoInput): Promise<Ending> {
  const row = await findProposal(staging.session, id);
  if (row?.session !== staging.session.id) return unknownProposal(staging, id, row?.session);
  if (staging.busy.has(id)) return errorEnding("failed", "proposal_busy", resolveText.busy(row));
  if (row.state !== "applied") return errorEnding("failed", "not_undoable", resolveText.notUndoable(row));
  const { changes } = staging;
  if (row.files === 0 || !changes) return errorEnding("failed", "undo_unavailable", resolveText.undoUnavailable(row));
  return await reserveWhile(staging, [id], () => staging.session.whileHeld(() => undo(staging, row, { ...undoing, changes })));
}

type UndoRun = UndoInput & { readonly changes: FileChanges };

async function undo(staging: Staging, row: ProposalRow, { changes, by, reason, again }: UndoRun): Promise<Ending> {
  const { session } = staging;
  const { manifest } = await readStoredProposal(session, row);
  const set = changeSet(session, { id: row.id, effects: manifest.effects, undo: true });
  await recordFirst(staging, { events: [session.draft("proposal.undoing", { proposal: row.id, by })], durability: "full" });
  const end = await serializeChanges(staging, () => restoreFiles(staging, set, { changes, again: again === true }));
  if (end.state === "changed") {
    const text = resolveText.undone(row);
    const undone = { proposal: row.id, by, reason: reason === "" ? null : reason };
    const notice = resolveText.undoneByPerson(describeSettling("A person undid", row, reason));
    const events = (): readonly Draft[] => [session.draft("proposal.undone", undone), noticeDraft(staging, notice)];
    await recordSurely(staging, { events, durability: "full" });
    return successEnding("undone", text);
  }
  if (end.state === "stale") {
    const files = end.files.map((path) => shownName(row.cwd, path));
    return errorEnding("failed", "undo_conflict", resolveText.undoConflict({ id: row.id, files }));
  }
  if (end.state === "unknown") {
    const { message, files } = end;
    return errorEnding("unknown", "apply_unknown", resolveText.unknown({ label: `the undo of ${row.label}`, message, files }));
  }
  const message = end.state === "failed" ? end.message : "it was cancelled";
  return errorEnding("failed", "proposal_apply_failed", resolveText.undoFailed({ id: row.id, message }));
}

/** Recovers an interrupted undo first. */
async function restoreFiles(
  { session }: Staging,
  set: ChangeSet,
  { changes, again }: Pick<UndoRun, "changes" | "again">,
): Promise<ChangeEnd> {
  const { signal } = new AbortController();
  try {
    const found = again ? await changes.recover(set) : undefined;
    if (found?.state === "after") return { state: "changed" };
    if (found?.state === "unknown") return found; // it may be done, and the files changed since
    return await changes.apply(set, { signal, committing: session.confirm });
  } catch (error) {
    return { state: "failed", code: undefined, message: thrownWords(error), restored: 0 };
  }
}
