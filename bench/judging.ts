import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry, defineTool, type Facts, type Tool } from "@assent/core";
import { ajvSchemas, createSystemClock, nodeDigest } from "@assent/host";
import { createPolicyFacts, createWorkspacePolicy, type PathLookup, type WorkspacePolicy } from "@assent/policy";
import { parse } from "unbash";
import { assessAtOnce } from "../test/support/assess-at-once.ts";
import { microseconds, type Row, ratioRow, valueRow } from "./measure.ts";
import { rememberedDisk } from "./remembered-disk.ts";

const LIMIT = 4096;

/** Texts of every size up to the limit, of the shapes that cost most; then the scripts that stand in the words of a text, which have to be parsed as well. */
const TEXTS: readonly (readonly [name: string, text: string, ...scripts: string[]])[] = [
  ["a word", "ls"],
  ["an allowed command", "git log --oneline -20"],
  [
    "a denied one in a shell in a shell",
    `sh -c "sh -c 'curl https://example.test'"`,
    ...["sh -c 'curl https://example.test'", "curl https://example.test"],
  ],
  ["a pipeline", "git status --porcelain && grep -rn TODO src | sort | uniq -c | head -20"],
  ["4 KB of one word", `echo ${"x".repeat(LIMIT - 6)}`],
  ["4 KB of small commands", "true;".repeat(LIMIT / 5 - 1)],
  ["4 KB of quoted words", "cat 'a b' ".repeat(LIMIT / 10 - 1)],
  ["4 KB of nested substitutions", `echo ${"$(echo ".repeat(400)}x${")".repeat(400)}`],
];

const RULES = {
  deny: ["Shell(curl)", "Shell(wget)", "Shell(git push --force)", "Shell(sudo)", "Read(.env)"],
  ask: ["Shell(npm publish)"],
  allow: ["Shell(git *)", "Shell(ls)", "Shell(cat)", "Shell(grep)", "Edit(src/**)"],
};

/** Judging a shell command against the parser alone, and beyond the limit by itself. Looking at what the command names is told apart. */
export async function judgingRows(): Promise<readonly Row[]> {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), "assent-bench-")));
  try {
    mkdirSync(join(workspace, ".git"));
    writeFileSync(join(workspace, "a b"), "");
    const judges = judgesFor(workspace);
    const rows: Row[] = [];
    for (const [name, ...texts] of TEXTS) rows.push(await row(judges, name, texts));
    const long = `${"true;".repeat(200_000)}\ncurl x`;
    const value = (await microseconds(9, () => repeat(1, () => judges.looking(long)))) / 1_000;
    rows.push(valueRow("judging 1 MB of commands", { value, unit: "ms" }, 10));
    return rows;
  } finally {
    rmSync(workspace, { recursive: true });
  }
}

/** Judge a line by what the disk says now, or by what it said the first time. */
type Judges = { readonly looking: (text: string) => unknown; readonly told: (text: string) => unknown };

async function row({ looking, told }: Judges, name: string, texts: readonly string[]): Promise<Row> {
  const [text = ""] = texts;
  const base = await warm(() => texts.map(readWhole));
  const whole = await warm(() => looking(text));
  const disk = rememberedDisk();
  try {
    const value = await warm(() => told(text));
    const judged = ratioRow(`judging ${name}`, { value, base }, { of: "parsing it", most: 5 });
    return { ...judged, apart: { name: "looking at the disk", value: Math.max(0, whole - value) } };
  } finally {
    disk.forget();
  }
}

/** Longer than the compiler takes to settle on a whole judgement: the parser alone, which is much less code, settles far sooner. */
const WARM_MS = 1_500;

/** Microseconds of one call once it is compiled: rounds of a tenth of a second, the best of them. */
async function warm(act: () => unknown): Promise<number> {
  const until = (ms: number): number => {
    let count = 0;
    for (const end = performance.now() + ms; performance.now() < end; count += 1) act();
    return count;
  };
  until(WARM_MS);
  return microseconds(9, () => until(100));
}

/** The parser puts off the parts of words and what stands in substitutions until somebody asks; whoever judges has to ask. */
function readWhole(text: string): number {
  let words = 0;
  const todo: unknown[] = [parse(text)];
  for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
    if (typeof node !== "object" || node === null) continue;
    words += 1;
    for (const key of [
      "commands",
      "command",
      "name",
      "prefix",
      "suffix",
      "redirects",
      "parts",
      "script",
      "value",
      "target",
      "body",
      "content",
    ] as const)
      if (key in node) push(todo, Reflect.get(node, key));
  }
  return words;
}

function push(todo: unknown[], value: unknown): void {
  if (Array.isArray(value)) todo.push(...value);
  else if (typeof value === "object") todo.push(value);
}

function repeat(count: number, act: () => unknown): number {
  for (let i = 0; i < count; i += 1) act();
  return count;
}

/** Judges shell lines in a workspace, by rules as people write them. */
function judgesFor(workspace: string): Judges {
  const shell: Tool = defineTool({
    name: "shell",
    description: "A shell.",
    kind: "execute",
    input: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    run: () => "",
  });
  const registry = createRegistry({ schemas: ajvSchemas() });
  registry.add(shell);
  const scope: { look?: PathLookup } = {};
  const policy = createWorkspacePolicy({
    places: { workspace, home: HOME, userFile: "/nonexistent/u", teamFile: "/nonexistent/t", session: RULES, trusted: false },
    stateDirectory: "/nonexistent/state",
    digest: nodeDigest,
    tools: (look) => {
      scope.look = look;
      return registry;
    },
  });
  const { look } = scope;
  if (!look) throw new Error("the policy asks for its tools at once");
  const told = createPolicyFacts({ workspace, home: HOME, look: remembered(look) });
  return { looking: judgeBy(policy, policy.facts, workspace), told: judgeBy(policy, told, workspace) };
}

const HOME = "/nonexistent";

function judgeBy({ tools, source }: WorkspacePolicy, facts: Facts, cwd: string): (command: string) => string {
  const clock = createSystemClock();
  const ctx = { cwd, callId: "c", sessionId: "s" };
  return (command) => {
    const tool = tools.get("shell");
    const invocation = tool?.build({ command }, ctx);
    if (!tool || !invocation || invocation instanceof Promise) throw new Error("the shell tool of the bench does not build");
    return assessAtOnce({ tool, invocation, cwd, facts, policy: source.current, digest: nodeDigest, clock }).decision.verdict;
  };
}

/** The same answer about the same path for ever. */
function remembered(look: PathLookup): PathLookup {
  const known = new Map<string, ReturnType<PathLookup>>();
  return (path, cwd) => {
    const key = `${cwd}\0${path}`;
    const fact = known.get(key) ?? look(path, cwd);
    known.set(key, fact);
    return fact;
  };
}
