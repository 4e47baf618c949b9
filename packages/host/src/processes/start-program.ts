import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { Readable, Writable } from "node:stream";
import { type ConfinedStart, errorCode, type ProcessSpec } from "@assent/core";
import { isExecutable } from "./find-program.ts";
import { waitUntilProcessGone } from "./group.ts";

export type SpawnedProgram = {
  readonly child: ChildProcess;
  /** For a confined program: resolves once all its processes are gone, to whether the program itself ran. */
  readonly ran?: Promise<boolean>;
};

/** A started child. It begins when `begin` is called, and never if this process ends first. */
export type StartedProgram = SpawnedProgram & { readonly pid: number; readonly begin: () => void };

/** Where a descriptor leads: an open descriptor, `/dev/null`, or a socket. */
export type DescriptorTarget = number | "ignore" | "pipe";

/** Descriptors 0 to 2 of a child. */
export type DescriptorTargets = readonly [input: DescriptorTarget, output: DescriptorTarget, error: DescriptorTarget];

/** A program, and whether it waits behind a gate until its start is recorded. */
export type ProgramLaunch = Pick<ProcessSpec, "file" | "args" | "cwd" | "env" | "confine"> & {
  readonly argv0?: string;
  readonly gated: boolean;
  /** The terminal that becomes descriptors 0 to 2. */
  readonly terminal?: string;
  /** Ends the group if this process ends before it calls `release`. */
  readonly endsWithUs?: true;
};

/** Starts a program in its own session and group. Rejects if the system refuses. */
export async function startProgram(launch: ProgramLaunch, targets: DescriptorTargets): Promise<StartedProgram> {
  const { child, ran } = spawnProgram(launch, targets);
  if (child.pid !== undefined) return { child, pid: child.pid, begin: () => openGate(child), ...(ran && { ran }) };
  shutGate(child);
  const [error] = await once(child, "error").catch((thrown: unknown) => [thrown]);
  throw Object.assign(new Error(describeStartFailure(launch), { cause: error }), { code: errorCode(error) });
}

/** Does not wait; a child without a pid was refused. */
export function spawnProgram(launch: ProgramLaunch, targets: DescriptorTargets): SpawnedProgram {
  const { confine, argv0, terminal } = launch;
  const confined = confine?.({ ...launch, hasTerminal: terminal !== undefined });
  const start = confined ? { ...launch, ...confined } : launch;
  const gated = launch.gated && isAbsolute(launch.file) && isExecutable(launch.file);
  const [file, args] = gated ? gateCommand(start) : [start.file, start.args];
  const child = spawn(file, args, {
    cwd: start.cwd,
    env: start.env,
    detached: true,
    stdio: [...targets, ...furtherDescriptors(gated, confined)],
    ...(argv0 !== undefined && !gated && !confined && { argv0 }),
  });
  return confined ? { child, ran: attendLauncher(child, confined) } : { child };
}

/** From descriptor 3 on: the gate, what a launcher reads and writes, and the null device over the rest. */
function furtherDescriptors(gated: boolean, confined: ConfinedStart | undefined): readonly ("ignore" | "pipe" | number)[] {
  const pipes = [...(gated ? [3] : []), ...(confined ? [...confined.feeds.map(({ fd }) => fd), confined.statusFd] : [])];
  const leaked = coveredDescriptors();
  const length = Math.max(leaked.length, ...pipes.map((fd) => fd - 2));
  return Array.from({ length }, (_, at) => (pipes.includes(at + 3) ? "pipe" : (leaked[at] ?? "ignore")));
}

/** Passes a launcher its input and reads its status to the end. */
async function attendLauncher({ stdio, pid }: ChildProcess, { feeds, statusFd }: ConfinedStart): Promise<boolean> {
  for (const { fd, bytes } of feeds) {
    const feed = stdio[fd];
    if (!(feed instanceof Writable)) continue;
    feed.on("error", () => undefined); // the launcher is gone; its status says so
    feed.end(bytes);
  }
  const status = stdio[statusFd];
  if (pid === undefined || !(status instanceof Readable)) return false;
  let text = "";
  try {
    for await (const chunk of status) text += chunk;
  } catch {
    return false;
  }
  const inner = Number(/"child-pid": (\d+)/.exec(text)?.[1] ?? 0);
  if (inner > 0) await waitUntilProcessGone(inner, LAUNCHER_MS);
  return text.includes('"exit-code"');
}

