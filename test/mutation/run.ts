import { spawn } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type Coverage, coverageOf, testArguments, testsOf } from "./covering-tests.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";

type Placed = Mutant & { readonly file: string; readonly url: string };
type Verdict = Placed & { readonly verdict: "killed" | "survived" | "not run by any test" };

const AREAS = {
  model: { sources: "packages/core/src/model/**/*.ts", tests: ["packages/core/test/**/*.test.ts"] },
  policy: { sources: "packages/policy/src/**/*.ts", tests: ["packages/policy/test/**/*.test.ts", "test/corpus/*.test.ts"] },
} as const;

const HOOK = new URL("./replaced-source.ts", import.meta.url).href;

/** A seeded choice of so many of the items, the same for the same seed. */
function sampled<Item>(items: readonly Item[], most: number, seed: number): readonly Item[] {
  let state = seed >>> 0 || 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return items
    .map((item) => ({ item, key: random() }))
    .sort((one, other) => one.key - other.key)
    .slice(0, most)
    .map(({ item }) => item);
}

/** Whether one test file fails with the mutant, or does not end in time. */
function notices({ test, took }: Coverage, mutant: Placed): Promise<boolean> {
  const { url, from, to, text } = mutant;
  const env = { ...process.env, ASSENT_MUTANT: JSON.stringify({ url, from, to, text }) };
  const limit = AbortSignal.timeout(Math.round(Math.max(20_000, took * 6)));
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--import", HOOK, ...testArguments([test])], {
      env,
      stdio: "ignore",
      signal: limit,
      killSignal: "SIGKILL",
    });
    child.on("error", () => undefined);
    child.on("close", (code) => resolve(code !== 0));
  });
}

async function judged(mutant: Placed, coverage: readonly Coverage[]): Promise<Verdict> {
  const tests = testsOf(coverage, mutant.url, mutant.from);
  if (tests.length === 0) return { ...mutant, verdict: "not run by any test" };
  for (const test of tests) {
    if (await notices(test, mutant)) return { ...mutant, verdict: "killed" };
  }
  return { ...mutant, verdict: "survived" };
}

async function inLanes<Item>(items: readonly Item[], lanes: number, work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}

function placedMutants(pattern: string): readonly Placed[] {
  return globSync(pattern).flatMap((file) => {
    const url = pathToFileURL(file).href;
    return mutantsOf(readFileSync(file, "utf8")).map((mutant) => ({ ...mutant, file, url }));
  });
}

function lineOf({ file, line, was, text, verdict }: Verdict): string {
  const cut = (words: string): string => (words.length > 60 ? `${words.slice(0, 57)}...` : words).replaceAll("\n", " ");
  return `${file}:${line}  ${verdict}  ${cut(was)}  =>  ${cut(text)}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      area: { type: "string", default: "model" },
      files: { type: "string" },
      sample: { type: "string", default: "400" },
      seed: { type: "string", default: "1" },
      jobs: { type: "string", default: "2" },
      out: { type: "string" },
    },
  });
  const area = AREAS[values.area === "policy" ? "policy" : "model"];
  const all = placedMutants(values.files ?? area.sources);
  const chosen = sampled(all, Number(values.sample), Number(values.seed));
  console.log(`${all.length} mutants, ${chosen.length} of them chosen with seed ${values.seed}. Reading what the tests run ...`);
  const coverage: Coverage[] = [];
  for (const test of area.tests.flatMap((pattern) => globSync(pattern))) coverage.push(coverageOf(test));
  const verdicts: Verdict[] = [];
  await inLanes(chosen, Number(values.jobs), async (mutant) => {
    const verdict = await judged(mutant, coverage);
    verdicts.push(verdict);
    if (verdict.verdict !== "killed") console.log(lineOf(verdict));
    if (values.out) writeFileSync(values.out, verdicts.map(lineOf).sort().join("\n"));
  });
  const killed = verdicts.filter(({ verdict }) => verdict === "killed").length;
  console.log(`${killed} of ${verdicts.length} killed: ${((100 * killed) / Math.max(1, verdicts.length)).toFixed(1)} %`);
}

await main();
