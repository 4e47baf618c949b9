// Measures one piece of work of one peer in this process and prints what came of it as JSON: node measure.mjs FOLDER VARIANT WORK SIZE
import { effects, effectsOnDisk } from "./world.mjs";

const [folder, variant, work, size] = process.argv.slice(2);
const count = Number(size);
/** A sample is made of so many runs that it lasts at least this long. */
const SAMPLE_MS = 4;
/** Processor time, so that a busy machine does not leave the code uncompiled: after a second the last of V8's compilers is only just at work. */
const WARM_MS = 3_000;
const MEASURE_MS = 700;
const LEAST_SAMPLES = 3;
/** Nothing more is begun after this. */
const PATIENCE_MS = 16_000;

const { open } = await import(`./${folder}/peer.mjs`);
const peer = await open(variant);
const report = work === "again" ? await again() : await timed();
await peer.close?.();
process.stdout.write(`\n${JSON.stringify(report)}\n`, () => process.exit(0)); // some peers leave timers behind

/** Microseconds per call, by the clock (the median of the samples) and of processor time, that of helper threads included; and whether the world saw every call once. */
async function timed() {
  const act = () => peer[work](count);
  let runs = 0;
  const several = async (times) => {
    const start = process.hrtime.bigint();
    for (let time = 0; time < times; time += 1) await act();
    runs += times;
    return Number(process.hrtime.bigint() - start) / 1e6;
  };
  const begin = performance.now();
  const left = () => PATIENCE_MS - (performance.now() - begin);
  const before = process.cpuUsage();
  let one = await several(1);
  const warm = () => Number(process.cpuUsage(before).user) / 1_000 > WARM_MS;
  while (!warm() && left() > 2 * one) one = Math.min(one, await several(1));
  const times = Math.max(1, Math.ceil(SAMPLE_MS / one));
  const samples = [];
  const usage = process.cpuUsage();
  const ran = runs;
  for (const until = performance.now() + MEASURE_MS; left() > one && (performance.now() < until || samples.length < LEAST_SAMPLES); )
    samples.push((await several(times)) / times);
  const sampled = samples.length > 0;
  if (!sampled) samples.push(one); // one run is longer than anybody waits: it counts as it is
  const spent = process.cpuUsage(sampled ? usage : before);
  const processor = (spent.user + spent.system) / (sampled ? runs - ran : runs) / count;
  return { microseconds: (median(samples) * 1_000) / count, processor, samples: samples.length, runs, calls: runs * count, effects: effects() };
}

/** One approved state, resumed ten times: one after the other, and then another one at the same time. Refusals are counted, not hidden. */
async function again() {
  const resumeAll = async (go) => {
    const before = effectsOnDisk();
    const { resume } = await peer.approved();
    const refused = [];
    const once = () => resume().catch((error) => refused.push(String(error.type ?? error.id ?? error.code ?? error.name)));
    await go(once);
    return { effects: effectsOnDisk() - before, refused: refused.length, why: refused[0] ?? null };
  };
  const inTurn = await resumeAll(async (once) => {
    for (let time = 0; time < count; time += 1) await once();
  });
  const atOnce = await resumeAll((once) => Promise.all(Array.from({ length: count }, once)));
  return { inTurn, atOnce };
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
