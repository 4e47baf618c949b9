import { createHash } from "node:crypto";
import type { LedgerEvent } from "@assent/core";
import { check } from "./check.ts";
import { answerElsewhere, attend, attendQuestion, replyElsewhere } from "./people.ts";
import type { Fault, Plan } from "./plan.ts";
import { exit, restart, startProcess } from "./processes.ts";
import { attendApplied, attendStaged, settleLate } from "./settlers.ts";
import { clearBenches } from "./tools.ts";
import { type Attended, makeWorld, type Planted, type Process, type Violation, type World } from "./world.ts";

/** What came of a plan. */
export type Outcome = {
  readonly violations: readonly Violation[];
  /** Everything that happened, in order. */
  readonly history: readonly string[];
  readonly steps: number;
};

/** A bug that is put in; whether the history is wanted. */
export type Simulating = { readonly planted?: Planted; readonly isRecording?: boolean };

/** Plays a plan to its end and looks at what is left: the record, the things in the world, what people and models were told. */
export async function simulate(plan: Plan, { planted = {}, isRecording = false }: Simulating = {}): Promise<Outcome> {
  const faults = [...plan.faults];
  let steps = 0;
  const world = makeWorld({
    plan,
    planted,
    isRecording,
    attend: attendAny,
    before: (made, step) => {
      steps = step;
      for (let next = faults[0]; next && next.at <= step; next = faults[0]) {
        faults.shift();
        happen(made, next);
      }
    },
  });
  clearBenches();
  const unhandled = (error: unknown): void => void world.violations.push({ rule: "U", message: `nobody handles ${String(error)}` });
  process.on("unhandledRejection", unhandled);
  try {
    for (const standing of world.standings) startProcess(world, standing);
    await bringToRest(world);
  } finally {
    process.off("unhandledRejection", unhandled);
  }
  const events = await eventsOf(world);
  if (world.violations.length === 0) world.violations.push(...check(world, events));
  return { violations: world.violations, history: world.on.history, steps };
}

function attendAny(world: World, event: LedgerEvent<Attended>): void {
  switch (event.type) {
    case "approval.opened":
      attend(world, event);
      break;
    case "question.asked":
      attendQuestion(world, event);
      break;
    case "proposal.staged":
      attendStaged(world, event);
      break;
    case "proposal.applied":
      attendApplied(world, event);
      break;
    default:
      event satisfies never;
  }
}

/** The same for the same seed, whatever else there is. */
export function fingerprintOf({ history }: Outcome): string {
  return createHash("sha256").update(history.join("\n")).digest("hex");
}

async function eventsOf({ disk }: World): Promise<readonly LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  for await (const event of disk.ledger().read({ pos: 0 })) events.push(event as LedgerEvent);
  return events;
}

/** So often somebody looks whether everything is done. */
const ROUNDS = 24;

/** Runs until nothing happens any more; then whoever is late comes, and so on until all is done. */
async function bringToRest(world: World): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const end = await world.on.run();
    if (end === "endless") return void world.violations.push({ rule: "L1", message: "it does not come to rest" });
    if (world.violations.length > 0 || !(await comeLate(world))) return;
  }
  const open = world.standings.filter(({ state }) => state !== "done").map(({ name, state }) => `${name} is ${state}`);
  if (open.length > 0) world.violations.push({ rule: "L1", message: `it is never done: ${open.join(", ")}` });
}

/** The disk is whole again, stopped processes go on, what is open is answered, what nobody has is resumed. False: there was nothing to do. */
async function comeLate(world: World): Promise<boolean> {
  const { disk, processes, standings, on } = world;
  disk.heal();
  const stopped = processes.filter(({ actor }) => actor.alive && actor.stopped);
  for (const { actor } of stopped) actor.stopped = false;
  if (stopped.length > 0) return true;
  const approvals = await disk.ledger().pending("approvals", { limit: 1_000 });
  const questions = await disk.ledger().pending("questions", { limit: 1_000 });
  refuseStuck(world, new Set([...approvals, ...questions].map(({ session }) => session)));
  on.note(() => "world: everybody rests");
  for (const { id: approval, call, revision, fingerprint } of approvals) answerElsewhere(world, { approval, call, revision, fingerprint });
  for (const { id: question, callId } of questions) replyElsewhere(world, { question, callId });
  const left = standings.filter(({ state }) => state !== "done" && state !== "running");
  const isAsking = approvals.length + questions.length > 0;
  if (!isAsking) for (const standing of left) restart(world, standing);
  if (isAsking || left.length > 0) return true;
  const wished = (await disk.ledger().pending("proposals", { limit: 1_000, all: true })).filter(({ requested }) => requested !== null);
  for (const [row] of Map.groupBy(wished, ({ session }) => session).values()) if (row) settleLate(world, row);
  return wished.length > 0;
}

/** A process that is not done and waits for nobody waits for ever: something should have woken it. */
function refuseStuck(world: World, asking: ReadonlySet<string>): void {
  for (const { settled, fenced, actor, standing } of world.processes) {
    if (settled || fenced || !actor.alive || asking.size > 0) continue;
    world.violations.push({ rule: "L2", message: `${actor.name} waits for ever in session ${standing.id}` });
  }
}

function happen(world: World, fault: Fault): void {
  const { on, disk } = world;
  const alive = world.processes.filter(({ actor }) => actor.alive && !actor.stopped);
  const whom = alive[fault.who % Math.max(1, alive.length)];
  on.note(() => `world: ${fault.kind} ${whom?.actor.name ?? ""}`);
  switch (fault.kind) {
    case "kill":
      if (whom) exit(world, whom, "killed");
      break;
    case "power":
      losePower(world);
      break;
    case "stop":
      if (whom) stop(world, whom, fault);
      break;
    case "cut":
      if (whom) cut(world, whom, fault);
      break;
    case "store_full":
    case "store_locked":
    case "store_io":
      disk.fail(fault.kind, fault.kind === "store_io" ? 1 : fault.much);
      break;
    case "cancel":
      whom?.cancel.abort();
      break;
    case "policy":
      world.policy.toggle();
      break;
    case "clock":
      on.jump((fault.who % 2 === 0 ? 1 : -1) * fault.much * 3_600_000);
      break;
    default:
      fault.kind satisfies never;
  }
}

function losePower(world: World): void {
  for (const process of world.processes) if (process.actor.alive) exit(world, process, "killed");
  for (const terminal of world.terminals.splice(0)) terminal.alive = false;
  world.on.during(world.disk.losePower());
}

/** It goes on later; meanwhile somebody may have taken its session over. */
function stop(world: World, { actor, standing }: Process, { much }: Fault): void {
  actor.stopped = true;
  if (much > 1 && standing.id !== undefined) world.on.submit(world.self, `takes ${standing.name} over`, () => takeOver(world, actor.name));
  world.on.submit(world.self, `lets ${actor.name} go on`, () => {
    actor.stopped = false;
  });
}

/** The process is there again later; meanwhile another machine may have taken its session over. */
function cut(world: World, { actor, standing }: Process, { much }: Fault): void {
  world.disk.cut(actor, much);
  if (much > 1 && standing.id !== undefined) world.on.submit(world.self, `takes ${standing.name} over`, () => takeOver(world, actor.name));
}

function takeOver(world: World, name: string): void {
  const process = world.processes.find(({ actor }) => actor.name === name);
  if (process && process.standing.runner === process) startProcess(world, process.standing);
}
