import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode, type Processes, type RunContext } from "@assent/core";
import { createCommandEnvironment } from "@assent/host";
import type { ExecOptions, ExecResult } from "./custom-tool.ts";

export type ProgramPorts = {
  readonly processes: Processes;
  /** The user's environment; secrets and variables that control a shell are removed. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name globs of additional secrets. The project's list cannot hide variables that control programs. */
  readonly secretEnv?: () => readonly string[];
  readonly projectSecretEnv?: () => readonly string[];
};

export type RunningCall = {
  readonly signal: AbortSignal;
  /** Absent while a callback of a pending action runs. */
  readonly run?: RunContext;
};

export type CalledProgram = Omit<ExecOptions, "cwd"> & { readonly cwd: string; readonly file: string; readonly args: readonly string[] };

const MOST = 10 * 1024 * 1024;

/** Redirects stderr and stdin to files, then replaces the shell with the program. No argument is interpreted by the shell. */
const BECOME = '_assent_exec=$1; shift; exec "$@" 2>"$_assent_exec/2" <"$_assent_exec/0"';

/** Runs a program as part of a call, which ends it when it ends. Keeps 10 MiB of each stream. */
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

/** Empty if the program never started. */
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

/** Drops a character that was cut at the limit. */
function decodeWhole(bytes: Buffer): string {
  return bytes.length < MOST ? bytes.toString("utf8") : new TextDecoder().decode(bytes, { stream: true });
}
