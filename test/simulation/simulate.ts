import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { planOf } from "./plan.ts";
import { type Failed, firstFailing } from "./seeds.ts";
import { shorten } from "./shrink.ts";
import { fingerprintOf } from "./simulation.ts";

/** What a worker plays next: so many seeds from this one. */
type Share = { readonly from: number; readonly seeds: number };

const SHARE = 250;
const USAGE =
  "npm run simulate -- [--seeds N] [--from N] [--workers N]   plays seeds; or: --seed N   plays one and prints its shortest history";

if (isMainThread) process.exitCode = await main();
else if (workerData === "simulate") parentPort?.on("message", ({ from, seeds }: Share) => void work(from, seeds));

async function work(from: number, seeds: number): Promise<void> {
  parentPort?.postMessage(await firstFailing(from, seeds));
}

async function main(): Promise<number> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { seeds: text, from: text, seed: text, workers: text, help: { type: "boolean" } } });
  if (values.help) return say(USAGE, 0);
  if (values.seed !== undefined) return await replay(whole(values.seed, 0));
  const seeds = whole(values.seeds, 500);
  const from = whole(values.from, 0);
  const began = performance.now();
  const failed = await playAll({ from, seeds }, whole(values.workers, availableParallelism()));
  const seconds = (performance.now() - began) / 1_000;
  if (failed) {
    say(`Seed ${failed.seed} fails: ${failed.violation.rule}, ${failed.violation.message}`, 1);
    return await replay(failed.seed);
  }
  return say(`${seeds} seeds from ${from}: all hold. ${Math.round(seconds)} s, ${Math.round(seeds / seconds)} seeds/s.`, 0);
}

function whole(given: string | undefined, otherwise: number): number {
  const number = given === undefined ? otherwise : Number(given);
  if (!Number.isInteger(number) || number < 0) throw new Error(`'${given}' is no whole number. ${USAGE}`);
  return number;
}

function say(text: string, code: number): number {
  console.log(text);
  return code;
}

/** Plays one seed, leaves out what can be left out, and tells what happened. */
async function replay(seed: number): Promise<number> {
  const { plan, outcome, tried } = await shorten(planOf(seed));
  const [violation] = outcome.violations;
  if (!violation) return say(`Seed ${seed} holds: ${outcome.steps} steps, history ${fingerprintOf(outcome).slice(0, 16)}.`, 0);
  say(`The shortest history that fails (${tried} tried):\n${outcome.history.join("\n")}`, 1);
  say(`The plan of it: ${JSON.stringify(plan)}`, 1);
  return say(`${violation.rule}: ${violation.message}\nAgain: npm run simulate -- --seed ${seed}`, 1);
}

/** Deals shares of seeds to workers; the first failure ends all of it. */
async function playAll({ from, seeds }: Share, workers: number): Promise<Failed | undefined> {
  let next = from;
  const all = Array.from({ length: Math.max(1, Math.min(workers, Math.ceil(seeds / SHARE))) }, () => newWorker());
  const deal = async (worker: Worker): Promise<Failed | undefined> => {
    while (next < from + seeds) {
      const share: Share = { from: next, seeds: Math.min(SHARE, from + seeds - next) };
      next += share.seeds;
      const failed = await played(worker, share);
      if (failed) return failed;
      if ((next - from) % 10_000 < SHARE) console.error(`${next - from} of ${seeds}`);
    }
    return undefined;
  };
  const found = Promise.withResolvers<Failed | undefined>();
  Promise.all(
    all.map(async (worker) => {
      const failed = await deal(worker);
      if (failed) found.resolve(failed);
    }),
  ).then(() => found.resolve(undefined), found.reject);
  try {
    return await found.promise;
  } finally {
    await Promise.all(all.map((worker) => worker.terminate()));
  }
}

/** Most of what a world is made of is gone with it: room for young objects saves a third of the time. */
function newWorker(): Worker {
  return new Worker(new URL(import.meta.url), { workerData: "simulate", resourceLimits: { maxYoungGenerationSizeMb: 64 } });
}

function played(worker: Worker, share: Share): Promise<Failed | undefined> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => reject(new Error(`A seed from ${share.from} on ended its worker.`, { cause: error }));
    worker.once("error", failed);
    worker.once("message", (answer: Failed | undefined) => {
      worker.off("error", failed);
      resolve(answer);
    });
    worker.postMessage(share);
  });
}
