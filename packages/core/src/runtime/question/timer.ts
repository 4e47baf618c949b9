import { expiredAnswer, isAnswered, type Question, type QuestionAnswer } from "../../model/question/question.ts";
import type { Clock } from "../../ports.ts";
import type { QuestionTimer } from "../../question-port.ts";

/** The timer of one call's questions. */
export type Countdown = {
  readonly timer: QuestionTimer;
  readonly changed: () => void;
  readonly answersSoFar: () => readonly QuestionAnswer[];
  readonly chosen: (answers: readonly QuestionAnswer[]) => void;
  /** Keeps `timedOut` only on answers that did time out. */
  readonly marked: (answer: QuestionAnswer) => QuestionAnswer;
  readonly close: () => void;
  /** 0 if none timed out. */
  readonly seconds: () => number;
};

/** Times the shown question, then the next one, so that a frozen screen still times out. */
export function makeCountdown(clock: Clock, questions: readonly Question[], limit: () => number, over: () => void): Countdown {
  const { expire, hasAnswer, ...answers } = makeTimerState(questions);
  let shown: Question | undefined;
  let cancel: (() => void) | undefined;
  let tell: ((answer: QuestionAnswer) => void) | undefined;
  let seconds = 0;
  let closed = false;
  const disarm = (): void => {
    cancel?.();
    cancel = undefined;
  };
  const arm = (): void => {
    disarm();
    const allowed = closed ? 0 : limit();
    if (shown && shown.options.length > 0 && allowed > 0) cancel = clock.timer(allowed * 1_000, () => fire(allowed), { keepsAlive: true });
  };
  const show = (question: Question | undefined): void => {
    shown = question;
    arm();
  };
  const fire = (allowed: number): void => {
    const question = shown;
    if (!question) return;
    show(undefined);
    seconds = allowed;
    const answer = expire(question);
    const next = questions.slice(questions.indexOf(question) + 1).find((later) => !hasAnswer(later));
    if (!next) {
      over();
      return;
    }
    tell?.(answer);
    if (!shown) show(next);
  };
  const timer: QuestionTimer = {
    restart: (id) => show(questions.find((question) => question.id === id)),
    stop: () => show(undefined),
    onExpired: (listener) => {
      tell = listener;
    },
  };
  const changed = (): void => {
    if (limit() <= 0) disarm();
    else if (!cancel) arm();
  };
  const close = (): void => {
    closed = true;
    disarm();
  };
  return { ...answers, timer, changed, close, seconds: () => seconds };
}

type TimerState = Pick<Countdown, "answersSoFar" | "chosen" | "marked"> & {
  readonly expire: (question: Question) => QuestionAnswer;
  readonly hasAnswer: (question: Question) => boolean;
};

function makeTimerState(questions: readonly Question[]): TimerState {
  const soFar = new Map<string, QuestionAnswer>();
  const expired = new Map<string, QuestionAnswer>();
  return {
    expire: (question) => {
      const answer = expired.get(question.id) ?? expiredAnswer(question, soFar.get(question.id));
      expired.set(question.id, answer);
      return answer;
    },
    hasAnswer: ({ id }) => expired.has(id) || isAnswered(soFar.get(id) ?? { selected: [] }),
    answersSoFar: () => questions.map(({ id }) => expired.get(id) ?? soFar.get(id) ?? { id, selected: [] }),
    chosen: (answers) => {
      soFar.clear();
      for (const { timedOut, automatic: _automatic, ...answer } of answers) {
        soFar.set(answer.id, answer);
        if (!timedOut) expired.delete(answer.id); // the person went back and answered
      }
    },
    marked: ({ timedOut, automatic: _automatic, ...answer }) => (timedOut ? (expired.get(answer.id) ?? answer) : answer),
  };
}
