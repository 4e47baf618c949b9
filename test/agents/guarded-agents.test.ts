import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AGENT_NAMES, AGENTS, type AgentName } from "@assent/guard";
import { LONG } from "../support/long.ts";
import { type Ended, findAgent, type GuardedPlace, guardAgent, propose } from "./guarded-agent.ts";

const RULES = { permissions: { allow: ["Shell(touch allowed*)"], deny: ["Shell(touch denied)"] } };

type Approval = { readonly id: string; readonly sessionId: string };

/** Waits for the approval that the agent's hook opens, unless the agent ends first. */
async function openApproval(place: GuardedPlace, end: Promise<Ended>): Promise<Approval> {
  let over: Ended | undefined;
  void end.then((value) => {
    over = value;
  });
  for (;;) {
    const [approval] = await place.json("approvals");
    if (approval) return approval;
    if (over) throw new Error(`the agent ended without asking: ${over.output}`);
  }
}

async function outcomes(place: GuardedPlace): Promise<readonly string[]> {
  const { output } = await place.assent("log", "--type", "call.ended", "--json");
  return [...output.matchAll(/"outcome": ?"(\w+)"/g)].map(([, outcome = ""]) => outcome);
}

async function verified(place: GuardedPlace): Promise<void> {
  const { code, output } = await place.assent("verify");
  assert.equal(code, 0, output);
}

type Row = {
  readonly sentence: string;
  readonly options?: readonly string[];
  readonly run: (place: GuardedPlace, agent: AgentName) => Promise<void>;
};

const ROWS: readonly Row[] = [
  {
    sentence: "what a rule allows runs, and its end is recorded",
    run: async (place, agent) => {
      const { end, model } = await place.startAgent([propose(agent, "touch allowed")]);
      const { output } = await end;
      assert.ok(place.ran("allowed"), output);
      assert.deepEqual(await outcomes(place), ["succeeded"]);
      assert.ok(model.requests.length > 1);
    },
  },
  {
    sentence: "what a rule denies does not run, and the model is told why",
    run: async (place, agent) => {
      const { end, model } = await place.startAgent([propose(agent, "touch denied")]);
      await end;
      assert.ok(!place.ran("denied"));
      assert.deepEqual(await outcomes(place), ["denied"]);
      assert.match(JSON.stringify(model.requests.at(-1)?.body), /is denied/);
    },
  },
  {
    sentence: "a call that a person approves runs",
    run: async (place, agent) => {
      const { end } = await place.startAgent([propose(agent, "touch asked")]);
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
      const { end, model } = await place.startAgent([propose(agent, "touch asked")]);
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
      const { end } = await place.startAgent([propose(agent, "touch asked")]);
      const { sessionId } = await openApproval(place, end);
      process.kill(await writerOf(place, sessionId), "SIGTERM"); // as its deadline does
      await end;
      assert.ok(!place.ran("asked"));
    },
  },
  {
    sentence: "a call whose hook is killed while it waits does not run",
    run: async (place, agent) => {
      const { end } = await place.startAgent([propose(agent, "touch asked")]);
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
      const { end } = await place.startAgent([propose(agent, ...commands), propose(agent, "touch allowed-later")]);
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

for (const agent of AGENT_NAMES) {
  const found = findAgent(agent);
  if (found === undefined && !LONG) continue; // too large for every run: npm run agents
  describe(`${AGENTS[agent].title}, in its most permissive mode`, {
    skip: found === undefined && `not installed: npm run agents -- ${agent}`,
  }, () => {
    for (const { sentence, run } of ROWS)
      test(sentence, async () => {
        await using place = await guardAgent(agent, RULES);
        await run(place, agent);
        await verified(place);
      });

    test("the doctor proves that a denied command does not run", async () => {
      await using place = await guardAgent(agent, RULES);
      const { ok, detail } = await place.json("hook", "doctor", agent);
      if (agent === "codex")
        assert.match(detail, /not trusted/); // Codex skips new hooks until a person trusts them in its own screen
      else assert.ok(ok, detail);
    });
  });
}
