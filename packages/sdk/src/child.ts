import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { lines } from "./lines.ts";
import { type Exit, exitedEarly, SdkError } from "./sdk-error.ts";

export type ChildOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly onStderr: ((text: string) => void) | undefined;
  /** How long it may take to stop before it is killed. */
  readonly graceMs: number;
};

export type Child = {
  readonly lines: AsyncIterable<string>;
  /** Resolves when it exited, even if output is left to read. Never rejects. */
  readonly gone: Promise<void>;
  readonly exit: Promise<Exit>;
  write(line: string): Promise<void>;
  endInput(): void;
  /** Stops it, and kills it after the grace period. */
  stop(): void;
};

const STDERR_KEPT = 8 * 1024;
const SILENCE_MS = 2_000;

/** Starts a process. It has ended when it exited and its output is read; processes it left behind do not delay that. */
export function startChild(start: ChildOptions): Child {
  const child = spawn(start.command, start.args, { cwd: start.cwd, env: start.env, stdio: ["pipe", "pipe", "pipe"] });
  const silence = awaitSilence(child);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    silence.broken();
    stderr = (stderr + text).slice(-STDERR_KEPT);
    start.onStderr?.(text);
  });
  child.stdin.on("error", () => undefined); // each write reports its own error
  const gone = new Promise<Omit<Exit, "stderr">>((resolve, reject) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", (cause) => {
      if (child.pid === undefined) reject(cannotStart(start, cause));
    });
  });
  const exit = gone.then(async (how) => {
    child.stdin.destroy();
    await silence.come();
    return { ...how, stderr };
  });
  exit.catch(() => undefined); // reported to callers that await it
  return {
    lines: lines(chunks(child.stdout, silence.broken)),
    gone: gone.then(
      () => undefined,
      () => undefined,
    ),
    exit,
    write: (line) => write(child.stdin, line, exit),
    endInput: () => void child.stdin.end(),
    stop: () => stop(child, start.graceMs),
  };
}

type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>;

/** After the exit, reads what is left in the pipes, and stops waiting for processes that inherited them once they are silent. */
function awaitSilence({ stdout, stderr }: PipedChild): { readonly broken: () => void; readonly come: () => Promise<void> } {
  const open = [stdout, stderr];
  const closed = Promise.all(open.map((stream) => new Promise<void>((resolve) => stream.once("close", resolve))));
  let timer: NodeJS.Timeout | undefined;
  const come = async (): Promise<void> => {
    timer = setTimeout(() => {
      for (const stream of open) stream.destroy();
    }, SILENCE_MS);
    await closed;
    clearTimeout(timer);
  };
  return { broken: () => void timer?.refresh(), come };
}

async function* chunks(stream: Readable, onChunk: () => void): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of stream) {
      onChunk();
      yield chunk;
    }
  } catch (error) {
    if (!stream.destroyed) throw error; // nothing waits for the rest
  }
}

function cannotStart({ command, cwd }: ChildOptions, cause: Error): SdkError {
  if (cwd !== undefined && !existsSync(cwd))
    return new SdkError("not_started", `Cannot start in ${cwd}: there is no such directory.`, { cause });
  const where = cwd === undefined ? "" : ` in ${cwd}`;
  return new SdkError("not_started", `Cannot start ${command}${where}: ${cause.message}. Give the path of assent as \`executable\`.`, {
    cause,
  });
}

/** A process that takes no line is usually about to exit, so its exit is the better error. */
async function rejectWrite(exit: Promise<Exit>, cause: unknown): Promise<never> {
  const patience = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => patience.resolve(undefined), SILENCE_MS);
  const known = await Promise.race([exit, patience.promise]).finally(() => clearTimeout(timer));
  throw known ? exitedEarly(known) : new SdkError("closed", "Assent takes no more input.", { cause });
}

function write(stdin: Writable, line: string, exit: Promise<Exit>): Promise<void> {
  if (stdin.writableEnded) return Promise.reject(new SdkError("closed", "The query takes no more input."));
  const written = new Promise<void>((resolve, reject) => {
    stdin.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
  });
  return written.catch((error: unknown) => rejectWrite(exit, error));
}

function stop(child: PipedChild, graceMs: number): void {
  child.stdin.end();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const killing = setTimeout(() => child.kill("SIGKILL"), graceMs);
  child.once("exit", () => clearTimeout(killing));
}
