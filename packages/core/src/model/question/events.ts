import type { By } from "../answer.ts";
import type { Question, QuestionAnswer } from "./question.ts";

/** The bodies of a question's events. The call of `ask` stays claimed until its answer is its result. */
export type QuestionEventBodies = {
  "question.asked": {
    readonly question: string;
    readonly callId: string;
    readonly fingerprint: string;
    readonly questions: readonly Question[];
  };
  /** Shared chain. The first one counts. */
  "question.answered": {
    readonly question: string;
    readonly session: string;
    readonly outcome: "answered" | "declined" | "expired" | "cancelled";
    readonly answers?: readonly QuestionAnswer[];
    readonly by: By;
    readonly reason: string | null;
  };
};
