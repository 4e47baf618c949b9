import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { DOORS, type Files, proposals, type Survey, stepLog } from "./proposal-scene.ts";
import { cameOutRight, finish, makeStory, onlySession, parkedStory } from "./random-kills-scene.ts";
import { makeScene, type Ran, type Scene, stateOf, until } from "./scene.ts";
import type { SceneStore } from "./stores.ts";
import { tree } from "./ten-files.ts";

/** A command that is interrupted while it has effects, and what must be true once everything has come to rest. */
export type Interruptible = {
  readonly scene: Scene;
  readonly command: readonly string[];
  /** Brings everything to an end that nobody disturbs. */
  readonly finish: () => Promise<void>;
  /** Record and files agree. */
  readonly agrees: () => Promise<void>;
};

/** The doors through which a process has effects. */
export type InterruptedDoor = "run" | "resume" | "apply" | "undo";

/** Leads a new scene to the command of a door. */
export async function interruptible(door: InterruptedDoor, whole: Survey, store?: SceneStore): Promise<Interruptible> {
  if (door === "run" || door === "resume") {
    const { scene, command } = door === "run" ? makeStory(store) : await parkedStory(store);
    return { scene, command, finish: async () => void (await finish({ scene, command })), agrees: () => cameOutRight(scene) };
  }
  const scene = makeScene(store);
  const command = await DOORS[door].command(scene);
  return { scene, command, finish: () => resumeOpen(scene), agrees: () => proposalAgrees(scene, whole) };
}

async function resumeOpen(scene: Scene): Promise<void> {
  await scene.here(["resume", await onlySession(scene), "--json"]);
}

/** The state of the proposal is the state of its files. Directories that an apply made stay after an undo. */
async function proposalAgrees(scene: Scene, { before, after }: Survey): Promise<void> {
  await scene.holds();
  const [proposal] = await proposals(scene);
  const ends: Readonly<Record<string, Files>> = { staged: before, undone: before, applied: after };
  assert.deepEqual(filesOf(tree(scene.path("."))), filesOf(ends[proposal?.state ?? ""] ?? {}), `it says ${proposal?.state}`);
}

function filesOf(all: Files): Files {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !name.endsWith("/")));
}

/** A command that stands still, or has come to its end without reaching the point. */
export type StoppedCommand = { readonly child: ChildProcess; readonly ends: Promise<Ran>; readonly isStopped: boolean };

/** Starts the command and waits until it stands still at a failpoint. */
export async function stopAt({ scene, command }: Interruptible, failpoint: string): Promise<StoppedCommand> {
  const child = scene.start(command, { failpoint: `${failpoint}=stop`, env: { ASSENT_TEST_STEPS: stepLog(scene) } });
  child.stdin?.end();
  const ends = scene.finished(child);
  let isOver = false;
  void ends.then(() => {
    isOver = true;
  });
  await until(`${command.join(" ")} stands still at ${failpoint}, or ends`, () => isOver || stateOf(child.pid ?? 0) === "T");
  return { child, ends, isStopped: !isOver };
}
