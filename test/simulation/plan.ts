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
  readonly tool:
    | "look"
    | "act"
    | "spawn"
    | "probed"
    | "keyed"
    | "nest"
    | "slow"
    | "stage"
    | "edit"
    | "resolve"
    | "task"
    | "helper"
    | "schedule"
    | "ask";
  readonly text: string;
  readonly verdict: "allow" | "ask" | "insist" | "deny";
  /** What its body does beside its effect. */
  readonly how: "plain" | "throws" | "deaf";
  readonly person: Person;
  /** Absent: no hook looks at it. */
  readonly hook?: Hooking;
  /** Absent: nobody minds. */
  readonly settle?: Settling;
};

/** What hooks say of a call before it is judged, when it asks, and of its result. */
export type Hooking = {
  readonly before: "none" | "allow" | "ask" | "deny" | "rewrite" | "fails" | "nonsense";
  readonly asked: "none" | "allow" | "deny" | "rewrite" | "fails";
  readonly after: "none" | "changes" | "fails";
  /** `dies`: the process that asks ends before it is answered, the first time. */
  readonly pace: "quick" | "slow" | "dies";
};

/** What people do with what a call stages, or has changed, beside the model. */
export type Settling = {
  readonly wants: "apply" | "discard" | "nothing";
  /** Once it is applied. */
  readonly undoes: boolean;
  readonly where: "here" | "elsewhere";
  readonly twice: boolean;
  /** Somebody writes to one of its files once it is staged, or applied. */
  readonly meddles: "no" | "staged" | "applied";
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
  readonly kind: "kill" | "power" | "stop" | "cut" | "store_full" | "store_locked" | "store_io" | "cancel" | "policy" | "clock";
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
  /** Present if the ledger is a database that processes reach over a network. Their clocks differ by up to so many milliseconds. */
  readonly network?: { readonly skewMs: number };
};

const TOOLS: readonly PlannedCall["tool"][] = [
  "look",
  "look",
  "act",
  "spawn",
  "spawn",
  "probed",
  "keyed",
  "nest",
  "slow",
  "stage",
  "resolve",
];
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
  const hooks = randomOf(seed, 3);
  const settlers = randomOf(seed, 4);
  const agents = randomOf(seed, 5);
  const repeats = randomOf(seed, 6);
  const network = randomOf(seed, 7);
  const sessions = Array.from({ length: 1 + (random(3) === 0 ? 1 : 0) }, () =>
    withRepeat(repeats, withHooks(hooks, withSettlers(settlers, withAgents(agents, withPeople(people, planSession(random)))))),
  );
  const faults = Array.from({ length: random(4) }, () => planFault(random)).sort((one, other) => one.at - other.at);
  return withNetwork(network, { seed, style: pick(random, STYLES), hurry: pick(random, [0, 0, 20]), sessions, faults });
}

/** Every other world has its ledger on another machine, with connections that are cut. */
function withNetwork(random: Random, plan: Plan): Plan {
  if (random(2) === 0) return plan;
  const cuts = Array.from(
    { length: random(4) },
    (): Fault => ({ at: 1 + random(EARLY), kind: "cut", who: random(4), much: 1 + random(3) }),
  );
  const faults = [...plan.faults, ...cuts].sort((one, other) => one.at - other.at);
  return { ...plan, faults, network: { skewMs: pick(random, [0, 1_000, 600_000]) } };
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

/** Of an agent's tasks some are waited for, and some are due later. */
function withAgents(random: Random, session: PlannedSession): PlannedSession {
  const changed = (call: PlannedCall): PlannedCall =>
    call.tool === "task" ? { ...call, tool: pick(random, ["task", "task", "helper", "helper", "schedule"] as const) } : call;
  return session.door === "agent" ? { ...session, batches: session.batches.map((calls) => calls.map(changed)) } : session;
}

/** Calls that only an agent makes. */
export const OF_AGENTS: readonly PlannedCall["tool"][] = ["task", "helper", "schedule"];

/** In every third session there are more changes of files, and people who settle them. */
function withSettlers(random: Random, session: PlannedSession): PlannedSession {
  if (random(3) > 0) return session;
  const settled = (call: PlannedCall): PlannedCall => {
    const tool = OF_AGENTS.includes(call.tool) || random(2) === 0 ? call.tool : pick(random, ["stage", "stage", "edit"] as const);
    if (tool !== "stage" && tool !== "edit") return call;
    const settle: Settling = {
      wants: pick(random, ["apply", "apply", "discard", "nothing"] as const),
      undoes: random(2) === 0,
      where: pick(random, ["here", "elsewhere"] as const),
      twice: random(4) === 0,
      meddles: pick(random, ["no", "no", "staged", "applied"] as const),
    };
    return { ...call, tool, settle };
  };
  return { ...session, batches: session.batches.map((calls) => calls.map(settled)) };
}

const BEFORE: readonly Hooking["before"][] = ["none", "none", "allow", "ask", "deny", "rewrite", "fails", "nonsense"];
const ASKED: readonly Hooking["asked"][] = ["none", "none", "allow", "deny", "rewrite", "fails"];
const AFTER: readonly Hooking["after"][] = ["none", "none", "changes", "fails"];
const PACE: readonly Hooking["pace"][] = ["quick", "quick", "quick", "slow", "dies"];

/** In every third session there are hooks, for every other call. */
function withHooks(random: Random, session: PlannedSession): PlannedSession {
  if (random(3) > 0) return session;
  const hooked = (call: PlannedCall): PlannedCall => {
    if (random(2) === 0) return call;
    const hook = { before: pick(random, BEFORE), asked: pick(random, ASKED), after: pick(random, AFTER), pace: pick(random, PACE) };
    return { ...call, hook };
  };
  return { ...session, batches: session.batches.map((calls) => calls.map(hooked)) };
}

/** In every third session one call is made once more at the end: what became of the first may be unknown by then. */
function withRepeat(random: Random, session: PlannedSession): PlannedSession {
  if (random(3) > 0) return session;
  return { ...session, batches: [...session.batches, [pick(random, session.batches.flat())]] };
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
