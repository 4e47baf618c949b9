import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { ChangeEnd } from "@assent/core";
import { LONG } from "../../../../test/support/long.ts";
import { createHostFileChanges } from "../../src/files/changes/changes.ts";
import { scratch } from "../scratch.ts";
import { fileSet, lay, type Row, tree } from "./file-set.ts";

const TEN: readonly Row[] = [
  ["a.txt", "a", "A"],
  ["b/run.sh", "#!/bin/sh", "#!/bin/bash", 0o755],
  ["b/c.txt", "c", "C"],
  ["b/gone", "gone", null, 0o640],
  ["d.txt", "d", ""],
  ["e/gone", "e", null],
  ["f.txt", "", "F"],
  ["new/deep/g.txt", null, "G", 0o600],
  ["new/h.txt", null, "H"],
  ["i.txt", null, "I", 0o751],
];

/** What only a preview of a command does: links, directories and modes. */
const PATHS: readonly Row[] = [
  [".git/HEAD", "ref: a", "ref: b"],
  [".git/objects/x", null, "x", undefined, [0o444, 0o444]],
  ["j", "-> a.txt", "-> d.txt"],
  ["k", null, "-> nowhere"],
  ["l/gone", "-> a.txt", null],
  ["m", "/", null],
  ["m/n", "/", null],
  ["m/n/gone", "n", null],
  ["o", null, "/", undefined, [0o700, 0o700]],
  ["o/p", null, "/"],
  ["q.sh", "q", "q", undefined, [0o644, 0o755]],
  ["r", "/", "/", undefined, [0o755, 0o750]],
  ["s", "was a file", "-> a.txt", undefined, [0o644, undefined]],
  ["t", "-> a.txt", "is a file", undefined, [undefined, 0o600]],
];

function layAnew(directory: string, rows = TEN): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  lay(directory, rows);
}

/** A module text that does it in a process of its own. */
const doing = (what: "apply" | "recover", directory: string, rows = TEN): string => `
  const { createHostFileChanges } = await import("../../src/files/changes/changes.ts");
  const { fileSet } = await import("./file-set.ts");
  const set = fileSet(${JSON.stringify(directory)}, ${JSON.stringify(rows)});
  const end = await createHostFileChanges().${what}(set, { signal: new AbortController().signal });`;

/** Runs a module whose steps on disk are counted, and broken at one of them. Undefined: it was killed. */
async function inChild(source: string, fsStep = ""): Promise<{ readonly steps: readonly string[]; readonly out: string } | undefined> {
  const args = ["--conditions=@assent/source", "--import", "./failing-fs.ts", "--input-type=module", "-e", source];
  const env = { FS_STEP: fsStep, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, env, timeout: 60_000 });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (child.signalCode === "SIGKILL") return undefined;
  assert.equal(child.exitCode, 0, err);
  return { steps: JSON.parse(err), out };
}

/** What the tree is before the set and after it, and the steps between. */
async function bothEnds(
  directory: string,
  rows = TEN,
): Promise<{ readonly before: unknown; readonly after: unknown; readonly steps: readonly string[] }> {
  layAnew(directory, rows);
  const before = tree(directory);
  const child = await inChild(doing("apply", directory, rows));
  assert.ok(child);
  for (const name of [...AT, "writeFile"]) assert.ok(child.steps.includes(name) || name === "rmdir", `no ${name} in ${child.steps}`);
  return { before, after: tree(directory), steps: child.steps };
}

/** Steps that change where a name leads. A sync only writes to the disk what is already there. */
const CHANGING = ["rename", "link", "unlink", "rmdir", "mkdir"];
const AT = [...CHANGING, "sync"];

/** The steps before which processes are killed. A kill before a sync leaves the same files as a kill before the next change. */
const KILLED_AT = LONG ? AT : CHANGING;

/** Kills before every step, two at a time: there are processors enough for that anywhere. */
async function atEvery(steps: readonly string[], work: (kill: string, lane: number) => Promise<void>): Promise<void> {
  const numbers = steps.flatMap((name, i) => (KILLED_AT.includes(name) ? [i + 1] : [])).values();
  const lane = async (which: number): Promise<void> => {
    for (const n of numbers) await work(`kill@${n}`, which);
  };
  await Promise.all([lane(0), lane(1)]);
}

