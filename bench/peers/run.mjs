// Measures Assent and its peers side by side: npm run bench:peers -- [--install] [--rounds N] [--only ID,ID] [--print]
// Writes results.json and the document made from it; with --print or --only it writes nothing and shows the figures.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install } from "./install.mjs";
import { NOT_INSTALLED, ROWS, WORKS } from "./peers.mjs";

const here = import.meta.dirname;
const { values } = parseArgs({
  options: { install: { type: "boolean" }, rounds: { type: "string", default: "5" }, only: { type: "string" }, print: { type: "boolean" } },
});
const only = values.only?.split(",");
const rows = ROWS.filter(({ id }) => id === "bare" || !only || only.includes(id));
const folders = [...new Set(rows.map(({ folder }) => folder))];
if (values.install) {
  const failed = install(folders);
  for (const { folder, error } of failed) process.stderr.write(`${folder} is not installed: ${error}\n`);
  process.exit(failed.length > 0 ? 1 : 0);
}
const missing = folders.filter((folder) => !existsSync(join(here, folder, "node_modules")));
if (missing.length > 0) {
  process.stderr.write(`Not installed: ${missing.join(", ")}. Run: npm run bench:peers -- --install\n`);
  process.exit(1);
}

const rounds = Number(values.rounds);
const CHILD_MS = 900_000;
/** What takes longer than this is measured in one round only. */
const SLOW_MS = 25_000;
const IMPORT_ROUNDS = 7;
const AGAIN = 10;
const BETWEEN_MS = 300;
const scratch = mkdtempSync(join(tmpdir(), "bench-peers-"));
const loads = [];
const measured = new Map(rows.map(({ id }) => [id, new Map()]));

try {
  const fixed = rows.map(fixedResult);
  measureImports(fixed);
  for (let round = 0; round < rounds; round += 1) {
    for (const work of WORKS) measureWork(work, round);
    keep(fixed, round + 1); // whoever stops it early has what was measured so far
  }
} finally {
  rmSync(scratch, { recursive: true });
}

function keep(fixed, done) {
  const results = {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    rounds: done,
    load: { least: Math.min(...loads), median: median(loads), most: Math.max(...loads) },
    notInstalled: NOT_INSTALLED,
    rows: rows.map((row, at) => ({ ...fixed[at], works: Object.fromEntries(WORKS.map(({ id }) => [id, workResult(row, id)])) })),
  };
  const text = `${JSON.stringify(results, null, 2)}\n`;
  if (only || values.print) {
    if (done === rounds) process.stdout.write(text);
    return;
  }
  writeFileSync(join(here, "results.json"), text);
  execFileSync(process.execPath, [join(here, "document.mjs")], { stdio: "inherit" });
}

/** Everybody does the same work, in another order each round; the bare loop goes first and last. */
function measureWork(work, round) {
  const group = rows.filter((row) => row.id !== "bare" && !(kindOf(work.id) in row.absent));
  const turned = [...group.slice(round % group.length), ...group.slice(0, round % group.length)];
  const bareRow = rows.find(({ id }) => id === "bare");
  const bare = [child(bareRow, work.bare)];
  const figures = turned.map((row) => [row, isSlow(row, work.id) ? undefined : child(row, work.id)]);
  bare.push(child(bareRow, work.bare));
  const base = { microseconds: mean(bare.map((b) => b.microseconds)), processor: mean(bare.map((b) => b.processor)) };
  if (work.id === work.bare) record("bare", work.id, { ...bare[0], ...base, ratio: 1, clock: 1 });
  for (const [row, figure] of figures) {
    if (figure === undefined) continue;
    const ratios = "error" in figure ? {} : { ratio: figure.processor / base.processor, clock: figure.microseconds / base.microseconds };
    record(row.id, work.id, { ...figure, ...ratios });
    process.stderr.write(`${round + 1} ${work.id.padEnd(12)} ${row.id.padEnd(22)} ${figure.error ?? `${ratios.ratio.toFixed(1)} × by the processor, ${ratios.clock.toFixed(1)} × by the clock`}\n`);
  }
}

function isSlow(row, work) {
  return (measured.get(row.id).get(work) ?? []).some(({ elapsed, error }) => error !== undefined || elapsed > SLOW_MS);
}

function record(id, work, figure) {
  const works = measured.get(id);
  works.set(work, [...(works.get(work) ?? []), figure]);
}

