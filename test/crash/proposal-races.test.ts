import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { LONG } from "../support/long.ts";
import { lives } from "./check-proposals.ts";
import {
  APPLY_TURN,
  DOORS,
  type Files,
  filesAt,
  isSettled,
  killAt,
  type Listed,
  lastEnd,
  person,
  proposals,
  puts,
  resumeAll,
  runScript,
  STAGE_TURN,
  said,
  stageTen,
  stepLog,
  stepsOf,
  survey,
  WORDS,
} from "./proposal-scene.ts";
import { type ChildOptions, makeScene, type Ran, type Scene, stateOf, until } from "./scene.ts";
import { layTen, tree } from "./ten-files.ts";

const ROUNDS = LONG ? 30 : 2;

const whole = await survey(DOORS.apply);

/** A command under way. */
type Started = { readonly child: ChildProcess; readonly ends: () => Promise<Ran> };

/** Starts a command that says what it does to files. `ends` fails where it does not end. */
function start(scene: Scene, argv: readonly string[], options: ChildOptions = {}): Started {
  const child = scene.start(argv, { ...options, env: { ASSENT_TEST_STEPS: stepLog(scene), ...options.env } });
  if (options.env?.["ASSENT_TEST_PERSON"] === undefined) child.stdin?.end();
  let ran: Ran | undefined;
  const finished = scene.finished(child).then((end) => (ran = end));
  const ends = async (): Promise<Ran> => {
    await until(`${argv.join(" ")} ends`, () => ran !== undefined);
    return finished;
  };
  return { child, ends };
}

async function stopped({ child }: Started): Promise<void> {
  await until("it stands still", () => stateOf(child.pid ?? 0) === "T");
}

/** How often one of the set's files was put in place or deleted, by whomever. */
function written(scene: Scene): number {
  return stepsOf(scene).filter(puts).length;
}

/** Whoever says that it was done says by whom, and that is what stands in the record. */
function isTrue(scene: Scene, id: string, ran: Ran): void {
  const { code, value } = said(ran);
  const life = lives(scene.store).find((one) => one.id === id);
  const settled = life?.rows.findLast(({ type }) => type === "proposal.applying" || type === "proposal.discarded");
  const { who } = (settled?.body["resolution"] ?? {}) as { readonly who?: { readonly pid: number } };
  assert.deepEqual([code, value.outcome, value.answeredBy?.pid], [0, life?.state, who?.pid], JSON.stringify(value));
}

/** Another process that comes during an apply may only learn that it is under way. */
function isTrueOrBusy(scene: Scene, id: string, ran: Ran): void {
  if (ran.code === 0) isTrue(scene, id, ran);
  else assert.deepEqual([ran.code, said(ran).value.error?.type], [1, "proposal_busy"], ran.stdout);
}

