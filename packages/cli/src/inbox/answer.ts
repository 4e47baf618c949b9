import {
  type Answer,
  AnswerError,
  type ApprovalRow,
  answerApproval,
  answerQuestion,
  type By,
  type FilePart,
  type FileReview,
  LedgerError,
  messageOf,
  type ProposalPart,
  type ProposalRow,
  type QuestionRow,
  reviewProposal,
} from "@assent/core";
import { applyHunks, parseDiff } from "@assent/core/parts";
import { createRandomIds, createSystemClock, nodeDigest } from "@assent/host";
import type { AnswerResult, InboxAnswer, RememberOffer } from "@assent/inbox";
import { PLACEHOLDER_START } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { reviewShown } from "../desk/approvals/choose-part.ts";
import { requestsForEdit } from "../desk/approvals/recorded-requests.ts";
import { type ProposalAction, settleProposal } from "../desk/proposals/settle.ts";
import { refuseWideAnswer } from "../desk/sessions/agent-session.ts";
import { CommandError } from "../io/failure.ts";
import { whenText, whoText } from "../io/who.ts";
import type { Store } from "../store/store.ts";

export type AnswerParts = { readonly context: Context; readonly store: Store; readonly by: By };

const isStale = (answer: InboxAnswer, shown: { readonly revision: number; readonly fingerprint: string }): boolean =>
  answer.revision !== shown.revision || answer.fingerprint !== shown.fingerprint;

const reportChange = (id: string): AnswerResult => ({
  ...{ id, result: "changed" },
  message: `${id} changed since you looked. Nothing was saved. Look at it again.`,
});

/** Turns expected failures into a result that says that nothing was saved. */
export async function reportRefusal(id: string, act: () => Promise<AnswerResult>): Promise<AnswerResult> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof LedgerError && error.type === "stale_revision") return reportChange(id);
    const isExpected = error instanceof CommandError || error instanceof AnswerError || error instanceof LedgerError;
    if (!isExpected) throw error;
    return { id, result: "refused", message: `${id} was not answered: ${messageOf(error)}` };
  }
}

/** Says who answered before. */
export function reportEarlierAnswer(id: string, state: string, who: By | null, at: string | null): AnswerResult {
  const by = who ? ` by ${whoText(who)}` : "";
  return { id, result: "answered-before", message: `${id} was answered before: ${state}${by}${at === null ? "" : ` at ${whenText(at)}`}.` };
}

/** Saves an answer to an approval. `offers` are those of its card, with the rules as they would be stored. */
export async function answerApprovalCard(
  { context, store, by }: AnswerParts,
  row: ApprovalRow,
  given: InboxAnswer,
  offers: readonly (readonly [shown: RememberOffer, stored: RememberOffer])[],
): Promise<AnswerResult> {
  if (row.state !== "open") return reportEarlierAnswer(row.id, row.state, row.answeredBy, row.answeredAt);
  const isOtherPreview = given.write !== undefined && given.write !== row.preview?.id;
  if (isStale(given, row) || isOtherPreview) return reportChange(row.id);
  const answer: Answer = {
    approval: row.id,
    revision: given.revision,
    fingerprint: given.fingerprint,
    by,
    outcome: given.outcome,
    ...(given.reason !== undefined && { reason: given.reason }),
    ...(given.stop === true && { interrupt: true }),
    ...(given.mode !== undefined && { mode: given.mode }),
    ...(given.write !== undefined && { write: given.write }),
    ...(given.input && { updatedInput: refusePlaceholder(given.input) }),
    ...(given.files && given.write === undefined && { newContent: await contentOfHunks(store, row, given.files) }),
    ...(given.files && given.write !== undefined && { part: partOf(await reviewShown(store.ledger, row), given.files) }),
    ...(given.remember && { remember: storedOffer(given.remember, offers) }),
  };
  return await saveApproval({ context, store }, row, answer);
}

/** Saves an answer, bound to what was shown. */
export async function saveApproval({ context, store }: Omit<AnswerParts, "by">, row: ApprovalRow, answer: Answer): Promise<AnswerResult> {
  await refuseWideAnswer(store.ledger, row, answer);
  const { requests, rules } = await requestsForEdit(context, store, row);
  const clock = context.overrides.clock ?? createSystemClock();
  const report = await answerApproval({ ledger: store.ledger, clock, ids: createRandomIds(), rules, requests }, answer);
  if (report.alreadyAnswered) return reportEarlierAnswer(row.id, report.outcome, report.answeredBy, report.answeredAt);
  return { id: row.id, result: "saved", message: `${row.id}: ${report.outcome}.` };
}

