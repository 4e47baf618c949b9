import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { AGENT_NAMES, AGENTS, type AgentName } from "@assent/guard";
import { seeded } from "../crash/seeded.ts";
import { LONG } from "../support/long.ts";
import { findAgent, type GuardedPlace, guardAgents, openApproval, propose, type StartedAgent, verifyRecord } from "./guarded-agent.ts";
import { agentProcesses, decidingHooks, hookTree, isRunning } from "./hook-processes.ts";

const RULES = { permissions: { allow: ["Shell(touch allowed*)"] } };
const SEED = Number(process.env["ASSENT_TEST_SEED"] ?? 1);
/** Kills per agent: 200 for the five. */
const KILLS = LONG ? 40 : 4;
const AGENT_KILLS = LONG ? 5 : 1;
const LOOK_MS = 10;
/** Up to 0.25, 0.5, … or 8 seconds, so that some hooks are killed as they start and others end by themselves, on any machine. */
const randomMoment = (random: (bound: number) => number): number => random(250 << random(6));

/** Three calls that a rule allows, two that no one answers, and one that is approved as soon as it is seen. */
const KINDS = ["allowed", "allowed", "allowed", "unanswered", "unanswered", "approved"] as const;

type Call = { readonly kind: (typeof KINDS)[number]; readonly name: string };

function planRun(run: number): readonly (readonly Call[])[] {
  return [0, 1].map((turn) => KINDS.map((kind, at) => ({ kind, name: `${kind}-${run}-${turn}-${at}` })));
}

/** Kills the Node process behind every wrapper of a running agent, each at its own random moment after the wrapper started. */
async function killHooks(started: StartedAgent, random: (bound: number) => number): Promise<void> {
  let ended = false;
  void started.end.then(() => {
    ended = true;
  });
  const due = new Map<number, number>();
  while (!ended) {
    for (const { wrapper, assent } of decidingHooks(started.pid)) {
      if (!due.has(wrapper)) due.set(wrapper, performance.now() + randomMoment(random));
      if (assent !== undefined && performance.now() >= (due.get(wrapper) ?? 0)) killIfAlive(assent);
    }
    await delay(LOOK_MS);
  }
}

function killIfAlive(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it ended meanwhile
  }
}

/** Kills an agent at a random moment after its first hook started, and sends SIGHUP to the hooks that it left, as a closed terminal does. */
async function killAgent(started: StartedAgent, random: (bound: number) => number): Promise<boolean> {
  let ended = false;
  void started.end.then(() => {
    ended = true;
  });
  while (!ended && decidingHooks(started.pid).length === 0) await delay(LOOK_MS);
  await delay(randomMoment(random));
  if (ended) return false;
  for (const pid of agentProcesses(started.pid)) killIfAlive(pid, "SIGSTOP"); // it starts no other hook
  const wrappers = decidingHooks(started.pid).map(({ wrapper }) => wrapper);
  for (const pid of wrappers) killIfAlive(pid, "SIGSTOP");
  const hooks = wrappers.flatMap(hookTree);
  for (const pid of agentProcesses(started.pid)) killIfAlive(pid);
  for (const pid of hooks) for (const signal of ["SIGHUP", "SIGCONT"] as const) killIfAlive(pid, signal);
  while (hooks.some(isRunning)) await delay(LOOK_MS);
  await started.end;
  return true;
}

type LoggedEvent = { readonly session: string; readonly body: { readonly raw?: { readonly command?: string } } };

