import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEffectRunner, createHostProcesses } from "@assent/host";
import { createShellContainment } from "@assent/tools";
import { type Row, ratioRow } from "./measure.ts";

const ROUNDS = 9;
const FILES = 20_000;
const PER_DIRECTORY = 200;

type Work = readonly [name: string, script: string, most: number, previewed: number];

/** Budgets allow for the fixed cost of a sandbox, which is most of a short command. */
const WORK: readonly Work[] = [
  ["true", "true", 40, 100],
  [`git status in ${FILES} files`, "git status --short", 6, 20],
  ["a build that creates 500 files", "mkdir out; for i in $(seq 500); do echo $i > out/$i; done; cat out/[0-9]* > out/all", 6, 20],
];

/** What it adds to run a command confined, and to preview it: wall time of all three in changing order, each from the same files; the median of each. */
export async function containmentRows(): Promise<readonly Row[]> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "assent-bench-")));
  try {
    return await measure(makeRepository(directory), join(directory, "home"));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(workspace: string, home: string): Promise<readonly Row[]> {
  const containment = createShellContainment({
    workspace,
    home,
    writable: () => [],
    isControl: (path) => path.endsWith("/.git"),
    aside: join(home, "aside"),
  });
  const probe = await containment.probe();
  if (!probe.works) throw new Error(probe.reason);
  const processes = createHostProcesses();
  const env = { PATH: "/usr/bin:/bin", HOME: home };
  const run = async (script: string, confined: boolean): Promise<number> => {
    clearOutput(workspace);
    const start = performance.now();
    const sandbox = confined
      ? await containment.enter({ sessionId: "s", network: false, cwd: workspace, searchPath: env.PATH, keepsNewControls: false })
      : undefined;
    const spec = { file: "/bin/bash", args: ["-c", script], cwd: workspace, env, onStart: async () => undefined };
    const end = await processes.run({ ...spec, ...(sandbox && { confine: sandbox.confine }) }, new AbortController().signal);
    sandbox?.leave();
    const took = performance.now() - start;
    if (end.exitCode !== 0) throw new Error(`${script}: ${end.output}`);
    return took;
  };
  const effects = createEffectRunner({ processes, workspace, directory: join(home, "previews") });
  const preview = async (script: string): Promise<number> => {
    clearOutput(workspace);
    const start = performance.now();
    const confinement = await containment.enterView(env.PATH);
    const program = { file: "/bin/bash", args: ["-c", script], cwd: workspace, env, timeoutMs: 60_000, confinement };
    const { end } = await effects.run(program, new AbortController().signal);
    if (end.exitCode !== 0) throw new Error(`${script}: ${end.output}`);
    return performance.now() - start;
  };
  const rows: Row[] = [];
  for (const [name, script, most, mostPreviewed] of WORK) {
    const ways = [() => run(script, false), () => run(script, true), () => preview(script)];
    const times: readonly number[][] = ways.map(() => []);
    for (let turn = 0; turn < ROUNDS * ways.length; turn += 1) {
      const way = (turn + Math.floor(turn / ways.length)) % ways.length; // another one is first in each round
      times[way]?.push((await ways[way]?.()) ?? Number.NaN);
    }
    const [base = Number.NaN, value = Number.NaN, previewed = Number.NaN] = times.map(medianOf);
    rows.push(ratioRow(`confined: ${name}`, { value, base, unit: "ms" }, { of: "unconfined", most }));
    rows.push(ratioRow(`previewed: ${name}`, { value: previewed, base, unit: "ms" }, { of: "run for real", most: mostPreviewed }));
  }
  return rows;
}

/** Every run creates the same files, because creating one takes longer than writing it again. */
function clearOutput(workspace: string): void {
  rmSync(join(workspace, "out"), { recursive: true, force: true });
}

function medianOf(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
}

function makeRepository(directory: string): string {
  const workspace = join(directory, "workspace");
  for (const path of [workspace, join(directory, "home")]) mkdirSync(path, { recursive: true });
  for (let at = 0; at < FILES; at += 1) {
    const folder = join(workspace, `d${Math.floor(at / PER_DIRECTORY)}`);
    if (at % PER_DIRECTORY === 0) mkdirSync(folder);
    writeFileSync(join(folder, `f${at}`), `${at}\n`);
  }
  writeFileSync(join(workspace, ".gitignore"), "out\n");
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", workspace, "-c", "user.name=b", "-c", "user.email=b@b", ...args]);
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "files");
  return workspace;
}
