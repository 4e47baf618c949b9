import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number };
type Script = { readonly url: string; readonly functions: readonly { readonly ranges: readonly Range[] }[] };

/** A test file, how long it takes, and what it runs of each source. */
export type Coverage = { readonly test: string; readonly took: number; readonly scripts: ReadonlyMap<string, readonly Range[]> };

/** The arguments of Node that run test files in one process. */
export function testArguments(tests: readonly string[]): readonly string[] {
  return ["--conditions=@assent/source", "--no-warnings", "--test", "--test-isolation=none", "--test-reporter=dot", ...tests];
}

/** Runs one test file and reads what it ran. */
export function coverageOf(test: string): Coverage {
  const directory = mkdtempSync(join(tmpdir(), "assent-coverage-"));
  try {
    const start = performance.now();
    const env = { ...process.env, NODE_V8_COVERAGE: directory };
    const { status } = spawnSync(process.execPath, testArguments([test]), { env, stdio: "ignore", timeout: 300_000 });
    if (status !== 0) throw new Error(`${test} fails without any change. Mend it first.`);
    const took = performance.now() - start;
    const scripts = new Map<string, readonly Range[]>();
    for (const name of readdirSync(directory)) {
      const { result }: { result: readonly Script[] } = JSON.parse(readFileSync(join(directory, name), "utf8"));
      for (const { url, functions } of result) {
        if (url.includes("/packages/") && url.includes("/src/"))
          scripts.set(url, [...(scripts.get(url) ?? []), ...functions.flatMap(({ ranges }) => ranges)]);
      }
    }
    return { test, took, scripts };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Whether a place is run: the smallest range around it counts. */
function isRun(ranges: readonly Range[], place: number): boolean {
  let innermost: Range | undefined;
  for (const range of ranges) {
    const holds = range.startOffset <= place && place < range.endOffset;
    if (holds && (!innermost || range.endOffset - range.startOffset <= innermost.endOffset - innermost.startOffset)) innermost = range;
  }
  return innermost !== undefined && innermost.count > 0;
}

/** The tests that run a place of a source, the quickest first. */
export function testsOf(coverage: readonly Coverage[], url: string, place: number): readonly Coverage[] {
  return coverage.filter(({ scripts }) => isRun(scripts.get(url) ?? [], place)).sort((one, other) => one.took - other.took);
}