describe("two processes settle one proposal at the same instant", { concurrency: 2 }, () => {
  test(`both apply, ${ROUNDS} times: the bytes are written once, and both know who did it`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      const ends = await atOnce(scene, [
        ["apply", id, "--json"],
        ["apply", id, "--json"],
      ]);
      assert.deepEqual([written(scene), filesAt(scene, whole)], [whole.changes, "after"]);
      for (const ran of ends) isTrueOrBusy(scene, id, ran);
      assert.equal(ends.filter((ran) => said(ran).value.alreadyAnswered === false).length, 1, JSON.stringify(ends));
      await leftOpen(scene);
    }
  });

  test(`one applies and one discards, ${ROUNDS} times: one of them happens, and the other is told`, async () => {
    const found = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      const commands = [
        ["apply", id, "--json"],
        ["discard", id, "--json"],
      ].toSorted(() => (round % 2 === 0 ? 1 : -1));
      const ends = await atOnce(scene, commands);
      const [proposal] = await proposals(scene);
      const done = proposal?.state === "applied";
      const [winner, loser] = ends.toSorted((left, right) => Number(left.code) - Number(right.code));
      assert.ok(winner && loser);
      isTrue(scene, id, winner);
      assert.match(`${loser.code} ${said(loser).value.error?.type}`, /^1 proposal_(not_pending|busy)$/, loser.stdout);
      assert.deepEqual([filesAt(scene, whole), written(scene)], done ? ["after", whole.changes] : ["before", 0]);
      found.add(proposal?.state ?? "");
      await leftOpen(scene);
    }
    assert.ok(
      [...found].every((state) => state === "applied" || state === "discarded"),
      [...found].join(),
    );
  });

  test(`both undo, ${LONG ? ROUNDS : 1} times: the files go back once`, async () => {
    for (let round = 0; round < (LONG ? ROUNDS : 1); round += 1) {
      using scene = makeScene();
      const argv = await DOORS.undo.command(scene);
      const ends = await atOnce(scene, [argv, argv]);
      assert.equal((await proposals(scene))[0]?.state, "undone");
      assert.equal(written(scene), whole.changes);
      assert.ok(
        ends.some(({ code }) => code === 0),
        JSON.stringify(ends),
      );
      for (const { code, stdout } of ends)
        assert.ok(code === 0 || stdout.includes("not_undoable") || stdout.includes("proposal_busy"), stdout);
      await leftOpen(scene);
    }
  });

  /** Both stand before the lease, then go. */
  async function atOnce(scene: Scene, commands: readonly (readonly string[])[]): Promise<readonly Ran[]> {
    const started = commands.map((argv) => start(scene, argv, { failpoint: "lease.before=stop" }));
    await Promise.all(started.map(stopped));
    for (const { child } of started) child.kill("SIGCONT");
    return Promise.all(started.map(({ ends }) => ends()));
  }

  /** Nothing is left to be put in order, whoever left last. */
  async function leftOpen(scene: Scene): Promise<void> {
    await resumeAll(scene);
    await isSettled(scene);
  }

  /** The second looks while the first is at this point; the first then goes on. */
  const MEETINGS: readonly [point: string, second: "apply" | "discard"][] = [
    ["lease.after_epoch", "apply"],
    ["proposal.before_applying", "apply"],
    ["proposal.before_applying", "discard"],
    ["proposal.after_applying", "discard"],
    ["file.rename@2", "apply"],
    ["proposal.before_applied", "discard"],
    ["proposal.after_applied", "apply"],
    ["close.before", "apply"],
    ["close.before", "discard"],
  ];
  for (const [point, second] of LONG ? MEETINGS : MEETINGS.filter((_, at) => at % 3 === 1)) {
    test(`${second} while another process applies, at ${point}: it ends, and is told what is so`, async () => {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      const late = start(scene, [second, id, "--json"], { failpoint: "lease.before=stop" });
      await stopped(late);
      const first = start(scene, ["apply", id, "--json"], { failpoint: `${point}=stop` });
      await stopped(first);
      late.child.kill("SIGCONT");
      await asked(scene);
      first.child.kill("SIGCONT");
      isTrue(scene, id, await first.ends());
      const told = await late.ends();
      if (second === "apply") isTrueOrBusy(scene, id, told);
      else assert.match(`${told.code} ${said(told).value.error?.type}`, /^1 proposal_(not_pending|busy)$/, told.stdout);
      assert.deepEqual([(await proposals(scene))[0]?.state, written(scene)], ["applied", whole.changes]);
      await leftOpen(scene);
    });
  }

  /** Where the first is killed, and what the second, who waits for it, makes of it. */
  const DEATHS: readonly [point: string, second: "apply" | "discard", state: string][] = [
    ["lease.after_epoch", "discard", "discarded"],
    ["proposal.before_applying", "apply", "applied"],
    ["proposal.after_applying", "discard", "discarded"],
    ["file.rename@2", "apply", "applied"],
    ["file.rename@2", "discard", "discarded"],
    ["proposal.before_applied", "apply", "applied"],
    ["proposal.before_applied", "discard", "applied"],
  ];
  for (const [point, second, state] of LONG ? DEATHS : DEATHS.slice(-3, -1)) {
    test(`${second} while another process applies, which is killed at ${point}: it puts things in order, and it is ${state}`, async () => {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      const first = start(scene, ["apply", id, "--json"], { failpoint: `${point}=stop` });
      await stopped(first);
      const late = start(scene, [second, id, "--json"]);
      await asked(scene);
      first.child.kill("SIGKILL");
      const told = await late.ends();
      const [proposal] = await proposals(scene);
      assert.deepEqual([proposal?.state, filesAt(scene, whole)], [state, state === "applied" ? "after" : "before"]);
      assert.equal(told.code, state === DONE[second] ? 0 : 1, told.stdout);
      await leftOpen(scene);
    });
  }
});

