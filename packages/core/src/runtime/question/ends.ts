import type { Question, QuestionAnswer } from "../../model/question/question.ts";
import { partialResult, questionResult } from "../../model/question/result.ts";
import type { Ending } from "../dispatch.ts";
import { errorEnding } from "../pipeline/endings.ts";

export type SettledQuestion = {
  readonly state: "answered" | "declined" | "expired" | "cancelled";
  readonly questions: readonly Question[];
  readonly answers: readonly QuestionAnswer[];
  readonly reason: string | null;
  readonly seconds: number;
};

/** The end of a call whose question is settled. */
export function settledEnd({ state, questions, answers, reason, seconds }: SettledQuestion): Ending {
  if (state === "declined" || state === "cancelled") {
    const lines = reason === null ? [] : [`Reason: ${reason}`];
    return stoppedEnd("ask_cancelled", ["Ask tool was cancelled by the user", ...lines], { questions, answers });
  }
  const { text, details, outcome } = questionResult(questions, answers, seconds);
  return { state: "succeeded", type: outcome, result: { content: text, details } };
}

type ChosenAnswers = { readonly questions: readonly Question[]; readonly answers: readonly QuestionAnswer[] };

/** The end of a call that was cancelled first. */
export function abortedEnd(chosen: ChosenAnswers): Ending {
  return stoppedEnd("ask_aborted", ["Ask input was cancelled"], chosen);
}

function stoppedEnd(type: "ask_cancelled" | "ask_aborted", said: readonly string[], { questions, answers }: ChosenAnswers): Ending {
  const { lines, partial } = partialResult(questions, answers);
  const end = errorEnding("cancelled", type, [...said, ...lines].join("\n"));
  return { ...end, result: { ...end.result, details: { partial } } };
}

/** The end if no one can be asked. */
export function unavailableEnd(): Ending {
  return errorEnding("failed", "ask_unavailable", "Ask tool requires interactive mode");
}

/** For inputs that the tool's own check missed. */
export function unaskableEnd(fault: string): Ending {
  const error = { message: fault, type: "invalid_tool_params" };
  return { state: "failed", type: error.type, result: { content: `Error: ${fault}`, display: fault, error, details: {} } };
}
