import type { ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { type Maybe, messageOf, type PipedProcess, type PipedProgram } from "@assent/core";
import { findProgram } from "./find-program.ts";
import { within } from "./follow-job.ts";
import { endLineage, endWithProcess } from "./group.ts";
import type { Lineage, ProcessMark } from "./lineage.ts";
import { openWatchedGate, startProgram } from "./start-program.ts";
import type { ProcessTable } from "./table.ts";

export type OpenSettings = {
  readonly graceMs: number;
  readonly lingerMs: number;
  readonly table: ProcessTable;
  readonly mark: ProcessMark;
};

/** Starts a program with open pipes, in its own group, which ends with this process. */
export async function openProgram(program: PipedProgram, settings: OpenSettings): Promise<PipedProcess> {
  const { graceMs, lingerMs, table, mark } = settings;
  const file = locateProgram(program);
  const { child, pid } = await startProgram({ ...program, file, gated: true, endsWithUs: true }, ["pipe", "pipe", "pipe"]);
  const { stdin } = child;
  if (!stdin || !child.stdout || !child.stderr) throw new Error(`${file} was started without pipes`);
  stdin.on("error", () => undefined); // a failed write rejects by itself
  const lineage: Lineage = { groups: [pid], marks: [mark] };
  const release = endWithProcess(() => lineage);
  const decoder = new StringDecoder("utf8");
  const read = Promise.all([
    readStream(child.stdout, program.onOutput),
    readStream(child.stderr, (chunk) => program.onError(decoder.write(chunk))),
  ]);
  const exit = new Promise<true>((done) => child.once("exit", () => done(true)));
  openWatchedGate(child);
  let ending: Promise<unknown> | undefined;
  /** What the program started ends with it. */
  const endAll = (): Promise<unknown> => {
    ending ??= endLineage(lineage, graceMs, table).finally(release);
    return ending;
  };
  const ended = exit.then(async () => {
    openWatchedGate(child); // the second line: the watching process has nothing left to do
    await Promise.all([endAll(), within(lingerMs, read)]);
    for (const stream of child.stdio) stream?.destroy();
    return { exitCode: child.exitCode, signal: child.signalCode };
  });
  return {
    pid,
    ended,
    write: (text) => writeText(child, text),
    close: async () => {
      stdin.end();
      if (!(await within(graceMs, exit))) void endAll();
      await ended;
    },
  };
}

/** Throws a sentence if no program has this name. */
function locateProgram({ file, cwd, env }: PipedProgram): string {
  if (file.includes("/")) return resolve(cwd, file);
  const found = findProgram(file, env["PATH"] ?? "");
  if (found === undefined) throw Object.assign(new Error(`The program ${file} was not found on PATH.`), { code: "ENOENT" });
  return found;
}

async function readStream(stream: Readable, pass: (chunk: Uint8Array) => Maybe<void>): Promise<void> {
  try {
    for await (const chunk of stream) await pass(chunk as Uint8Array);
  } catch {
    // The stream was closed here, or the program is gone.
  }
}

function writeText({ stdin }: ChildProcess, text: string): Promise<void> {
  return new Promise((done, reject) => {
    if (!stdin?.writable) reject(new Error("The program no longer reads its input."));
    else stdin.write(text, (error) => (error ? reject(new Error(`The program no longer reads its input: ${messageOf(error)}`)) : done()));
  });
}
