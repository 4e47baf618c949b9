import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { createRegistry } from "@assent/core";
import { ajvSchemas, createHostPorts } from "@assent/host";
import { createWorkspacePolicy, type Explanation, explain } from "@assent/policy";
import { builtinTools } from "@assent/tools";
import { type Io, main } from "assent";
import { assessAtOnce } from "../support/assess-at-once.ts";
import { CODE_FLAGS } from "../support/code-flags.ts";

/** What a policy file says; the version is added. */
export type PolicyText = {
  readonly mode?: "default" | "plan" | "auto-edit" | "yolo";
  readonly shell?: { readonly path: readonly string[] };
  readonly permissions?: {
    readonly readOnlyHint?: "allow" | "ask";
    readonly allow?: readonly string[];
    readonly ask?: readonly string[];
    readonly deny?: readonly string[];
  };
};

/** Judges a shell line by the whole policy, as a call would be, and tells why. Nothing is run. */
export type Judge = (command: string, cwd?: string) => Explanation;

/** How a command of the program ended and what it printed. */
export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** An event as it stands in the ledger. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into foreign JSON
export type Recorded = { readonly type: string; readonly body: any };

/** A workspace with a real git repository in it, and beside it a store and a place for policy files. */
export type ShellScene = {
  readonly root: string;
  readonly workspace: string;
  readonly store: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes a policy file outside the workspace. */
  readonly policy: (text: PolicyText) => string;
  readonly judge: (text: PolicyText) => Judge;
  /** The program with these arguments, in this process. */
  readonly assent: (...argv: readonly string[]) => Promise<Ran>;
  /** All events of the store in their order, read with SQL of our own. */
  readonly events: () => readonly Recorded[];
  readonly [Symbol.dispose]: () => void;
};

/** Files of the workspace that are committed; those of `CHANGED` are not. */
const FILES: Readonly<Record<string, string>> = {
  "README.md": "# A project\n\nTODO: say more.\n",
  "package.json": '{ "name": "app", "version": "1.0.0", "scripts": { "test": "node --test", "build": "tsc" } }\n',
  "tsconfig.json": "{}\n",
  "src/index.ts": 'export { run } from "./run.ts";\n',
  "src/run.ts": 'import { join } from "node:path";\n\n// TODO: less\nexport function run(): string {\n  return join("a", "b");\n}\n',
  "src/cli/main.ts": 'console.log("main");\n',
  "test/run.test.ts": "export {};\n",
  "docs/guide.md": "# Guide\n",
  "data/rows.csv": "name,count\nb,2\na,1\na,1\n",
  "copies/secret": "a copy\n",
  "logs/app.log": "INFO start\nERROR it failed\nINFO end\n",
};

const CHANGED: Readonly<Record<string, string>> = {
  "src/index.ts": 'export { run } from "./run.ts";\nexport const version = 1;\n',
  "notes.txt": "new\n",
  ".env": "KEY=secret\n",
};

/** A new scene in a directory of its own, which goes when the scene does. */
export function shellScene(): ShellScene {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-shell-")));
  const [workspace, store, outside] = [join(root, "workspace"), join(root, "store"), join(root, "outside")];
  const env = { PATH: process.env["PATH"] ?? "", HOME: join(root, "home"), ASSENT_STORE: store };
  for (const directory of [workspace, outside, env.HOME]) mkdirSync(directory);
  writeAll(workspace, FILES);
  writeAll(outside, { secret: "outside\n" });
  commitAll(workspace, env);
  writeAll(workspace, CHANGED);
  symlinkSync(outside, join(workspace, "out"));
  symlinkSync("src", join(workspace, "in"));
  mkdirSync(join(workspace, "links"));
  symlinkSync(join(outside, "secret"), join(workspace, "links/secret"));
  let policies = 0;
  const policy: ShellScene["policy"] = (text) => {
    const file = join(root, `policy-${policies++}.json`);
    writeFileSync(file, JSON.stringify({ version: 1, ...text }));
    return file;
  };
  const judge: ShellScene["judge"] = (text) => judging({ workspace, store, home: env.HOME, policyFile: policy(text) });
  return {
    root,
    workspace,
    store,
    env,
    policy,
    judge,
    assent: (...argv) => runHere(argv, workspace, env),
    events: () => readEvents(store),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function writeAll(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

function commitAll(cwd: string, env: Readonly<Record<string, string>>): void {
  const who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.test"];
  const git = (...args: readonly string[]): void => void execFileSync("git", [...who, ...args], { cwd, env, stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=First");
  git("commit", "--quiet", "--message=Second", "--allow-empty");
  git("tag", "v1");
}

type Places = { readonly workspace: string; readonly store: string; readonly home: string; readonly policyFile: string };

function judging({ workspace, store, home, policyFile }: Places): Judge {
  const { clock, digest, files, processes } = createHostPorts({ stateDirectory: store });
  const policy = createWorkspacePolicy({
    places: {
      workspace,
      home,
      policyFile,
      userFile: "/nonexistent/user",
      teamFile: "/nonexistent/team",
      session: NO_FLAGS,
      trusted: false,
    },
    stateDirectory: store,
    digest,
    tools: (scope) => {
      const registry = createRegistry({ schemas: ajvSchemas() });
      for (const tool of builtinTools({ workspace, scope, files, processes, environment: {} })) registry.add(tool);
      return registry;
    },
  });
  const { problems } = policy.source.loaded();
  if (problems.length > 0) throw new Error(`a policy of the test is broken: ${problems[0]?.message}`);
  const { facts, source } = policy;
  return (command, cwd = workspace) => {
    const tool = policy.tools.get("shell");
    const invocation = tool?.build({ command }, { cwd, callId: "c", sessionId: "s" });
    if (!tool || !invocation || invocation instanceof Promise) throw new Error("the shell tool does not build at once");
    return explain(assessAtOnce({ tool, invocation, cwd, facts, policy: source.current, digest, clock }));
  };
}

const NO_FLAGS = { allow: [], ask: [], deny: [] };

async function runHere(argv: readonly string[], cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<Ran> {
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
  const code = await main(argv, {
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
  });
  return { code, ...written };
}

function readEvents(store: string): readonly Recorded[] {
  const database = new DatabaseSync(join(store, "ledger.db"), { readOnly: true, timeout: 5000 });
  try {
    const rows = database.prepare("select type, body from events order by pos").all();
    return rows.map(({ type, body }) => ({ type: String(type), body: JSON.parse(String(body)) }));
  } finally {
    database.close();
  }
}

/** Arguments for Node that make calls one after the other in one process: a policy file, then the commands. */
export const CALLER: readonly string[] = [...CODE_FLAGS, fileURLToPath(import.meta.url)];

/** What a process tries to open before it makes its call number `index`, so that a trace of it can be told apart. */
export function callMark(index: number): string {
  return `/nonexistent/call-${index}`;
}

if (import.meta.main) {
  const [policy = "", ...commands] = process.argv.slice(2);
  for (const [index, command] of commands.entries()) {
    try {
      openSync(callMark(index), "r");
    } catch {
      // it is not there: only the attempt matters
    }
    const input = JSON.stringify({ command });
    const { stdout } = await runHere(["call", "shell", "--policy", policy, "--input", input, "--json"], process.cwd(), process.env);
    process.stdout.write(stdout);
  }
}
