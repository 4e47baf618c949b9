import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { LONG } from "../support/long.ts";
import type { Failpoint, Failpoints } from "./failpoints.ts";
import { type Ended, makeScene, type Scene } from "./scene.ts";
import { bothStores, type SceneStore, SQLITE } from "./stores.ts";

/** A call that is taken to its end by one or more commands, and how often the world shows its effect. */
type Scenario = { readonly call: readonly string[]; readonly answer?: "approve" | "reject"; readonly effects: (scene: Scene) => number };

const inWorld = (scene: Scene): number => scene.lines().length;
const inWorkspace = (scene: Scene): number => {
  const file = scene.path("made");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
};
const shell = (command: string): readonly string[] => ["call", "shell", "--mode", "yolo", "--input", JSON.stringify({ command })];
const write = JSON.stringify({ file_path: "made", content: "whole\n" });

const SCENARIOS = {
  allow: { call: ["call", "world", "--allow", "world"], effects: inWorld },
  approve: { call: ["call", "world", "--on-ask", "park"], answer: "approve", effects: inWorld },
  reject: { call: ["call", "world", "--on-ask", "park"], answer: "reject", effects: inWorld },
  shell: { call: shell("echo once >> made"), effects: inWorkspace },
  "shell that kills": { call: shell("echo once >> made; kill -9 $PPID"), effects: inWorkspace },
  read: { call: ["call", "look"], effects: inWorld },
  write: { call: ["call", "write", "--mode", "auto-edit", "--input", write], effects: inWorkspace },
  "write asked": { call: ["call", "write", "--on-ask", "park", "--input", write], answer: "approve", effects: inWorkspace },
  probed: { call: ["call", "probed", "--allow", "probed"], effects: inWorld },
  keyed: { call: ["call", "keyed", "--allow", "keyed"], effects: inWorld },
} as const satisfies Record<string, Scenario>;

type Name = keyof typeof SCENARIOS;
type Step = "call" | "answer" | "resume";
/** Outcome and type of the one end on record, or that there is none because there is no call. */
type End = `${string} ${string}` | "no call";

const DONE = "succeeded null";
const UNKNOWN = "unknown execution_unknown";

/** What an end says about the world: a success is one effect, a refusal none, and only `unknown` may be either. */
const EFFECTS_OF: Readonly<Record<string, readonly number[]>> = {
  "no call": [0],
  [DONE]: [1],
  "succeeded recovered": [1],
  "failed not_applied": [0],
  "rejected rejected_by_user": [0],
  "denied unhandled_exception": [0],
  [UNKNOWN]: [0, 1],
};

