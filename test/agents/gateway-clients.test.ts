import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AGENTS, type FakeModel, type PlannedTurn } from "@assent/guard";
import { until } from "../../packages/mcp/test/server-bench.ts";
import { LONG } from "../support/long.ts";
import { liveProcesses } from "../support/processes.ts";
import { findAgent, type GuardedPlace, guardAgents, openApproval, verifyRecord } from "./guarded-agent.ts";

const SERVER = join(import.meta.dirname, "../../packages/mcp/test/servers/hostile.mjs");
const TOOL = "mcp__notes__echo";

type ClientName = "claude" | "codex";

/** Configures the server of a client, and puts Assent in front of it as a person does. */
async function guardServer(agent: ClientName, settings: object, hold?: string): Promise<GuardedPlace> {
  const place = await guardAgents([agent], settings, { withoutHooks: true });
  const args = [SERVER, "plain", place.home];
  const file = join(place.home, agent === "claude" ? ".claude.json" : ".codex/config.toml");
  mkdirSync(join(place.home, ".codex"));
  writeFileSync(
    file,
    agent === "claude"
      ? JSON.stringify({ mcpServers: { notes: { command: process.execPath, args } } })
      : `[mcp_servers.notes]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\nrequired = true\n`, // it waits for its tools
  );
  const installed = await place.assent("mcp", "install", agent, "--yes");
  assert.equal(installed.code, 0, installed.output);
  if (hold !== undefined) writeFileSync(file, readFileSync(file, "utf8").replace('"--name=notes"', `"--hold=${hold}", "--name=notes"`));
  return place;
}

/** A call of the server's tool in the client's own words. */
function call(agent: ClientName, text: string): PlannedTurn {
  const named = agent === "claude" ? { name: TOOL } : { name: "echo", namespace: "mcp__notes" };
  return { calls: [{ ...named, input: { text } }] };
}

function effects({ home }: GuardedPlace): number {
  const file = join(home, "calls.log");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
}

type Row = {
  readonly sentence: string;
  readonly settings: object;
  readonly hold?: string;
  readonly run: (place: GuardedPlace, agent: ClientName) => Promise<void>;
};

/** Waits for all servers and loads all tools at the start, also on a busy machine, so that the model may call them at once. */
const ALL_TOOLS = {
  env: { ENABLE_TOOL_SEARCH: "false", MCP_CONNECTION_NONBLOCKING: "0", MCP_CONNECT_TIMEOUT_MS: "60000", MCP_TIMEOUT: "60000" },
};

const ALLOWED = { permissions: { allow: [TOOL] } };
const ASKED = {};

const lastRequest = ({ requests }: FakeModel): string => JSON.stringify(requests.at(-1)?.body);

const ROWS: readonly Row[] = [
  {
    sentence: "gets the result of an allowed call, which is recorded under the client's name",
    settings: ALLOWED,
    run: async (place, agent) => {
      const { end, model } = await place.startAgent(agent, [call(agent, "hello there")], ALL_TOOLS);
      const { output } = await end;
      assert.equal(effects(place), 1, output);
      assert.match(lastRequest(model), /hello there.*hello there/);
      const [{ group }] = await place.json("sessions");
      assert.match(group.title, agent === "claude" ? /claude/i : /codex/i);
    },
  },
  {
    sentence: "is told why a rule denies a call",
    settings: { permissions: { deny: [TOOL] } },
    run: async (place, agent) => {
      const { end, model } = await place.startAgent(agent, [call(agent, "hello")], ALL_TOOLS);
      await end;
      assert.equal(effects(place), 0);
      assert.match(lastRequest(model), /is denied|denied by/);
    },
  },
  {
    sentence: "waits while a call is held, which runs once when a person approves it",
    settings: ASKED,
    run: async (place, agent) => {
      const { end, model } = await place.startAgent(agent, [call(agent, "hello there")], ALL_TOOLS);
      const { id } = await openApproval(place, end);
      assert.equal(effects(place), 0);
      await place.assent("approve", id);
      const { output } = await end;
      assert.equal(effects(place), 1, output);
      assert.match(lastRequest(model), /hello there.*hello there/);
    },
  },
  {
    sentence: "cannot approve by itself without a person, even if settings let it ask",
    settings: { answersFrom: ["elicitation"] },
    hold: "2s",
    run: async (place, agent) => {
      const { end, model } = await place.startAgent(agent, [call(agent, "hello")], ALL_TOOLS);
      await end;
      assert.equal(effects(place), 0);
      assert.match(lastRequest(model), /waits for approval a_|rejected/);
      const [{ state }] = await place.json("approvals", "--all");
      assert.equal(state, agent === "claude" ? "open" : "rejected"); // Claude Code closes the form, Codex declines it
    },
  },
  {
    sentence: "is told the reason when a person rejects a call",
    settings: ASKED,
    run: async (place, agent) => {
      const { end, model } = await place.startAgent(agent, [call(agent, "hello")], ALL_TOOLS);
      const { id } = await openApproval(place, end);
      await place.assent("reject", id, "--reason", "use another name");
      await end;
      assert.equal(effects(place), 0);
      assert.match(lastRequest(model), /use another name/);
    },
  },
  {
    sentence: "finds the answer when it calls again in a later run, and the call runs once",
    settings: ASKED,
    hold: "100ms",
    run: async (place, agent) => {
      const first = await place.startAgent(agent, [call(agent, "hello there")], ALL_TOOLS);
      await first.end;
      assert.match(lastRequest(first.model), /waits for approval a_/);
      const [{ id }] = await place.json("approvals");
      await place.assent("approve", id);
      assert.equal(effects(place), 0);
      const second = await place.startAgent(agent, [call(agent, "hello there"), call(agent, "hello there")], ALL_TOOLS);
      const { output } = await second.end;
      assert.equal(effects(place), 1, output);
      assert.match(lastRequest(second.model), /waits for approval a_/, "an identical call after the end is a new one");
    },
  },
  {
    sentence: "takes the server along when it is killed, and its call stays open",
    settings: ASKED,
    run: async (place, agent) => {
      const { end, pid } = await place.startAgent(agent, [call(agent, "hello")], ALL_TOOLS);
      await openApproval(place, end);
      const server = Number(readFileSync(join(place.home, "started"), "utf8"));
      for (const one of descendants(pid)) if (one !== server && !isGateway(one)) process.kill(one, "SIGKILL");
      await until(() => !liveProcesses().some((one) => one.pid === server), "the end of the server");
      assert.equal((await place.json("approvals")).length, 1);
      assert.equal(effects(place), 0);
    },
  },
];

/** The process and those below it. */
function descendants(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(descendants)];
}

function isGateway(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("assent.js\0mcp\0serve");
}

for (const agent of ["claude", "codex"] as const) {
  const found = findAgent(agent);
  if (found === undefined && !LONG) continue; // too large for every run: npm run agents
  describe(`${AGENTS[agent].title} in front of the gateway`, {
    skip: found === undefined && `not installed: npm run agents -- ${agent}`,
  }, () => {
    for (const { sentence, settings, hold, run } of ROWS)
      test(sentence, async () => {
        await using place = await guardServer(agent, settings, hold);
        await run(place, agent);
        await verifyRecord(place);
      });
  });
}
