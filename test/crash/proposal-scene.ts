import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lives, overlaps, standings } from "./check-proposals.ts";
import { makeScene, type Ran, type Scene } from "./scene.ts";
import { inodes, layTen, tree } from "./ten-files.ts";

/** All files of a workspace, by name. */
export type Files = Readonly<Record<string, string>>;

/** A proposal as it is listed. */
export type Listed = { readonly id: string; readonly sessionId: string; readonly state: string; readonly parked: boolean };

/** A way to change files: `settles` says what a kill in its middle leaves to be put in order. */
export type Door = {
  readonly settles: "apply" | "direct" | "resolve" | "undo";
  /** Leads a scene to the command that changes files, and gives that command. */
  readonly command: (scene: Scene) => Promise<readonly string[]>;
};

/** More words than a model is reminded of what is pending: with them a conversation comes to its end, also where it is taken up again. */
export const WORDS: readonly unknown[] = Array.from({ length: 8 }, () => ({ say: "done" }));

const EDITED = { file_path: "notes.txt", old_string: "one", new_string: "ONE" };
const MADE = { file_path: "made/deep/new.txt", content: "whole\n" };

/** Every way in which the program changes files. */
export const DOORS = {
  apply: {
    settles: "apply",
    command: async (scene) => ["apply", (await stageTen(scene)).id, "--json"],
  },
  "call ten": {
    settles: "direct",
    command: async (scene) => {
      layTen(scene.path("."));
      return ["call", "ten", "--mode", "auto-edit", "--json"];
    },
  },
  "call write": {
    settles: "direct",
    command: async () => ["call", "write", "--mode", "auto-edit", "--input", JSON.stringify(MADE), "--json"],
  },
  "run edit": {
    settles: "direct",
    command: async (scene) => {
      writeFileSync(scene.path("notes.txt"), "one\ntwo\n");
      const calls = [
        { tool: "read", input: { file_path: "notes.txt" } },
        { tool: "edit", input: EDITED },
      ];
      return runScript(scene, [...calls.map((call) => ({ calls: [call] })), ...WORDS]);
    },
  },
  "run resolve": {
    settles: "resolve",
    command: async (scene) => {
      layTen(scene.path("."));
      return runScript(scene, [STAGE_TURN, APPLY_TURN, ...WORDS]);
    },
  },
  undo: {
    settles: "undo",
    command: async (scene) => {
      const { id } = await stageTen(scene);
      assert.equal((await scene.json(["apply", id])).outcome, "applied");
      return ["undo", id, "--json"];
    },
  },
} as const satisfies Record<string, Door>;

export type DoorName = keyof typeof DOORS;

/** Turns in which the model stages the set, and in which it applies what is pending. */
export const STAGE_TURN = { calls: [{ tool: "ten_staged" }] };
export const APPLY_TURN = { calls: [{ tool: "resolve", input: { action: "apply", reason: "looks right" } }] };

/** The command that plays a conversation. Whatever is not forbidden is allowed in it. */
export function runScript(scene: Scene, turns: readonly unknown[], flags: readonly string[] = ["--mode", "yolo"]): readonly string[] {
  const file = join(scene.root, "script.json");
  writeFileSync(file, JSON.stringify({ turns, allowUnused: true }));
  return ["run", "go on", "--model", `script:${file}`, ...flags, "--json"];
}

/** Lays the set out and stages its change. */
export async function stageTen(scene: Scene): Promise<Listed> {
  layTen(scene.path("."));
  return stage(scene, ["ten_staged"]);
}

/** Makes a call whose change is staged, and gives that proposal. */
export async function stage(scene: Scene, call: readonly string[]): Promise<Listed> {
  const { sessionId, outcome, content } = await scene.json(["call", ...call, "--mode", "yolo"]);
  assert.equal(outcome, "succeeded", content);
  const found = (await proposals(scene)).find((proposal) => proposal.sessionId === sessionId);
  assert.ok(found, content);
  return found;
}

/** All proposals, oldest first. */
export function proposals(scene: Scene): Promise<readonly Listed[]> {
  return scene.json(["proposals", "--all"]);
}

/** What a door does when nobody disturbs it. */
export type Survey = {
  /** Every step that changes something on the disk, as it is logged. */
  readonly steps: readonly string[];
  /** For each step, how many files have been put in place or deleted before it. */
  readonly changedBefore: readonly number[];
  readonly changes: number;
  readonly before: Files;
  readonly after: Files;
};

