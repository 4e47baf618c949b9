import { expiredAnswer, isAnswered, type Question, type QuestionAnswer } from "../../model/question/question.ts";
import type { Clock } from "../../ports.ts";
import type { QuestionTimer } from "../../question-port.ts";

/** The time of one call's questions, and what became of those whose time was over. */
export type Countdown = {
  readonly timer: QuestionTimer;
  /** Settings or mode changed: there may be no time limit any more, or one again. */
  readonly changed: () => void;
  /** What stands for every question now. */
  readonly standing: () => readonly QuestionAnswer[];
  /** Takes in what the person has chosen so far. */
  readonly chosen: (answers: readonly QuestionAnswer[]) => void;
  /** An answer as it counts: that time ran out is true only where it did. */
  readonly marked: (answer: QuestionAnswer) => QuestionAnswer;
  /** Nothing is timed any more. */
  readonly close: () => void;
  /** Seconds that a question had when its time was over; 0: none was. */
  readonly seconds: () => number;
};

/** What a countdown stands on. `limit`: seconds, 0 for none; `over` is called when the last question's time was over. */
export type CountdownParts = {
  readonly clock: Clock;
  readonly questions: readonly Question[];
  readonly limit: () => number;
  readonly over: () => void;
};

/** One timer for the question that is shown. When it fires, the next question's time runs by itself, so that a screen that died still times out. */
export function makeCountdown({ clock, questions, limit, over }: CountdownParts): Countdown {
  const { expire, hasAnswer, ...answers } = makeStanding(questions);
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
    onExpired: (told) => {
      tell = told;
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

type TimerState = Pick<Countdown, "standing" | "chosen" | "marked"> & {
  /** What stands for a question whose time is over. */
  readonly expire: (question: Question) => QuestionAnswer;
  readonly hasAnswer: (question: Question) => boolean;
};

/** What was chosen so far, and what was taken when the time was over. */
function makeStanding(questions: readonly Question[]): TimerState {
  const soFar = new Map<string, QuestionAnswer>();
  const expired = new Map<string, QuestionAnswer>();
  return {
    expire: (question) => {
      const answer = expired.get(question.id) ?? expiredAnswer(question, soFar.get(question.id));
      expired.set(question.id, answer);
      return answer;
    },
    hasAnswer: ({ id }) => expired.has(id) || isAnswered(soFar.get(id) ?? { selected: [] }),
    standing: () => questions.map(({ id }) => expired.get(id) ?? soFar.get(id) ?? { id, selected: [] }),
    chosen: (answers) => {
      soFar.clear();
      for (const { timedOut, automatic: _automatic, ...answer } of answers) {
        soFar.set(answer.id, answer);
        if (!timedOut) expired.delete(answer.id); // looked at again, and answered
      }
    },
    marked: ({ timedOut, automatic: _automatic, ...answer }) => (timedOut ? (expired.get(answer.id) ?? answer) : answer),
  };
}
