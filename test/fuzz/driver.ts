import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bytes } from "./mutate.ts";
import { type Random, randomOf } from "./random.ts";
import { Finding, type Target } from "./target.ts";

/** Where inputs are kept, a folder for each target. */
export const CORPUS: string = join(import.meta.dirname, "corpus");

/** An input that broke a law, and how to make it again. */
export type Found = {
  readonly law: string;
  readonly message: string;
  readonly input: Buffer;
  readonly seed: number;
  readonly number: number;
};

/** What a stretch of inputs came to. */
export type Report = { readonly tried: number; readonly found: readonly Found[] };

/** How long, and from where. */
export type FuzzOptions = {
  readonly seed: number;
  /** Asked before each input with how many were tried. */
  readonly goesOn: (tried: number) => boolean;
  /** Told of each input before it is tried: whoever hangs is found by it. */
  readonly trying?: (input: Buffer, number: number) => void;
};

/** The kept inputs of a target, by name. */
export function kept(name: string): ReadonlyMap<string, Buffer> {
  const folder = join(CORPUS, name);
  return new Map(
    readdirSync(folder)
      .toSorted()
      .map((file) => [file, readFileSync(join(folder, file))]),
  );
}

const LONGEST = 64 * 1024;

/** The input with this number: the same for the same seed and corpus. */
export function inputOf(target: Target, pool: readonly Buffer[], random: Random): Buffer {
  if (target.build && random.chance(0.5)) return Buffer.from(target.build(random));
  let input = random.pick(pool);
  const mutators = [...target.mutators, bytes];
  for (let times = 1 + random.below(4); times > 0; times -= 1) input = random.pick(mutators)(input, random, random.pick(pool));
  return input.subarray(0, LONGEST);
}

/** Tries one input after the other. One finding for each law is enough of it. */
export async function fuzz(target: Target, { seed, goesOn, trying }: FuzzOptions): Promise<Report> {
  const pool = [...target.seeds.map((text) => Buffer.from(text)), ...kept(target.name).values()];
  const found = new Map<string, Found>();
  let tried = 0;
  for (; goesOn(tried); tried += 1) {
    const input = inputOf(target, pool, randomOf(seed, tried));
    trying?.(input, tried);
    const broken = await tryOne(target, input);
    if (broken && !found.has(broken.law)) found.set(broken.law, { ...broken, input, seed, number: tried });
  }
  return { tried, found: [...found.values()] };
}

/** The law that the input breaks, if any: whatever is thrown and is no finding breaks the first of all. */
export async function tryOne(target: Target, input: Buffer): Promise<Pick<Found, "law" | "message"> | undefined> {
  try {
    await target.check(input);
    return undefined;
  } catch (error) {
    if (error instanceof Finding) return { law: error.law, message: error.message };
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { law: `never throws (${error instanceof Error ? error.name : typeof error})`, message: told };
  }
}

const MOST_TRIES = 600;

/** A smaller input that breaks the same law: without halves, then quarters and so on of what is left. */
export async function minimised(target: Target, { law, input }: Pick<Found, "law" | "input">): Promise<Buffer> {
  let best = input;
  let tries = 0;
  const breaks = async (smaller: Buffer): Promise<boolean> => {
    tries += 1;
    const broken = await tryOne(target, smaller);
    if (broken?.law === law) best = smaller;
    return broken?.law === law;
  };
  for (let size = Math.ceil(best.length / 2); size >= 1 && tries < MOST_TRIES; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < best.length && tries < MOST_TRIES; ) {
      const isGone = await breaks(Buffer.concat([best.subarray(0, at), best.subarray(at + size)]));
      if (!isGone) at += size;
    }
  return best;
}

/** Keeps an input under a name that tells the law; the name. */
export function keep(name: string, law: string, input: Buffer): string {
  const slug = law
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 40);
  const file = `${slug}-${createHash("sha256").update(input).digest("hex").slice(0, 8)}`;
  mkdirSync(join(CORPUS, name), { recursive: true });
  writeFileSync(join(CORPUS, name, file), input);
  return file;
}