/** One piece of work in a process of its own. */
function child(row, work, env = {}) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_MS);
  loads.push(Number(loadavg()[0].toFixed(2)));
  const start = performance.now();
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [join(here, "measure.mjs"), row.folder, row.variant, ...work.split(" ")], {
    cwd: scratch,
    encoding: "utf8",
    timeout: CHILD_MS,
    maxBuffer: 1 << 28,
    env: { ...process.env, NODE_ENV: "production", NODE_OPTIONS: "", OPENAI_AGENTS_DISABLE_TRACING: "1", LANGCHAIN_TRACING_V2: "false", ...env },
  });
  const elapsed = performance.now() - start;
  if (error?.code === "ETIMEDOUT") return { error: `longer than ${CHILD_MS / 1_000} s`, elapsed };
  const last = stdout?.trimEnd().split("\n").at(-1) ?? "";
  if (status !== 0 || !last.startsWith("{")) return { error: firstError(stderr ?? ""), elapsed };
  return { ...JSON.parse(last), elapsed };
}

function firstError(text) {
  return text.split("\n").find((line) => /Error/.test(line))?.trim().slice(0, 160) ?? "no output";
}

/** What needs no rounds. */
function fixedResult(row) {
  return {
    ...{ id: row.id, label: row.label, layer: row.layer, versions: versions(row) },
    again: againResult(row),
    install: row.import || row.id === "bare" ? installed(row) : null,
    import: row.import ? { specifier: row.import } : null,
  };
}

/** One approved state resumed many times, effects counted in a file. */
function againResult(row) {
  if ("again" in row.absent || row.id === "bare") return { absent: row.absent.again ?? "nobody is asked" };
  const { inTurn, atOnce, error } = child(row, `again ${AGAIN}`, { EFFECTS_FILE: join(scratch, row.id) });
  return error ? { absent: error } : { inTurn, atOnce };
}

function workResult(row, work) {
  const reason = row.absent[kindOf(work)] ?? (row.id === "bare" && !/turns|batch/.test(work) ? "nobody is asked" : undefined);
  if (reason) return { absent: reason };
  const all = measured.get(row.id).get(work) ?? [];
  const good = all.filter(({ error }) => error === undefined);
  if (good.length === 0) return { absent: all[0]?.error ?? "not measured" };
  const of = (key) => good.map((figure) => figure[key]).filter((value) => typeof value === "number");
  const sum = (key) => of(key).reduce((a, b) => a + b, 0);
  return {
    ...{ ratio: round3(median(of("ratio"))), least: round3(Math.min(...of("ratio"))), most: round3(Math.max(...of("ratio"))) },
    ...{ clock: round3(median(of("clock"))), rounds: good.length, calls: sum("calls"), effects: sum("effects") },
    ...{ processorMicroseconds: round3(median(of("processor"))), clockMicroseconds: round3(median(of("microseconds"))) },
  };
}

/** What starting with the import costs over starting at all, everybody in turn. */
function measureImports(results) {
  const startOf = (folder, code) => {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { cwd: join(here, folder), encoding: "utf8" });
    if (status !== 0) throw new Error(firstError(stderr));
    return performance.now() - start;
  };
  const wanted = results.filter((row) => row.import !== null);
  const ratios = new Map(wanted.map(({ id }) => [id, []]));
  for (let round = 0; round <= IMPORT_ROUNDS; round += 1) {
    for (const { id, import: { specifier } } of wanted) {
      const { folder } = rows.find((row) => row.id === id);
      const ratio = startOf(folder, `await import(${JSON.stringify(specifier)}); process.exit(0)`) / startOf(folder, "process.exit(0)");
      if (round > 0) ratios.get(id).push(ratio); // the first one only fills the caches of the disk
    }
  }
  for (const row of wanted) row.import.ratio = round3(median(ratios.get(row.id)));
}

function versions({ folder, packages }) {
  return Object.fromEntries(packages.map((name) => [name, JSON.parse(readFileSync(join(here, folder, "node_modules", name, "package.json"), "utf8")).version]));
}

function installed({ folder, only: wanted }) {
  const modules = join(here, folder, "node_modules");
  if (wanted) return { megabytes: megabytes(wanted.map((name) => join(modules, name))), packages: wanted.length };
  const { packages } = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
  return { megabytes: megabytes([modules]), packages: Object.keys(packages).length };
}

/** As `du` counts. */
function megabytes(paths) {
  const size = (path) => {
    const { blocks, isDirectory } = ((stat) => ({ blocks: stat.blocks, isDirectory: stat.isDirectory() }))(lstatSync(path));
    return blocks * 512 + (isDirectory ? readdirSync(path).reduce((sum, name) => sum + size(join(path, name)), 0) : 0);
  };
  return round3(paths.reduce((sum, path) => sum + size(path), 0) / 1e6);
}

function kindOf(work) {
  return work.split(" ")[0];
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function mean(numbers) {
  return numbers.reduce((a, b) => a + b, 0) / numbers.length;
}

function round3(value) {
  return Number(value.toPrecision(3));
}
