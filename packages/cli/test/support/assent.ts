import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Tool } from "@assent/core";
import { liveProcesses } from "../../../../test/support/processes.ts";
import type { Io } from "../../src/io/io.ts";
import { main } from "../../src/main.ts";
import type { Overrides } from "../../src/overrides.ts";

export const BIN: string = fileURLToPath(new URL("../../bin/assent.js", import.meta.url));

/** Compiling types again in every child would take most of the tests' time. */
const COMPILED = fileURLToPath(new URL("../../../../node_modules/.cache/assent-test", import.meta.url));

export type Ran = { readonly code: number | null; readonly signal: string | null; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  readonly input?: string | Uint8Array;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Another program than `assent`, run by the same Node. */
  readonly entry?: readonly string[];
  /** In this process only. */
  readonly tools?: readonly Tool[];
  /** In this process only. */
  readonly openDatabase?: NonNullable<Overrides["openDatabase"]>;
};

/** The result of a command with `--json`; `value` is the printed value. */
export type Printed = { readonly code: number | null; readonly value: ReturnType<typeof JSON.parse>; readonly stderr: string };

/** A workspace and a store, isolated from the developer's environment. */
export type Place = {
  readonly root: string;
  readonly workspace: string;
  readonly store: string;
  readonly env: Record<string, string>;
  readonly start: (argv: readonly string[], options?: RunOptions) => ChildProcess;
  readonly run: (argv: readonly string[], options?: RunOptions) => Promise<Ran>;
  /** `run` with `--json`, returning the printed value. */
  readonly json: (argv: readonly string[], options?: RunOptions) => Promise<Printed>;
  /** Runs the command in this process, which is much faster. */
  readonly here: (argv: readonly string[], options?: RunOptions) => Promise<Ran>;
  readonly hereJson: (argv: readonly string[], options?: RunOptions) => Promise<Printed>;
  readonly path: (name: string) => string;
  readonly write: (name: string, text: string) => string;
  readonly [Symbol.dispose]: () => void;
};

/** Which code child processes run: the sources with a fault planted by `npm run break`, the build that a run of all tests made, or the sources. */
function codeVariables(): Record<string, string> {
  const { ASSENT_DIST, ASSENT_MUTANT, NODE_OPTIONS = "" } = process.env;
  if (ASSENT_MUTANT !== undefined) return { ASSENT_MUTANT, NODE_OPTIONS };
  return ASSENT_DIST === undefined ? {} : { ASSENT_DIST };
}

export function place(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-cli-")));
  const workspace = join(root, "workspace");
  const store = join(root, "store");
  mkdirSync(join(workspace, ".git"), { recursive: true });
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, ASSENT_STORE: store, NODE_COMPILE_CACHE: COMPILED, ...codeVariables() };
  const start: Place["start"] = (argv, options = {}) =>
    spawn(process.execPath, [...(options.entry ?? [BIN]), ...argv], {
      cwd: options.cwd ?? workspace,
      env: { ...env, ...options.env },
      stdio: "pipe",
    });
  const run: Place["run"] = (argv, options = {}) => {
    const child = start(argv, options);
    child.stdin?.on("error", () => undefined); // a program need not read its input
    child.stdin?.end(options.input ?? "");
    return ended(child);
  };
  const here: Place["here"] = (argv, options = {}) =>
    runHere(argv, {
      cwd: options.cwd ?? workspace,
      env: { ...env, ...options.env },
      input: options.input ?? "",
      overrides: { tools: options.tools ?? [], ...(options.openDatabase && { openDatabase: options.openDatabase }) },
    });
  return {
    root,
    workspace,
    store,
    env,
    start,
    run,
    json: async (argv, options) => parsed(await run([...argv, "--json"], options)),
    here,
    hereJson: async (argv, options) => parsed(await here([...argv, "--json"], options)),
    path: (name) => join(workspace, name),
    write: (name, text) => {
      writeFileSync(join(workspace, name), text);
      return join(workspace, name);
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function parsed({ code, stdout, stderr }: Ran): Printed {
  try {
    return { code, value: JSON.parse(stdout), stderr };
  } catch (error) {
    throw new Error(`not one JSON value: ${JSON.stringify(stdout.slice(0, 500))}; stderr: ${stderr}`, { cause: error });
  }
}

async function runHere(
  argv: readonly string[],
  { cwd, env, input, overrides }: { cwd: string; env: Record<string, string>; input: string | Uint8Array; overrides: Overrides },
): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const output = (name: "stdout" | "stderr"): Io["stdout"] => ({
    isTTY: false,
    columns: () => undefined,
    rows: () => undefined,
    write: async (text) => {
      written[name] += text;
    },
  });
  const never = (): never => {
    throw new Error("not in this process");
  };
  const io: Io = {
    stdout: output("stdout"),
    stderr: output("stderr"),
    stdinIsTTY: false,
    readStdin: async () => Buffer.from(input),
    stdin: async function* () {
      yield Buffer.from(input);
    },
    keyboard: { open: never },
    env,
    cwd,
    onSignal: () => () => undefined,
    exitNow: never,
  };
  const code = await main(argv, io, overrides);
  return { code, signal: null, ...written };
}

/** The output and exit code of a process. */
export function ended(child: ChildProcess): Promise<Ran> {
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Writes a file and its missing directories. */
export function put(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

export function userFile(at: Place): string {
  return join(at.root, ".config", "assent", "settings.json");
}

export function projectFile(at: Place): string {
  return join(at.workspace, ".assent", "settings.json");
}

/** Polls a condition with a deadline. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** True while any process of the group is alive; zombies do not count. */
export function groupRuns(pgid: number): boolean {
  return liveProcesses().some((live) => live.pgid === pgid);
}