/** The processes of a sandbox are killed with its launcher, but end a moment later. */
const LAUNCHER_MS = 2000;

export function describeStartFailure({ file, cwd }: Pick<ProgramLaunch, "file" | "cwd">): string {
  return existsSync(cwd) ? `${file} could not be started` : `the working directory ${cwd} does not exist`;
}

/** Waits for a line on descriptor 3, then becomes the program. If this process dies first, nothing runs. */
const gateCommand = ({
  file,
  args,
  env,
  terminal,
  endsWithUs,
}: Pick<ProgramLaunch, "file" | "args" | "env" | "terminal" | "endsWithUs">): readonly [string, readonly string[]] => {
  const own = ["go", ...SET_BY_SHELLS.filter((name) => !(name in env))].join(" ");
  const enter = terminal === undefined ? "" : ENTER_TERMINAL;
  const watch = endsWithUs ? WATCH_US : "";
  const given = terminal === undefined ? args : [terminal, ...args];
  return ["/bin/sh", ["-c", `IFS= read -r go <&3 && ${watch}exec 3<&- && ${enter}unset ${own} && exec "$0" "$@"`, file, ...given]];
};

/**
 * A process of the group waits for a second line. If descriptor 3 closes without one, this process is gone, and the group ends. It is not a child of
 * the program, which might wait for its children.
 */
const WATCH_US =
  '{ ( ( trap "" TERM HUP INT; IFS= read -r go <&3 && exit; kill -TERM 0; command -p sleep 2; kill -KILL 0 ) </dev/null >/dev/null 2>&1 & ); } && ';

/** A session leader gets the first terminal it opens. */
const ENTER_TERMINAL = 'exec 0<>"$1" 1>&0 2>&0 && shift && ';

const SET_BY_SHELLS = ["PWD", "OLDPWD", "SHLVL"] as const;

export function openGate({ stdio: [, , , gate] }: ChildProcess): void {
  if (!(gate instanceof Writable)) return;
  gate.on("error", () => undefined); // the child is gone; its exit says so
  gate.end("\n");
}

/** Lets a program begin that has `endsWithUs`. */
export function openWatchedGate({ stdio: [, , , gate] }: ChildProcess): void {
  if (!(gate instanceof Writable)) return;
  gate.on("error", () => undefined); // the child is gone; its exit says so
  gate.write("\n");
}

/** Closes a gate for good. */
export function shutGate({ stdio: [, , , gate] }: ChildProcess): void {
  gate?.destroy();
}

let inheritedDescriptors: readonly number[] | undefined;
let nullDevice: number | undefined;
const coveredByCallers = new Set<number>();

/** Hides a descriptor from child processes until the returned function is called. */
export function coverDescriptor(fd: number): () => void {
  coveredByCallers.add(fd);
  return () => coveredByCallers.delete(fd);
}

/** Covers inherited descriptors without close-on-exec with the null device, because Node passes some of them to children. */
export function coveredDescriptors(): readonly ("ignore" | number)[] {
  inheritedDescriptors ??= leakedDescriptors();
  const leaked = [...inheritedDescriptors, ...coveredByCallers];
  if (leaked.length === 0) return [];
  nullDevice ??= openSync("/dev/null", "r+");
  const cover = nullDevice;
  return Array.from({ length: Math.max(...leaked) - 2 }, (_, i) => (leaked.includes(i + 3) ? cover : "ignore"));
}

const CLOSE_ON_EXEC = 0o2000000;

function leakedDescriptors(): readonly number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((fd) => fd > 2 && staysOpen(fd));
}

function staysOpen(fd: number): boolean {
  const path = `/proc/self/fdinfo/${fd}`;
  const flags = existsSync(path) ? /^flags:\s*([0-7]+)/m.exec(readFileSync(path, "utf8"))?.[1] : undefined;
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}
