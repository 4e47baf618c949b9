import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import {
  type Answer,
  type Approver,
  answerApproval,
  type BatchReport,
  type By,
  type Clock,
  createDispatcher,
  createRegistry,
  createRequestReader,
  type Dispatcher,
  type Facts,
  type Ledger,
  openSession,
  type PolicySource,
  type ProposedCall,
  type Registry,
  type Tool,
} from "@assent/core";
import { ajvSchemas, createHostFileChanges, createHostPorts, currentHolder } from "@assent/host";
import { createWorkspacePolicy, settingsLocations } from "@assent/policy";
import { openLedger } from "@assent/store";
import { builtinTools } from "@assent/tools";
import { type Io, main, type Overrides } from "assent";
import { type Place, place, type Ran } from "../../packages/cli/test/support/assent.ts";
import { check } from "../crash/check.ts";

/** What a settings file says. */
export type SettingsText = {
  readonly mode?: string;
  readonly permissions?: {
    readonly allow?: readonly unknown[];
    readonly ask?: readonly unknown[];
    readonly deny?: readonly unknown[];
    readonly [key: string]: unknown;
  };
  readonly [key: string]: unknown;
};

/** One row of the ledger, read with our own SQL. */
export type Row = {
  readonly pos: number;
  readonly session: string;
  readonly type: string;
  readonly body: ReturnType<typeof JSON.parse>;
  /** The body exactly as it is stored. */
  readonly text: string;
};

/** What one command said. */
export type Told = {
  readonly code: number | null;
  readonly outcome: string;
  readonly type: string | null;
  readonly sessionId: string;
  readonly callId: string;
  readonly approvalId: string;
  readonly content: string;
  readonly stderr: string;
};

/** How a command of this process is run. */
export type HereOptions = {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly input?: string;
  readonly overrides?: Overrides;
};

/** Flags of a command, or flags and how it is run. */
export type Flags = readonly string[] | (HereOptions & { readonly flags?: readonly string[] });

/** A workspace, a home, a store, and a world outside of all of them in which effects are counted. */
export type Scene = Place & {
  /** The file to which every effect adds a line. */
  readonly world: string;
  readonly effects: () => readonly string[];
  /** A command line that has one effect; bash must run it. */
  readonly leaves: (word: string) => string;
  /** The directory of the program `effect`, which has one effect and needs no shell. Name it in `shell.path`. */
  readonly bin: string;
  readonly program: (name: string, script: string) => string;
  readonly user: (settings: SettingsText | string) => string;
  readonly project: (settings: SettingsText | string) => string;
  /** A settings file beside the workspace, for `--policy`. */
  readonly policy: (settings: SettingsText | string) => string;
  /** The command line in this process. */
  readonly does: (argv: readonly string[], options?: HereOptions) => Promise<Ran>;
  readonly call: (tool: string, input: object | string, flags?: Flags) => Promise<Told>;
  readonly shell: (command: string, flags?: Flags) => Promise<Told>;
  readonly resume: (session: string, flags?: Flags) => Promise<Told>;
  readonly rows: (type?: string, session?: string) => readonly Row[];
  /** The last record of this type in a session. */
  readonly last: (type: string, session: string) => Row["body"];
  /** I1–I8 and I10, by the reader that shares no code with the program. */
  readonly holds: () => void;
};

