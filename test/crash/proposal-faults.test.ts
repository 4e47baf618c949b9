import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { LONG } from "../support/long.ts";
import { withoutProgram } from "../support/programs.ts";
import { sha256 } from "./check.ts";
import { lives, standings } from "./check-proposals.ts";
import { DOORS, filesAt, isSettled, killAt, lastEnd, person, proposals, puts, resumeAll, said, survey } from "./proposal-scene.ts";
import { makeScene, type Ran, type Scene, stateOf, until } from "./scene.ts";
import { STRACE } from "./strace.ts";
import { FILLED, inodes, tree } from "./ten-files.ts";

const noStrace = withoutProgram("strace");
const whole = await survey(DOORS.apply);

/** An apply that failed: it is said why, nothing is changed, and it can be applied when the fault is gone. */
async function nothingChanged(scene: Scene, ran: Ran): Promise<string> {
  const { code, value } = said(ran);
  assert.deepEqual([code, value.error?.type], [1, "proposal_apply_failed"], ran.stdout);
  assert.deepEqual(tree(scene.path(".")), whole.before);
  const [proposal] = await proposals(scene);
  assert.equal(proposal?.state, "staged");
  await isSettled(scene);
  assert.equal((await scene.json(["apply", proposal.id])).outcome, "applied");
  assert.deepEqual(tree(scene.path(".")), whole.after);
  await scene.holds();
  return value.error.message;
}

describe("a disk that is full while the new bytes are written", { concurrency: 2, skip: noStrace }, () => {
  for (const nth of LONG ? Array.from({ length: FILLED }, (_, at) => at) : [0, FILLED - 1]) {
    test(`at file ${nth + 1} of the ${FILLED} that have any: all ten are as before`, async () => {
      using scene = makeScene();
      const [argv, file] = [await DOORS.apply.command(scene), temporary(scene, nth)];
      const fault = ["-e", "trace=write", "-e", "inject=write:error=ENOSPC", "-P", file];
      const ran = await scene.child(argv, { under: [...STRACE, "-o", "/dev/null", ...fault] });
      assert.match(await nothingChanged(scene, ran), /no space left/);
    });
  }

  /** Where the bytes of the n-th file are written first: names follow from the proposal alone. */
  function temporary(scene: Scene, nth: number): string {
    const [life] = lives(scene.store);
    assert.ok(life);
    const places = life.effects.flatMap(({ realPath, to, after }) =>
      to === undefined
        ? [{ path: realPath, after }]
        : [
            { path: realPath, after: "absent" },
            { path: to, after },
          ],
    );
    const inOrder = places.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map((place, at) => ({ ...place, at }));
    const written = inOrder.filter(({ after }) => after !== "absent" && after !== EMPTY)[nth];
    assert.ok(written);
    return join(dirname(written.path), `.assent-${life.id}-${written.at}.tmp`);
  }
});

const EMPTY = `sha256:${sha256("")}`;

/** Steps after which a name leads to something else, in their order, as the points they are. */
const exchanges = whole.steps.filter(puts).map((step) => step.split(" ")[0] ?? "");
const pointOf = (nth: number): string => {
  const point = exchanges[nth] ?? "";
  const earlier = whole.steps.slice(0, whole.steps.findIndex(puts)).filter((step) => step.startsWith(point)).length;
  return `${point}@${earlier + exchanges.slice(0, nth + 1).filter((one) => one === point).length}`;
};