test("all new bytes are synced before the first file changes, and every directory after the last", async (t) => {
  const { steps } = await bothEnds(join(scratch(t), "plain"));
  const syncs = (some: readonly string[]): number => some.filter((step) => step === "sync").length;
  const deletions = steps.lastIndexOf("link") + 2;
  assert.deepEqual(
    steps.filter((step) => step === "rename" || step === "link"),
    ["rename", "rename", "rename", "rename", "rename", "link", "link", "link"],
  );
  assert.deepEqual(steps.slice(deletions - 1, deletions + 1), ["unlink", "unlink"]);
  assert.equal(syncs(steps.slice(0, steps.indexOf("rename"))), 8 + 2, "eight contents, and two directories that were made");
  assert.equal(syncs(steps.slice(steps.indexOf("rename"))), 5 + 2, "five directories, and two whose markers went");
});

test("killed before any step of an apply, recovery finds all before or all after, and leaves no trace", async (t) => {
  const directory = scratch(t);
  const { before, after, steps } = await bothEnds(join(directory, "plain"));
  const found = new Set<string>();
  await atEvery(steps, async (kill, lane) => {
    const place = join(directory, `${lane}`);
    layAnew(place);
    assert.equal(await inChild(doing("apply", place), kill), undefined);
    const end = await createHostFileChanges().recover(fileSet(place, TEN));
    assert.notEqual(end.state, "unknown", `${kill}: ${JSON.stringify(end)}`);
    assert.deepEqual(tree(place), end.state === "before" ? before : after, `${kill} of ${steps}`);
    found.add(end.state === "before" ? `before, ${end.restored} restored` : end.state);
  });
  for (const end of ["before, 0 restored", "before, 1 restored", "before, 9 restored", "after"])
    assert.ok(found.has(end), `${end} was not met`);
});

test("killed in the middle of a recovery, the next one ends it", async (t) => {
  const directory = scratch(t);
  const { before, steps } = await bothEnds(join(directory, "plain"));
  const halfWay = `kill@${steps.lastIndexOf("link") + 3}`; // between the two deletions
  const place = (lane: number): string => {
    const half = join(directory, `${lane}`);
    rmSync(half, { recursive: true, force: true });
    cpSync(join(directory, "half"), half, { recursive: true });
    return half;
  };
  layAnew(join(directory, "half"));
  assert.equal(await inChild(doing("apply", join(directory, "half")), halfWay), undefined);
  const recovered = await inChild(`${doing("recover", place(0))} console.log(JSON.stringify(end));`);
  assert.deepEqual(JSON.parse(recovered?.out ?? ""), { state: "before", restored: 9 });
  await atEvery(recovered?.steps ?? [], async (kill, lane) => {
    const half = place(lane);
    assert.equal(await inChild(doing("recover", half), kill), undefined);
    const end = await createHostFileChanges().recover(fileSet(half, TEN));
    assert.equal(end.state, "before", `${kill}: ${JSON.stringify(end)}`);
    assert.deepEqual(tree(half), before, `${kill} of ${recovered?.steps}`);
  });
});

/** Applies the set once for every step, in directories named after it, with that step refused. */
async function refuseEach(directory: string, steps: readonly string[], rows = TEN): Promise<readonly ChangeEnd[]> {
  const numbers = steps.map((_, i) => i + 1);
  for (const n of numbers) layAnew(join(directory, `${n}`), rows);
  const source = `
    const ends = [];
    for (const n of ${JSON.stringify(numbers)}) {
      globalThis.breakFs("EIO", n);
      {${doing("apply", directory, rows).replace(JSON.stringify(directory), `${JSON.stringify(`${directory}/`)} + n`)}
      ends.push(end);}
    }
    console.log(JSON.stringify(ends));`;
  return JSON.parse((await inChild(source))?.out ?? "");
}

