import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { describe, test } from "node:test";
import { lives } from "./check-proposals.ts";
import {
  APPLY_TURN,
  DOORS,
  filesAt,
  isSettled,
  killAt,
  type Listed,
  person,
  proposals,
  puts,
  resumeAll,
  runScript,
  said,
  stageTen,
  stepLog,
  stepsOf,
  survey,
} from "./proposal-scene.ts";
import { type ChildOptions, makeScene, type Ran, type Scene, stateOf, until } from "./scene.ts";
import { layTen } from "./ten-files.ts";

const LONG = process.env["ASSENT_LONG"] === "1";
const ROUNDS = LONG ? 30 : 4;

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
  const { who } = settled?.body["resolution"] as { readonly who: { readonly pid: number } };
  assert.deepEqual([code, value.outcome, value.answeredBy?.pid], [0, life?.state, who.pid], JSON.stringify(value));
}

describe("two processes settle one proposal at the same instant", { concurrency: 2 }, () => {
  test(`RS-16: both apply, ${ROUNDS} times: the bytes are written once, and both know who did it`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      const ends = await atOnce(scene, [["apply", id, "--json"], ["apply", id, "--json"]]);
      assert.deepEqual([written(scene), filesAt(scene, whole)], [whole.changes, "after"]);
      for (const ran of ends) isTrue(scene, id, ran);
      assert.deepEqual(ends.map((ran) => said(ran).value.alreadyAnswered).toSorted(), [false, true]);
      await leftOpen(scene);
    }
  });

  test(`one applies and one discards, ${ROUNDS} times: one of them happens, and the other is told`, async () => {
    const found = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      const commands = [["apply", id, "--json"], ["discard", id, "--json"]].toSorted(() => (round % 2 === 0 ? 1 : -1));
      const ends = await atOnce(scene, commands);
      const [proposal] = await proposals(scene);
      const done = proposal?.state === "applied";
      const [winner, loser] = ends.toSorted((left, right) => Number(left.code) - Number(right.code));
      assert.ok(winner && loser);
      isTrue(scene, id, winner);
      assert.deepEqual([loser.code, said(loser).value.error.type], [1, "proposal_not_pending"], loser.stdout);
      assert.deepEqual([filesAt(scene, whole), written(scene)], done ? ["after", whole.changes] : ["before", 0]);
      found.add(proposal?.state ?? "");
      await leftOpen(scene);
    }
    assert.ok([...found].every((state) => state === "applied" || state === "discarded"), [...found].join());
  });

  test(`both undo, ${LONG ? ROUNDS : 2} times: the files go back once`, async () => {
    for (let round = 0; round < (LONG ? ROUNDS : 2); round += 1) {
      using scene = makeScene();
      const argv = await DOORS.undo.command(scene);
      const ends = await atOnce(scene, [argv, argv]);
      assert.equal((await proposals(scene))[0]?.state, "undone");
      assert.equal(written(scene), whole.changes);
      assert.ok(ends.some(({ code }) => code === 0), JSON.stringify(ends));
      for (const { code, stdout } of ends) assert.ok(code === 0 || stdout.includes("not_undoable") || stdout.includes("proposal_busy"), stdout);
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
  const MEETINGS: readonly [point: string, second: "apply" | "discard", state: string][] = [
    ["lease.after_epoch", "apply", "applied"],
    ["proposal.before_applying", "apply", "applied"],
    ["proposal.before_applying", "discard", "applied"],
    ["proposal.after_applying", "discard", "applied"],
    ["file.rename@2", "apply", "applied"],
    ["proposal.before_applied", "discard", "applied"],
    ["proposal.after_applied", "apply", "applied"],
    ["close.before", "apply", "applied"],
    ["close.before", "discard", "applied"],
  ];
  for (const [point, second, state] of LONG ? MEETINGS : MEETINGS.filter((_, at) => at % 3 === 1)) {
    test(`${second} while another process applies, at ${point}: it ends, and is told what is so`, async () => {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      const late = start(scene, [second, id, "--json"], { failpoint: "lease.before=stop" });
      await stopped(late);
      const first = start(scene, ["apply", id, "--json"], { failpoint: `${point}=stop` });
      await stopped(first);
      late.child.kill("SIGCONT");
      await until("it has asked", () => scene.events().some(({ type }) => type === "proposal.requested"));
      first.child.kill("SIGCONT");
      isTrue(scene, id, await first.ends());
      const told = await late.ends();
      if (second === "apply") isTrue(scene, id, told);
      else assert.deepEqual([told.code, said(told).value.error?.type], [1, "proposal_not_pending"], told.stdout);
      assert.deepEqual([(await proposals(scene))[0]?.state, written(scene)], [state, whole.changes]);
      await leftOpen(scene);
    });

    test(`${second} while another process applies, which is killed at ${point}: it ends, and is told what is so`, async () => {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      const first = start(scene, ["apply", id, "--json"], { failpoint: `${point}=stop` });
      await stopped(first);
      const late = start(scene, [second, id, "--json"], point.includes("after_applied") || point === "close.before" ? { failpoint: "lease.before=stop" } : {});
      if (point.includes("after_applied") || point === "close.before") {
        first.child.kill("SIGKILL");
        await first.ends();
        await stopped(late).catch(() => undefined);
        late.child.kill("SIGCONT");
      } else {
        await until("it has asked", () => scene.events().some(({ type }) => type === "proposal.requested"));
        first.child.kill("SIGKILL");
        await first.ends();
      }
      const told = await late.ends();
      const [proposal] = await proposals(scene);
      assert.ok(proposal?.state === "applied" || proposal?.state === "discarded", proposal?.state);
      assert.equal(told.code, proposal.state === (second === "apply" ? "applied" : "discarded") ? 0 : 1, told.stdout);
      assert.equal(filesAt(scene, whole), proposal.state === "applied" ? "after" : "before");
      await leftOpen(scene);
    });
  }
});
