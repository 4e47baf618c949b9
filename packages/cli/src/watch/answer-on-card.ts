import { type By, type Clock, type OpenQuestion, readRow, readWholeQuestion } from "@assent/core";
import type { AnswerResult } from "@assent/inbox";
import type { Context } from "../command-line/spec.ts";
import { approvalEditor } from "../desk/approvals/editor.ts";
import { openRecordedRequests } from "../desk/approvals/recorded-requests.ts";
import { waitingKind } from "../desk/approvals/waiting-list.ts";
import { continueText } from "../desk/sessions/resume-command.ts";
import { answerQuestionCard, reportEarlierAnswer, reportRefusal, saveApproval, settleRow } from "../inbox/answer.ts";
import { openApproval } from "../inbox/card.ts";
import { createSessionViews } from "../inbox/rows.ts";
import type { Store } from "../store/store.ts";
import { askQuestioner } from "../tui/ask/questioner.ts";
import { cardApprover } from "../tui/cards/approver.ts";
import { reviewOnCard } from "../tui/cards/proposal-cards.ts";
import type { CardStack } from "../tui/cards/stack.ts";

export type CardAnswering = {
  readonly context: Context;
  readonly store: Store;
  readonly by: By;
  readonly clock: Clock;
  readonly stack: CardStack;
  /** Gives the terminal to the person's editor. */
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>;
};

/** Shows one card until it is answered, here or elsewhere, or until the signal aborts. Resolves with what to say about it. */
export async function answerOnCard(answering: CardAnswering, id: string, signal: AbortSignal): Promise<string> {
  const { context, store } = answering;
  const { ledger } = store;
  const kind = waitingKind(id);
  const row = await readRow(ledger, kind, id);
  if (!row) return `There is no ${id}.`;
  const answer = { approvals: onApprovalCard, questions: onQuestionCard, proposals: onProposalCard }[kind];
  let result: AnswerResult | undefined;
  const refused = await reportRefusal(id, async () => {
    result = await answer(answering, id, signal);
    return result ?? { id, result: "refused", message: "" };
  });
  const { message, result: outcome } = result ?? refused;
  return outcome === "saved" ? `${message} ${(await continueText(context, ledger, row.session)).trim()}` : message;
}

/** Says who answered an item that is no longer open; empty if it is still open. */
export async function answeredElsewhere({ ledger }: Store, id: string): Promise<string> {
  const kind = waitingKind(id);
  if (kind === "proposals") {
    const row = await readRow(ledger, kind, id);
    return !row || row.state === "staged" ? "" : reportEarlierAnswer(id, row.state, row.resolution?.who ?? null, row.updatedAt).message;
  }
  const row = await readRow(ledger, kind, id);
  return !row || row.state === "open" ? "" : reportEarlierAnswer(id, row.state, row.answeredBy, row.answeredAt).message;
}

type OnCard = (answering: CardAnswering, id: string, signal: AbortSignal) => Promise<AnswerResult | undefined>;

const onApprovalCard: OnCard = async ({ context, store, by, stack, aside }, id, signal) => {
  const { ledger } = store;
  const row = await readRow(ledger, "approvals", id);
  if (!row) return undefined;
  if (row.state !== "open") return reportEarlierAnswer(id, row.state, row.answeredBy, row.answeredAt);
  const approval = await openApproval({ ledger, viewOf: createSessionViews(ledger) }, row);
  const { revising } = await openRecordedRequests(context, store, row);
  const own = approvalEditor({ environment: context.io.env, setting: () => undefined, revising: () => revising });
  const edit = {
    ...own,
    open: (...given: Parameters<typeof own.open>) => aside(() => own.open(...given)),
    openText: (...given: Parameters<typeof own.openText>) => aside(() => own.openText(...given)),
  };
  const answer = await cardApprover({ stack, by, edit }).ask(approval, signal);
  return answer && (await saveApproval({ context, store }, row, answer));
};

const onQuestionCard: OnCard = async ({ context, store, by, clock, stack }, id, signal) => {
  const found = await readRow(store.ledger, "questions", id);
  if (!found) return undefined;
  const row = await readWholeQuestion(store.ledger, found);
  const { session: sessionId, callId, questions, fingerprint } = row;
  const open: OpenQuestion = { id, sessionId, callId, questions, timeout: () => 0, timer: NO_LIMIT };
  const questioner = askQuestioner({ stack, clock, by, notify: () => undefined });
  const reply = await questioner.ask(open, signal, () => undefined);
  if (!reply) return undefined;
  const shown = { id, revision: 0, fingerprint };
  return await answerQuestionCard(
    { context, store, by },
    row,
    reply.outcome === "answered" ? { ...shown, outcome: "approve", answers: reply.answers } : { ...shown, outcome: "reject" },
  );
};

/** The process that asks limits the time. */
const NO_LIMIT: OpenQuestion["timer"] = { restart: () => undefined, stop: () => undefined, onExpired: () => undefined };

const onProposalCard: OnCard = async ({ context, store, by, stack }, id, signal) => {
  const { ledger } = store;
  const row = await readRow(ledger, "proposals", id);
  if (!row) return undefined;
  let result: AnswerResult | undefined;
  await reviewOnCard(
    {
      stack,
      settle: async (action, _id, { reason, part }) => {
        result = await settleRow({ context, store, by }, { row, action, part, reason });
      },
    },
    { session: { ledger }, row, isStaged: async () => (await readRow(ledger, "proposals", id))?.state === "staged", signal },
  );
  return result;
};
