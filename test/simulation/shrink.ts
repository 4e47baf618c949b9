import type { Plan, PlannedCall, PlannedSession } from "./plan.ts";
import { type Outcome, type Simulating, simulate } from "./simulation.ts";

/** The least that still fails in the same way, and what happened then. */
export type Shortest = { readonly plan: Plan; readonly outcome: Outcome; readonly tried: number };

/** Other orders of steps that are tried for a smaller plan: what was left out shifts every choice after it. */
const ORDERS = 12;
const EARLIER = 4;
const MOST_TRIES = 1_500;

/** Leaves out sessions, batches, calls and faults, and makes the rest plainer, for as long as the same rule is broken. */
export async function shorten(plan: Plan, simulating: Simulating = {}): Promise<Shortest> {
  const first = await simulate(plan, simulating);
  const rule = first.violations[0]?.rule;
  let best = { plan, outcome: first };
  let tried = 1;
  const fails = async (smaller: Plan): Promise<boolean> => {
    for (let order = 0; order < ORDERS && tried < MOST_TRIES; order += 1) {
      tried += 1;
      const candidate = reordered(smaller, order);
      const outcome = await simulate(candidate, simulating);
      if (outcome.violations[0]?.rule !== rule) continue;
      best = { plan: candidate, outcome };
      return true;
    }
    return false;
  };
  for (let again = rule !== undefined; again && tried < MOST_TRIES; ) {
    again = false;
    for (const smaller of smallerPlans(best.plan)) {
      if (!(await fails(smaller))) continue;
      again = true;
      break;
    }
  }
  const outcome = await simulate(best.plan, { ...simulating, isRecording: true });
  return { plan: best.plan, outcome, tried };
}

/** Less happens, so that what goes wrong has to come earlier to meet the same thing. */
function reordered(plan: Plan, order: number): Plan {
  const faults = plan.faults.map((fault) => ({ ...fault, at: Math.max(1, fault.at - order * EARLIER) }));
  return { ...plan, seed: plan.seed + order * 7_919, faults };
}

/** Plans with one thing less, the largest first. */
function* smallerPlans(plan: Plan): Generator<Plan> {
  const { sessions, faults } = plan;
  if (sessions.length > 1) for (const less of without(sessions)) yield { ...plan, sessions: less };
  for (const less of without(faults)) yield { ...plan, faults: less };
  for (const [at, session] of sessions.entries())
    for (const smaller of smallerSessions(session)) yield { ...plan, sessions: sessions.with(at, smaller) };
  const { network, ...local } = plan;
  if (network) yield local;
  if (network && network.skewMs > 0) yield { ...plan, network: { skewMs: 0 } };
  if (plan.hurry > 0) yield { ...plan, hurry: 0 };
  if (plan.style !== "oldest") yield { ...plan, style: "oldest" };
}

function* smallerSessions(session: PlannedSession): Generator<PlannedSession> {
  const { batches } = session;
  if (batches.length > 1) for (const less of without(batches)) yield { ...session, batches: less };
  for (const [at, calls] of batches.entries())
    for (const smaller of smallerBatches(calls)) yield { ...session, batches: batches.with(at, smaller) };
  if (session.patience > 0) yield { ...session, patience: 0 };
  if (session.door === "agent") yield { ...session, door: "calls" };
}

function* smallerBatches(calls: readonly PlannedCall[]): Generator<readonly PlannedCall[]> {
  if (calls.length > 1) yield* without(calls);
  for (const [index, call] of calls.entries()) for (const plainer of plainerCalls(call)) yield calls.with(index, plainer);
}

function* plainerCalls(call: PlannedCall): Generator<PlannedCall> {
  if (!["act", "task", "helper", "schedule", "look", "stage", "edit"].includes(call.tool)) yield { ...call, tool: "act" };
  if (call.how !== "plain") yield { ...call, how: "plain" };
  if (call.verdict !== "allow") yield { ...call, verdict: "allow" };
  yield* plainerHooks(call);
  yield* plainerSettling(call);
  const { person } = call;
  if (person.twice) yield { ...call, person: { ...person, twice: false } };
  if (person.remember) yield { ...call, person: { ...person, remember: false } };
}

function* plainerSettling({ settle, ...call }: PlannedCall): Generator<PlannedCall> {
  if (!settle) return;
  yield call;
  if (settle.wants !== "nothing") yield { ...call, settle: { ...settle, wants: "nothing" } };
  if (settle.undoes) yield { ...call, settle: { ...settle, undoes: false } };
  if (settle.twice) yield { ...call, settle: { ...settle, twice: false } };
  if (settle.meddles !== "no") yield { ...call, settle: { ...settle, meddles: "no" } };
}

function* plainerHooks({ hook, ...call }: PlannedCall): Generator<PlannedCall> {
  if (!hook) return;
  yield call;
  if (hook.before !== "none") yield { ...call, hook: { ...hook, before: "none" } };
  if (hook.asked !== "none") yield { ...call, hook: { ...hook, asked: "none" } };
  if (hook.after !== "none") yield { ...call, hook: { ...hook, after: "none" } };
  if (hook.pace !== "quick") yield { ...call, hook: { ...hook, pace: "quick" } };
}

function without<T>(all: readonly T[]): readonly (readonly T[])[] {
  return all.map((_one, at) => all.toSpliced(at, 1));
}
