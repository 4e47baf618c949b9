import type { By } from "../answer.ts";
import type { Question, QuestionAnswer } from "./question.ts";

/** The bodies of question events; the `ask` call stays claimed until it is answered. */
export type QuestionEventBodies = {
  "question.asked": {
    readonly question: string;
    readonly callId: string;
    readonly fingerprint: string;
    readonly questions: readonly Question[];
  };
  /** Shared chain; the first answer wins. */
  "question.answered": {
    readonly question: string;
    readonly session: string;
    readonly outcome: "answered" | "declined" | "expired" | "cancelled";
    readonly answers?: readonly QuestionAnswer[];
    readonly by: By;
    readonly reason: string | null;
  };
};