/** Watches a command that comes to its end. */
export async function survey({ command }: Door, failpoint?: string): Promise<Survey> {
  using scene = makeScene();
  const argv = await command(scene);
  const before = tree(scene.path("."));
  const ran = await scene.child(argv, { env: { ASSENT_TEST_STEPS: stepLog(scene) }, ...(failpoint !== undefined && { failpoint }) });
  assert.equal(ran.code, failpoint === undefined ? 0 : 1, ran.stdout + ran.stderr);
  const steps = stepsOf(scene);
  const changedBefore = steps.map((_, at) => steps.slice(0, at).filter(puts).length);
  await scene.holds();
  return { steps, changedBefore, changes: steps.filter(puts).length, before, after: tree(scene.path(".")) };
}

/** Where a child says what it does to files. */
export function stepLog({ root }: Scene): string {
  return join(root, "steps");
}

export function stepsOf(scene: Scene): readonly string[] {
  const log = stepLog(scene);
  return existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : [];
}

/** True for a step after which a name leads to something else: new bytes, or nothing. */
export function puts(step: string): boolean {
  return /^file\.(rename|link) \.assent-\S+ /.test(step) || /^file\.unlink (?!\.assent-)/.test(step);
}

/** Lets a command be killed, and sees that nothing on record is untrue at that moment. */
export async function killAt(scene: Scene, argv: readonly string[], failpoint: string): Promise<void> {
  const { signal, code, stdout, stderr } = await scene.child(argv, { failpoint });
  assert.equal(signal, "SIGKILL", `${failpoint} was never reached: exit ${code}, ${stdout}${stderr}`);
  const all = lives(scene.store);
  for (const life of all.filter((one) => !all.some((other) => other !== one && overlaps(one, other)))) {
    const { before, after } = standings(life);
    if (life.state === "staged") assert.deepEqual(after, [], "it says staged while files are changed");
    if (life.state === "applied" && !isGoingBack(life.rows)) assert.deepEqual(before, [], "it says applied while files are as before");
  }
}

function isGoingBack(rows: readonly { readonly type: string }[]): boolean {
  return rows.some(({ type }) => type === "proposal.undoing");
}

/** Takes up every session, as a person would who finds the program stopped. */
export async function resumeAll(scene: Scene): Promise<void> {
  const sessions: readonly { readonly id: string }[] = await scene.json(["sessions"]);
  for (const { id } of sessions) {
    const ran = await scene.here(["resume", id, "--json"]);
    if (ran.stdout !== "") assert.equal(said(ran).value.error, undefined, ran.stdout);
  }
}

/** A command of a person in a process of its own, which leaves a session that was not closed to whoever comes next. */
export async function person(scene: Scene, argv: readonly string[]): Promise<ReturnType<typeof JSON.parse>> {
  return said(await scene.child([...argv, "--json"])).value;
}

/** At which end all files are. */
export function filesAt(scene: Scene, { before, after }: Pick<Survey, "before" | "after">): "before" | "after" | "neither" {
  const now = JSON.stringify(tree(scene.path(".")));
  return now === JSON.stringify(before) ? "before" : now === JSON.stringify(after) ? "after" : "neither";
}

/** Names that an apply leaves only while it is under way. */
export function temporaries(scene: Scene): readonly string[] {
  return readdirSync(scene.path("."), { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".assent-"));
}

/** Nothing is left to be put in order: taking everything up once more writes no file again and changes no record of a proposal. */
export async function isSettled(scene: Scene): Promise<void> {
  assert.deepEqual(temporaries(scene), []);
  const [files, told] = [inodes(scene.path(".")), await proposals(scene)];
  await resumeAll(scene);
  assert.deepEqual([inodes(scene.path(".")), await proposals(scene)], [files, told]);
  await scene.holds();
}

/** The last end of a call on record. */
export async function lastEnd(scene: Scene): Promise<string> {
  const end = (await scene.ended()).at(-1);
  return end ? `${end.outcome} ${end.type}` : "none";
}

/** How a command that printed JSON ended. */
export function said({ code, stdout, stderr }: Ran): { readonly code: number | null; readonly value: ReturnType<typeof JSON.parse> } {
  try {
    return { code, value: JSON.parse(stdout) };
  } catch (cause) {
    throw new Error(`exit ${code}, no JSON value: ${stdout}${stderr}`, { cause });
  }
}
