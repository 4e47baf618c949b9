import type { By } from "./model/answer.ts";
import type { QuestionRow } from "./model/ledger-rows.ts";
import type { Question, QuestionAnswer } from "./model/question/question.ts";

/**
 * The time a person has for the question whose list is shown. The runtime's clock decides when it is over; whoever shows the list says what happens on it.
 * Nothing runs before the first `restart`: what is queued behind another dialog has all its time.
 */
export type QuestionTimer = {
  /** The list of this question was drawn, or a key was pressed on it: its time begins anew. */
  readonly restart: (id: string) => void;
  /** No list is shown now, but an editor, a note or a review. */
  readonly stop: () => void;
  /**
   * Whom to tell when the time for a question was over: this answer stands for it until the person gives another, and the next question without an answer is
   * shown, its time running. An answer that still stands so is handed back with its `timedOut`. After the last question the signal aborts instead.
   */
  readonly onExpired: (told: (answer: QuestionAnswer) => void) => void;
};

/** Questions as they are shown to people. */
export type OpenQuestion = {
  readonly id: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly questions: readonly Question[];
  /** Seconds for each picker; 0: none. A live value: it is 0 while the mode is `plan`. */
  readonly timeout: () => number;
  readonly timer: QuestionTimer;
  /** Why the answer given before could not be used. */
  readonly fault?: string;
  readonly agentName?: string;
};

/** A person's answers; without `by` the process speaks for them. `cancelled` by a person is never a timeout. */
export type QuestionerReply = { readonly by?: By } & (
  | { readonly outcome: "answered"; readonly answers: readonly QuestionAnswer[] }
  | { readonly outcome: "cancelled"; readonly reason?: string; readonly partial: readonly QuestionAnswer[] }
);

/** Carries questions to a person. */
export interface Questioner {
  /** False if no person can be reached this way now; then `onAsk` decides. */
  available(): boolean;
  /**
   * Resolves with what the person said, or with undefined when this way gives no answer: the question then stays open for others, and `onAsk` decides. A picker that
   * is closed without a result says `cancelled`. Stops when the signal aborts, whose reason is `AnsweredElsewhere` where somebody was faster. `partial` hears what was
   * chosen so far, whenever that changed and at the latest when the signal aborts.
   */
  ask(
    question: OpenQuestion,
    signal: AbortSignal,
    partial: (answers: readonly QuestionAnswer[]) => void,
  ): Promise<QuestionerReply | undefined>;
}

/** Why a question is taken from the screen: it was answered or closed elsewhere. */
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

/** True where a question reaches a person now, or waits for one: only then is `ask` offered. */
export function canAsk({ questioner, onAsk }: { readonly questioner?: Questioner; readonly onAsk?: "deny" | "park" | "fail" }): boolean {
  return questioner?.available() === true || onAsk === "park";
}
