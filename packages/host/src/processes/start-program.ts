import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { Writable } from "node:stream";
import type { ProcessSpec } from "@assent/core";
import { errorCode } from "../system/error-code.ts";

/** A child with its pid: it has been started. What it is to run begins when `begin` is called, and never if this process ends before. */
export type StartedProgram = { readonly child: ChildProcess; readonly pid: number; readonly begin: () => void };

/** Where one of a child's descriptors 0 to 2 leads: an open descriptor, the null device, or Node's own socket. */
export type DescriptorTarget = number | "ignore" | "pipe";

/** Descriptors 0, 1 and 2 of a child. */
export type DescriptorTargets = readonly [input: DescriptorTarget, output: DescriptorTarget, error: DescriptorTarget];

/** A program, and whether it waits behind the gate until its start is on record. */
export type ProgramLaunch = Pick<ProcessSpec, "file" | "args" | "cwd" | "env"> & {
  readonly argv0?: string;
  readonly gated: boolean;
  /** Behind the gate: the file of a terminal, which becomes the program's own and its descriptors 0 to 2. */
  readonly terminal?: string;
};

/** Starts a program in a session and process group of its own. Rejects when the system refuses. */
export async function startProgram(launch: ProgramLaunch, targets: DescriptorTargets): Promise<StartedProgram> {
  const child = spawnProgram(launch, targets);
  if (child.pid !== undefined) return { child, pid: child.pid, begin: () => openGate(child) };
  shutGate(child);
  const [error] = await once(child, "error").catch((thrown: unknown) => [thrown]);
  throw Object.assign(new Error(describeStartFailure(launch), { cause: error }), { code: errorCode(error) });
}

/** The same without waiting: a child without a pid was refused. */
export function spawnProgram(launch: ProgramLaunch, targets: DescriptorTargets): ChildProcess {
  const gated = launch.gated && isExecutable(launch.file);
  const [file, args] = gated ? gateCommand(launch) : [launch.file, launch.args];
  const leaked = coveredDescriptors();
  return spawn(file, args, {
    cwd: launch.cwd,
    env: launch.env,
    detached: true,
    stdio: [...targets, ...(gated ? ["pipe" as const, ...leaked.slice(1)] : leaked)],
    ...(launch.argv0 !== undefined && !gated && { argv0: launch.argv0 }),
  });
}

/** What is said of a program that the system refused. */
export function describeStartFailure({ file, cwd }: Pick<ProgramLaunch, "file" | "cwd">): string {
  return existsSync(cwd) ? `${file} could not be started` : `the working directory ${cwd} does not exist`;
}

/** Waits for one line on descriptor 3, then becomes the program. At its end (we died before the start was on record) it runs nothing. */
const gateCommand = ({ file, args, env, terminal }: ProgramLaunch): readonly [string, readonly string[]] => {
  const own = ["go", ...SET_BY_SHELLS.filter((name) => !(name in env))].join(" ");
  const enter = terminal === undefined ? "" : ENTER_TERMINAL;
  const given = terminal === undefined ? args : [terminal, ...args];
  return ["/bin/sh", ["-c", `IFS= read -r go <&3 && exec 3<&- && ${enter}unset ${own} && exec "$0" "$@"`, file, ...given]];
};

/** The leader of a session without a terminal gets the one that it opens. */
const ENTER_TERMINAL = 'exec 0<>"$1" 1>&0 2>&0 && shift && ';

/** What the gate adds to its environment by itself; the program gets it only if it was given. */
const SET_BY_SHELLS = ["PWD", "OLDPWD", "SHLVL"] as const;

/** Lets a program behind the gate begin; one that is not behind it has begun already. */
export function openGate({ stdio: [, , , gate] }: ChildProcess): void {
  if (!(gate instanceof Writable)) return;
  gate.on("error", () => undefined); // the child is gone already: its exit says so
  gate.end("\n");
}

/** Ends the waiting at a gate that was not opened: the program never begins. */
export function shutGate({ stdio: [, , , gate] }: ChildProcess): void {
  gate?.destroy();
}

function isExecutable(file: string): boolean {
  if (!isAbsolute(file)) return false;
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false; // starting it says what is wrong
  }
}

let inheritedDescriptors: readonly number[] | undefined;
let nullDevice: number | undefined;
const coveredByCallers = new Set<number>();

/** Keeps a descriptor without the close-on-exec mark from every program that is started until the returned function is called. */
export function coverDescriptor(fd: number): () => void {
  coveredByCallers.add(fd);
  return () => coveredByCallers.delete(fd);
}

/**
 * Node closes its own descriptors in a child, but not every one it inherited without the close-on-exec mark. Those are covered with the null device, as are
 * those that foreign code opened so. What was inherited is looked up once.
 */
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