test("whichever single step the disk refuses, every file is as before, or all are changed", async (t) => {
  const directory = scratch(t);
  const { before, after, steps } = await bothEnds(join(directory, "plain"));
  const ends = await refuseEach(directory, steps);
  assert.equal(ends.length, steps.length);
  for (const [i, end] of ends.entries()) {
    const about = `${i + 1} of ${steps}: ${JSON.stringify(end)}`;
    const names = Object.entries(tree(join(directory, `${i + 1}`)));
    if (end.state === "changed") {
      assert.ok(i > steps.lastIndexOf("link"), about);
      assert.deepEqual(Object.fromEntries(names.filter(([path]) => !path.includes(".assent-"))), after, about);
    } else {
      assert.deepEqual([end.state, end.state === "failed" && end.code], ["failed", "EIO"], about);
      assert.deepEqual(Object.fromEntries(names), before, about);
    }
  }
});

test("a file changed by another program after it was replaced is not overwritten by a restore", async (t) => {
  const directory = scratch(t);
  const { steps } = await bothEnds(join(directory, "plain"));
  const place = join(directory, "0");
  layAnew(place);
  const source = `
    import { writeFileSync } from "node:fs";
    globalThis.breakFs("EIO", ${steps.lastIndexOf("rename") + 1}, () => writeFileSync(${JSON.stringify(join(place, "a.txt"))}, "mine"));
    ${doing("apply", place)} console.log(JSON.stringify(end));`;
  const end: ChangeEnd = JSON.parse((await inChild(source))?.out ?? "");
  assert.ok(end.state === "unknown", JSON.stringify(end));
  const standing = ["other", "after", "before", "after", "after", "before", "before", "before", "before", "before"];
  assert.deepEqual(
    end.files.map(({ at }) => at),
    standing,
  );
  const names = tree(place);
  assert.equal(names["a.txt"], "644 mine");
  assert.deepEqual(
    Object.keys(names).filter((path) => path.includes(".assent-") || path.startsWith("new")),
    [],
  );
});

test("links, directories and modes change together or not at all, wherever the process is killed or the disk refuses", async (t) => {
  const directory = scratch(t);
  const { before, after, steps } = await bothEnds(join(directory, "plain"), PATHS);
  assert.notDeepEqual(before, after);
  await atEvery(steps, async (kill, lane) => {
    const place = join(directory, `${lane}`);
    layAnew(place, PATHS);
    assert.equal(await inChild(doing("apply", place, PATHS), kill), undefined);
    const end = await createHostFileChanges().recover(fileSet(place, PATHS));
    assert.notEqual(end.state, "unknown", `${kill}: ${JSON.stringify(end)}`);
    assert.deepEqual(tree(place), end.state === "before" ? before : after, `${kill} of ${steps}`);
  });
  const ends = await refuseEach(directory, steps, PATHS);
  for (const [i, { state }] of ends.entries()) {
    const names = Object.entries(tree(join(directory, `${i + 1}`))).filter(([path]) => state === "failed" || !path.includes(".assent-"));
    assert.deepEqual([state, Object.fromEntries(names)], state === "failed" ? [state, before] : ["changed", after], `${i + 1} of ${steps}`);
  }
});

test("an applied set of links, directories and modes is undone to what was there", async (t) => {
  const place = join(scratch(t), "0");
  layAnew(place, PATHS);
  const before = tree(place);
  const { id, changes } = fileSet(place, PATHS);
  const { signal } = new AbortController();
  assert.deepEqual(await createHostFileChanges().apply({ id, changes }, { signal }), { state: "changed" });
  assert.deepEqual([tree(place)["j"], tree(place)["o/"], tree(place)["q.sh"]], ["-> d.txt", "700", "755 q"]);
  const back = changes.map((change) => ({ ...change, before: change.after, after: change.before }));
  assert.deepEqual(await createHostFileChanges().apply({ id, changes: back }, { signal }), { state: "changed" });
  assert.deepEqual(tree(place), { ...before, ".git/objects/": "" }, "a parent that was made for a file stays");
});

test("where a file system has no second names, a new file is renamed into place", async (t) => {
  const directory = scratch(t);
  const { after, steps } = await bothEnds(join(directory, "plain"));
  const place = join(directory, "0");
  layAnew(place);
  const child = await inChild(
    `globalThis.breakFs("EPERM", ${steps.indexOf("link") + 1}); ${doing("apply", place)} console.log(end.state);`,
  );
  assert.deepEqual([child?.out, tree(place)], ["changed\n", after]);
  assert.equal(child?.steps.filter((step) => step === "rename").length, steps.filter((step) => step === "rename").length + 1);
});