const DONE = { apply: "applied", discard: "discarded", undo: "undone" } as const;

async function asked(scene: Scene): Promise<void> {
  await until("somebody has asked", async () => (await count(scene, "proposal.requested")) > 0);
}

/** A model that takes its time; whoever takes the conversation up finds a quick one. */
const SLOW = { delayMs: 600_000, say: "done" };
const quicken = (scene: Scene): unknown => runScript(scene, [STAGE_TURN, ...WORDS]);

/** A conversation that has staged the set and waits for its model. */
async function waitingRun(scene: Scene): Promise<{ readonly run: Started; readonly proposal: Listed }> {
  await withStore(scene);
  const run = start(scene, runScript(scene, [STAGE_TURN, SLOW]));
  await until("the model is asked again", async () => (await count(scene, "turn.started")) === 2);
  quicken(scene);
  const [proposal] = await proposals(scene);
  assert.ok(proposal);
  return { run, proposal };
}

/** The set, and a store in which others can look from the beginning. */
async function withStore(scene: Scene): Promise<void> {
  layTen(scene.path("."));
  assert.equal((await scene.json(["call", "world", "--deny", "world"])).outcome, "denied");
}

async function count(scene: Scene, wanted: string): Promise<number> {
  return (await scene.events()).filter(({ type }) => type === wanted).length;
}

async function interrupt({ child, ends }: Started): Promise<void> {
  child.kill("SIGINT");
  assert.equal((await ends()).code, 130);
}

/** Where this command would say that it wrote: it must not. */
const ELSEWHERE = (scene: Scene): string => join(scene.root, "steps of another");

