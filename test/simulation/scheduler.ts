import type { Clock } from "@assent/core";
import type { Random } from "./random.ts";

/** Whoever does something: a process, a person's terminal, the world itself. What is not alive does nothing more; what is stopped does it later. */
export type Actor = { readonly name: string; alive: boolean; stopped: boolean };

/** How the next step is chosen: any; mostly the oldest, or the newest; or mostly one of the actor that comes first in an order of its own. */
export type Style = "any" | "oldest" | "newest" | "unfair";

/** How long things take: nothing but the choice of what happens next. */
export type Scheduler = {
  readonly random: Random;
  /** What happened, in order; the same seed gives the same list. Empty where nobody wants to read it. */
  readonly history: readonly string[];
  readonly note: (what: () => string) => void;
  readonly actor: (name: string) => Actor;
  /** The number of the step under way: what is issued under one number is issued in one tick. */
  readonly tick: () => number;
  /** Something that can happen from now on, once. */
  readonly submit: (actor: Actor, label: string, act: () => void) => void;
  /** Resolves when its step is chosen; never, if the actor is gone by then. */
  readonly step: (actor: Actor, label: string) => Promise<void>;
  /** Nothing is chosen until this has settled. */
  readonly during: (work: Promise<unknown>) => void;
  readonly clock: (actor: Actor) => Clock;
  /** Sets the wall clock without passing time. */
  readonly jump: (ms: number) => void;
  /** Chooses and waits for everything that follows from it, again and again, until nothing is left that can happen. */
  readonly run: () => Promise<"rest" | "endless">;
};

/** What a scheduler is told beside what happens. */
export type Scheduling = {
  readonly random: Random;
  readonly style: Style;
  /** Time passes before everything else is done, once in so many steps; 0: never. */
  readonly hurry: number;
  readonly limit: number;
  readonly isRecording: boolean;
  /** Called before each choice, with its number. */
  readonly before: (step: number) => void;
};

type Step = { readonly actor: Actor; readonly label: string; readonly act: () => void };
type Timer = { readonly actor: Actor; readonly due: number; readonly fire: () => void };

const START = Date.UTC(2026, 0, 1);
/** Turns of the event loop are dear: so many steps share one. Between two of them every promise that can settle does. */
const SLICE = 64;

/** A scheduler without anything to do. */
export function makeScheduler(how: Scheduling): Scheduler {
  const { random } = how;
  const steps: Step[] = [];
  const timers: Timer[] = [];
  const history: string[] = [];
  const order = new Map<Actor, number>();
  let passed = 0;
  let wall = START;
  let working = 0;
  const note = (what: () => string): void => void (how.isRecording && history.push(what()));
  const submit: Scheduler["submit"] = (actor, label, act) => {
    if (actor.alive) steps.push({ actor, label, act });
  };
  const canAct = ({ actor }: { readonly actor: Actor }): boolean => actor.alive && !actor.stopped;
  const passTime = (): boolean => {
    const next = earliest(timers, canAct);
    if (!next) return false;
    timers.splice(timers.indexOf(next), 1);
    passed = Math.max(passed, next.due);
    note(() => `${next.actor.name}: time passes to ${passed}`);
    next.fire();
    return true;
  };
  const choose = (): boolean => {
    if (how.hurry > 0 && timers.length > 0 && random(how.hurry) === 0 && passTime()) return true;
    const at = chosen(steps, { random, style: how.style, canAct, order });
    const [next] = at < 0 ? [] : steps.splice(at, 1);
    if (!next) return passTime();
    note(() => `${next.actor.name}: ${next.label}`);
    next.act();
    return true;
  };
  let count = 0;
  let idle = false;
  const turn = (): "rest" | "endless" | undefined => {
    if (working > 0) return undefined;
    count += 1;
    if (count > how.limit) return "endless";
    how.before(count);
    forget(steps);
    const wasIdle = idle;
    idle = !choose();
    return idle && wasIdle ? "rest" : undefined; // what was done before the choice may still lead to something
  };
  return {
    random,
    history,
    note,
    tick: () => count,
    submit,
    actor: (name) => {
      const actor: Actor = { name, alive: true, stopped: false };
      order.set(actor, random(1_000));
      return actor;
    },
    step: (actor, label) => new Promise((resolve) => submit(actor, label, resolve)),
    during: (work) => {
      working += 1;
      const done = (): void => {
        working -= 1;
      };
      work.then(done, done);
    },
    clock: (actor) => ({
      now: () => wall + passed,
      timer: (ms, fire) => {
        const timer = { actor, due: passed + Math.max(0, ms), fire };
        if (actor.alive) timers.push(timer);
        return () => {
          const at = timers.indexOf(timer);
          if (at >= 0) timers.splice(at, 1);
        };
      },
    }),
    jump: (ms) => {
      wall += ms;
    },
    run: () => new Promise((resolve) => slice(turn, resolve)),
  };
}

/** Immediates of one turn of the event loop run one by one, and all microtasks run between them. */
function slice(turn: () => "rest" | "endless" | undefined, resolve: (end: "rest" | "endless") => void): void {
  let ended = false;
  for (let at = 1; at <= SLICE; at += 1) {
    setImmediate(() => {
      if (ended) return;
      const end = turn();
      ended = end !== undefined;
      if (end !== undefined) resolve(end);
      else if (at === SLICE) slice(turn, resolve);
    });
  }
}

function earliest(timers: readonly Timer[], canAct: (timer: Timer) => boolean): Timer | undefined {
  let first: Timer | undefined;
  for (const timer of timers) if (canAct(timer) && (!first || timer.due < first.due)) first = timer;
  return first;
}

function forget(steps: Step[]): void {
  for (let at = steps.length - 1; at >= 0; at -= 1) if (!steps[at]?.actor.alive) steps.splice(at, 1);
}

type Choosing = Pick<Scheduling, "random" | "style"> & {
  readonly canAct: (step: Step) => boolean;
  readonly order: ReadonlyMap<Actor, number>;
};

/** The index of the next step, or -1. */
function chosen(steps: readonly Step[], { random, style, canAct, order }: Choosing): number {
  const able: number[] = [];
  for (const [at, step] of steps.entries()) if (canAct(step)) able.push(at);
  if (able.length <= 1) return able[0] ?? -1;
  const anyOf = (these: readonly number[]): number => these[random(these.length)] ?? -1;
  if (style === "any" || random(8) === 0) return anyOf(able);
  if (style === "oldest") return able[0] ?? -1;
  if (style === "newest") return able.at(-1) ?? -1;
  const first = Math.min(...able.map((at) => rank(steps[at], order)));
  return anyOf(able.filter((at) => rank(steps[at], order) === first));
}

function rank(step: Step | undefined, order: ReadonlyMap<Actor, number>): number {
  return (step && order.get(step.actor)) ?? 0;
}