/** An edit of a redacted text would run the placeholder. */
function refusePlaceholder<T>(input: T): T {
  if (!JSON.stringify(input).includes(PLACEHOLDER_START)) return input;
  throw new CommandError("bad_answer", 2, { message: "The edited input contains a redacted value. Edit the raw input instead." });
}

function storedOffer(
  { scope, rules }: NonNullable<InboxAnswer["remember"]>,
  offers: readonly (readonly [shown: RememberOffer, stored: RememberOffer])[],
): NonNullable<Answer["remember"]> {
  const [, stored] = offers.find(([shown]) => shown.scope === scope && shown.rules.join("\n") === rules.join("\n")) ?? [];
  if (stored) return { scope, rules: stored.rules };
  throw new CommandError("bad_answer", 2, { message: "This rule was not offered on the card." });
}

type ChosenFiles = NonNullable<InboxAnswer["files"]>;

async function contentOfHunks({ ledger }: Store, row: ApprovalRow, files: ChosenFiles): Promise<string> {
  const details = await ledger.resolve(row.details);
  const [file] = details.type === "edit" ? parseDiff(details.fileDiff) : [];
  if (details.type !== "edit" || !file) throw new CommandError("bad_answer", 2, { message: "Only a change of one file has parts." });
  const [chosen] = files;
  if (!chosen?.hunks) return details.newContent;
  return applyHunks(details.originalContent ?? "", file, new Set(chosen.hunks.map(Number)));
}

/** Saves the answers to a question. */
export async function answerQuestionCard({ context, store, by }: AnswerParts, row: QuestionRow, given: InboxAnswer): Promise<AnswerResult> {
  if (row.state !== "open") return reportEarlierAnswer(row.id, row.state, row.answeredBy, row.answeredAt);
  const clock = context.overrides.clock ?? createSystemClock();
  const outcome = given.outcome === "approve" ? "answered" : "declined";
  const { fingerprint, answers, reason } = given;
  const said = { question: row.id, outcome, by, reason, fingerprint: outcome === "answered" ? fingerprint : undefined } as const;
  const report = await answerQuestion(
    { ledger: store.ledger, clock },
    { ...said, ...(outcome === "answered" && { answers: answers ?? [] }) },
  );
  if (report.alreadyAnswered) return reportEarlierAnswer(row.id, report.outcome, report.answeredBy, report.answeredAt);
  return { id: row.id, result: "saved", message: `${row.id}: ${outcome}.` };
}

/** Applies or discards a staged change, wholly or in part, or undoes an applied one. */
export async function settleCard(
  { context, store, by }: AnswerParts,
  row: ProposalRow,
  action: "apply" | "discard" | "undo",
  given: Pick<InboxAnswer, "reason" | "files" | "revision" | "fingerprint"> | undefined,
): Promise<AnswerResult> {
  if (given && row.state !== "staged") return reportEarlierAnswer(row.id, row.state, row.resolution?.who ?? null, row.updatedAt);
  if (given && given.fingerprint !== row.digest) return reportChange(row.id);
  const part = action === "apply" && given?.files ? partOf(await reviewProposal(store, row, nodeDigest), given.files) : undefined;
  return await settleRow({ context, store, by }, { row, action, part, reason: given?.reason ?? "" });
}

export async function settleRow({ context, store, by }: AnswerParts, action: ProposalAction): Promise<AnswerResult> {
  const { id } = action.row;
  const { report } = await settleProposal(context, store, { ...action, by });
  if (report === "asked") return { id, result: "saved", message: `${id}: requested.` };
  return { id, result: report.ok ? "saved" : "refused", message: `${id}: ${report.text}` };
}

/** The page names files by their number in the review. */
function partOf(review: readonly FileReview[], files: ChosenFiles): ProposalPart {
  const parts = files.map(({ path: index, hunks }): FilePart => {
    const file = review[Number(index)];
    if (!file) throw new CommandError("invalid_part", 2, { message: "The change has no such file. Nothing was applied." });
    return { path: file.path, ...(hunks && { hunks }) };
  });
  return { files: parts };
}
