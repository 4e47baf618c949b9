import type { By, Clock, OpenQuestion, QuestionAnswer, Questioner, QuestionerReply } from "@assent/core";
import type { CardStack } from "../cards/stack.ts";
import { pressAsk } from "./keys.ts";
import { type AskOutcome, allAnswers, beginAsk, expireQuestion } from "./state.ts";
import { askLines } from "./view.ts";

export type AskQuestionerParts = {
  readonly stack: CardStack;
  readonly clock: Clock;
  readonly by: By;
  /** Alerts the person that a question is waiting. */
  readonly notify: () => void;
};

export function askQuestioner(parts: AskQuestionerParts): Questioner {
  return { available: () => true, ask: (open, signal, partial) => ask(parts, open, { signal, partial }) };
}

const SECOND_MS = 1_000;

function ask(
  { stack, clock, by, notify }: AskQuestionerParts,
  open: OpenQuestion,
  { signal, partial }: { readonly signal: AbortSignal; readonly partial: (answers: readonly QuestionAnswer[]) => void },
): Promise<QuestionerReply | undefined> {
  const { questions, timer } = open;
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    let state = beginAsk(questions);
    let shownAt = -1;
    const ticking = makeTicking(clock, () => {
      if (state.left !== undefined) state = { ...state, left: Math.max(0, state.left - 1) };
      stack.changed();
    });
    const end = (answered: QuestionerReply | undefined): void => {
      ticking.stop();
      timer.stop();
      signal.removeEventListener("abort", withdrawn);
      take();
      resolve(answered);
    };
    const withdrawn = (): void => end(undefined);
    /** Only a list of options counts down, starting over with every key. */
    const time = (): void => {
      const question = questions[state.at];
      const seconds = open.timeout();
      const counts = question !== undefined && question.options.length > 0 && !state.editing;
      if (counts) timer.restart(question.id);
      else timer.stop();
      state = { ...state, left: counts && seconds > 0 ? Math.ceil(seconds) : undefined };
      if (state.left === undefined) ticking.stop();
      else ticking.start();
    };
    timer.onExpired((answer) => {
      state = expireQuestion(state, questions, answer);
      shownAt = -1;
      partial(allAnswers(state, questions));
      stack.changed();
    });
    const take = stack.put({
      id: open.id,
      title: questions[0]?.question ?? "",
      cancels: true,
      view: (canvas) => askLines(open, state, canvas),
      shown: () => {
        if (shownAt === state.at) return;
        shownAt = state.at;
        time();
      },
      press: (key) => {
        const pressed = pressAsk(questions, state, key);
        state = pressed.state;
        partial(allAnswers(state, questions));
        if (pressed.outcome) end(makeAnswer(pressed.outcome, by));
        else time();
      },
    });
    signal.addEventListener("abort", withdrawn, { once: true });
    notify();
  });
}

function makeAnswer(outcome: AskOutcome, by: By): QuestionerReply {
  if ("cancelled" in outcome) return { outcome: "cancelled", partial: outcome.cancelled, by };
  return { outcome: "answered", answers: outcome.answers, by };
}

function makeTicking(clock: Clock, tick: () => void): { readonly start: () => void; readonly stop: () => void } {
  let cancel: (() => void) | undefined;
  const stop = (): void => {
    cancel?.();
    cancel = undefined;
  };
  const start = (): void => {
    stop();
    cancel = clock.timer(SECOND_MS, () => {
      start();
      tick();
    });
  };
  return { start, stop };
}