/** Where the process is killed, and what must be true after the restart: the contract's table of recovery, seen from outside. */
const ROWS: readonly [
  sentence: string,
  name: Name,
  step: Step,
  failpoint: Failpoint | `${Failpoint}@${number}`,
  end: End,
  effects: 0 | 1,
][] = [
  ["while a new store is made", "allow", "call", "migrate.mid", "no call", 0],
  ["after the lease, before the first record", "allow", "call", "lease.after_epoch", "no call", 0],
  ["a proposed call is judged and runs", "allow", "call", "call.after_proposed", DONE, 1],
  ["a judged call runs", "allow", "call", "call.after_judged", DONE, 1],
  ["nothing of a call whose first commit did not come", "allow", "call", "claim.before", "no call", 0],
  ["after the claim", "allow", "call", "claim.after", UNKNOWN, 0],
  ["before the effect", "allow", "call", "effect.before", UNKNOWN, 0],
  ["in the middle of the effect", "allow", "call", "effect.mid", UNKNOWN, 1],
  ["after the effect", "allow", "call", "effect.after", UNKNOWN, 1],
  ["after the end, before it was told", "allow", "call", "end.after", DONE, 1],
  ["before the session is closed", "allow", "call", "close.before", DONE, 1],
  ["during the snapshot", "allow", "call", "snapshot.before_commit", DONE, 1],
  ["an approval that was opened and not told still waits", "approve", "call", "approval.after_opened", DONE, 1],
  ["before the answer", "approve", "answer", "approval.before_answer", DONE, 1],
  ["after the answer, before it was told", "approve", "answer", "approval.after_answer", DONE, 1],
  ["after the lease of the resume", "approve", "resume", "lease.after_epoch", DONE, 1],
  ["during recovery", "approve", "resume", "recover.each", DONE, 1],
  ["before the claim of an approved call", "approve", "resume", "claim.before", DONE, 1],
  ["after the claim of an approved call", "approve", "resume", "claim.after", UNKNOWN, 0],
  ["before the effect of an approved call", "approve", "resume", "effect.before", UNKNOWN, 0],
  ["after the effect of an approved call", "approve", "resume", "effect.after", UNKNOWN, 1],
  ["after the end of an approved call", "approve", "resume", "end.after", DONE, 1],
  ["before the no", "reject", "answer", "approval.before_answer", "rejected rejected_by_user", 0],
  ["after the no, before it was told", "reject", "answer", "approval.after_answer", "rejected rejected_by_user", 0],
  ["after the end of a rejected call", "reject", "resume", "end.after", "rejected rejected_by_user", 0],
  ["a shell after the claim", "shell", "call", "claim.after", UNKNOWN, 0],
  ["a shell after its program ended", "shell", "call", "effect.after", UNKNOWN, 1],
  ["a shell after its end", "shell", "call", "end.after", DONE, 1],
  ["a read after the claim", "read", "call", "claim.after", UNKNOWN, 0],
  ["a read after it ran", "read", "call", "effect.after", UNKNOWN, 1],
  ["a read after its end", "read", "call", "end.after", DONE, 1],
  ["a write after the claim: its probe finds nothing done", "write", "call", "claim.after", "failed not_applied", 0],
  ["a write after it was done: its probe finds it", "write", "call", "effect.after", "succeeded recovered", 1],
  ["a write before the claim of its approval", "write asked", "resume", "claim.before", DONE, 1],
  ["an approved write after it was done", "write asked", "resume", "effect.after", "succeeded recovered", 1],
  ["a probe that finds nothing done", "probed", "call", "effect.before", "failed not_applied", 0],
  ["a probe that finds the effect", "probed", "call", "effect.mid", "succeeded recovered", 1],
  ["a key alone is no permission to retry", "keyed", "call", "effect.mid", UNKNOWN, 1],
];

const STORES = await bothStores();

/** A short run kills at every third point on PostgreSQL, and at all of them on SQLite. */
const someOf = <Row>(rows: readonly Row[], store: SceneStore): readonly Row[] =>
  store === SQLITE || LONG ? rows : rows.filter((_, at) => at % 3 === 0);

for (const store of STORES) {
  describe(`a process killed at a named point, ${store.name}`, { concurrency: 3 }, () => {
    for (const [sentence, name, step, failpoint, end, effects] of someOf(ROWS, store)) {
      test(`${sentence} (${name}: ${step} at ${failpoint})`, async () => {
        using scene = makeScene(store);
        await crash(scene, SCENARIOS[name], { step, failpoint });
        await scene.rest(answerOf(SCENARIOS[name]));
        assert.deepEqual([await endOf(scene), SCENARIOS[name].effects(scene)], [end, effects]);
        await scene.holds();
      });
    }

    test("a command that kills the program which runs it", async () => {
      using scene = makeScene(store);
      const { signal } = await scene.child(SCENARIOS["shell that kills"].call);
      assert.equal(signal, "SIGKILL");
      await scene.rest();
      assert.deepEqual([await endOf(scene), inWorkspace(scene)], [UNKNOWN, 1]);
      await scene.holds();
    });
  });
}

/** Law 4: whatever throws in the gate, nothing runs for it, and whoever was told something was told the truth. */
const THROWN: readonly [sentence: string, name: Name, step: Step, failpoint: `${Failpoint}${"" | `@${number}`}`][] = [
  ["the claim of an allowed call", "allow", "call", "claim.before"],
  ["the third commit of a call", "allow", "call", "append.before_commit@3"],
  ["the fourth commit of a call", "allow", "call", "append.before_commit@4"],
  ["an answer", "approve", "answer", "approval.before_answer"],
  ["the claim of an approved call", "approve", "resume", "claim.before"],
  ["the first commit of a resume", "approve", "resume", "append.before_commit@1"],
];

