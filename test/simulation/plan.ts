import { pick, type Random, randomOf } from "./random.ts";
import type { Style } from "./scheduler.ts";

/** Who answers a call that asks, and what they say. `late`: when everything else is done. `both`: from two places, `twice`: the same again. */
export type Person = {
  readonly where: "here" | "elsewhere" | "both" | "late";
  readonly says: "approve" | "reject";
  readonly twice: boolean;
  readonly remember: boolean;
  /** The yes is to another text. */
  readonly edits: boolean;
};

/** One call that a model makes. */
export type PlannedCall = {
  readonly tool: "look" | "act" | "probed" | "keyed" | "nest" | "slow" | "stage" | "resolve" | "task" | "ask";
  readonly text: string;
  readonly verdict: "allow" | "ask" | "insist" | "deny";
  /** What its body does beside its effect. */
  readonly how: "plain" | "throws" | "deaf";
  readonly person: Person;
};

/** One session: a program that hands batches to a dispatcher, or an agent whose model makes them, turn by turn. */
export type PlannedSession = {
  readonly door: "calls" | "agent";
  readonly onAsk: "park" | "deny";
  readonly batches: readonly (readonly PlannedCall[])[];
  /** Milliseconds an approval waits; 0: for ever. */
  readonly patience: number;
};

/** What goes wrong, at which step. `who` and `much` choose whom and how much of it. */
export type Fault = {
  readonly at: number;
  readonly kind: "kill" | "power" | "stop" | "store_full" | "store_locked" | "store_io" | "cancel" | "policy" | "clock";
  readonly who: number;
  readonly much: number;
};

/** Everything that a seed decides but the order of steps. */
export type Plan = {
  /** Of the order of steps. */
  readonly seed: number;
  readonly style: Style;
  readonly hurry: number;
  readonly sessions: readonly PlannedSession[];
  readonly faults: readonly Fault[];
};

const TOOLS: readonly PlannedCall["tool"][] = ["look", "look", "act", "act", "act", "probed", "keyed", "nest", "slow", "stage", "resolve"];
const VERDICTS: readonly PlannedCall["verdict"][] = ["allow", "allow", "ask", "ask", "insist", "deny"];
const HOW: readonly PlannedCall["how"][] = ["plain", "plain", "plain", "plain", "throws", "deaf"];
const WHERE: readonly Person["where"][] = ["here", "elsewhere", "both", "late"];
const STYLES: readonly Style[] = ["any", "any", "oldest", "newest", "unfair"];
const FAULTS: readonly Fault["kind"][] = [
  ...(["kill", "kill", "power", "power", "stop", "stop"] as const),
  ...(["store_full", "store_locked", "store_io", "cancel", "policy", "clock"] as const),
];
/** Faults come early, where most of them meet something under way. */
const EARLY = 160;

/** What happens under this seed. */
export function planOf(seed: number): Plan {
  const random = randomOf(seed, 0);
  const people = randomOf(seed, 2);
  const sessions = Array.from({ length: 1 + (random(3) === 0 ? 1 : 0) }, () => withPeople(people, planSession(random)));
  const faults = Array.from({ length: random(4) }, () => planFault(random)).sort((one, other) => one.at - other.at);
  return { seed, style: pick(random, STYLES), hurry: pick(random, [0, 0, 20]), sessions, faults };
}

function planSession(random: Random): PlannedSession {
  const door = random(3) === 0 ? "agent" : "calls";
  const batches = Array.from({ length: 1 + random(2) }, () => Array.from({ length: 1 + random(3) }, () => planCall(random, door)));
  return { door, onAsk: pick(random, ["park", "park", "deny"] as const), batches, patience: pick(random, [0, 0, 0, 60_000]) };
}

/** Whoever approves what has a text may write another one; and in place of a call there may be a question. */
function withPeople(random: Random, session: PlannedSession): PlannedSession {
  const changed = (call: PlannedCall): PlannedCall => {
    const edits = random(4) === 0 && call.tool !== "resolve" && call.tool !== "task";
    if (random(8) === 0) return { ...call, tool: "ask", verdict: "allow" };
    return edits ? { ...call, person: { ...call.person, edits, remember: false } } : call;
  };
  return { ...session, batches: session.batches.map((calls) => calls.map(changed)) };
}

function planCall(random: Random, door: PlannedSession["door"]): PlannedCall {
  const person: Person = {
    where: pick(random, WHERE),
    says: random(4) === 0 ? "reject" : "approve",
    twice: random(4) === 0,
    remember: random(6) === 0,
    edits: false,
  };
  const tool = door === "agent" && random(2) === 0 ? "task" : pick(random, TOOLS);
  return { tool, text: pick(random, ["one", "two", "three", "four"]), verdict: pick(random, VERDICTS), how: pick(random, HOW), person };
}

function planFault(random: Random): Fault {
  return { at: 1 + random(EARLY), kind: pick(random, FAULTS), who: random(4), much: 1 + random(3) };
}
