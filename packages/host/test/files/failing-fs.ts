import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

/**
 * Imported first, it stands between a process and its files: every step that changes something on disk is counted. `FS_STEP=kill@N` kills before the N-th;
 * `globalThis.breakFs(CODE, N)` starts counting anew and has the N-th refused. At the end the names of all steps are told on descriptor 2.
 */
const steps: string[] = [];
let broken = { action: "kill", at: Number(process.env["FS_STEP"]?.split("@")[1] ?? 0), first: (): void => undefined };

Object.assign(globalThis, {
  breakFs(action: string, at: number, first = (): void => undefined): void {
    steps.length = 0;
    broken = { action, at, first };
  },
});

function step(name: string): void {
  steps.push(name);
  if (steps.length !== broken.at) return;
  if (broken.action === "kill") {
    process.kill(process.pid, "SIGKILL");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }
  broken.first();
  throw Object.assign(new Error(`${broken.action}: refused, ${name}`), { code: broken.action });
}

type Call = (...args: unknown[]) => Promise<unknown>;

function count(holder: Record<string, Call>, names: readonly string[], changes: (args: readonly unknown[]) => boolean = () => true): void {
  for (const name of names) {
    const original = holder[name];
    if (original === undefined) throw new Error(`no ${name} to count`);
    holder[name] = async function (this: unknown, ...args) {
      if (changes(args)) step(name);
      return original.apply(this, args);
    };
  }
}

const CREATES = promises.constants.O_CREAT;
const probe = await promises.open(import.meta.filename);
const ofHandles = Object.getPrototypeOf(probe) as Record<string, Call>;
await probe.close();

const ofFiles = promises as unknown as Record<string, Call>;
count(ofFiles, ["rename", "link", "unlink", "rmdir", "mkdir"]);
count(ofFiles, ["open"], ([, flags]) => typeof flags === "number" && (flags & CREATES) !== 0);
count(ofHandles, ["writeFile", "chmod", "sync"]);
syncBuiltinESMExports();
process.on("exit", () => process.stderr.write(`${JSON.stringify(steps)}\n`));
