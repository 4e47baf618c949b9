import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AgentName } from "@assent/guard";
import { startPostgres } from "../../packages/store-postgres/test/postgres-server.ts";
import { LONG } from "../support/long.ts";
import { findAgent, type GuardedPlace, guardAgents, propose, verifyRecord } from "./guarded-agent.ts";

const RULES = { permissions: { allow: ["Shell(touch *)"] } };
const SESSIONS: readonly AgentName[] = ["claude", "claude", "codex"];
/** Twenty calls: four turns of four calls at once, and four of one. */
const TURNS = [4, 1, 4, 1, 4, 1, 4, 1];
const CALLS = TURNS.reduce((sum, count) => sum + count, 0) * SESSIONS.length;

function commandsOf(session: number): readonly (readonly string[])[] {
  return TURNS.map((count, turn) => Array.from({ length: count }, (_, at) => `touch s${session}-${turn}-${at}`));
}

/** How often each session of the record has an event of this type. */
async function countEvents(place: GuardedPlace, type: string): Promise<readonly number[]> {
  const { output } = await place.assent("log", "--type", type, "--json");
  const counts = new Map<string, number>();
  for (const line of output.split("\n").filter(Boolean)) {
    const { session } = JSON.parse(line);
    counts.set(session, (counts.get(session) ?? 0) + 1);
  }
  return [...counts.values()];
}

async function runSessions(store?: string): Promise<void> {
  await using place = await guardAgents(["claude", "codex"], RULES, { store });
  const running = await Promise.all(
    SESSIONS.map((agent, session) =>
      place.startAgent(
        agent,
        commandsOf(session).map((commands) => propose(agent, ...commands)),
      ),
    ),
  );
  const ends = await Promise.all(running.map(({ end }) => end));
  const commands = SESSIONS.flatMap((_, session) => commandsOf(session).flat());
  const missing = commands.filter((command) => !place.ran(command.replace("touch ", "")));
  assert.deepEqual(missing, [], ends.map(({ output }) => output).join("\n"));
  for (const type of ["session.created", "call.proposed", "call.claimed", "call.ended"])
    assert.deepEqual(await countEvents(place, type), Array(CALLS).fill(1), type);
  const sessions: readonly { group: { client: string; id: string }; state: string }[] = await place.json("sessions", "--all");
  assert.deepEqual([...new Set(sessions.map(({ state }) => state))], ["done"]);
  assert.deepEqual([...new Set(sessions.map(({ group }) => `${group.client} ${group.id}`))].length, SESSIONS.length);
  await verifyRecord(place);
}

type Waiting = { readonly id: string; readonly command: string; readonly agent: string; readonly group: string };

/** Each session makes two calls at once, which append to files of their own. A person approves what the list shows until all agents end. */
async function approveSessions(): Promise<void> {
  await using place = await guardAgents(["claude", "codex"], {});
  const names = SESSIONS.map((_, session) => ["a", "b"].map((call) => `s${session}-${call}`));
  const running = await Promise.all(
    SESSIONS.map((agent, session) =>
      place.startAgent(agent, [propose(agent, ...(names[session] ?? []).map((name) => `echo x >>${name}`))]),
    ),
  );
  const ends = Promise.all(running.map(({ end }) => end));
  let over = false;
  void ends.then(() => {
    over = true;
  });
  const seen = new Map<string, Waiting>();
  let list = "";
  while (!over) {
    const waiting: readonly Waiting[] = await place.json("approvals");
    for (const one of waiting) seen.set(one.command.replace("echo x >>", ""), one);
    if (list === "" && new Set(waiting.map(({ group }) => group)).size < SESSIONS.length) continue; // until all of them wait
    if (list === "") list = (await place.assent("approvals")).output;
    for (const { id } of waiting) await place.assent("approve", id);
  }
  const outputs = (await ends).map(({ output }) => output).join("\n");
  for (const name of names.flat()) assert.equal(readFileSync(join(place.workspace, name), "utf8"), "x\n", outputs);
  const groups = names.map((calls) => [...new Set(calls.map((name) => `${seen.get(name)?.agent}: ${seen.get(name)?.group}`))]);
  assert.deepEqual(
    groups.map((found) => found.length),
    SESSIONS.map(() => 1),
    "the calls of a session are in one group",
  );
  assert.equal(new Set(groups.flat()).size, SESSIONS.length);
  assert.match(groups.flat().join(), /^Claude Code: claude .*,Claude Code: claude .*,Codex: codex /);
  const [first = "", second = ""] = groups.flat().map((group) => group.slice(-6));
  assert.ok(list.includes(`Claude Code …${first}`) && list.includes(`Claude Code …${second}`) && list.includes(" · Codex · "), list);
  assert.deepEqual(await countEvents(place, "call.claimed"), Array(names.flat().length).fill(1));
  assert.deepEqual(await countEvents(place, "call.ended"), Array(names.flat().length).fill(1));
  await verifyRecord(place);
}

if (LONG) {
  const missing = (["claude", "codex"] as const).find((agent) => findAgent(agent) === undefined);
  const skip = missing !== undefined && `not installed: npm run agents -- ${missing}`;
  const sentence = `two sessions of Claude Code and one of Codex at once: ${CALLS} calls have one record and one end each`;
  test(`${sentence}, in a directory`, { skip }, () => runSessions());
  test(
    "two sessions of Claude Code and one of Codex at once: a person sees whose calls wait, and each runs once",
    { skip },
    approveSessions,
  );
  test(`${sentence}, on PostgreSQL`, { skip }, async () => {
    const server = await startPostgres(18);
    const url = server.url("guard");
    await migrate(url);
    await runSessions(url);
  });
}

async function migrate(url: string): Promise<void> {
  await using place = await guardAgents([], {}, { store: url });
  const { code, output } = await place.assent("store", "migrate");
  assert.equal(code, 0, output);
}
