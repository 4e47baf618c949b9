import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number };
type Script = { readonly url: string; readonly functions: readonly { readonly ranges: readonly Range[] }[] };

/** What one process ran of a source. */
type Ranges = readonly Range[];

/** A test file, how long it takes, and what each of its processes runs of each source. */
export type Coverage = { readonly test: string; readonly took: number; readonly scripts: ReadonlyMap<string, readonly Ranges[]> };

/** How test files are run: with what in the environment, and for how many milliseconds at most. */
export type Run = { readonly env: NodeJS.ProcessEnv; readonly most: number };

/** Whether all tests of the files pass. They share a process, which is ended with the first that fails or when its time is up, and a place for what they leave. */
export function pass(tests: readonly string[], { env, most }: Run): Promise<boolean> {
  const args = ["--conditions=@assent/source", "--no-warnings", "--test", "--test-isolation=none", "--test-reporter=tap", ...tests];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const left = mkdtempSync(join(tmpdir(), "assent-mutate-"));
  chmodSync(left, 0o1777); // some tests look from another user's place
  const child = spawn(process.execPath, args, { env: { ...env, TMPDIR: left }, stdio: ["ignore", "pipe", "ignore"] });
  const kill = (): void => void child.kill("SIGKILL");
  const timer = setTimeout(kill, Math.round(most));
  let line = "";
  child.stdout.on("data", (chunk) => {
    line = `${line}${chunk}`;
    if (/^ *not ok /mu.test(line)) kill();
    line = line.slice(line.lastIndexOf("\n") + 1);
  });
  child.on("close", (code) => {
    clearTimeout(timer);
    rmSync(left, { recursive: true, force: true, maxRetries: 3 });
    resolve(code === 0);
  });
  return promise;
}

/** Runs one test file and reads what it ran. */
export async function coverageOf(test: string): Promise<Coverage> {
  const directory = mkdtempSync(join(tmpdir(), "assent-coverage-"));
  try {
    const start = performance.now();
    const run = { env: { ...process.env, NODE_V8_COVERAGE: directory }, most: 300_000 };
    if (!(await pass([test], run))) throw new Error(`${test} fails without any change. Mend it first.`);
    const took = performance.now() - start;
    const scripts = new Map<string, readonly Ranges[]>();
    for (const name of readdirSync(directory)) {
      const { result }: { result: readonly Script[] } = JSON.parse(readFileSync(join(directory, name), "utf8"));
      for (const { url, functions } of result) {
        if (url.includes("/packages/") && url.includes("/src/"))
          scripts.set(url, [...(scripts.get(url) ?? []), functions.flatMap(({ ranges }) => ranges)]);
      }
    }
    return { test, took, scripts };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Whether a place is run: the smallest range around it counts. */
function isRun(ranges: Ranges, place: number): boolean {
  let innermost: Range | undefined;
  for (const range of ranges) {
    const holds = range.startOffset <= place && place < range.endOffset;
    if (holds && (!innermost || range.endOffset - range.startOffset <= innermost.endOffset - innermost.startOffset)) innermost = range;
  }
  return innermost !== undefined && innermost.count > 0;
}

/** The tests that run a place of a source: the one of its own name first, then the quickest. */
export function testsOf(coverage: readonly Coverage[], url: string, place: number): readonly Coverage[] {
  const name = `${basename(url, ".ts")}.test.ts`;
  const cost = ({ test, took }: Coverage): number => (basename(test) === name ? 0 : took);
  const run = ({ scripts }: Coverage): boolean => (scripts.get(url) ?? []).some((ranges) => isRun(ranges, place));
  return coverage.filter(run).sort((one, other) => cost(one) - cost(other));
}
