import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { LONG } from "../support/long.ts";
import { withoutProgram } from "../support/programs.ts";
import { check } from "./check.ts";
import { makeScene, type Scene } from "./scene.ts";
import { seeded } from "./seeded.ts";
import { STRACE, tracedCalls } from "./strace.ts";

const RUNS = LONG ? 2_000 : 100;
const SEED = Number(process.env["ASSENT_SEED"] ?? 1);
const SECTOR = 512;

type File = "ledger.db" | "ledger.db-wal";

/** One thing that happened to the disk or to the world around it, in order. */
type Step =
  | { readonly did: "write"; readonly file: File; readonly at: number; readonly bytes: Buffer }
  | { readonly did: "truncate"; readonly file: File; readonly size: number }
  | { readonly did: "flush" | "unlink"; readonly file: File }
  | { readonly did: "effect" | "told"; readonly line: string };

/** What becomes of what was not flushed when the power went: each write, cut or removal by itself, and in which order they reached the disk. */
type Fate = {
  readonly of: (step: Pending) => "kept" | "lost" | readonly boolean[];
  readonly order: (pending: readonly Pending[]) => readonly Pending[];
  readonly returns: () => boolean;
};

/** Nothing that was not flushed reached the disk. */
const LOST: Fate = { of: () => "lost", order: (pending) => pending, returns: () => false };

/** A disk that had a whole database before the first step. */
type Story = { readonly scene: Scene; readonly database: Buffer; readonly steps: readonly Step[] };

test(`power lost while a call is parked, approved and resumed, with nothing or anything of what was not flushed, whole or torn, in any order (ASSENT_SEED=${SEED})`, {
  skip: withoutProgram("strace"),
}, async () => {
  using scene = makeScene();
  const story = await record(scene);
  assert.deepEqual([count(story, "effect"), count(story, "told")], [1, 3]);
  assert.ok(count(story, "flush") > 5);
  for (const [at, { did }] of story.steps.entries()) if (did !== "write") survives(story, at + 1, LOST);
  const random = seeded(SEED);
  for (let run = 0; run < RUNS; run += 1) survives(story, random(story.steps.length + 1), anyFate(random));
  const unflushed = { ...story, steps: story.steps.filter(({ did }) => did !== "flush") };
  assert.throws(() => {
    for (const at of unflushed.steps.keys()) survives(unflushed, at + 1, LOST);
  }, "a store that never flushes is found out");
});

function count({ steps }: Story, did: Step["did"]): number {
  return steps.filter((step) => step.did === did).length;
}

function anyFate(random: (bound: number) => number): Fate {
  const inOrder = random(2) === 0;
  return {
    of: (step) => {
      const fate = random(3);
      if (fate < 2 || step.did === "truncate") return fate === 0 ? "kept" : "lost";
      const sectors = Math.ceil((step.at + step.bytes.length) / SECTOR) - Math.floor(step.at / SECTOR);
      return Array.from({ length: sectors }, () => random(2) === 0);
    },
    order: (pending) => (inOrder ? pending : shuffled(pending, random)),
    returns: () => random(2) === 0,
  };
}

function shuffled<T>(all: readonly T[], random: (bound: number) => number): readonly T[] {
  const left = [...all];
  return all.flatMap(() => left.splice(random(left.length), 1));
}

/** The disk as it would be found: the store opens, its chains verify, and what was told or done before stands in it. */
function survives({ scene, database, steps }: Story, at: number, fate: Fate): void {
  const before = steps.slice(0, at);
  const store = join(scene.root, "found");
  rmSync(store, { recursive: true, force: true });
  mkdirSync(store);
  for (const [name, bytes] of diskAfter(database, before, fate)) writeFileSync(join(store, name), bytes);
  const [world, clientLog] = [join(store, "world"), join(store, "told")];
  writeFileSync(world, linesOf(before, "effect"));
  writeFileSync(clientLog, linesOf(before, "told"));
  const found = new DatabaseSync(join(store, "ledger.db"));
  found.exec("pragma synchronous=off"); // this disk is one that was found, and only read
  assert.equal(found.prepare("pragma integrity_check").get()?.["integrity_check"], "ok");
  found.close();
  const broken = check({ store, world, clientLog }).violations.filter(({ invariant }) => invariant !== "I1"); // nothing is at rest here
  assert.deepEqual(broken, [], `after step ${at} of ${steps.length}`);
}

function linesOf(steps: readonly Step[], did: "effect" | "told"): string {
  return steps.map((step) => (step.did === did && "line" in step ? step.line : "")).join("");
}

type Pending = Extract<Step, { did: "write" | "truncate" }>;

