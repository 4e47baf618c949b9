import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AGENT_NAMES, AGENTS, type AgentName } from "@assent/guard";
import { LONG } from "../support/long.ts";
import { findAgent, type GuardedPlace, guardAgents, openApproval, propose, verifyRecord } from "./guarded-agent.ts";

const RULES = { permissions: { allow: ["Shell(touch allowed*)"], deny: ["Shell(touch denied)"] } };

async function outcomes(place: GuardedPlace): Promise<readonly string[]> {
  const { output } = await place.assent("log", "--type", "call.ended", "--json");
  return [...output.matchAll(/"outcome": ?"(\w+)"/g)].map(([, outcome = ""]) => outcome);
}

type Row = {
  readonly sentence: string;
  readonly run: (place: GuardedPlace, agent: AgentName) => Promise<void>;
};

const ROWS: readonly Row[] = [
  {
    sentence: "what a rule allows runs, and its end is recorded",
    run: async (place, agent) => {
      const { end, model } = await place.startAgent(agent, [propose(agent, "touch allowed")]);
      const { output } = await end;
      assert.ok(place.ran("allowed"), output);
      assert.deepEqual(await outcomes(place), ["succeeded"]);
      assert.ok(model.requests.length > 1);
    },
  },
  {
    sentence: "what a rule denies does not run, and the model is told why",
    run: async (place, agent) => {
      const { end, model } = await place.startAgent(agent, [propose(agent, "touch denied")]);
      await end;
      assert.ok(!place.ran("denied"));
      assert.deepEqual(await outcomes(place), ["denied"]);
      assert.match(JSON.stringify(model.requests.at(-1)?.body), /is denied/);
    },
  },
  {
    sentence: "a call that a person approves runs",
    run: async (place, agent) => {
      const { end } = await place.startAgent(agent, [propose(agent, "touch asked")]);
      const { id } = await openApproval(place, end);
      assert.ok(!place.ran("asked"));
      await place.assent("approve", id);
      const { output } = await end;
      assert.ok(place.ran("asked"), output);
      assert.deepEqual(await outcomes(place), ["succeeded"]);
    },
  },
  {
    sentence: "a call that a person rejects does not run",
    run: async (place, agent) => {
      const { end, model } = await place.startAgent(agent, [propose(agent, "touch asked")]);
      const { id } = await openApproval(place, end);
      await place.assent("reject", id, "--reason", "use another name");
      await end;
      assert.ok(!place.ran("asked"));
      assert.deepEqual(await outcomes(place), ["rejected"]);
      assert.match(JSON.stringify(model.requests.at(-1)?.body), /use another name/);
    },
  },
  {
    sentence: "a call that no one answers does not run, and its approval stays open",
    run: async (place, agent) => {
      const { end } = await place.startAgent(agent, [propose(agent, "touch asked")]);
      const { sessionId } = await openApproval(place, end);
      process.kill(await writerOf(place, sessionId), "SIGTERM"); // as its deadline does
      await end;
      assert.ok(!place.ran("asked"));
    },
  },
  {
    sentence: "a call whose hook is killed while it waits does not run",
    run: async (place, agent) => {
      const { end } = await place.startAgent(agent, [propose(agent, "touch asked")]);
      const { sessionId } = await openApproval(place, end);
      process.kill(await writerOf(place, sessionId), "SIGKILL");
      await end;
      assert.ok(!place.ran("asked"));
    },
  },
  {
    sentence: "calls proposed at once have one record and one end each",
    run: async (place, agent) => {
      const commands = Array.from({ length: 4 }, (_, index) => `touch allowed${index}`);
      const { end } = await place.startAgent(agent, [propose(agent, ...commands), propose(agent, "touch allowed-later")]);
      const { output } = await end;
      assert.ok([0, 1, 2, 3].every((index) => place.ran(`allowed${index}`)) && place.ran("allowed-later"), output);
      assert.deepEqual(
        await outcomes(place),
        Array.from({ length: 5 }, () => "succeeded"),
      );
    },
  },
];