for (const store of STORES) {
  describe(`a store that throws at a named point, ${store.name}`, { concurrency: 3 }, () => {
    for (const [sentence, name, step, failpoint] of someOf(THROWN, store)) {
      test(`law 4: ${sentence} (${name}: ${step} at ${failpoint})`, async () => {
        using scene = makeScene(store);
        const before = SCENARIOS[name].effects(scene);
        const { code, signal } = await scene.child(await commandOf(scene, SCENARIOS[name], step), { failpoint: `${failpoint}=throw` });
        assert.deepEqual([code, signal, SCENARIOS[name].effects(scene)], [1, null, before]);
        await scene.rest(answerOf(SCENARIOS[name]));
        await atMostOnce(scene, SCENARIOS[name]);
        await scene.holds();
      });
    }
  });
}

/** What a commit can leave behind is the same before it began and before it ended; a long run looks at all three places. */
const COMMIT_POINTS: readonly Failpoint[] = LONG
  ? ["append.before", "append.before_commit", "append.after_commit"]
  : ["append.before_commit"];
const STEPS: readonly [name: Name, steps: readonly Step[]][] = [
  ["allow", ["call"]],
  ["approve", LONG ? ["call", "answer", "resume"] : ["resume"]],
  ["reject", LONG ? ["call", "answer", "resume"] : ["resume"]],
  ["shell", ["call"]],
  ["read", LONG ? ["call"] : []],
  ["write", LONG ? ["call"] : []],
  ["write asked", LONG ? ["call", "resume"] : ["resume"]],
];

for (const store of STORES) {
  for (const [name, steps] of STEPS) {
    for (const step of steps) {
      if (store !== SQLITE && !LONG && name !== "approve") continue;
      const commits = await countCommits(store, SCENARIOS[name], step);
      test(`${name}: ${step} commits, ${store.name}`, () => assert.ok(commits > 0, "nothing to break"));
      describe(`a process killed at each commit of ${name}: ${step}, ${store.name}`, { concurrency: 3 }, () => {
        for (const point of COMMIT_POINTS) {
          for (let nth = 1; nth <= commits; nth += 1) {
            test(`${point}@${nth} of ${commits}`, async () => {
              using scene = makeScene(store);
              await crash(scene, SCENARIOS[name], { step, failpoint: `${point}@${nth}` });
              await scene.rest(answerOf(SCENARIOS[name]));
              await atMostOnce(scene, SCENARIOS[name]);
              await scene.holds();
            });
          }
        }
      });
    }
  }
}

async function atMostOnce(scene: Scene, { effects }: Scenario): Promise<void> {
  const end = await endOf(scene);
  assert.ok(EFFECTS_OF[end]?.includes(effects(scene)), `${end} with ${effects(scene)} effects`);
}

function answerOf({ answer }: Scenario): "approve" | "reject" | undefined {
  return answer;
}

async function endOf(scene: Scene): Promise<End> {
  const ends = (await scene.ended()).map(({ outcome, type }: Ended): End => `${outcome} ${type}`);
  assert.ok(ends.length <= 1, `ended more than once: ${ends}`);
  return ends[0] ?? "no call";
}

type Crash = { readonly step: Step; readonly failpoint: string };

/** Leads the call to the step, and kills the process that takes it. */
async function crash(scene: Scene, scenario: Scenario, { step, failpoint }: Crash): Promise<void> {
  const { signal, code, stderr } = await scene.child(await commandOf(scene, scenario, step), { failpoint });
  assert.equal(signal, "SIGKILL", `${failpoint} was never reached: exit ${code}, ${stderr}`);
}

async function commandOf(scene: Scene, { call, answer = "approve" }: Scenario, step: Step): Promise<readonly string[]> {
  if (step === "call") return [...call, "--json"];
  const { sessionId, approvalId } = await scene.json(call);
  if (step === "answer") return [answer, approvalId, "--json"];
  await scene.json([answer, approvalId]);
  return ["resume", sessionId, "--json"];
}

async function countCommits(store: SceneStore, scenario: Scenario, step: Step): Promise<number> {
  using scene = makeScene(store);
  let commits = 0;
  const counting: Failpoints = {
    isArmed: () => false,
    hit: (name) => {
      if (name === "append.before_commit") commits += 1;
    },
  };
  await scene.here(await commandOf(scene, scenario, step), counting);
  return commits;
}