describe("a disk that refuses to put a file in place", { concurrency: 3 }, () => {
  for (const nth of LONG ? exchanges.keys() : [0, 5, exchanges.length - 1]) {
    for (const code of LONG ? ["EIO", "ENOSPC", "EACCES"] : ["ENOSPC"]) {
      test(`${code} at file ${nth + 1} of ${exchanges.length}: all ten are as before`, async () => {
        using scene = makeScene();
        const ran = await scene.child(await DOORS.apply.command(scene), { failpoint: `${pointOf(nth)}=fail:${code}` });
        const message = await nothingChanged(scene, ran);
        assert.ok(nth === 0 || message.endsWith(`Restored ${nth} ${nth === 1 ? "file" : "files"}.`), message);
      });
    }
  }

  test("an undo that is refused leaves all ten as they were applied", async () => {
    using scene = makeScene();
    const argv = await DOORS.undo.command(scene);
    const { code, value } = said(await scene.child(argv, { failpoint: "file.unlink@2=fail:EACCES" }));
    assert.deepEqual([code, value.error?.type], [1, "proposal_apply_failed"]);
    assert.deepEqual(tree(scene.path(".")), whole.after);
    assert.equal((await proposals(scene))[0]?.state, "applied");
    await isSettled(scene);
  });

  test("a call that runs at once and is refused fails, and stages nothing", async () => {
    using scene = makeScene();
    const { code, value } = said(await scene.child(await DOORS["call ten"].command(scene), { failpoint: "file.link@2=fail:ENOSPC" }));
    assert.deepEqual([code, value.outcome, value.type], [1, "failed", "no_space_left"]);
    assert.deepEqual(tree(scene.path(".")), whole.before);
    assert.equal((await proposals(scene))[0]?.state, "discarded");
    await isSettled(scene);
  });
});

if (LONG) {
  describe("a disk that is full, as the system has it", { concurrency: 2, skip: withoutProgram("unshare") }, () => {
    /** No room for another page while the new bytes are written; none for another name, of a directory or of a file. */
    const SIZES: readonly string[] = [
      ...[8, 9, 10, 11, 12, 13, 14, 15, 16].map((pages) => `size=${pages * 4}k`),
      ...[15, 16, 17, 18, 19, 20, 22, 24, 26, 27, 28, 29, 30].map((names) => `nr_inodes=${names}`),
    ];
    const found = new Map<string, string>();
    for (const size of SIZES) {
      test(`${size}: all ten files are at one end, and the proposal says at which`, async () => {
        using scene = makeScene();
        const argv = await DOORS.apply.command(scene);
        const [workspace, seed, left] = [scene.path("."), join(scene.root, "seed"), join(scene.root, "left")];
        cpSync(workspace, seed, { recursive: true });
        const script = `mount -t tmpfs -o ${size} none "$1" && cp -a "$2/." "$1" && cd "$1" && { shift 3; "$@"; code=$?; cp -a . "${left}"; exit $code; }`;
        const ran = await scene.child(argv, { under: ["unshare", "-rm", "sh", "-c", script, "sh", workspace, seed, left] });
        assert.ok(existsSync(left), `a small disk could not be made here: ${ran.stderr}`);
        const at = [whole.before, whole.after].findIndex((files) => isDeepStrictEqual(tree(left), files));
        const [proposal] = await proposals(scene);
        assert.deepEqual([at, proposal?.state], ran.code === 0 ? [1, "applied"] : [0, "staged"], JSON.stringify([ran, tree(left)]));
        found.set(size, said(ran).value.error?.message ?? "applied");
      });
    }

    test("all of this was met", () => {
      const met = [...found.values()].join("\n");
      for (const kind of [/set\/a\.txt: no space left/, /set\/new\/h\.txt: no space left/, /set\/new: no space left/, /^applied$/m])
        assert.match(met, kind);
    });
  });
}

const REFUSED = "file.link@2=fail:EIO";

describe("killed while files are restored after a refusal", { concurrency: 3 }, async () => {
  const { steps } = await survey(DOORS["call ten"], REFUSED);
  const from = steps.findIndex((step) => step.startsWith("file.link")) + 2;
  for (const at of LONG ? Array.from({ length: steps.length - from }, (_, n) => from + n) : someOf(steps, from)) {
    test(`before step ${at - from + 1} of ${steps.length - from} (${steps[at]?.split(" ")[0]})`, async () => {
      using scene = makeScene();
      await killAt(scene, await DOORS["call ten"].command(scene), `${REFUSED},file.step@${at + 1}`);
      await resumeAll(scene);
      assert.deepEqual([filesAt(scene, whole), (await proposals(scene))[0]?.state], ["before", "discarded"]);
      await isSettled(scene);
    });
  }

  /** The first and the last, and where the pre-images are put in place. */
  function someOf(all: readonly string[], first: number): readonly number[] {
    const back = all.flatMap((step, at) => (at >= first && puts(step) ? [at] : []));
    assert.ok(back.length > 3, "nothing is restored");
    return [first, ...back.slice(1, 2), all.length - 1];
  }
});

