import { readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { PathChange, ProcessEnd, ProcessSpec, ShownChange } from "@assent/core";
import { confineProgram } from "../sandbox/confine-program.ts";
import { probeSandbox, type SandboxProbe } from "../sandbox/probe.ts";
import { listHomeSecrets, listVisibleRoots } from "../sandbox/visible-roots.ts";
import { collectChanges, MOST_PATHS } from "./collect-changes.ts";
import { openView } from "./open-view.ts";
import type { ViewParts, WorkspaceView } from "./workspace-view.ts";

/** A program to run on a view of the workspace. */
export type RunOnView = Pick<ProcessSpec, "file" | "args" | "cwd" | "env"> & {
  readonly timeoutMs: number;
  /** Prefers a copy, which is slower and behaves exactly like the workspace. */
  readonly exact?: boolean;
};

/** What a program did on a view of the workspace. */
export type EffectRun = {
  readonly end: ProcessEnd;
  readonly how: WorkspaceView["how"];
  readonly changes: readonly ShownChange[];
  /** All changes with their contents; empty if `unwritable`. */
  readonly planned: readonly PathChange[];
  readonly unwritable?: string;
  /** Names of processes that were still running when it ended; they were killed. */
  readonly stayed: readonly string[];
  /** Files it wrote outside the workspace, in directories that were thrown away. */
  readonly outside: readonly string[];
};

/** Runs programs where they change nothing. */
export type EffectRunner = {
  /** Why this is not possible here, as a sentence; undefined if it is. Tries it once. */
  readonly unavailable: () => Promise<string | undefined>;
  /** Rejects if the view cannot be made or the program cannot be confined. The workspace stays as it is. */
  readonly run: (program: RunOnView, signal: AbortSignal) => Promise<EffectRun>;
};

/** What a runner needs; `probe` replaces the trial of the sandbox in tests. */
export type EffectRunnerParts = ViewParts & { readonly probe?: () => Promise<SandboxProbe> };

/** Creates a runner for one workspace. Starts nothing before it is used. */
export function createEffectRunner(parts: EffectRunnerParts): EffectRunner {
  const { processes, probe = () => probeSandbox({ processes }) } = parts;
  let probed: Promise<SandboxProbe> | undefined;
  const sandbox = (): Promise<SandboxProbe> => {
    probed ??= probe();
    return probed;
  };
  return {
    unavailable: async () => {
      const found = await sandbox();
      return found.works ? undefined : found.reason;
    },
    run: async (program, signal) => {
      const found = await sandbox();
      if (!found.works) throw new Error(found.reason);
      const view = await openView(parts, program.exact === true, signal);
      try {
        return await runInView({ parts, view, sandbox: found.sandbox }, program, signal);
      } finally {
        await view.close();
      }
    },
  };
}

type OpenedRun = {
  readonly parts: EffectRunnerParts;
  readonly view: WorkspaceView;
  readonly sandbox: Extract<SandboxProbe, { readonly works: true }>["sandbox"];
};

/** The largest file, in KiB. */
const LARGEST_FILE = 512 * 1024;
const LEFT = ".assent-left";

/**
 * Runs inside: limits the size of a file, runs the command, notes what is still running, ends it and waits until it is gone. So nothing changes the view
 * while it is compared.
 */
const INSIDE = [
  `ulimit -f ${LARGEST_FILE}`,
  '"$0" "$@"',
  "status=$?",
  'others() { for one in /proc/[0-9]*; do case "$one" in /proc/1|/proc/$$) ;; *) read -r name 2>/dev/null < "$one/comm" && echo "$name";; esac; done; }',
  `others > /tmp/${LEFT}`,
  "kill -9 -1 2>/dev/null",
  'for try in {1..100}; do [ -z "$(others | grep -v -x -e grep -e bash)" ] && break; read -r -t 0.02 < <(:) || :; done',
  "exit $status",
].join("\n");

async function runInView({ parts, view, sandbox }: OpenedRun, program: RunOnView, signal: AbortSignal): Promise<EffectRun> {
  const { processes, workspace, directory } = parts;
  const { file, args, cwd, env, timeoutMs } = program;
  const home = env["HOME"] ?? "/";
  const confinement = {
    ...{ sandbox, workspace, workspaceFrom: view.from, temporary: view.temporary, home },
    roots: listVisibleRoots(env["PATH"] ?? "", home),
    masked: listHomeSecrets(home),
    ...{ writable: [], readOnly: [], network: false },
  };
  const mountPoints = new Set(confinement.roots.map(({ path }) => path.replace(home, "~")));
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
    const collected = collectChanges({ workspace, view: view.path }, comparison);
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

const FULL = "It was stopped because it wrote more than 2 GiB, or the disk is nearly full.";
const MOST_WRITTEN = 2 * 1024 ** 3;
const LEAST_FREE = 256 * 1024 ** 2;
const ROOM_MS = 250;

/** Aborts when the file system of the views runs out of room. A single program's files are limited by the shell. */
function watchRoom(directory: string): { readonly signal: AbortSignal; readonly close: () => void } {
  const abort = new AbortController();
  const free = (): number => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  };
  const least = Math.max(LEAST_FREE, free() - MOST_WRITTEN);
  const timer = setInterval(() => {
    if (free() < least) abort.abort(new DOMException(FULL, "QuotaExceededError"));
  }, ROOM_MS);
  return { signal: abort.signal, close: () => clearInterval(timer) };
}

function takeStayed(temporary: string): readonly string[] {
  const file = join(temporary, LEFT);
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((name) => name !== "");
  } catch {
    return []; // it was stopped before
  } finally {
    rmSync(file, { force: true });
  }
}

const MOST_OUTSIDE = 100;

/** Files in the private directories, by the names that the command used. */
function listOutside(temporary: string): readonly string[] {
  const found: string[] = [];
  const walk = (directory: string, shown: string): void => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (found.length >= MOST_OUTSIDE) return;
      const name = entry.name === ".home" && shown === "/tmp" ? "~" : `${shown}/${entry.name}`;
      if (!entry.isDirectory()) found.push(name);
      else walk(join(directory, entry.name), name);
    }
  };
  try {
    walk(temporary, "/tmp");
  } catch {
    // a directory that the command shut; what is in it is thrown away, too
  }
  return found;
}
