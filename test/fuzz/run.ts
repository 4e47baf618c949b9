import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { CORPUS, type Found, fuzz, keep, kept, minimised, tryOne } from "./driver.ts";
import type { Target } from "./target.ts";
import { TARGETS } from "./targets.ts";

const USAGE = `npm run fuzz -- [TARGET…] [--minutes N] [--seed S]
  TARGET     ${Object.keys(TARGETS).join(", ")}; absent: all, one after the other
  --minutes  how long for each target; 1 if absent
  --seed     where to begin; another one each time if absent
`;

/** An input that takes longer than this has hung. */
const PATIENCE_MS = 60_000;

/** Looks from another thread whether the number of the input moves on; if not, keeps the input and ends the process. */
const WATCH = `
const { workerData: { shared, file, patience } } = require("node:worker_threads");
const { writeFileSync } = require("node:fs");
const [state, bytes] = [new Int32Array(shared, 0, 2), new Uint8Array(shared, 8)];
let last = -1, since = Date.now();
setInterval(() => {
  const now = Atomics.load(state, 0);
  if (now !== last) [last, since] = [now, Date.now()];
  else if (Date.now() - since > patience) {
    writeFileSync(file, bytes.slice(0, state[1]));
    process.stderr.write("input " + now + " hangs; it is kept as " + file + "\\n");
    process.kill(process.pid, "SIGKILL");
  }
}, 1000);
`;

function watch(name: string): { readonly trying: (input: Buffer) => void; readonly end: () => Promise<unknown> } {
  const shared = new SharedArrayBuffer(8 + 64 * 1024);
  const state = new Int32Array(shared, 0, 2);
  const bytes = new Uint8Array(shared, 8);
  const worker = new Worker(WATCH, { eval: true, workerData: { shared, file: `${CORPUS}/${name}/hangs`, patience: PATIENCE_MS } });
  return {
    trying: (input) => {
      bytes.set(input);
      state[1] = input.length;
      Atomics.add(state, 0, 1);
    },
    end: () => worker.terminate(),
  };
}

async function run(target: Target, seed: number, minutes: number): Promise<number> {
  const say = (text: string): void => void process.stdout.write(`${target.name}: ${text}\n`);
  for (const [file, input] of kept(target.name)) {
    const broken = await tryOne(target, input);
    if (broken) say(`the kept ${file} breaks: ${broken.message}`);
  }
  const until = Date.now() + minutes * 60_000;
  const watching = watch(target.name);
  const { tried, found } = await fuzz(target, { seed, goesOn: () => Date.now() < until, trying: watching.trying });
  await watching.end();
  for (const one of found) say(await told(target, one));
  say(`${tried} inputs from seed ${seed}, ${found.length} findings`);
  return found.length;
}

async function told(target: Target, found: Found): Promise<string> {
  const input = await minimised(target, found);
  const broken = await tryOne(target, input);
  return `kept ${keep(target.name, found.law, input)} (input ${found.number} of seed ${found.seed})\n${broken?.message ?? found.message}\n${JSON.stringify(input.toString("utf8")).slice(0, 600)}`;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string", default: "1" }, seed: { type: "string" }, help: { type: "boolean", default: false } },
});
const unknown = positionals.find((name) => !Object.hasOwn(TARGETS, name));
const [minutes, seed] = [Number(values.minutes), Number(values.seed ?? Math.floor(Math.random() * 1_000_000))];
if (values.help || unknown !== undefined || !(minutes > 0) || !Number.isInteger(seed)) {
  process.stdout.write(unknown === undefined ? USAGE : `there is no target '${unknown}'\n${USAGE}`);
  process.exitCode = values.help ? 0 : 2;
} else {
  for (const [name, open] of Object.entries(TARGETS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    using target = await open();
    if ((await run(target, seed, minutes)) > 0) process.exitCode = 1;
  }
}
