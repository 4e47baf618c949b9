import { createDispatcher, type Holder, type Hooks, IllegalEvent, LedgerError, openSession } from "@assent/core";
import { converse } from "./agents.ts";
import { changesOf } from "./files.ts";
import { hooksOf } from "./hooks.ts";
import { isParked, type Left, leave, newSignal, type Opened, proposed } from "./opened.ts";
import { personAt } from "./people.ts";
import { digest, toolsOf, type Workshop } from "./tools.ts";
import { changesFiles, clockOf, idOf, type Process, type Standing, type World } from "./world.ts";

/** Starts a process on a session; a session that somebody has is taken over. */
export function startProcess(world: World, standing: Standing): void {
  world.pids += 1;
  standing.starts += 1;
  const actor = world.on.actor(`p${world.pids}(${standing.name})`);
  const process: Process = {
    actor,
    standing,
    pid: world.pids,
    fenced: false,
    settled: false,
    cancel: new AbortController(),
  };
  if (standing.runner) standing.runner.fenced = true;
  standing.runner = process;
  standing.state = "running";
  world.processes.push(process);
  world.on.submit(actor, "starts", () => {
    run(world, process).then(
      (left) => exit(world, process, left),
      (error: unknown) => fail(world, process, error),
    );
  });
}

function fail(world: World, process: Process, error: unknown): void {
  exit(world, process, error instanceof Error ? error : new Error(String(error)));
}

/** The end of a process, whatever ended it: nothing of it goes on. */
export function exit(world: World, process: Process, left: Left | Error | "killed"): void {
  const { standing, actor } = process;
  actor.alive = false;
  process.settled = true;
  world.on.note(() => `${actor.name}: exits, ${left instanceof Error ? `${left.name} ${left.message}` : left}`);
  if (left instanceof Error && !isExpected(world, process, left))
    world.violations.push({ rule: "U", message: `${actor.name} failed: ${left.stack}` });
  if (standing.runner !== process) return;
  standing.runner = left instanceof LedgerError && left.type === "session_busy" ? holderOf(world, process) : undefined;
  if (standing.runner) {
    standing.runner.fenced = false; // it keeps its session, and nobody else tries until it ends
    return;
  }
  standing.state = typeof left === "string" && left !== "killed" ? left : "idle";
  if (left instanceof LedgerError && left.type === "session_not_found") standing.id = undefined; // lost with the power before anything depended on it
  if (standing.state === "idle") world.on.submit(world.self, `starts ${standing.name} again`, () => restart(world, standing));
}

function holderOf({ processes }: World, { standing }: Process): Process | undefined {
  return processes.find((other) => other.standing === standing && other.actor.alive && !other.settled);
}

/** What a store does to a process; what no state allows is expected only where it may have heard answers to what it does not know it asked. */
export function isExpected({ plan }: World, { fenced }: Process, error: unknown): boolean {
  const isIllegal = error instanceof IllegalEvent || (error instanceof LedgerError && error.type === "event_invalid");
  if (!isIllegal) return error instanceof LedgerError;
  return fenced || plan.faults.some(({ kind }) => kind === "store_io" || kind === "cut");
}

/** What a command does to another that keeps its session: it is killed, stopped or not. */
export async function endHolder(world: World, { processStart }: Holder): Promise<boolean> {
  const process = world.processes.find(({ actor }) => actor.name === processStart);
  if (process?.actor.alive) exit(world, process, "killed");
  for (const terminal of world.terminals) if (terminal.name === processStart) terminal.alive = false;
  return true;
}

/** The old holder is on another machine, where it cannot be ended. */
function isFar({ plan }: World, { standing }: Process): boolean {
  return plan.network !== undefined && !changesFiles(standing);
}

/** Somebody resumes it, unless somebody has already. */
export function restart(world: World, standing: Standing): void {
  if (standing.state === "idle" || standing.state === "parked") startProcess(world, standing);
}

async function run(world: World, process: Process): Promise<Left> {
  const { standing, actor, pid } = process;
  const { on, ids } = world;
  const clock = clockOf(world, process);
  const ledger = world.ledgerOf(actor);
  const holder = { pid, host: "here", processStart: actor.name, door: "simulation", command: true };
  const reopened = standing.id !== undefined;
  const session = await openSession(
    { ledger, clock, ids, endHolder: async (old) => (isFar(world, process) ? false : await endHolder(world, old)) },
    standing.id === undefined ? { holder, create: { cwd: "/w" } } : { holder, id: standing.id, takeOver: true },
  );
  standing.id = session.id;
  const workshop: Workshop = { on, actor, things: world.things };
  const tools = toolsOf(workshop);
  const { patience, onAsk } = standing.plan;
  const hooks = hooksAt(world, process, reopened);
  const changes = changesOf({ ...workshop, blind: world.planted.appliesBlindly });
  const dispatcherOf: Opened["dispatcherOf"] = (more) => {
    const dispatcher = createDispatcher({
      ...{ clock, ids, digest, policy: world.policy, onAsk, changes, tools, retryIdempotent: true, warn: () => undefined },
      ...(hooks && { hooks }),
      ...(patience > 0 && { approvalTimeoutMs: patience }),
      ...more,
    });
    world.desks.set(more.session.id, { process, dispatcher });
    return dispatcher;
  };
  const opened: Opened = { world, process, session, tools, hooks, dispatcherOf, fail: (error) => fail(world, process, error), reopened };
  return standing.plan.door === "agent" ? await converse(opened) : await hand(opened);
}

function hooksAt(world: World, process: Process, reopened: boolean): Hooks | undefined {
  const { batches } = process.standing.plan;
  if (!batches.some((calls) => calls.some(({ hook }) => hook !== undefined))) return undefined;
  const hooks = hooksOf({ world, process, die: () => exit(world, process, "killed") });
  return world.planted.hooks?.(hooks, reopened) ?? hooks;
}

/** A program that hands one batch after the other to its dispatcher. */
async function hand(opened: Opened): Promise<Left> {
  const { world, process, session, tools, dispatcherOf, reopened } = opened;
  const dispatcher = dispatcherOf({ session, ...personAt(world, process) });
  if (reopened && isParked(opened, dispatcher, await dispatcher.resume({ tools, signal: newSignal(process) })))
    return await leave(opened, dispatcher, "parked");
  const at = world.standings.indexOf(process.standing);
  for (const [turn, planned] of process.standing.plan.batches.entries()) {
    if (session.state.ids.has(idOf(at, turn, 0))) continue;
    const calls = planned.map((call, index) => proposed(call, idOf(at, turn, index)));
    const report = await dispatcher.process({ calls, tools, signal: newSignal(process), newPrompt: true });
    if (isParked(opened, dispatcher, report)) return await leave(opened, dispatcher, "parked");
  }
  return await leave(opened, dispatcher, "done");
}