describe("a proposal of a conversation that is under way in another process", { concurrency: 3 }, () => {
  test("apply, then undo: the holder does it, the command waits and tells", async () => {
    using scene = makeScene();
    const { run, proposal } = await waitingRun(scene);
    for (const [action, at] of [
      ["apply", "after"],
      ["undo", "before"],
    ] as const) {
      const { code, stdout } = await start(scene, [action, proposal.id, "--json"], { env: { ASSENT_TEST_STEPS: ELSEWHERE(scene) } }).ends();
      assert.equal(code, 0, stdout);
      assert.deepEqual([(await proposals(scene))[0]?.state, sameFiles(scene)], [DONE[action], at]);
    }
    assert.equal(existsSync(ELSEWHERE(scene)), false, "the command changed files itself");
    await interrupt(run);
    await isSettled(scene);
  });

  test("a discard, and an apply after it, are told apart", async () => {
    using scene = makeScene();
    const { run, proposal } = await waitingRun(scene);
    assert.equal((await person(scene, ["discard", proposal.id])).outcome, "discarded");
    assert.equal((await person(scene, ["apply", proposal.id])).error.type, "proposal_not_pending");
    await interrupt(run);
    assert.equal(filesAt(scene, whole), "before");
    await isSettled(scene);
  });

  test("a holder that stands still is waited for; it acts when it goes on, once", async () => {
    using scene = makeScene();
    const { run, proposal } = await waitingRun(scene);
    run.child.kill("SIGSTOP");
    await stopped(run);
    const commands = [start(scene, ["apply", proposal.id, "--json"]), start(scene, ["apply", proposal.id, "--json"])];
    await until("both have asked", async () => (await count(scene, "proposal.requested")) === 2);
    assert.deepEqual([filesAt(scene, whole), commands.map(({ child }) => child.exitCode)], ["before", [null, null]]);
    run.child.kill("SIGCONT");
    for (const { ends } of commands) isTrue(scene, proposal.id, await ends());
    assert.equal(written(scene), whole.changes);
    await interrupt(run);
    await isSettled(scene);
  });

  test("--no-wait: it is asked for and left to the holder", async () => {
    using scene = makeScene();
    const { run, proposal } = await waitingRun(scene);
    run.child.kill("SIGSTOP");
    await stopped(run);
    const { code, stderr } = await start(scene, ["apply", proposal.id, "--no-wait", "--json"]).ends();
    assert.equal(code, 0);
    assert.match(stderr, /^Requested\./);
    assert.equal(filesAt(scene, whole), "before");
    run.child.kill("SIGCONT");
    await until("the holder has acted", async () => (await proposals(scene))[0]?.state === "applied");
    assert.deepEqual([filesAt(scene, whole), written(scene)], ["after", whole.changes]);
    await interrupt(run);
    await isSettled(scene);
  });

  for (const action of LONG ? (["apply", "discard", "undo"] as const) : (["apply", "undo"] as const)) {
    test(`${action} --no-wait of a holder that is killed before it acts: whoever takes the session up does it, once`, async () => {
      using scene = makeScene();
      const { run, proposal } = await waitingRun(scene);
      if (action === "undo") assert.equal((await person(scene, ["apply", proposal.id])).outcome, "applied");
      await askStopped(scene, run, [action, proposal.id, "--no-wait"]);
      run.child.kill("SIGKILL");
      await run.ends();
      await resumeAll(scene);
      assert.deepEqual([(await proposals(scene))[0]?.state, sameFiles(scene)], [DONE[action], action === "apply" ? "after" : "before"]);
      await isSettled(scene);
    });

    test(`${action} that waits for a holder that is killed does it itself`, async () => {
      using scene = makeScene();
      const { run, proposal } = await waitingRun(scene);
      if (action === "undo") assert.equal((await person(scene, ["apply", proposal.id])).outcome, "applied");
      run.child.kill("SIGSTOP");
      await stopped(run);
      const wishes = await count(scene, "proposal.requested");
      const command = start(scene, [action, proposal.id, "--json"]);
      await until("it has asked", async () => (await count(scene, "proposal.requested")) > wishes);
      run.child.kill("SIGKILL");
      const { code, stdout } = await command.ends();
      assert.equal(code, 0, stdout);
      assert.deepEqual([(await proposals(scene))[0]?.state, sameFiles(scene)], [DONE[action], action === "apply" ? "after" : "before"]);
      await resumeAll(scene);
      await isSettled(scene);
    });
  }

  for (const point of LONG ? ["proposal.before_applying", "file.rename@2", "proposal.before_applied"] : ["file.rename@2"]) {
    test(`a holder that is killed at ${point} while it does what was asked: the next does it, once`, async () => {
      using scene = makeScene();
      await withStore(scene);
      const run = start(scene, runScript(scene, [STAGE_TURN, SLOW]), { failpoint: point });
      await until("it is staged", async () => (await count(scene, "proposal.reminded")) === 1);
      quicken(scene);
      const [proposal] = await proposals(scene);
      const command = start(scene, ["apply", proposal?.id ?? "", "--json"]);
      assert.equal((await run.ends()).signal, "SIGKILL");
      const { code, stdout } = await command.ends();
      assert.equal(code, 0, stdout);
      assert.deepEqual([(await proposals(scene))[0]?.state, filesAt(scene, whole)], ["applied", "after"]);
      assert.equal(await count(scene, "proposal.applied"), 1);
      await resumeAll(scene);
      await isSettled(scene);
    });
  }

  async function askStopped(scene: Scene, run: Started, argv: readonly string[]): Promise<void> {
    run.child.kill("SIGSTOP");
    await stopped(run);
    const { code, stderr } = await start(scene, [...argv, "--json"]).ends();
    assert.equal(code, 0, stderr);
  }

  /** After an undo the directories that were made stay. */
  function sameFiles(scene: Scene): string {
    const files = ({ ...all }: Files): Files => Object.fromEntries(Object.entries(all).filter(([name]) => !name.endsWith("/")));
    const now = files(tree(scene.path(".")));
    return isDeepStrictEqual(now, files(whole.before)) ? "before" : isDeepStrictEqual(now, files(whole.after)) ? "after" : "neither";
  }
});