/** A new scene. It goes away with its test, and if that held, the independent checker reads the ledger before, unless the test damages it. */
export function scene(t: TestContext, { damaged = false }: { readonly damaged?: boolean } = {}): Scene {
  const at = place();
  t.after(() => {
    try {
      if ((t as TestContext & { readonly passed: boolean }).passed && !damaged) holds();
    } finally {
      at[Symbol.dispose]();
    }
  });
  const [world, bin, told] = [join(at.root, "world"), join(at.root, "bin"), join(at.root, "told.jsonl")];
  const program: Scene["program"] = (name, script) => written(join(bin, name), script, 0o755);
  program("effect", `#!/bin/sh\necho "$*" >> ${world}\n`);
  writeFileSync(told, "");
  const env = { ...at.env, PATH: `${bin}:${at.env["PATH"]}` };
  const does: Scene["does"] = (argv, options = {}) => runHere(argv, { ...at, env }, options);
  const asJson = async (argv: readonly string[], given: Flags, input = ""): Promise<Told> => {
    const { flags = [], ...options } = isList(given) ? { flags: given } : given;
    return tell(await does([...argv, "--json", ...flags], { input, ...options }));
  };
  const tell = (ran: Ran): Told => {
    const value = jsonOf(ran);
    if (value.outcome !== undefined) writeFileSync(told, `${JSON.stringify(value)}\n`, { flag: "a" });
    return { ...value, code: ran.code, stderr: ran.stderr, type: value.type ?? value.error?.type ?? null };
  };
  const call: Scene["call"] = (tool, input, flags = []) =>
    asJson(["call", tool, "--input", "-"], flags, typeof input === "string" ? input : JSON.stringify(input));
  const rows: Scene["rows"] = (type, session) => readRows(at.store, type, session);
  const holds = (): void => {
    if (!existsSync(join(at.store, "ledger.db"))) return;
    assert.deepEqual(check({ store: at.store, world: join(at.root, "none"), clientLog: told }).violations, []);
  };
  return {
    ...at,
    env,
    world,
    bin,
    program,
    does,
    call,
    rows,
    holds,
    effects: () => linesOf(world),
    leaves: (word) => `echo ${word} >> ${world}`,
    user: (settings) => written(join(at.root, ".config/assent/settings.json"), textOf(settings)),
    project: (settings) => written(at.path(".assent/settings.json"), textOf(settings)),
    policy: (settings) => written(join(at.root, "policy.json"), textOf(settings)),
    shell: (command, flags) => call("shell", { command }, flags),
    resume: (session, flags = []) => asJson(["resume", session], flags),
    last: (type, session) => rows(type, session).at(-1)?.body ?? assert.fail(`no ${type} in ${session}`),
  };
}

/** What is put in place of the real parts of a run of many calls. */
export type RunParts = {
  readonly mode?: string;
  readonly approver?: Approver;
  readonly onAsk?: "deny" | "park" | "fail";
  readonly clock?: Clock;
  readonly approvalTimeoutMs?: number;
  readonly tools?: readonly Tool[];
  readonly ledger?: (ledger: Ledger) => Ledger;
  readonly facts?: (facts: Facts) => Facts;
  readonly policy?: (source: PolicySource) => PolicySource;
  /** A session that exists already. */
  readonly session?: string;
};

/** A session of many calls, with the real tools, the real policy of the scene's settings and the real store. */
export type Run = {
  readonly id: string;
  readonly ledger: Ledger;
  readonly tools: Registry;
  readonly dispatcher: Dispatcher;
  readonly process: (calls: readonly ProposedCall[], signal?: AbortSignal) => Promise<BatchReport>;
  readonly shells: (commands: readonly string[]) => Promise<BatchReport>;
  readonly resume: () => Promise<BatchReport>;
  /** Answers as a person in another process would: through the ledger alone. */
  readonly answer: (answer: Omit<Answer, "by">) => ReturnType<typeof answerApproval>;
  readonly close: () => Promise<void>;
};

const SOMEBODY: By = { kind: "person", user: "tester", name: "tester", door: "test", pid: 1 };

