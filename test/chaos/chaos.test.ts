import assert from "node:assert/strict";
import { test } from "node:test";
import { startPostgres } from "../../packages/store-postgres/test/postgres-server.ts";
import { LONG } from "../support/long.ts";
import { type ChaosPlan, runChaos } from "./chaos.ts";

const SEED = Number(process.env["ASSENT_TEST_SEED"] ?? (LONG ? Date.now() % 100_000 : 1));

const PLAN: ChaosPlan = LONG
  ? { seed: SEED, sessions: 50, turns: 5, calls: 4, faultMs: 5_000, chaosMs: 900_000, limitMs: 2_700_000 }
  : { seed: SEED, sessions: 6, turns: 2, calls: 2, faultMs: 2_000, chaosMs: 12_000, limitMs: 120_000 };

const server = await startPostgres(18);
const CALLS = PLAN.sessions * PLAN.turns * PLAN.calls;

test(`three workers under kill -9, SIGSTOP, cut connections and server restarts: ${CALLS} approved calls, no effect twice, none lost`, {
  timeout: PLAN.limitMs + 120_000,
}, async (t) => {
  const figures = await runChaos(server, PLAN);
  const { calls, effects, succeeded, unknown, otherOutcomes, twice, lost, stuck, faults, takeOvers, seconds, verify, violations } = figures;
  t.diagnostic(
    `seed ${SEED}: ${calls} calls, ${succeeded} succeeded, ${unknown} unknown, ${effects} effects; twice ${twice}, lost ${lost}, stuck ${stuck.length}`,
  );
  t.diagnostic(`faults ${JSON.stringify(faults)}; sessions opened ${takeOvers} times by workers; verify ${verify}; ${seconds} s`);
  assert.deepEqual(
    { calls, twice, lost, stuck, otherOutcomes, verify, violations },
    { calls: CALLS, twice: 0, lost: 0, stuck: [], otherOutcomes: [], verify: "sound", violations: [] },
  );
  assert.equal(succeeded + unknown, CALLS);
  assert.ok(effects >= succeeded && effects <= CALLS);
});