async function writerOf(place: GuardedPlace, session: string): Promise<number> {
  const sessions: readonly { id: string; writer: { pid: number } | null }[] = await place.json("sessions");
  const pid = sessions.find(({ id }) => id === session)?.writer?.pid;
  assert.ok(pid !== undefined, "a hook process waits");
  return pid;
}

/** Options with which an agent does not ask its hooks; its guide names them. */
const WITHOUT_HOOKS: Readonly<Record<AgentName, readonly string[]>> = {
  claude: ["--bare", "--safe-mode", "--setting-sources project"],
  codex: ["-c features.hooks=false"],
  gemini: [],
  qwen: ["--bare", "--safe-mode"],
  opencode: ["--pure"],
};

for (const agent of AGENT_NAMES) {
  const found = findAgent(agent);
  if (found === undefined && !LONG) continue; // too large for every run: npm run agents
  describe(`${AGENTS[agent].title}, in its most permissive mode`, {
    skip: found === undefined && `not installed: npm run agents -- ${agent}`,
  }, () => {
    for (const { sentence, run } of ROWS)
      test(sentence, async () => {
        await using place = await guardAgents([agent], RULES);
        await run(place, agent);
        await verifyRecord(place);
      });

    if (agent === "claude")
      test("subagents are named, long results are cut, and the session's end ends what was not reported", async () => {
        await using place = await guardAgents([agent], { permissions: { allow: ["Shell(touch *)", "Agent(general-purpose)"] } });
        const settings = join(place.home, ".claude/settings.json");
        const own = { permissions: { deny: ["Bash(touch never)"] } }; // Claude Code reports nothing about such a call
        writeFileSync(settings, JSON.stringify({ ...JSON.parse(readFileSync(settings, "utf8")), ...own }));
        const start = { description: "look", prompt: "the work of a subagent", subagent_type: "general-purpose" };
        const turns = [propose(agent, "touch never", "seq 1 20000"), { calls: [{ name: "Agent", input: start }] }];
        const { end } = await place.startAgent(agent, turns, {
          subagents: [{ prompt: start.prompt, turns: [propose(agent, "touch by-subagent")] }],
        });
        const { output } = await end;
        assert.ok(place.ran("by-subagent") && !place.ran("never"), output);
        const created = (await place.assent("log", "--type", "session.created")).output;
        assert.match(created, /title=shell \{"command":"touch by-subagent"\} .*\bagent=general-purpose\b/);
        assert.deepEqual((await outcomes(place)).toSorted(), ["succeeded", "succeeded", "succeeded", "unknown"]);
        const long = (await place.assent("log", "--type", "call.ended", "--json")).output
          .split("\n")
          .find((line) => line.includes("left out"));
        assert.ok(long !== undefined && JSON.parse(long).body.content.length < 17_000);
        await verifyRecord(place);
      });

    for (const option of LONG ? WITHOUT_HOOKS[agent] : [])
      test(`${option} skips the hooks, as the guide says`, async () => {
        await using place = await guardAgents([agent], RULES);
        const { end } = await place.startAgent(agent, [propose(agent, "touch denied")], { args: option.split(" ") });
        const { output } = await end;
        assert.ok(place.ran("denied"), output);
        const guide = AGENTS[agent].title.toLowerCase().replace(" ", "-");
        const page = readFileSync(join(import.meta.dirname, `../../docs/guard/${guide}.md`), "utf8");
        assert.ok(page.includes(option.replace(" project", "")));
      });

    test("the doctor proves that a denied command does not run", async () => {
      await using place = await guardAgents([agent], RULES);
      const { ok, detail } = await place.json("hook", "doctor", agent);
      if (agent === "codex")
        assert.match(detail, /not trusted/); // Codex skips new hooks until a person trusts them in its own screen
      else assert.ok(ok, detail);
    });
  });
}