describe("an apply of the model's that waits for a yes", { concurrency: 3 }, () => {
  /** A conversation that is parked because the model's apply asks. */
  async function parked(scene: Scene): Promise<{ readonly proposal: Listed; readonly approval: string }> {
    layTen(scene.path("."));
    const { code, stdout, stderr } = await scene.here(runScript(scene, [STAGE_TURN, APPLY_TURN, ...WORDS], ["--on-ask", "park"]));
    assert.equal(code, 75, stdout + stderr);
    const [[proposal], [approval]] = [await proposals(scene), await scene.json(["approvals"])];
    assert.ok(proposal && approval);
    return { proposal, approval: approval.id };
  }

  const MEANWHILE: readonly [action: "apply" | "discard", first: "person" | "approval", end: string, at: "before" | "after"][] = [
    ["apply", "person", "failed proposal_not_pending", "after"],
    ["apply", "approval", "failed proposal_not_pending", "after"],
    ["discard", "person", "failed proposal_not_pending", "before"],
    ["discard", "approval", "failed proposal_not_pending", "before"],
  ];
  for (const [action, first, end, at] of LONG ? MEANWHILE : MEANWHILE.slice(1, 3)) {
    test(`a person's ${action} comes ${first === "person" ? "before" : "after"} the yes: the yes is told, and the files change at most once`, async () => {
      using scene = makeScene();
      const { proposal, approval } = await parked(scene);
      const answers = [() => person(scene, [action, proposal.id]), () => scene.json(["approve", approval])];
      for (const answer of first === "person" ? answers : answers.toReversed()) assert.equal((await answer()).error, undefined);
      await resumeAll(scene);
      assert.deepEqual([await lastEnd(scene), filesAt(scene, whole)], [end, at]);
      assert.equal((await proposals(scene))[0]?.state, DONE[action]);
      await isSettled(scene);
    });
  }

  const points = ["claim.before", "file.link@2", "proposal.before_applying", "proposal.before_applied"];
  for (const point of LONG ? points : points.slice(0, 2)) {
    test(`killed at ${point} after the yes: the answer counts once`, async () => {
      using scene = makeScene();
      const { proposal, approval } = await parked(scene);
      await scene.json(["approve", approval]);
      await killAt(scene, ["resume", proposal.sessionId, "--json"], point);
      await resumeAll(scene);
      const done = point === "claim.before" || point === "proposal.before_applied";
      assert.deepEqual([filesAt(scene, whole), (await proposals(scene))[0]?.state], done ? ["after", "applied"] : ["before", "staged"]);
      await isSettled(scene);
    });
  }

  test("a person who applies while somebody else is being asked at a terminal is not waited for by that one", async () => {
    using scene = makeScene();
    await withStore(scene);
    const turns = [STAGE_TURN, { calls: [{ tool: "world" }] }, ...WORDS];
    const run = start(scene, runScript(scene, turns, []), { env: { ASSENT_TEST_PERSON: "1" } });
    await until("somebody is asked", async () => (await count(scene, "approval.opened")) === 1);
    const [proposal] = await proposals(scene);
    assert.equal((await person(scene, ["apply", proposal?.id ?? ""])).outcome, "applied");
    assert.deepEqual([filesAt(scene, whole), run.child.exitCode], ["after", null]);
    run.child.kill("SIGKILL");
    await run.ends();
    await scene.rest("reject");
    await isSettled(scene);
    assert.deepEqual(scene.lines(), []);
  });
});

describe("an apply that stands still and is taken over", { concurrency: 3 }, () => {
  const rows: readonly [point: string, state: string][] = [
    ["file.rename@2", "staged"],
    ["file.link@3", "staged"],
    ["proposal.before_applied", "applied"],
  ];
  for (const [point, state] of LONG ? rows : rows.slice(0, 1)) {
    test(`at ${point}: its process is ended, and it is ${state}`, async () => {
      using scene = makeScene();
      const { id, sessionId } = await stageTen(scene);
      const first = start(scene, ["apply", id, "--json"], { failpoint: `${point}=stop` });
      await stopped(first);
      assert.equal((await scene.json(["resume", sessionId])).error.type, "session_in_use");
      assert.equal((await scene.json(["resume", sessionId, "--take-over"])).error, undefined);
      const settled = [(await proposals(scene))[0]?.state, filesAt(scene, whole)];
      assert.deepEqual(settled, [state, state === "applied" ? "after" : "before"]);
      first.child.kill("SIGCONT");
      assert.equal((await first.ends()).signal, "SIGKILL", "it was ended for the take-over");
      assert.deepEqual([(await proposals(scene))[0]?.state, filesAt(scene, whole)], settled);
      await isSettled(scene);
    });
  }
});
