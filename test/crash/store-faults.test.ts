import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LONG } from "../support/long.ts";
import { withoutProgram } from "../support/programs.ts";
import { makeScene, type Ran, type Scene } from "./scene.ts";
import { STRACE, tracedCalls } from "./strace.ts";

const CALL = ["call", "world", "--allow", "world", "--json"];

/** Which write to the log, or which flush of it, fails in which way: `3` the third, `3+` all from there on, `3..5` three of them. */
type Fault = { readonly syscall: "pwrite64" | "fsync"; readonly error: "ENOSPC" | "EIO"; readonly when: string };

/** What one call does to the log, found by watching one that nothing disturbs. */
type Trace = {
  /** The numbers of the writes of each commit, in order. */
  readonly commits: readonly (readonly number[])[];
  /** How many commits and flushes come before the effect. */
  readonly commitsBefore: number;
  readonly flushesBefore: number;
};

/** A frame of the log is a header and a page; the header of a commit's last frame carries the size of the database in bytes 4 to 8. */
const WRITE = /^pwrite64\(\d+<[^>]*-wal>, "((?:\\x[0-9a-f]{2})*)"(?:\.\.\.)?, (\d+),/;
const FRAME_HEADER = 24;

describe("the disk below the store", { skip: withoutProgram("strace") }, async () => {
  /** Every write at a place in a file fails as on a full disk. */
  const NO_SPACE: readonly string[] = ["-e", "trace=pwrite64", "-e", "inject=pwrite64:error=ENOSPC"];

  const trace = await watchOne();

  describe("a disk that is full", { concurrency: 2 }, () => {
    const claim = trace.commits[trace.commitsBefore - 1] ?? [];
    const [first = 0, middle = 0, last = 0] = [claim[0], claim[claim.length >> 1], claim.at(-1)];
    for (const write of LONG ? claim : [first, middle, last]) {
      test(`at write ${write - first + 1} of ${claim.length} of the claim: the call does not run, and the store goes on`, async () => {
        using scene = await withStore();
        const ran = await faulty(scene, CALL, { syscall: "pwrite64", error: "ENOSPC", when: String(write) });
        assert.deepEqual([ran.code, JSON.parse(ran.stdout).type, scene.lines().length], [1, "store_unavailable", 0]);
        await goesOn(scene);
      });
    }

    for (const [title, killed] of [
      ["after a clean end", false],
      ["after a kill, with records in the log", true],
    ] as const) {
      test(`commands that only read work while nothing can be written, ${title}`, async () => {
        using scene = await withStore();
        const { approvalId } = await scene.json(["call", "world", "--on-ask", "park"]);
        if (killed) {
          await scene.child(CALL, { failpoint: "claim.after" });
          rmSync(join(scene.store, "ledger.db-shm")); // its index is to be made anew, which needs space
        }
        for (const argv of [["approvals"], ["sessions"], ["log"], ["verify"], ["approvals", "show", approvalId]]) {
          const { code, stdout, stderr } = await scene.child(argv, { under: [...STRACE, "-o", "/dev/null", ...NO_SPACE] });
          assert.equal(code, 0, `${argv.join(" ")}: ${stderr}`);
          assert.notEqual(stdout, "", argv.join(" "));
        }
        const refused = await scene.child(["approve", approvalId, "--json"], { under: [...STRACE, "-o", "/dev/null", ...NO_SPACE] });
        assert.deepEqual([refused.code, JSON.parse(refused.stdout).error.type], [1, "store_full"]);
        await goesOn(scene);
      });
    }

    test("from the first write on, nothing begins", async () => {
      using scene = await withStore();
      const { code, stdout } = await faulty(scene, CALL, { syscall: "pwrite64", error: "ENOSPC", when: "1+" });
      assert.deepEqual([code, JSON.parse(stdout).error.type, scene.lines().length], [1, "store_full", 0]);
      await goesOn(scene);
    });

    test("from the claim on, the call does not run, and it is said why", async () => {
      using scene = await withStore();
      const { code, stdout, stderr } = await faulty(scene, CALL, { syscall: "pwrite64", error: "ENOSPC", when: `${first}+` });
      assert.deepEqual([code, JSON.parse(stdout).type, scene.lines().length], [1, "store_unavailable", 0]);
      assert.match(stderr, /Disk full/);
      await goesOn(scene);
    });

    test("the end of an effect that ran is kept until there is space", async () => {
      using scene = await withStore();
      const [end = 0] = trace.commits[trace.commitsBefore] ?? [];
      const { code, stdout, stderr } = await faulty(scene, CALL, { syscall: "pwrite64", error: "ENOSPC", when: `${end}..${end + 1}` });
      assert.deepEqual([code, stdout.includes('"succeeded"'), scene.lines().length], [0, true, 1], stderr);
      assert.match(stderr, /Disk full/);
      await goesOn(scene);
    });
  });

  describe("a disk that fails", { concurrency: 2 }, () => {
    test("a failed flush of the claim: nothing runs, nothing is written after it, exit 1", async () => {
      using scene = await withStore();
      const { code, stdout, stderr } = await faulty(scene, CALL, { syscall: "fsync", error: "EIO", when: String(trace.flushesBefore) });
      assert.deepEqual([code, stdout.includes("succeeded"), scene.lines().length], [1, false, 0]);
      assert.match(stdout + stderr, /Could not write the ledger \(EIO\)/);
      assert.equal((await scene.events()).at(-1)?.type, "session.opened", "nothing was written after the fault");
      await goesOn(scene);
    });

    test("a failed flush after the effect: the end that is on record is told, exit 1", async () => {
      using scene = await withStore();
      const { code, stderr } = await faulty(scene, CALL, { syscall: "fsync", error: "EIO", when: String(trace.flushesBefore + 1) });
      assert.deepEqual([code, scene.lines().length], [1, 1]);
      assert.match(stderr, /Could not write the ledger \(EIO\)/);
      await goesOn(scene);
    });

    test("an answer whose flush fails is not acknowledged", async () => {
      using scene = await withStore();
      const { approvalId } = await scene.json(["call", "world", "--on-ask", "park"]);
      const argv = ["approve", approvalId, "--json"];
      const { code, stdout } = await faulty(scene, argv, { syscall: "fsync", error: "EIO", when: "2" });
      assert.deepEqual([code, JSON.parse(stdout).error.type], [1, "store_io"]);
      await goesOn(scene);
    });
  });
});

async function watchOne(): Promise<Trace> {
  using scene = await withStore();
  const seen = await watch(scene);
  assert.ok(seen.commitsBefore >= 2 && seen.flushesBefore >= 2 && seen.commits.length > seen.commitsBefore, JSON.stringify(seen));
  return seen;
}

/** After the fault: what was left comes to rest, the next call runs, and everything holds. */
async function goesOn(scene: Scene): Promise<void> {
  await scene.rest();
  const before = scene.lines().length;
  assert.equal((await scene.json(["call", "world", "--allow", "world"])).outcome, "succeeded");
  assert.equal(scene.lines().length, before + 1);
  await scene.holds();
}

/** A store with one call in it, so that no table is made while faults come. */
async function withStore(): Promise<Scene> {
  const scene = makeScene();
  assert.equal((await scene.json(["call", "world", "--deny", "world"])).outcome, "denied");
  return scene;
}

function faulty(scene: Scene, argv: readonly string[], { syscall, error, when }: Fault): Promise<Ran> {
  const inject = ["-e", `trace=${syscall}`, "-e", `inject=${syscall}:error=${error}:when=${when}`];
  const log = join(scene.store, "ledger.db-wal");
  return scene.child(argv, { under: [...STRACE, "-o", "/dev/null", ...inject, "-P", log] });
}

async function watch(scene: Scene): Promise<Trace> {
  const output = join(scene.root, "trace");
  const paths = [join(scene.store, "ledger.db-wal"), scene.world].flatMap((path) => ["-P", path]);
  const options = ["-y", "-x", "-s", "24", "-o", output, "-e", "trace=pwrite64,fsync,write,writev"];
  const { code, stderr } = await scene.child(CALL, { under: [...STRACE, ...options, ...paths] });
  assert.equal(code, 0, stderr);
  const commits: number[][] = [[]];
  let [writes, flushes, last] = [0, 0, false];
  let found: Pick<Trace, "commitsBefore" | "flushesBefore"> | undefined;
  for (const line of tracedCalls(readFileSync(output, "utf8"))) {
    if (/^fsync\(\d+<[^>]*-wal>/.test(line)) flushes += 1;
    if (line.includes(`<${scene.world}>`)) found ??= { commitsBefore: commits.length - 1, flushesBefore: flushes };
    const [, bytes = "", size] = WRITE.exec(line) ?? [];
    if (size === undefined) continue;
    writes += 1;
    commits.at(-1)?.push(writes);
    if (last) commits.push([]);
    last = Number(size) === FRAME_HEADER && !bytes.replaceAll("\\x", "").startsWith("00000000", 8);
  }
  assert.ok(found, `the effect was not seen in ${readFileSync(output, "utf8").length} characters of trace`);
  return { commits: commits.filter(({ length }) => length > 0), ...found };
}
