import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Io, main, type Overrides } from "assent";
import { check } from "./check.ts";
import { checkProposals } from "./check-proposals.ts";
import { ENTRY, testOverrides } from "./entry.ts";
import { type Failpoints, parseFailpoints } from "./failpoints.ts";
import { readableLedger, type SceneStore, SQLITE } from "./stores.ts";
import { type WorldLine, worldLines } from "./world-tools.ts";

/** Stripping types in every child again would cost most of the tests' time. */
const COMPILED = join(tmpdir(), `assent-test-compiled-${process.getuid?.() ?? 0}`);

/** How a command ended and what it said. */
export type Ran = { readonly code: number | null; readonly signal: string | null; readonly stdout: string; readonly stderr: string };

/** How a child is started: with failpoints, more environment, or under another program. */
export type ChildOptions = {
  readonly failpoint?: string;
  readonly env?: Record<string, string>;
  readonly under?: readonly string[];
  readonly entry?: readonly string[];
};

/** How a call ended, as it stands in the ledger. */
export type Ended = { readonly call: string; readonly outcome: string; readonly type: string | null; readonly evidence?: unknown };

/** A store, a workspace and a world of their own. All output that promises something is kept for the checker. */
export type Scene = {
  readonly root: string;
  readonly store: string;
  readonly world: string;
  readonly env: Record<string, string>;
  readonly path: (name: string) => string;
  /** A real process that runs the entry with these arguments; its standard input stays open. */
  readonly start: (argv: readonly string[], options?: ChildOptions) => ChildProcess;
  /** Waits for its end, and keeps what it promised. */
  readonly finished: (started: ChildProcess) => Promise<Ran>;
  /** `start` and `finished`, with nothing to read. */
  readonly child: (argv: readonly string[], options?: ChildOptions) => Promise<Ran>;
  /** The same command in this process, which nobody kills: for what leads to a crash and what follows it. */
  readonly here: (argv: readonly string[], failpoints?: Failpoints) => Promise<Ran>;
  /** `here` with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into foreign JSON
  readonly json: (argv: readonly string[]) => Promise<any>;
  /** Answers what waits and resumes what is open until nothing is left to do. */
  readonly rest: (answer?: "approve" | "reject") => Promise<void>;
  readonly lines: () => readonly WorldLine[];
  /** A directory with the rows of the ledger, for SQL of the tests. Undefined if nothing is stored yet. */
  readonly readable: () => Promise<string | undefined>;
  readonly events: () => Promise<readonly { readonly type: string; readonly body: unknown }[]>;
  readonly ended: () => Promise<readonly Ended[]>;
  /** The invariants, read from outside, and the program's own verification. */
  readonly holds: () => Promise<void>;
  readonly [Symbol.dispose]: () => void;
};

