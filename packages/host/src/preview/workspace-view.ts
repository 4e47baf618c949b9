import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, opendirSync, readdirSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type ConfinedStart, type Processes, ToolError } from "@assent/core";
import { compareTrees, type TreeComparison } from "./compare-trees.ts";

/** A private view of the workspace, in which a command may change everything. */
export type WorkspaceView = {
  readonly how: "copy" | "overlay";
  /** Where a confined command finds it, in place of the workspace. */
  readonly from: string;
  /** Where this process finds it. */
  readonly path: string;
  /** The private `/tmp` of the command. */
  readonly temporary: string;
  /** Starts a confined program where the view is visible. */
  readonly launch: (start: ConfinedStart) => ConfinedStart;
  readonly compare: (limit: number) => Promise<TreeComparison>;
  readonly close: () => Promise<void>;
};

export type ViewParts = {
  readonly processes: Processes;
  readonly workspace: string;
  /** The directory of all views, on a file system with room. */
  readonly directory: string;
};

export const SYSTEM_ENV: Readonly<Record<string, string>> = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** Makes a copy with `cp`, which shares blocks where the file system can. It behaves exactly like the workspace. */
export async function openCopy(parts: ViewParts, signal: AbortSignal): Promise<WorkspaceView> {
  const { processes, workspace } = parts;
  const { base, temporary, close } = await makeBase(parts);
  const path = join(base, "view");
  try {
    const startedAt = markTime(join(base, "started"));
    await runSystem(processes, ["cp", "-a", "--reflink=auto", "--", workspace, path], signal);
    const since = markTime(join(base, "copied"));
    const isForeign = (stats: Stats): boolean => stats.ctimeMs >= startedAt;
    const directories = listDirectories(path);
    const isMoved = (at: string, { ino }: Stats): boolean => directories.get(at) !== ino;
    const compare = (limit: number): Promise<TreeComparison> => {
      const isClockBack = markTime(join(base, "ended")) < since; // then times tell nothing
      return compareTrees(
        { lower: workspace, view: path, isTouched: (_, stats) => isClockBack || stats.ctimeMs >= since, isForeign, isMoved },
        limit,
      );
    };
    return { how: "copy", from: path, path, temporary, launch: (start) => start, compare, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The number of every directory below a path. Moving a directory changes no time of what it contains. */
function listDirectories(top: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  const walk = (below: string): void => {
    for (const entry of readdirSync(join(top, below), { withFileTypes: true })) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (!entry.isDirectory()) continue;
      found.set(path, lstatSync(join(top, path), { throwIfNoEntry: false })?.ino ?? 0);
      walk(path);
    }
  };
  walk("");
  return found;
}

type ViewBase = { readonly base: string; readonly temporary: string; readonly close: () => Promise<void> };

/** Its name says which process made it, so that a later one can remove what a crash left. */
export async function makeBase({ processes, directory }: ViewParts): Promise<ViewBase> {
  await removeLeftViews(processes, directory);
  const base = join(directory, `${ownerName(processes, process.pid)}-${randomBytes(6).toString("hex")}`);
  const temporary = join(base, "tmp");
  mkdirSync(join(temporary, ".home"), { recursive: true, mode: 0o700 });
  return { base, temporary, close: () => Promise.race([removeTree(processes, base), wait(REMOVED_MS, undefined, { ref: false })]) };
}

/** Removing many files takes longer than this and continues in the background. */
const REMOVED_MS = 3_000;

async function removeLeftViews(processes: Processes, directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const left = readdirSync(directory).filter((name) => !name.startsWith(`${ownerName(processes, Number.parseInt(name, 10))}-`));
  await Promise.all(left.map((name) => removeTree(processes, join(directory, name))));
}

/** Names a process by its id and its start, in hexadecimal digits. */
function ownerName(processes: Processes, pid: number): string {
  return `${pid}-${Buffer.from(processes.startOf(pid) ?? "").toString("hex")}`;
}

/** Removes everything, also below directories that a command left shut and below paths that are too long for one name. What cannot be removed stays. */
async function removeTree(processes: Processes, path: string): Promise<void> {
  const run = async (file: string, ...args: readonly string[]): Promise<boolean> => {
    const { exitCode } = await processes.run(
      { file, args: [...args, "--", path], cwd: "/", env: SYSTEM_ENV },
      new AbortController().signal,
    );
    return exitCode === 0;
  };
  if (await run("/bin/rm", "-rf")) return;
  await run("/bin/chmod", "-R", "u+rwX");
  await run("/bin/rm", "-rf");
}

/** The file system's own time, which `ctime` uses as well. */
export function markTime(file: string): number {
  writeFileSync(file, "");
  const { ctimeMs } = lstatSync(file);
  rmSync(file);
  return ctimeMs;
}

async function runSystem(processes: Processes, [name = "", ...args]: readonly string[], signal: AbortSignal): Promise<void> {
  const file = `/bin/${name}`;
  const end = await processes.run({ file, args, cwd: "/", env: SYSTEM_ENV, timeoutMs: COPY_MS }, signal);
  signal.throwIfAborted();
  if (end.ended === "timeout") throw new ToolError(`The workspace could not be copied within ${COPY_MS / 1000} s.`, "execution_failed");
  if (end.exitCode !== 0)
    throw new ToolError(`The workspace could not be copied: ${end.output.trim().split("\n")[0] ?? name}`, "execution_failed");
}

const COPY_MS = 60_000;

export type WorkspaceSize = { readonly entries: number; readonly bytes: number };

/** Counts entries and bytes, and stops above the limits. */
export function measureTree(path: string, most: WorkspaceSize): WorkspaceSize {
  let [entries, bytes] = [0, 0];
  const left = [path];
  for (let directory = left.pop(); directory !== undefined && entries <= most.entries && bytes <= most.bytes; directory = left.pop()) {
    const opened = opendirSync(directory);
    for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
      entries += 1;
      const place = join(directory, entry.name);
      if (entry.isDirectory()) left.push(place);
      else if (entry.isFile()) bytes += lstatSync(place, { throwIfNoEntry: false })?.size ?? 0;
    }
    opened.closeSync();
  }
  return { entries, bytes };
}