/** What was flushed is there; of the rest each piece has its own fate. A file that was unlinked, and not made again, may be there once more. */
function diskAfter(database: Buffer, steps: readonly Step[], fate: Fate): ReadonlyMap<File, Buffer> {
  const disk = new Map<File, Buffer>([["ledger.db", database]]);
  const gone = new Map<File, Buffer>();
  let pending: Pending[] = [];
  for (const step of steps) {
    if (step.did === "write" || step.did === "truncate") {
      gone.delete(step.file);
      pending.push(step);
    } else if (step.did === "flush" || step.did === "unlink") pending = settled({ disk, gone }, pending, step);
  }
  for (const one of fate.order(pending)) apply(disk, one, fate.of(one));
  for (const [file, bytes] of gone) if (fate.returns()) disk.set(file, bytes);
  return disk;
}

type Disk = { readonly disk: Map<File, Buffer>; readonly gone: Map<File, Buffer> };

/** What is still pending when one file was flushed or unlinked. */
function settled({ disk, gone }: Disk, pending: readonly Pending[], { did, file }: { did: "flush" | "unlink"; file: File }): Pending[] {
  if (did === "flush") for (const one of pending) if (one.file === file) apply(disk, one, "kept");
  const bytes = disk.get(file);
  if (did === "unlink" && bytes) gone.set(file, bytes);
  if (did === "unlink") disk.delete(file);
  return pending.filter((one) => one.file !== file);
}

function apply(disk: Map<File, Buffer>, step: Pending, fate: ReturnType<Fate["of"]>): void {
  const old = disk.get(step.file) ?? Buffer.alloc(0);
  if (fate === "lost") return;
  const end = step.did === "write" ? Math.max(old.length, step.at + step.bytes.length) : step.size;
  const next = Buffer.alloc(end);
  old.copy(next, 0, 0, Math.min(old.length, end));
  if (step.did === "write") for (const part of keptParts(step, fate)) part.bytes.copy(next, part.at);
  disk.set(step.file, next);
}

/** The pieces of a write that reached the disk: all of it, or some of its sectors. */
function keptParts(
  { at, bytes }: { at: number; bytes: Buffer },
  fate: "kept" | readonly boolean[],
): readonly { at: number; bytes: Buffer }[] {
  if (fate === "kept") return [{ at, bytes }];
  const first = Math.floor(at / SECTOR);
  return fate.flatMap((kept, index) => {
    const [from, to] = [Math.max(at, (first + index) * SECTOR), Math.min(at + bytes.length, (first + index + 1) * SECTOR)];
    return kept ? [{ at: from, bytes: bytes.subarray(from - at, to - at) }] : [];
  });
}

/** Watches the three commands that take a call from its proposal to its end. */
async function record(scene: Scene): Promise<Story> {
  await scene.json(["call", "world", "--deny", "world"]);
  const database = readFileSync(join(scene.store, "ledger.db"));
  const steps: Step[] = [];
  const run = async (...argv: string[]): Promise<{ sessionId: string; approvalId: string; outcome: string }> => {
    const output = join(scene.root, "trace");
    const options = ["-y", "-x", "-s", "8192", "-o", output, "-e", "trace=pwrite64,fsync,fdatasync,ftruncate,unlink,write"];
    const { stdout, stderr } = await scene.child([...argv, "--json"], { under: [...STRACE, ...options] });
    assert.notEqual(stdout, "", stderr);
    for (const line of tracedCalls(readFileSync(output, "utf8"))) steps.push(...stepOf(scene, line));
    return JSON.parse(stdout);
  };
  const { sessionId, approvalId } = await run("call", "world", "--on-ask", "park");
  await run("approve", approvalId);
  assert.equal((await run("resume", sessionId)).outcome, "succeeded");
  return { scene, database, steps };
}

const CALL = /^(\w+)\((?:(\d+)<([^>]*)>|"([^"]*)")(?:, "((?:[^"\\]|\\.)*)"(\.\.\.)?)?(?:, (\d+))?(?:, (\d+))?\)/;

function stepOf({ store, world }: Scene, line: string): readonly Step[] {
  const [, name, fd, opened, named, text = "", cut, first, second] = CALL.exec(line) ?? [];
  const path = opened ?? named ?? "";
  if (name === "write" && path === world) return [{ did: "effect", line: plain(text) }];
  if (name === "write" && fd === "1") return [{ did: "told", line: plain(text) }];
  const file = (["ledger.db", "ledger.db-wal"] as const).find((own) => path === join(store, own));
  if (file === undefined) return [];
  assert.equal(cut, undefined, "the trace does not hold the whole write");
  if (name === "unlink") return [{ did: "unlink", file }];
  if (name === "fsync" || name === "fdatasync") return [{ did: "flush", file }];
  if (name === "ftruncate") return [{ did: "truncate", file, size: Number(first) }];
  assert.equal(name, "pwrite64", line.slice(0, 200));
  const bytes = Buffer.from(text.replaceAll("\\x", ""), "hex");
  assert.equal(bytes.length, Number(first), "the trace is not in hexadecimal");
  return [{ did: "write", file, at: Number(second), bytes }];
}

/** Printable text is quoted as in C, which JSON reads for what is printed here. */
function plain(text: string): string {
  return JSON.parse(`"${text}"`);
}
