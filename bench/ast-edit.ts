import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createDispatcher, createRegistry, type Dispatcher, openSession, type Registry, staticPolicy } from "@assent/core";
import { createHostFileChanges, createHostPorts } from "@assent/host";
import { createPathLookup } from "@assent/policy";
import { openLedger } from "@assent/store";
import { astEditTool, memoryReads } from "@assent/tools";
import { findInFiles } from "@ast-grep/napi";
import { type Row, ratioRow, valueRow } from "./measure.ts";

const FILES = Number(process.env["BENCH_FILES"] ?? 5_000);
const MATCHES = 4;
const ROUNDS = 3;
const NAMES = ["oldName", "newName"];
const BY = { kind: "person", user: "bench", name: "bench", door: "bench", pid: process.pid } as const;

/** The rows about a structural edit of many files, from the call to the changed files, on the SQLite ledger. */
export async function astEditRows(): Promise<readonly Row[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-bench-")));
  const workspace = join(root, "workspace");
  plant(workspace);
  const ledger = await openLedger({ directory: join(root, "store") });
  try {
    const bench = await editing(workspace, ledger);
    const sum = { search: NO_TIME, preview: NO_TIME, apply: NO_TIME };
    let memoryPeak = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const [from = "", to = ""] = round % 2 === 0 ? NAMES : NAMES.toReversed();
      const memory = watchMemory();
      sum.preview = await addTime(sum.preview, () => bench.preview(from, to));
      const peak = memory.peak();
      if (round === 0) memoryPeak = peak; // the trees of ast-grep's own search stay in the process for a while, and would be counted later
      sum.search = await addTime(sum.search, () => search(workspace, from));
      sum.apply = await addTime(sum.apply, () => bench.apply());
    }
    return makeRows(sum, memoryPeak);
  } finally {
    await ledger.close();
    rmSync(root, { recursive: true });
  }
}

/** Milliseconds of processor time on all threads, and of wall time. */
type Time = { readonly processor: number; readonly wall: number };

const NO_TIME: Time = { processor: 0, wall: 0 };

type Times = { readonly search: Time; readonly preview: Time; readonly apply: Time };

/** A preview computes, so processor time counts. An apply mostly waits for the disk, so wall time counts. */
function makeRows({ search, preview, apply }: Times, memory: number): readonly Row[] {
  const what = `${FILES} files, ${FILES * MATCHES} matches`;
  const base = { of: "ast-grep's search", most: 3 };
  const ratio = (time: Time, kind: keyof Time) => ({ value: time[kind] / ROUNDS, base: search[kind] / ROUNDS, unit: "ms" });
  return [
    ratioRow(`ast_edit preview, ${what}, processor time`, ratio(preview, "processor"), base),
    ratioRow(`ast_edit apply, ${what}`, ratio(apply, "wall"), base),
    valueRow("ast_edit preview, memory at most", { value: memory / 1e6, unit: "MB" }, 750),
  ];
}

/** A workspace of files as people write them, each with a few places to change. */
function plant(workspace: string): void {
  for (let file = 0; file < FILES; file += 1) {
    const path = join(workspace, `src/part${file % 50}/area${Math.floor(file / 50) % 10}/file${file}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    const functions = Array.from({ length: MATCHES }, (_, index) => functionText(file, index));
    writeFileSync(path, `import { oldName, other } from "../lib/thing${file}.ts";\n\n${functions.join("\n")}`);
  }
}

function functionText(file: number, index: number): string {
  return `/** Handles case ${index} of part ${file}. */
export async function handle${index}(input: { readonly id: string; readonly count: number }, signal: AbortSignal): Promise<string[]> {
  const results: string[] = [];
  for (let at = 0; at < input.count; at += 1) {
    signal.throwIfAborted();
    const value = oldName(input.id, at, { retry: ${index}, label: \`case-\${at}\` });
    if (value === undefined || value.length > ${file}) continue;
    results.push(\`\${value}:\${other(at + ${index})}\`);
  }
  return results.filter((one) => one !== "" && !one.startsWith("_")).map((one) => one.trim());
}
`;
}

type Editing = { readonly preview: (from: string, to: string) => Promise<void>; readonly apply: () => Promise<void> };

async function editing(workspace: string, ledger: Awaited<ReturnType<typeof openLedger>>): Promise<Editing> {
  const ports = createHostPorts({ stateDirectory: "/nonexistent" });
  const holder = { pid: process.pid, host: "bench", processStart: "0", door: "bench" };
  const session = await openSession({ ledger, clock: ports.clock, ids: ports.ids }, { holder, create: { cwd: workspace } });
  const tools = createRegistry();
  const scope = createPathLookup({ workspace });
  tools.add(astEditTool({ reads: memoryReads(), workspace, scope, maxFiles: () => 10_000, maxChanges: () => 50_000 }));
  const policy = staticPolicy({ mode: "yolo" });
  const { clock, ids, digest } = ports;
  const dispatcher = createDispatcher({ session, clock, ids, digest, policy, changes: createHostFileChanges() });
  let calls = 0;
  return {
    preview: (from, to) => preview({ dispatcher, tools }, `c${calls++}`, { pat: `${from}($$$A)`, out: `${to}($$$A)` }),
    apply: async () => {
      const [staged] = dispatcher.proposals.list();
      const report = await dispatcher.proposals.apply(staged?.id ?? "", BY);
      if (!report.ok) throw new Error(`the edit was not applied: ${report.text}`);
    },
  };
}

type Running = { readonly dispatcher: Dispatcher; readonly tools: Registry };

async function preview({ dispatcher, tools }: Running, id: string, op: { readonly pat: string; readonly out: string }): Promise<void> {
  const { signal } = new AbortController();
  const call = { id, name: "ast_edit", arguments: JSON.stringify({ ops: [op], paths: ["src"] }) };
  const { results } = await dispatcher.process({ calls: [call], tools, signal });
  const text = JSON.stringify(results[0]);
  if (!text.includes(`${FILES * MATCHES} replacements in ${FILES} files`))
    throw new Error(`the edit was not staged: ${text.slice(0, 500)}`);
}

/** The same search by ast-grep alone: it walks, reads, parses and matches on all processors. */
function search(workspace: string, name: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let [matches, heard, files] = [0, 0, Number.POSITIVE_INFINITY];
  const end = (): void => {
    if (heard < files) return;
    if (matches === FILES * MATCHES) resolve();
    else reject(new Error(`ast-grep found ${matches} matches`));
  };
  const matcher = { rule: { pattern: `${name}($$$A)` } };
  findInFiles("TypeScript", { paths: [workspace], matcher }, (error, nodes) => {
    if (error) reject(error);
    matches += nodes.length;
    heard += 1;
    end();
  }).then((count) => {
    files = count;
    end();
  }, reject);
  return promise;
}

async function addTime({ processor, wall }: Time, act: () => Promise<void>): Promise<Time> {
  const [start, usage] = [performance.now(), process.cpuUsage()];
  await act();
  const { user, system } = process.cpuUsage(usage);
  return { processor: processor + (user + system) / 1_000, wall: wall + performance.now() - start };
}

function watchMemory(): { readonly peak: () => number } {
  let most = process.memoryUsage.rss();
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  return {
    peak: () => {
      clearInterval(timer);
      return most;
    },
  };
}
