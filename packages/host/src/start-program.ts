import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { ProcessSpec } from "@assent/core";
import { errorCode } from "./error-code.ts";

/** A child with its pid: it has been started. */
export type Started = { readonly child: ChildProcess; readonly pid: number };

/** Descriptors 1 and 2 of a child: a pipe's end, or Node's own pair of sockets. */
export type OutputTarget = number | "pipe";

/** Starts a program in a session and process group of its own, with nothing on standard input. Rejects when the system refuses. */
export async function startProgram(spec: ProcessSpec, target: OutputTarget): Promise<Started> {
  const child = spawn(spec.file, spec.args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: ["ignore", target, target, ...coveredDescriptors()],
  });
  if (child.pid !== undefined) return { child, pid: child.pid };
  const [error] = await once(child, "error").catch((thrown: unknown) => [thrown]);
  const reason = existsSync(spec.cwd) ? `${spec.file} could not be started` : `the working directory ${spec.cwd} does not exist`;
  throw Object.assign(new Error(reason, { cause: error }), { code: errorCode(error) });
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
