import { lstatSync, opendirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { PathChange, ProcessEnd, ProcessSpec, ShownChange } from "@assent/core";
import { type Confinement, confineProgram } from "../sandbox/confine-program.ts";
import { collectChanges, MOST_PATHS } from "./collect-changes.ts";
import { openView } from "./open-view.ts";
import type { ViewParts, WorkspaceView } from "./workspace-view.ts";

/** A program to run on a view of the workspace. */
export type RunOnView = Pick<ProcessSpec, "file" | "args" | "cwd" | "env"> & {
  readonly timeoutMs: number;
  /** Prefers a copy, which is slower and behaves exactly like the workspace. */
  readonly exact?: boolean;
  /** How it is confined, with the view in place of the workspace. */
  readonly confinement: (view: ConfinedView) => Confinement;
};

/** The parts of a confinement that belong to one view. */
export type ConfinedView = Pick<Confinement, "temporary"> & { readonly workspaceFrom: string };

/** What a program did on a view of the workspace. */
export type EffectRun = {
  readonly end: ProcessEnd;
  readonly how: WorkspaceView["how"];
  readonly changes: readonly ShownChange[];
  /** The changes with their contents, as far as they can be read. To be written only if not `unwritable`. */
  readonly planned: readonly PathChange[];
  readonly unwritable?: string;
  /** Names of processes that were still running when it ended; they were killed. */
  readonly stayed: readonly string[];
  /** Files it wrote outside the workspace, in directories that were thrown away. */
  readonly outside: readonly string[];
};

/** Runs programs where they change nothing. */
export type EffectRunner = {
  /** Rejects if the view cannot be made or the program cannot be confined. The workspace stays as it is. */
  readonly run: (program: RunOnView, signal: AbortSignal) => Promise<EffectRun>;
};

/** Creates a runner for one workspace. Starts nothing before it is used. */
export function createEffectRunner(parts: ViewParts): EffectRunner {
  return {
    run: async (program, signal) => {
      const view = await openView(parts, program.exact === true, signal);
      try {
        return await runInView({ parts, view }, program, signal);
      } finally {
        await view.close();
      }
    },
  };
}

type OpenedRun = { readonly parts: ViewParts; readonly view: WorkspaceView };

/** The largest file, in KiB. */
const LARGEST_FILE = 512 * 1024;
const LEFT = ".assent-left";

/**
 * Runs inside: limits the size of a file, runs the command, notes what is still running, ends it and waits until it is gone. So nothing changes the view
 * while it is compared. It writes the note last, when nothing can put something else in its place.
 */
const INSIDE = [
  `ulimit -f ${LARGEST_FILE}`,
  '"$0" "$@"',
  "status=$?",
  'others() { names=; for one in /proc/[0-9]*; do case "$one" in /proc/1|/proc/$$) ;; *) read -r name 2>/dev/null < "$one/comm" && names+="$name"$\'\\n\';; esac; done; }',
  "others",
  'stayed="$names"',
  "kill -9 -1 2>/dev/null",
  'for try in {1..100}; do others; [ -z "$names" ] && break; read -r -t 0.02 < <(:) || :; done',
  `rm -rf /tmp/${LEFT}`,
  `printf %s "$stayed" > /tmp/${LEFT}`,
  "exit $status",
].join("\n");

async function runInView({ parts, view }: OpenedRun, program: RunOnView, signal: AbortSignal): Promise<EffectRun> {
  const { processes, workspace, directory } = parts;
  const { file, args, cwd, env, timeoutMs } = program;
  const confinement = program.confinement({ workspaceFrom: view.from, temporary: view.temporary });
  const mountPoints = new Set(confinement.roots.map(({ path }) => path.replace(confinement.home, "~")));
  const room = watchRoom(directory);
  try {
    const end = await processes.run(
      {
        ...{ file: "/bin/bash", cwd, env, timeoutMs },
        args: ["--noprofile", "--norc", "-c", INSIDE, file, ...args],
        confine: (inside) => view.launch(confineProgram(inside, confinement)),
      },
      AbortSignal.any([signal, room.signal]),
    );
    signal.throwIfAborted();
    const stayed = takeStayed(view.temporary);
    const comparison = await view.compare(MOST_PATHS);
    const collected = await collectChanges({ processes, workspace, view: view.path, list: `${view.temporary}.list` }, comparison);
    const full = room.signal.aborted ? { unwritable: FULL } : {};
    return {
      end,
      how: view.how,
      ...collected,
      ...full,
      stayed,
      outside: listOutside(view.temporary).filter((name) => !mountPoints.has(name)),
    };
  } finally {
    room.close();
  }
}

const FULL = "It was stopped because it wrote more than 2 GiB or 300,000 files, or the disk is nearly full.";
const MOST_WRITTEN = 2 * 1024 ** 3;
const MOST_FILES = 300_000;
const LEAST_FREE = 256 * 1024 ** 2;
const ROOM_MS = 250;

/** Aborts when the file system of the views runs out of room. A single program's files are limited by the shell. */
function watchRoom(directory: string): { readonly signal: AbortSignal; readonly close: () => void } {
  const abort = new AbortController();
  const free = (): { readonly bytes: number; readonly files: number } => {
    const { bavail, bsize, files, ffree } = statfsSync(directory);
    return { bytes: bavail * bsize, files: files > 0 ? ffree : Number.POSITIVE_INFINITY }; // some file systems do not count files
  };
  const before = free();
  const least = { bytes: Math.max(LEAST_FREE, before.bytes - MOST_WRITTEN), files: before.files - MOST_FILES };
  const timer = setInterval(() => {
    const now = free();
    if (now.bytes < least.bytes || now.files < least.files) abort.abort(new DOMException(FULL, "QuotaExceededError"));
  }, ROOM_MS);
  return { signal: abort.signal, close: () => clearInterval(timer) };
}

/** Follows no link: the command may have put one there, if it ended the shell that writes the note. */
function takeStayed(temporary: string): readonly string[] {
  const file = join(temporary, LEFT);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return [];
  const text = readFileSync(file, "utf8");
  rmSync(file);
  return text.split("\n").filter((name) => name !== "");
}

const MOST_OUTSIDE = 100;
const MOST_LOOKED = 10_000;

/** Files in the private directories, by the names that the command used. Stops looking after some thousand entries. */
function listOutside(temporary: string): readonly string[] {
  const found: string[] = [];
  let looked = 0;
  const walk = (directory: string, shown: string): void => {
    const opened = opendirSync(directory);
    try {
      for (let entry = opened.readSync(); entry && found.length < MOST_OUTSIDE; entry = opened.readSync()) {
        looked += 1;
        if (looked > MOST_LOOKED) return;
        const name = entry.name === ".home" && shown === "/tmp" ? "~" : `${shown}/${entry.name}`;
        if (!entry.isDirectory()) found.push(name);
        else walk(join(directory, entry.name), name);
      }
    } finally {
      opened.closeSync();
    }
  };
  try {
    walk(temporary, "/tmp");
  } catch {
    // a directory that the command shut; what is in it is thrown away, too
  }
  return found.toSorted();
}
