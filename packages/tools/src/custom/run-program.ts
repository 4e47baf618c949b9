import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Processes, RunContext } from "@assent/core";
import { createCommandEnvironment, errorCode } from "@assent/host";
import type { ExecOptions, ExecResult } from "./custom-tool.ts";

/** What starts programs for custom tools, and from which environment. */
export type ProgramPorts = {
  readonly processes: Processes;
  /** The user's own; secrets and what redirects a shell are taken out of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name globs of further secrets: the user's and the team's, and the project's, which cannot hide what steers programs. */
  readonly secretEnv?: () => readonly string[];
  readonly projectSecretEnv?: () => readonly string[];
};

/** The call whose effect a program is part of. */
export type RunningCall = {
  readonly signal: AbortSignal;
  /** Absent: a callback of a pending action runs. */
  readonly run?: RunContext;
};

/** A program to run from a directory. */
export type CalledProgram = Omit<ExecOptions, "cwd"> & { readonly cwd: string; readonly file: string; readonly args: readonly string[] };

const MOST = 10 * 1024 * 1024;

/** Puts error and input apart from the output that the port gives, and becomes the program: none of its words is read by a shell. */
const BECOME = '_assent_exec=$1; shift; exec "$@" 2>"$_assent_exec/2" <"$_assent_exec/0"';

/** Runs a program as part of a call's effect: it ends with the call. Of each stream 10 MiB are kept. */
export async function runProgram(ports: ProgramPorts, program: CalledProgram, call: RunningCall): Promise<ExecResult> {
  const { file, args, cwd, input = "", timeoutMs, signal = call.signal } = program;
  const { environment, secretEnv, projectSecretEnv } = ports;
  const directory = await mkdtemp(join(tmpdir(), "assent-exec-"));
  const output = collectOutput();
  try {
    await writeFile(join(directory, "0"), input);
    const spec = {
      file: "/bin/sh",
      args: ["-c", BECOME, "sh", directory, file, ...args],
      cwd,
      env: { ...createCommandEnvironment(environment, { secretEnv: secretEnv?.(), projectSecretEnv: projectSecretEnv?.() }), PWD: cwd },
      onOutput: output.add,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(call.run && { onStart: call.run.started }),
    };
    const { exitCode, signal: killedBy, ended } = await ports.processes.run(spec, AbortSignal.any([call.signal, signal]));
    const stderr = await readStart(join(directory, "2"));
    return { code: exitCode, stdout: output.text(), stderr, killed: ended !== "exit" || killedBy !== null };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function collectOutput(): { readonly add: (chunk: string) => void; readonly text: () => string } {
  const chunks: Buffer[] = [];
  let room = MOST;
  return {
    add: (chunk) => {
      if (room === 0) return;
      const bytes = Buffer.from(chunk).subarray(0, room);
      room -= bytes.length;
      chunks.push(bytes);
    },
    text: () => decodeWhole(Buffer.concat(chunks)),
  };
}

/** Empty where the program was never begun. */
async function readStart(path: string): Promise<string> {
  const file = await open(path).catch(ignoreMissing);
  if (!file) return "";
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, MOST));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return decodeWhole(bytes.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

function ignoreMissing(error: unknown): undefined {
  if (errorCode(error) !== "ENOENT") throw error;
}

/** Without the pieces of a last character that was cut. */
function decodeWhole(bytes: Buffer): string {
  return bytes.length < MOST ? bytes.toString("utf8") : new TextDecoder().decode(bytes, { stream: true });
}