/** A new scene in a directory of its own, which goes when the scene does, with every process that is left of it. */
export function makeScene(at: SceneStore = SQLITE): Scene {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-crash-")));
  const [workspace, world, told] = ["workspace", "world.jsonl", "told.jsonl"].map((name) => join(root, name)) as [string, string, string];
  const store = at.locate(root);
  const readable = (): Promise<string | undefined> => readableLedger(store, root);
  mkdirSync(join(workspace, ".git"), { recursive: true });
  writeFileSync(told, "");
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, ASSENT_STORE: store, ASSENT_TEST_WORLD: world, NODE_COMPILE_CACHE: COMPILED };
  const children = new Set<ChildProcess>();
  const start: Scene["start"] = (argv, { failpoint, env: more, under = [], entry = ENTRY } = {}) => {
    const [file = process.execPath, ...args] = [...under, process.execPath, ...entry, ...argv];
    const environment = { ...env, ...(failpoint !== undefined && { ASSENT_FAILPOINT: failpoint }), ...more };
    const started = spawn(file, args, { cwd: workspace, env: environment, stdio: "pipe" });
    children.add(started);
    return started;
  };
  const finished: Scene["finished"] = async (started) => heard(told, await ended(started));
  const child: Scene["child"] = (argv, options) => {
    const started = start(argv, options);
    started.stdin?.end();
    return finished(started);
  };
  const here: Scene["here"] = async (argv, failpoints = NONE) =>
    heard(told, await runHere(argv, { cwd: workspace, env, overrides: testOverrides(world, failpoints) }));
  const json: Scene["json"] = async (argv) => parseOutput(argv, await here([...argv, "--json"]));
  return {
    root,
    store,
    world,
    env,
    path: (name) => join(workspace, name),
    start,
    finished,
    child,
    here,
    json,
    rest: (answer = "approve") => rest(json, answer),
    lines: () => worldLines(world),
    readable,
    events: async () => readEvents(await readable()),
    ended: async () =>
      readEvents(await readable())
        .filter(({ type }) => type === "call.ended")
        .map(({ body }) => body as Ended),
    holds: async () => {
      const directory = await readable();
      if (directory === undefined) return;
      assert.deepEqual(check({ store: directory, world, clientLog: told }), { ok: true, violations: [] });
      assert.deepEqual(checkProposals(directory), []);
      const report = await json(["verify"]);
      assert.deepEqual([report.ok, report.findings], [true, []]);
    },
    [Symbol.dispose]: () => {
      for (const started of children) if (started.exitCode === null && started.signalCode === null) started.kill("SIGKILL");
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function ended(process: ChildProcess): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const text = { stdout: "", stderr: "" };
    process.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text.stdout += chunk));
    process.stderr?.setEncoding("utf8").on("data", (chunk: string) => (text.stderr += chunk));
    process.on("error", reject);
    process.on("close", (code, signal) => resolve({ code, signal, ...text }));
  });
}

/** Waits for a condition of the outside world, with a deadline. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The letter the kernel gives for what a process does: `T` is stopped, `Z` is dead and not yet collected, undefined is gone. */
export function stateOf(pid: number): string | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  return /\) (\S)/.exec(readFileSync(file, "utf8"))?.[1];
}

/** Keeps every line by which a command promised something. */
function heard(told: string, ran: Ran): Ran {
  for (const line of ran.stdout.split("\n")) {
    if (!line.startsWith("{") || !line.endsWith("}")) continue;
    const said = JSON.parse(line);
    if (typeof said.outcome === "string") appendFileSync(told, `${line}\n`);
  }
  return ran;
}

function parseOutput(argv: readonly string[], { code, stdout, stderr }: Ran): unknown {
  try {
    return JSON.parse(stdout);
  } catch (cause) {
    throw new Error(`${argv.join(" ")} (exit ${code}) printed no JSON value: ${stdout.slice(0, 500)}${stderr}`, { cause });
  }
}

const NONE = parseFailpoints(undefined);

type Here = { readonly cwd: string; readonly env: Record<string, string>; readonly overrides: Overrides };

async function runHere(argv: readonly string[], { cwd, env, overrides }: Here): Promise<Ran> {
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
    readStdin: async () => new Uint8Array(),
    stdin: never,
    keyboard: { open: never },
    env,
    cwd,
    onSignal: () => () => undefined,
    exitNow: never,
  };
  const code = await main(argv, io, overrides);
  return { code, signal: null, ...written };
}

const AT_REST: readonly string[] = ["done", "failed", "cancelled"];

async function rest(json: Scene["json"], answer: "approve" | "reject"): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const waiting: readonly { id: string }[] = await json(["approvals"]);
    for (const { id } of waiting) await json([answer, id]);
    const sessions: readonly { id: string; state: string }[] = await json(["sessions"]);
    const open = sessions.filter(({ state }) => !AT_REST.includes(state));
    if (waiting.length === 0 && open.length === 0) return;
    for (const { id } of open) await json(["resume", id]);
  }
  throw new Error(`no rest: ${JSON.stringify(await json(["sessions"]))}`);
}

/** All events in the order of the store, read with SQL of our own. */
function readEvents(store: string | undefined): readonly { readonly type: string; readonly body: unknown }[] {
  if (store === undefined) return []; // a new store is put in place whole: killed before that, there is none
  const database = new DatabaseSync(join(store, "ledger.db"), { readOnly: true, timeout: 5000 });
  try {
    const rows = database.prepare("select type, body from events order by pos").all();
    return rows.map(({ type, body }) => ({ type: String(type), body: JSON.parse(String(body)) }));
  } finally {
    database.close();
  }
}