/** What an embedding program puts together, on the settings and the store of a scene. */
export async function openRun(at: Scene, parts: RunParts = {}): Promise<Run> {
  const ports = { ...createHostPorts({ stateDirectory: at.store }), ...(parts.clock && { clock: parts.clock }) };
  const { clock, ids, digest, files, processes } = ports;
  const { workspace, store: directory, env } = at;
  const opened = await openLedger({ directory, startOf: processes.startOf, clock });
  const ledger = parts.ledger?.(opened) ?? opened;
  const flags = { allow: [], ask: [], deny: [], ...(parts.mode !== undefined && { mode: parts.mode }) };
  const judging = createWorkspacePolicy({
    places: { workspace, ...settingsLocations(env), session: flags, trusted: false },
    stateDirectory: directory,
    digest,
    tools: (scope, settings) => {
      const registry = createRegistry({ schemas: ajvSchemas() });
      const shellPath = (): readonly string[] => settings()["shell.path"];
      const builtin = builtinTools({ workspace, scope, files, processes, environment: env, shellPath });
      for (const tool of [...builtin, ...(parts.tools ?? [])]) registry.add(tool);
      return registry;
    },
    follow: { clock, warn: () => undefined, changed: () => undefined },
  });
  const { tools, rules, source } = judging;
  const facts = parts.facts?.(judging.facts) ?? judging.facts;
  const holder = currentHolder("test");
  const which = parts.session === undefined ? { create: { cwd: workspace } } : { id: parts.session };
  const session = await openSession({ ledger, clock, ids }, { holder, ...which });
  const dispatcher = createDispatcher({
    ...{ session, clock, ids, digest, files, processes, facts, rules, by: SOMEBODY, changes: createHostFileChanges() },
    policy: parts.policy?.(source) ?? source,
    onAsk: parts.onAsk ?? "park",
    ...(parts.approver && { approver: parts.approver }),
    ...(parts.approvalTimeoutMs !== undefined && { approvalTimeoutMs: parts.approvalTimeoutMs }),
  });
  const process: Run["process"] = (calls, signal = new AbortController().signal) => dispatcher.process({ calls, tools, signal });
  const requests = createRequestReader({ ledger, tools, digest, facts });
  return {
    id: session.id,
    ledger,
    tools,
    dispatcher,
    process,
    shells: (commands) => process(commands.map((command, at) => ({ id: `c${at + 1}`, name: "shell", arguments: { command } }))),
    resume: () => dispatcher.resume({ tools, signal: new AbortController().signal }),
    answer: (answer) => answerApproval({ ledger, clock, ids, rules, requests }, { ...answer, by: SOMEBODY }),
    close: async () => {
      source.close();
      await session.close("done", 0);
      await ledger.close();
    },
  };
}

/** How each call of a batch stands: its outcome, and its type where there is one. */
export function standings({ results }: BatchReport): readonly string[] {
  return results.map(({ outcome, type }) => (type === null || type === outcome ? outcome : `${outcome} ${type}`));
}

function isList(given: Flags): given is readonly string[] {
  return Array.isArray(given);
}

/** The lines of a file; none where there is no file. */
export function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** Writes a file and the directories above it. */
export function written(file: string, text: string, mode = 0o644): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function textOf(settings: SettingsText | string): string {
  return typeof settings === "string" ? settings : JSON.stringify(settings);
}

function jsonOf({ stdout, stderr }: Ran): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(stdout);
  } catch (error) {
    throw new Error(`not one JSON value: ${JSON.stringify(stdout.slice(0, 500))}; stderr: ${stderr}`, { cause: error });
  }
}

/** Own SQL and own JSON: nothing of the store's code stands between the file and the test. */
function readRows(store: string, type: string | undefined, session: string | undefined): readonly Row[] {
  const file = join(store, "ledger.db");
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  try {
    if (database.prepare("select 1 from sqlite_master where name = 'events'").get() === undefined) return []; // it is being made
    const found = database.prepare("select pos, session, type, body from events order by pos").all();
    return found
      .filter((row) => (type === undefined || row["type"] === type) && (session === undefined || row["session"] === session))
      .map((row) => ({
        pos: Number(row["pos"]),
        session: String(row["session"]),
        type: String(row["type"]),
        body: JSON.parse(String(row["body"])),
        text: String(row["body"]),
      }));
  } finally {
    database.close();
  }
}

async function runHere(argv: readonly string[], at: Place, { env, cwd, input = "", overrides }: HereOptions): Promise<Ran> {
  const said = { stdout: "", stderr: "" };
  const output = (name: keyof typeof said): Io["stdout"] => ({
    isTTY: false,
    columns: () => undefined,
    rows: () => undefined,
    write: async (text) => {
      said[name] += text;
    },
  });
  const never = (): never => assert.fail("nobody is at the keyboard");
  const io: Io = {
    stdout: output("stdout"),
    stderr: output("stderr"),
    stdinIsTTY: false,
    readStdin: async () => Buffer.from(input),
    stdin: async function* () {
      yield Buffer.from(input);
    },
    keyboard: { open: never },
    env: { ...at.env, ...env },
    cwd: cwd ?? at.workspace,
    onSignal: () => () => undefined,
    exitNow: never,
  };
  const code = await main(argv, io, overrides);
  return { code, signal: null, ...said };
}