async function eventsOf(place: GuardedPlace, type: string): Promise<readonly LoggedEvent[]> {
  const { output } = await place.assent("log", "--type", type, "--json");
  return output
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The commands of calls, by the session of each call. */
async function commandsOf(place: GuardedPlace): Promise<ReadonlyMap<string, string>> {
  return new Map((await eventsOf(place, "call.proposed")).map(({ session, body }) => [session, body.raw?.command ?? ""]));
}

/** Approves what may be approved until the agent ends; returns the commands. */
async function approveCalls(place: GuardedPlace, started: StartedAgent): Promise<ReadonlySet<string>> {
  const approved = new Set<string>();
  let ended = false;
  void started.end.then(() => {
    ended = true;
  });
  while (!ended) {
    const open: readonly { readonly id: string; readonly sessionId: string }[] = await place.json("approvals");
    const commands = open.length > 0 ? await commandsOf(place) : new Map<string, string>();
    for (const { id, sessionId } of open) {
      const command = commands.get(sessionId) ?? "";
      if (!command.startsWith("touch approved-") || approved.has(command)) continue;
      approved.add(command); // before it can run
      await place.assent("approve", id);
    }
  }
  return approved;
}

/** The commands whose claim is on the record. */
async function claimedCommands(place: GuardedPlace): Promise<ReadonlySet<string | undefined>> {
  const commands = await commandsOf(place);
  return new Set((await eventsOf(place, "call.claimed")).map(({ session }) => commands.get(session)));
}

/** Every call that ran was claimed before, and was allowed or approved. */
function callsThatRan(
  place: GuardedPlace,
  calls: readonly Call[],
  { claimed, approved }: Readonly<Record<"claimed" | "approved", ReadonlySet<string | undefined>>>,
): readonly Call[] {
  const ran = calls.filter(({ name }) => place.ran(name));
  for (const { kind, name } of ran) {
    assert.ok(claimed.has(`touch ${name}`), `${name} ran without a claim on the record`);
    assert.ok(kind === "allowed" || (kind === "approved" && approved.has(`touch ${name}`)), `${name} ran without an approval or a rule`);
  }
  return ran;
}

/** Kills an agent; the first call of its next session ends what it left. */
async function killAgentOnce(agent: AgentName, run: number, random: (bound: number) => number): Promise<Figures> {
  await using place = await guardAgents([agent], RULES);
  const turns = planRun(run);
  const started = await place.startAgent(
    agent,
    turns.map((calls) => propose(agent, ...calls.map(({ name }) => `touch ${name}`))),
  );
  const [approved, killed] = await Promise.all([approveCalls(place, started), killAgent(started, random)]);
  const next = await place.startAgent(agent, [propose(agent, "touch allowed-next")]);
  const { output } = await next.end;
  assert.ok(place.ran("allowed-next"), output);
  const calls = turns.flat();
  const ran = callsThatRan(place, calls, { claimed: await claimedCommands(place), approved });
  assert.deepEqual(await place.json("approvals"), [], "what the killed agent asked for is closed");
  const [claims, ends] = await Promise.all([eventsOf(place, "call.claimed"), eventsOf(place, "call.ended")]);
  const ended = new Set(ends.map(({ session }) => session));
  assert.deepEqual(
    claims.filter(({ session }) => !ended.has(session)),
    [],
    "every claimed call has an end",
  );
  await verifyRecord(place);
  return { calls: calls.length, killed: killed ? 1 : 0, ran: ran.length };
}

type Figures = { readonly calls: number; readonly killed: number; readonly ran: number };

async function runOnce(agent: AgentName, run: number, random: (bound: number) => number): Promise<Figures> {
  await using place = await guardAgents([agent], RULES);
  const turns = planRun(run);
  const started = await place.startAgent(
    agent,
    turns.map((calls) => propose(agent, ...calls.map(({ name }) => `touch ${name}`))),
  );
  const [approved] = await Promise.all([approveCalls(place, started), killHooks(started, random)]);
  const { output } = await started.end;
  const claimed = await claimedCommands(place);
  const calls = turns.flat();
  const ran = callsThatRan(place, calls, { claimed, approved });
  const told = JSON.stringify(started.model.requests.at(-1)?.body ?? {});
  const killed = told.split("Assent ended with status 137").length - 1;
  assert.equal(ran.length + killed, calls.length, `every call ran or was denied because its hook was killed:\n${told}\n${output}`);
  if (claimed.size > 0) await verifyRecord(place); // there is none if every hook was killed as it started
  return { calls: calls.length, killed, ran: ran.length };
}

for (const agent of AGENT_NAMES) {
  const found = findAgent(agent);
  if (found === undefined && !LONG) continue; // too large for every run: npm run agents
  describe(AGENTS[agent].title, { skip: found === undefined && `not installed: npm run agents -- ${agent}` }, () => {
    test(`runs no call without an approval or a rule when ${KILLS} hooks are killed at random moments`, async (t) => {
      const random = seeded(SEED);
      const figures: Figures[] = [];
      const sum = (field: keyof Figures): number => figures.reduce((total, one) => total + one[field], 0);
      while (sum("killed") < KILLS) figures.push(await runOnce(agent, figures.length, random));
      t.diagnostic(
        `${sum("calls")} calls, ${sum("killed")} hooks killed, ${sum("ran")} calls ran, 0 without an approval or a rule (seed ${SEED})`,
      );
    });

    test(`runs no call without an approval or a rule when it is killed itself, ${AGENT_KILLS} times`, async (t) => {
      const random = seeded(SEED);
      const figures: Figures[] = [];
      const sum = (field: keyof Figures): number => figures.reduce((total, one) => total + one[field], 0);
      while (sum("killed") < AGENT_KILLS) figures.push(await killAgentOnce(agent, figures.length, random));
      t.diagnostic(`${sum("calls")} calls, the agent killed ${sum("killed")} times, ${sum("ran")} calls ran (seed ${SEED})`);
    });

    if (!LONG) return;
    test("does not run a call if the wrapper is missing", async () => {
      await using place = await guardAgents([agent], RULES);
      rmSync(join(place.home, ".local/state/assent/hooks/assent-hook"));
      const { end } = await place.startAgent(agent, [propose(agent, "touch allowed")]);
      const { output } = await end;
      assert.ok(!place.ran("allowed"), output);
    });

    test("does not run a call whose wrapper is killed, too", async () => {
      await using place = await guardAgents([agent], RULES);
      const started = await place.startAgent(agent, [propose(agent, "touch asked")]);
      await openApproval(place, started.end);
      const [hook] = decidingHooks(started.pid);
      assert.ok(hook?.assent !== undefined);
      killIfAlive(hook.wrapper);
      killIfAlive(hook.assent); // agents that wait for its stderr would wait for its deadline
      const { output } = await started.end;
      assert.ok(!place.ran("asked"), output);
    });
  });
}
