import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type Coverage, coverageOf, pass, testsOf } from "./covering-tests.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";
import { sampled } from "./sample.ts";

type Placed = Mutant & { readonly file: string; readonly url: string };
type Verdict = Placed & { readonly verdict: (typeof VERDICTS)[number] };

const VERDICTS = ["killed", "survived", "not run by any test"] as const;

const AREAS = {
  model: { sources: "packages/core/src/model/**/*.ts", tests: ["packages/core/test/**/*.test.ts"] },
  policy: { sources: "packages/policy/src/**/*.ts", tests: ["packages/policy/test/**/*.test.ts", "test/corpus/*.test.ts"] },
} as const;

const USAGE = `npm run mutate -- [--area model|policy] [--files GLOB] [--sample N] [--seed N] [--jobs N] [--out FILE] [--again FILE]
  --files   only sources that match, in place of all of the area
  --sample  so many mutants, spread over the files (400)
  --seed    which of them (1); the same seed chooses the same ones while the sources are the same
  --jobs    so many at a time (2)
  --out     the verdict on each, a line each, written as they come; what the file holds already is not tried again
  --again   only the mutants that an earlier --out says are alive`;

const HOOK = new URL("./replaced-source.ts", import.meta.url).href;

/** How long the tests tried first may take together, in milliseconds; the others follow in a process of their own. */
const QUICK = 4_000;

/** Whether some of the tests fails with the mutant, or does not end in time. */
async function notices(tests: readonly Coverage[], { url, from, to, text }: Placed): Promise<boolean> {
  if (tests.length === 0) return false;
  const env = { ...process.env, NODE_OPTIONS: `--import=${HOOK}`, ASSENT_MUTANT: JSON.stringify({ url, from, to, text }) };
  const most = tests.reduce((sum, { took }) => sum + took * 1.5, 20_000); // one process takes a fraction of what many took
  return !(await pass(
    tests.map(({ test }) => test),
    { env, most },
  ));
}

async function judged(mutant: Placed, coverage: readonly Coverage[]): Promise<Verdict> {
  const tests = testsOf(coverage, mutant.url, mutant.at);
  if (tests.length === 0) return { ...mutant, verdict: "not run by any test" };
  let spent = 0;
  const later = tests.findIndex(({ took }, i) => {
    spent += took;
    return i > 0 && spent > QUICK;
  });
  const first = later === -1 ? tests.length : later;
  const killed = (await notices(tests.slice(0, first), mutant)) || (await notices(tests.slice(first), mutant));
  return { ...mutant, verdict: killed ? "killed" : "survived" };
}

async function inLanes<Item>(items: readonly Item[], lanes: number, work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}

function placedMutants(files: readonly string[]): readonly Placed[] {
  return files.toSorted().flatMap((file) => {
    const url = pathToFileURL(file).href;
    return mutantsOf(readFileSync(file, "utf8")).map((mutant) => ({ ...mutant, file, url }));
  });
}

function lineOf({ file, line, column, was, text, verdict }: Verdict): string {
  const cut = (words: string): string => (words.length > 60 ? `${words.slice(0, 57)}...` : words).replaceAll("\n", " ");
  return `${file}:${line}:${column}  ${verdict}  ${cut(was)}  =>  ${cut(text)}`;
}

/** What an earlier run found about these mutants. */
function earlier(mutants: readonly Placed[], out: string): readonly Verdict[] {
  const lines = new Set(readFileSync(out, "utf8").split("\n"));
  const verdicts = mutants.flatMap((mutant) => VERDICTS.map((verdict) => ({ ...mutant, verdict })));
  return verdicts.filter((verdict) => lines.has(lineOf(verdict)));
}

type Wish = {
  readonly area: keyof typeof AREAS;
  readonly files: readonly string[];
  readonly sample: number;
  readonly seed: number;
  readonly jobs: number;
  readonly out: string | undefined;
  readonly again: string | undefined;
};

async function mutate(wish: Wish): Promise<void> {
  const { area, sample, seed, jobs, out, again } = wish;
  const all = placedMutants(wish.files);
  const alive = again === undefined ? undefined : earlier(all, again).filter(({ verdict }) => verdict !== "killed");
  const chosen = alive ?? sampled(all, sample, seed);
  const verdicts = out !== undefined && existsSync(out) ? [...earlier(chosen, out)] : [];
  const known = new Set(verdicts.map(placeOf));
  console.log(`${all.length} mutants, ${chosen.length} chosen, ${known.size} tried before. Reading what the tests run ...`);
  const coverage: Coverage[] = [];
  const tests = AREAS[area].tests.flatMap((pattern) => globSync(pattern));
  await inLanes(tests, jobs, async (test) => void coverage.push(await coverageOf(test)));
  const untried = chosen.filter((mutant) => !known.has(placeOf(mutant)));
  await inLanes(untried, jobs, async (mutant) => {
    const verdict = await judged(mutant, coverage);
    verdicts.push(verdict);
    if (verdict.verdict !== "killed") console.log(lineOf(verdict));
    if (out !== undefined) writeFileSync(out, `${verdicts.map(lineOf).sort().join("\n")}\n`);
  });
  const killed = verdicts.filter(({ verdict }) => verdict === "killed").length;
  console.log(`${killed} of ${verdicts.length} killed: ${((100 * killed) / Math.max(1, verdicts.length)).toFixed(1)} %`);
}

function placeOf({ url, from, to, text }: Placed): string {
  return JSON.stringify([url, from, to, text]);
}

function whole(name: string, given: string): number {
  if (!/^[1-9][0-9]*$/u.test(given)) throw new TypeError(`--${name} takes a whole number from 1, not '${given}'.`);
  return Number(given);
}

/** What the command line asks for; undefined: only how it is used. */
function wished(): Wish | undefined {
  const text = { type: "string" } as const;
  const numbers = { sample: { ...text, default: "400" }, seed: { ...text, default: "1" }, jobs: { ...text, default: "2" } };
  const { values } = parseArgs({
    options: { ...numbers, area: { ...text, default: "model" }, files: text, out: text, again: text, help: { type: "boolean" } },
  });
  if (values.help) return undefined;
  const { area, files, out, again } = values;
  if (area !== "model" && area !== "policy") throw new TypeError(`There is no area '${area}'. Areas: ${Object.keys(AREAS).join(", ")}.`);
  const [sample, seed, jobs] = [whole("sample", values.sample), whole("seed", values.seed), whole("jobs", values.jobs)];
  const found = globSync(files ?? AREAS[area].sources);
  if (found.length === 0) throw new TypeError(`No source is like '${files}'.`);
  return { area, files: found, sample, seed, jobs, out, again };
}

function wishedOrTold(): Wish | undefined {
  try {
    const wish = wished();
    if (!wish) console.log(USAGE);
    return wish;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`mutate: ${error.message}\n${USAGE}`);
    process.exitCode = 2;
    return undefined;
  }
}

const wish = wishedOrTold();
if (wish) await mutate(wish);
