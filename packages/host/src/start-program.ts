import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, openSync, readdirSync, readFileSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { Writable } from "node:stream";
import type { ProcessSpec } from "@assent/core";
import { errorCode } from "./error-code.ts";

/** A child with its pid: it has been started. What it is to run begins when `begin` is called, and never if this process ends before. */
export type Started = { readonly child: ChildProcess; readonly pid: number; readonly begin: () => void };

/** Descriptors 1 and 2 of a child: a pipe's end, or Node's own pair of sockets. */
export type OutputTarget = number | "pipe";

/** Starts a program in a session and process group of its own, with nothing on standard input. Rejects when the system refuses. */
export async function startProgram(spec: ProcessSpec, target: OutputTarget): Promise<Started> {
  const gated = spec.onStart !== undefined && isExecutable(spec.file);
  const [file, args] = gated ? GATE(spec) : [spec.file, spec.args];
  const leaked = coveredDescriptors();
  const child = spawn(file, args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: ["ignore", target, target, ...(gated ? ["pipe" as const, ...leaked.slice(1)] : leaked)],
  });
  if (child.pid !== undefined) return { child, pid: child.pid, begin: gated ? () => openGate(child) : () => undefined };
  const [error] = await once(child, "error").catch((thrown: unknown) => [thrown]);
  const reason = existsSync(spec.cwd) ? `${spec.file} could not be started` : `the working directory ${spec.cwd} does not exist`;
  throw Object.assign(new Error(reason, { cause: error }), { code: errorCode(error) });
}

/** Waits for one line on descriptor 3, then becomes the program. At its end (we died before the start was on record) it runs nothing. */
const GATE = (spec: ProcessSpec): readonly [string, readonly string[]] => [
  "/bin/sh",
  ["-c", 'IFS= read -r go <&3 && exec 3<&- && unset go && exec "$0" "$@"', spec.file, ...spec.args],
];

function openGate({ stdio: [, , , gate] }: ChildProcess): void {
  if (!(gate instanceof Writable)) return;
  gate.on("error", () => undefined); // the child is gone already: its exit says so
  gate.end("\n");
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

let covered: readonly ("ignore" | number)[] | undefined;

/**
 * Node closes its own descriptors in a child, but not every one it inherited without the close-on-exec mark. Those are covered with the null device.
 * Nobody opens such descriptors later, so they are looked up once.
 */
function coveredDescriptors(): readonly ("ignore" | number)[] {
  covered ??= coverFrom3(leakedDescriptors());
  return covered;
}

function coverFrom3(leaked: readonly number[]): readonly ("ignore" | number)[] {
  if (leaked.length === 0) return [];
  const nothing = openSync("/dev/null", "r+");
  return Array.from({ length: Math.max(...leaked) - 2 }, (_, i) => (leaked.includes(i + 3) ? nothing : "ignore"));
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
