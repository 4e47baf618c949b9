import { createDispatcher, type Dispatcher, IllegalEvent, LedgerError, openSession } from "@assent/core";
import { converse } from "./agents.ts";
import { isParked, type Left, newSignal, type Opened, proposed } from "./opened.ts";
import { personAt } from "./people.ts";
import { changesOf, digest, toolsOf, type Workshop } from "./tools.ts";
import { idOf, type Process, type Standing, type World } from "./world.ts";

/** Starts a process on a session; a session that somebody has is taken over. */
export function startProcess(world: World, standing: Standing): void {
  world.pids += 1;
  standing.starts += 1;
  const actor = world.on.actor(`p${world.pids}(${standing.name})`);
  const process: Process = { actor, standing, pid: world.pids, fenced: false, settled: false, cancel: new AbortController() };
  if (standing.runner) standing.runner.fenced = true;
  standing.runner = process;
  standing.state = "running";
  world.processes.push(process);
  world.on.submit(actor, "starts", () => {
    run(world, process).then(
      (left) => exit(world, process, left),
      (error: unknown) => exit(world, process, error instanceof Error ? error : new Error(String(error))),
    );
  });
}

/** The end of a process, whatever ended it: nothing of it goes on. */
export function exit(world: World, process: Process, left: Left | Error | "killed"): void {
  const { standing, actor } = process;
  actor.alive = false;
  process.settled = true;
  world.on.note(() => `${actor.name}: exits, ${left instanceof Error ? `${left.name} ${left.message}` : left}`);
  const mayMiss = process.fenced || world.plan.faults.some(({ kind }) => kind === "store_io"); // it may hear answers to what it does not know it asked
  const isExpected = left instanceof LedgerError || (mayMiss && left instanceof IllegalEvent);
  if (left instanceof Error && !isExpected) world.violations.push({ rule: "U", message: `${actor.name} failed: ${left.stack}` });
  if (standing.runner !== process) return;
  standing.runner = undefined;
  standing.state = typeof left === "string" && left !== "killed" ? left : "idle";
  if (left instanceof LedgerError && left.type === "session_not_found") standing.id = undefined; // lost with the power before anything depended on it
  if (standing.state === "idle") world.on.submit(world.self, `starts ${standing.name} again`, () => restart(world, standing));
}

/** Somebody resumes it, unless somebody has already. */
export function restart(world: World, standing: Standing): void {
  if (standing.state === "idle" || standing.state === "parked") startProcess(world, standing);
}

async function run(world: World, process: Process): Promise<Left> {
  const { standing, actor, pid } = process;
  const { on, ids } = world;
  const clock = on.clock(actor);
  const ledger = world.ledgerOf(actor);
  const holder = { pid, host: "here", processStart: `start-${pid}`, door: "simulation" };
  const reopened = standing.id !== undefined;
  const session = await openSession(
    { ledger, clock, ids },
    standing.id === undefined ? { holder, create: { cwd: "/w" } } : { holder, id: standing.id, takeOver: true },
  );
  standing.id = session.id;
  const workshop: Workshop = { on, actor, things: world.things };
  const tools = toolsOf(workshop);
  const { patience, onAsk } = standing.plan;
  const dispatcherOf: Opened["dispatcherOf"] = (more) =>
    createDispatcher({
      ...{ clock, ids, digest, policy: world.policy, onAsk, changes: changesOf(workshop), tools, retryIdempotent: true },
      ...(patience > 0 && { approvalTimeoutMs: patience }),
      ...more,
    });
  const opened: Opened = { world, process, session, tools, dispatcherOf, reopened };
  return standing.plan.door === "agent" ? await converse(opened) : await hand(opened);
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

async function leave({ session }: Opened, dispatcher: Dispatcher, left: Left): Promise<Left> {
  await dispatcher.close();
  await session.close(left, left === "done" ? 0 : 75);
  return left;
}
