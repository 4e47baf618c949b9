import type { By } from "./model/answer.ts";
import type { QuestionRow } from "./model/ledger-rows.ts";
import type { Question, QuestionAnswer } from "./model/question/question.ts";

/**
 * The time limit for the question on screen. The runtime's clock decides when it expires; the interface reports what
 * happens. It starts with the first `restart`, so a queued dialog keeps its full time.
 */
export type QuestionTimer = {
  /** The question was drawn or a key was pressed, so its time starts again. */
  readonly restart: (id: string) => void;
  /** The question's list is hidden by an editor, a note or a review. */
  readonly stop: () => void;
  /**
   * Registers a listener for expired questions. Its answer applies until the person gives another, and the next
   * unanswered question is shown with its time running. Return such an answer with its `timedOut`. After the last
   * question the signal aborts instead.
   */
  readonly onExpired: (told: (answer: QuestionAnswer) => void) => void;
};

/** Questions as shown to people. */
export type OpenQuestion = {
  readonly id: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly questions: readonly Question[];
  /** Seconds for each picker; 0 disables it. May change: it is 0 in mode `plan`. */
  readonly timeout: () => number;
  readonly timer: QuestionTimer;
  /** Why the previous answer could not be used. */
  readonly fault?: string;
  readonly agentName?: string;
};

/** A person's answers; `by` defaults to the process. A person's `cancelled` is never a timeout. */
export type QuestionerReply = { readonly by?: By } & (
  | { readonly outcome: "answered"; readonly answers: readonly QuestionAnswer[] }
  | { readonly outcome: "cancelled"; readonly reason?: string; readonly partial: readonly QuestionAnswer[] }
);

/** Asks a person questions. */
export interface Questioner {
  /** False if no person can be reached now; then `onAsk` decides. */
  available(): boolean;
  /**
   * Resolves with the person's reply, or undefined if there is none: the question then stays open for others, and
   * `onAsk` decides. A picker closed without a result replies `cancelled`. Stops when the signal aborts, with reason
   * `AnsweredElsewhere` if another person was faster. `partial` receives the choices so far, on every change and at the
   * latest on abort.
   */
  ask(
    question: OpenQuestion,
    signal: AbortSignal,
    partial: (answers: readonly QuestionAnswer[]) => void,
  ): Promise<QuestionerReply | undefined>;
}

/** The abort reason for a question that was answered or closed elsewhere. */
export class AnsweredElsewhere extends Error {
  readonly outcome: QuestionRow["state"];
  readonly by: By | null;
  constructor({ state, answeredBy }: Pick<QuestionRow, "state" | "answeredBy">) {
    super(`The question is ${state}.`);
    this.name = "AnsweredElsewhere";
    this.outcome = state;
    this.by = answeredBy;
  }
}

/** True if a question can reach a person now or wait for one; only then is `ask` offered. */
export function canAsk({ questioner, onAsk }: { readonly questioner?: Questioner; readonly onAsk?: "deny" | "park" | "fail" }): boolean {
  return questioner?.available() === true || onAsk === "park";
}