describe("where restoring fails too", { concurrency: 3 }, () => {
  const rows: readonly [door: "apply" | "call ten" | "run resolve", end: string][] = [
    ["apply", "succeeded null"],
    ["call ten", "unknown apply_unknown"],
    ["run resolve", "unknown apply_unknown"],
  ];
  for (const [door, end] of rows) {
    test(`${door}: nobody can tell, every file is named, and nothing is touched any more`, async () => {
      using scene = makeScene();
      const argv = await DOORS[door].command(scene);
      const { stdout, code } = await scene.child(argv, { failpoint: `${REFUSED},file.rename@5+=fail:EIO` });
      assert.notEqual(code, door === "run resolve" ? 1 : 0, stdout);
      const [life] = lives(scene.store);
      assert.ok(life?.state === "unknown", life?.state);
      const { before, after, other } = standings(life);
      const told = life.rows.at(-1)?.body["files"] as readonly { readonly path: string; readonly at: string }[];
      const named = (at: string): readonly string[] => told.filter((file) => file.at === at).map(({ path }) => path);
      assert.ok(before.length > 0 && after.length > 0, "it is half done");
      assert.deepEqual(
        [named("before").toSorted(), named("after").toSorted(), named("other")],
        [before.toSorted(), after.toSorted(), other],
      );
      assert.equal(await lastEnd(scene), end);
      const again = await scene.json(["apply", life.id]);
      assert.equal(again.error.type, "proposal_not_pending");
      await isSettled(scene);
    });
  }

  test("a file that somebody edits while an apply is stopped in its middle is not restored over", async () => {
    using scene = makeScene();
    await killAt(scene, await DOORS["call ten"].command(scene), "file.link@2");
    writeFileSync(scene.path("set/a.txt"), "mine\n");
    const files = inodes(scene.path("."));
    await resumeAll(scene);
    const [life] = lives(scene.store);
    assert.deepEqual([life?.state, await lastEnd(scene)], ["unknown", "unknown apply_unknown"]);
    assert.ok(life);
    assert.deepEqual(standings(life).other, [scene.path("set/a.txt")]);
    const touched = Object.entries(inodes(scene.path("."))).filter(([path, inode]) => files[path] !== inode);
    assert.deepEqual(touched, []);
    await isSettled(scene);
  });
});

describe("the record of an apply that has happened", { concurrency: 2, skip: noStrace }, () => {
  test("is kept until there is space in the store", async () => {
    using scene = makeScene();
    const { finished } = await withFullStore(scene, "1..2");
    const { code, value } = said(await finished);
    assert.deepEqual([code, value.outcome, filesAt(scene, whole)], [0, "applied", "after"]);
    await isSettled(scene);
  });

  test("is made by the next process where this one is killed before there is any", async () => {
    using scene = makeScene();
    const { child, finished } = await withFullStore(scene, "1+");
    child.kill("SIGKILL");
    await finished;
    assert.deepEqual([lives(scene.store)[0]?.state, filesAt(scene, whole)], ["applying", "after"]);
    const [proposal] = await proposals(scene);
    assert.equal((await person(scene, ["apply", proposal?.id ?? ""])).outcome, "applied");
    assert.equal((await proposals(scene))[0]?.state, "applied");
    await isSettled(scene);
  });

  /** An apply whose files are changed, and whose store has no space for the next writes. Resolves when it has said so. */
  async function withFullStore(scene: Scene, when: string): Promise<{ readonly child: ChildProcess; readonly finished: Promise<Ran> }> {
    const child = scene.start(await DOORS.apply.command(scene), { failpoint: "proposal.before_applied=stop" });
    const finished = scene.finished(child);
    const pid = child.pid ?? 0;
    await until("the files are changed", () => stateOf(pid) === "T");
    const fault = ["-e", "trace=pwrite64", "-e", `inject=pwrite64:error=ENOSPC:when=${when}`, "-P", join(scene.store, "ledger.db-wal")];
    const strace = spawn("strace", ["-f", "-o", "/dev/null", ...fault, "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
    strace.stderr.setEncoding("utf8");
    let told = "";
    strace.stderr.on("data", (text: string) => (told += text));
    await until("strace stands between", () => /attached/.test(told));
    let complained = "";
    child.stderr?.on("data", (text: string) => (complained += text));
    child.kill("SIGCONT");
    await until("the store is full", () => /Disk full/.test(complained));
    return { child, finished };
  }
});
