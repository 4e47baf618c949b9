import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { ChangeEnd, ChangeSet } from "@assent/core";
import { createHostFileChanges } from "../../src/files/changes/changes.ts";
import { runNode } from "../processes/run-node.ts";
import { scratch } from "../scratch.ts";
import { fileSet, image, lay, type Row, tree } from "./file-set.ts";

const changes = createHostFileChanges();
const never = new AbortController().signal;
const apply = (set: ChangeSet, committing?: () => void): Promise<ChangeEnd> =>
  changes.apply(set, { signal: never, ...(committing && { committing }) });

/** Puts down what is there before the set. */
function laid(directory: string, rows: readonly Row[]): ChangeSet {
  lay(directory, rows);
  return fileSet(directory, rows);
}

const swapped = ({ id, changes: all }: ChangeSet): ChangeSet => ({
  id,
  changes: all.map(({ before, after, ...rest }) => ({ ...rest, before: after, after: before })),
});

const MANY: readonly Row[] = [
  ["b.txt", "b old", "b new"],
  ["a/run.sh", "#!/bin/sh", "#!/bin/bash", 0o755],
  ["new/deep/made.txt", null, "made", 0o640],
  ["new/other.txt", null, ""],
  ["gone.txt", "gone", null, 0o600],
  ["a/empty", "", "no longer"],
  ["emptied", "full", ""],
  ["read-only", "r", "R", 0o444],
];

test("a whole set is applied, and undone, bytes and modes as before", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, MANY);
  const before = tree(directory);
  const umask = (0o666 & ~process.umask()).toString(8);
  assert.deepEqual(await apply(set), { state: "changed" });
  assert.deepEqual(tree(directory), {
    "a/": "",
    "a/empty": "644 no longer",
    "a/run.sh": "755 #!/bin/bash",
    "b.txt": "644 b new",
    emptied: "644 ",
    "new/": "",
    "new/deep/": "",
    "new/deep/made.txt": "640 made",
    "new/other.txt": `${umask} `,
    "read-only": "444 R",
  });
  assert.deepEqual(await apply(swapped(set)), { state: "changed" });
  assert.deepEqual(tree(directory), { ...before, "new/": "", "new/deep/": "" });
});

test("an empty set, and a file that is the same at both ends, change nothing", async (t) => {
  const directory = scratch(t);
  assert.deepEqual(await apply(fileSet(directory, [])), { state: "changed" });
  const set = laid(directory, [
    ["a", "same", "same"],
    ["never", null, null],
  ]);
  const { ino } = statSync(join(directory, "a"));
  assert.deepEqual(await apply(set), { state: "changed" });
  assert.deepEqual([statSync(join(directory, "a")).ino, tree(directory)], [ino, { a: "644 same" }]);
});

const THREE: readonly Row[] = [
  ["1", "one", "ONE"],
  ["d/2", "two", "TWO"],
  ["d/3", "three", null],
  ["d/4", null, "four"],
];

const STALE: readonly (readonly [name: string, change: (directory: string) => void, files: readonly string[]])[] = [
  ["one file has other bytes", (d) => writeFileSync(join(d, "d/2"), "twO"), ["d/2"]],
  [
    "two files have other bytes",
    (d) => {
      writeFileSync(join(d, "d/3"), "");
      writeFileSync(join(d, "1"), "one\n");
    },
    ["1", "d/3"],
  ],
  ["a new file's place is taken", (d) => writeFileSync(join(d, "d/4"), "mine"), ["d/4"]],
  ["a new file's place is taken by the very bytes", (d) => writeFileSync(join(d, "d/4"), "four"), ["d/4"]],
  ["a new file's place is taken by a link that leads nowhere", (d) => symlinkSync("nowhere", join(d, "d/4")), ["d/4"]],
  ["a file is gone", (d) => unlinkSync(join(d, "1")), ["1"]],
  ["a file to delete is gone", (d) => unlinkSync(join(d, "d/3")), ["d/3"]],
  ["a file has become what it was to be", (d) => writeFileSync(join(d, "1"), "ONE"), ["1"]],
  [
    "a file became a directory",
    (d) => {
      unlinkSync(join(d, "1"));
      mkdirSync(join(d, "1"));
    },
    ["1"],
  ],
  [
    "a file became a link to a file of the same bytes",
    (d) => {
      renameSync(join(d, "1"), join(d, "else"));
      symlinkSync("else", join(d, "1"));
    },
    ["1"],
  ],
  [
    "a file became a pipe, which nobody waits for",
    (d) => {
      unlinkSync(join(d, "1"));
      execFileSync("mkfifo", [join(d, "1")]);
    },
    ["1"],
  ],
  ["a directory vanished", (d) => rmSync(join(d, "d"), { recursive: true }), ["d/2", "d/3"]],
  [
    "a directory became a file",
    (d) => {
      rmSync(join(d, "d"), { recursive: true });
      writeFileSync(join(d, "d"), "");
    },
    ["d/2", "d/3", "d/4"],
  ],
  [
    "a directory became a link, though the same files are behind it",
    (d) => {
      renameSync(join(d, "d"), join(d, "outside"));
      symlinkSync("outside", join(d, "d"));
    },
    ["d/2", "d/3", "d/4"],
  ],
];
for (const [name, change, files] of STALE) {
  test(`${name}: stale, and nothing is written`, async (t) => {
    const directory = scratch(t);
    const set = laid(directory, THREE);
    change(directory);
    const before = tree(directory);
    assert.deepEqual(await apply(set), { state: "stale", files: files.map((file) => join(directory, file)) });
    assert.deepEqual(tree(directory), before);
  });
}

test("a link further up, before a directory that has to be made, is a change", async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, "outside"));
  symlinkSync("outside", join(directory, "up"));
  const set = fileSet(directory, [["up/new/deep/a", null, "x"]]);
  assert.deepEqual(await apply(set), { state: "stale", files: [join(directory, "up/new/deep/a")] });
  assert.deepEqual(readdirSync(join(directory, "outside")), []);
});

test("a link that now leads elsewhere counts as a change; an unchanged link does not", async (t) => {
  const directory = scratch(t);
  const { id, changes: all } = laid(directory, [
    ["v1/a.txt", "old", "new"],
    ["v1/made/b.txt", null, "b"],
  ]);
  symlinkSync("v1", join(directory, "cur"));
  const via = all.map((change) => ({ ...change, via: change.path.replace("/v1/", "/cur/") }));
  mkdirSync(join(directory, "v2"));
  rmSync(join(directory, "cur"));
  symlinkSync("v2", join(directory, "cur"));
  const end = await apply({ id, changes: via });
  assert.equal(end.state, "stale");
  assert.equal(readFileSync(join(directory, "v1/a.txt"), "utf8"), "old");
  rmSync(join(directory, "cur"));
  symlinkSync("v1", join(directory, "cur"));
  assert.deepEqual(await apply({ id, changes: via }), { state: "changed" });
  assert.equal(readFileSync(join(directory, "v1/made/b.txt"), "utf8"), "b");
});

test("rewritten with identical bytes, another inode, another time and another mode, it applies", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, THREE);
  const path = join(directory, "1");
  unlinkSync(path);
  writeFileSync(path, "one");
  chmodSync(path, 0o700);
  utimesSync(path, 1, 1);
  assert.deepEqual(await apply(set), { state: "changed" });
  assert.deepEqual(tree(directory), { "1": "700 ONE", "d/": "", "d/2": "644 TWO", "d/4": "644 four" });
});

/** Changes made when the temporary files are written, and seen right before the commit point. */
const LATE: readonly (readonly [name: string, change: (directory: string) => void, end: ChangeEnd["state"], names: readonly string[]])[] = [
  ["a file is rewritten", (d) => writeFileSync(join(d, "1"), "mine"), "stale", ["1"]],
  ["a file is rewritten with the same bytes", (d) => writeFileSync(join(d, "1"), "one"), "changed", []],
  ["a new file's place is taken", (d) => writeFileSync(join(d, "d/4"), "mine"), "stale", ["d/4"]],
  [
    "a directory is moved away and another stands in its place",
    (d) => {
      renameSync(join(d, "d"), join(d, "moved"));
      mkdirSync(join(d, "d"));
      for (const name of ["2", "3"]) writeFileSync(join(d, "d", name), readFileSync(join(d, "moved", name)));
    },
    "stale",
    ["d/2", "d/3", "d/4"],
  ],
];
for (const [name, change, state, names] of LATE) {
  test(`${name} while the new bytes are written: ${state}`, async (t) => {
    const directory = scratch(t);
    const set = laid(directory, THREE);
    const meddled = set.changes.map((one) => ({
      ...one,
      after: one.after && {
        ...one.after,
        bytes: () => {
          if (one.path.endsWith("4")) change(directory);
          return one.after?.bytes() ?? Buffer.alloc(0);
        },
      },
    }));
    const end = await apply({ ...set, changes: meddled });
    assert.equal(end.state, state);
    if (end.state !== "stale") return;
    assert.deepEqual(
      end.files,
      names.map((file) => join(directory, file)),
    );
    const left = Object.keys(tree(directory)).filter((path) => path.includes(".assent-"));
    assert.deepEqual(left, []);
    for (const file of ["1", "d/2", "d/3"]) assert.match(readFileSync(join(directory, file), "utf8"), /^[a-z]+$/);
  });
}

const FULL_DISK = "ulimit -f 8"; // in blocks of 1,024 bytes

test("a disk that refuses file 5 of 10: all ten are as before, and no temporary file or directory is left", async (t) => {
  const directory = scratch(t);
  const rows = Array.from({ length: 10 }, (_, i): Row => [`${i}`, `old ${i}`, i === 4 ? "x".repeat(9000) : `new ${i}`]);
  laid(directory, [...rows, ["new/dir/made", null, "x"]]);
  const before = tree(directory);
  const source = `
    import { createHostFileChanges } from "../../src/files/changes/changes.ts";
    import { fileSet } from ${JSON.stringify(new URL("./file-set.ts", import.meta.url).href)};
    const set = fileSet(${JSON.stringify(directory)}, ${JSON.stringify([...rows, ["new/dir/made", null, "x"]])});
    console.log(JSON.stringify(await createHostFileChanges().apply(set, { signal: new AbortController().signal })));`;
  const message = `${join(directory, "4")}: file too large (EFBIG)`;
  assert.deepEqual(JSON.parse(await runNode(source, FULL_DISK)), { state: "failed", code: "EFBIG", message, restored: 0 });
  assert.deepEqual(tree(directory), before);
});

/** As root nothing is refused for want of permission: the child becomes somebody else. */
const AS_SOMEBODY = process.getuid?.() === 0 ? "process.setgroups([]); process.setgid(54321); process.setuid(54321);" : "";

const REFUSED: readonly (readonly [name: string, rows: readonly Row[], code: string])[] = [
  ["a directory that may not be written in", [...THREE, ["shut/1", "x", "y"]], "EACCES"],
  ["a directory that may not be deleted from", [...THREE, ["shut/1", "x", null]], "EACCES"],
  ["a directory in which none can be made", [...THREE, ["shut/new/1", null, "y"]], "EACCES"],
];
for (const [name, rows, code] of REFUSED) {
  test(`${name}: every file is as before`, async (t) => {
    const directory = scratch(t);
    laid(directory, rows);
    mkdirSync(join(directory, "shut"), { recursive: true });
    for (const path of ["", "d"]) chmodSync(join(directory, path), 0o777);
    chmodSync(join(directory, "shut"), 0o555);
    const before = tree(directory);
    const source = `
      import { chownSync } from "node:fs";
      import { createHostFileChanges } from "../../src/files/changes/changes.ts";
      import { fileSet } from ${JSON.stringify(new URL("./file-set.ts", import.meta.url).href)};
      const set = fileSet(${JSON.stringify(directory)}, ${JSON.stringify(rows)});
      ${AS_SOMEBODY && `for (const { path, before } of set.changes) if (before) chownSync(path, 54321, 54321); ${AS_SOMEBODY}`}
      console.log(JSON.stringify(await createHostFileChanges().apply(set, { signal: new AbortController().signal })));`;
    const end = JSON.parse(await runNode(source));
    assert.deepEqual([end.state, end.code], ["failed", code], JSON.stringify(end));
    assert.deepEqual(tree(directory), before);
  });
}

test("the owner is kept, and where it cannot be, nothing is replaced", async (t) => {
  if (process.getuid?.() !== 0) return; // as anybody else the question does not arise for one's own files
  const directory = scratch(t);
  laid(directory, THREE);
  chmodSync(directory, 0o777);
  chmodSync(join(directory, "d"), 0o777);
  const source = (become: string): string => `
    import { chownSync, statSync } from "node:fs";
    import { createHostFileChanges } from "../../src/files/changes/changes.ts";
    import { fileSet } from ${JSON.stringify(new URL("./file-set.ts", import.meta.url).href)};
    const set = fileSet(${JSON.stringify(directory)}, ${JSON.stringify(THREE)});
    chownSync(set.changes[0].path, 12345, 23456);
    ${become}
    const { state, code } = await createHostFileChanges().apply(set, { signal: new AbortController().signal });
    const { uid, gid } = statSync(set.changes[0].path);
    console.log(state, code, uid, gid);`;
  const before = tree(directory);
  assert.equal(await runNode(source(AS_SOMEBODY)), "failed EPERM 12345 23456\n");
  assert.deepEqual(tree(directory), before);
  assert.equal(await runNode(source("")), "changed undefined 12345 23456\n");
});

/** Removes the temporary file of a target at the commit point, so that it cannot be put in place. */
function lose(set: ChangeSet, name: string): () => void {
  const sorted = set.changes.map(({ path }) => path).toSorted();
  const path = sorted.find((one) => one.endsWith(name)) ?? "";
  return () => unlinkSync(join(dirname(path), `.assent-${set.id}-${sorted.indexOf(path)}.tmp`));
}

const HALF_WAY: readonly (readonly [name: string, fails: string, restored: number])[] = [
  ["the third", "b.txt", 2],
  ["a new one", "made.txt", 4],
  ["the last that is replaced", "read-only", 6],
];
for (const [name, fails, restored] of HALF_WAY) {
  test(`${name} cannot be put in place: what was replaced before it is restored`, async (t) => {
    const directory = scratch(t);
    const set = laid(directory, MANY);
    const before = tree(directory);
    const end = await apply(set, lose(set, fails));
    assert.deepEqual([end.state, end.state === "failed" && [end.code, end.restored]], ["failed", ["ENOENT", restored]]);
    assert.deepEqual(tree(directory), before);
  });
}

test("a deletion that fails restores what was replaced and made, modes included", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, MANY);
  const end = await apply(set, () => {
    unlinkSync(join(directory, "gone.txt"));
    mkdirSync(join(directory, "gone.txt"));
  });
  assert.deepEqual([end.state, end.state === "failed" && end.restored], ["failed", 7]);
  rmSync(join(directory, "gone.txt"), { recursive: true });
  writeFileSync(join(directory, "gone.txt"), "gone");
  chmodSync(join(directory, "gone.txt"), 0o600);
  const now = tree(directory);
  rmSync(directory, { recursive: true });
  mkdirSync(directory);
  laid(directory, MANY);
  assert.deepEqual(now, tree(directory));
});

test("what is restored has the mode that it had, not the one that a new file would have", async (t) => {
  const directory = scratch(t);
  const rows: readonly Row[] = [
    ["a", "a", "A"],
    ["b", "b", null],
    ["c", "c", null],
  ];
  const set = laid(directory, rows);
  chmodSync(join(directory, "a"), 0o751);
  chmodSync(join(directory, "b"), 0o604);
  const end = await apply(set, () => {
    unlinkSync(join(directory, "c"));
    mkdirSync(join(directory, "c"));
  });
  assert.deepEqual([end.state, end.state === "failed" && end.restored], ["failed", 2]);
  assert.deepEqual(tree(directory), { a: "751 a", b: "604 b", "c/": "" });
});

test("a new file that comes at the last moment is not overwritten, and the rest is restored", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, THREE);
  const end = await apply(set, () => writeFileSync(join(directory, "d/4"), "mine"));
  assert.deepEqual([end.state, end.state === "failed" && [end.code, end.restored]], ["failed", ["EEXIST", 2]]);
  assert.deepEqual(tree(directory), { "1": "644 one", "d/": "", "d/2": "644 two", "d/3": "644 three", "d/4": "644 mine" });
});

test("if restoring fails too, the state of every file is reported", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, THREE);
  const broken = set.changes.map((one) => ({
    ...one,
    before: one.before && { ...one.before, bytes: () => Promise.reject(new Error("no blob")) },
  }));
  const end = await apply({ ...set, changes: broken }, lose(set, "4"));
  assert.ok(end.state === "unknown");
  assert.match(end.message, /d\/4: no such file or directory \(ENOENT\); restoring failed: no blob$/);
  assert.deepEqual(
    end.files.map(({ path, at }) => [path.slice(directory.length + 1), at]),
    [
      ["1", "after"],
      ["d/2", "after"],
      ["d/3", "before"],
      ["d/4", "before"],
    ],
  );
  assert.deepEqual(tree(directory), { "1": "644 ONE", "d/": "", "d/2": "644 TWO", "d/3": "644 three" });
});

test("the content is fetched once, a few files at a time, and none of it before every file was verified", async (t) => {
  const directory = scratch(t);
  const rows = Array.from({ length: 40 }, (_, i): Row => [`${i}`, `${i}`, `new ${i}`]);
  const set = laid(directory, rows);
  let inHand = 0;
  let most = 0;
  let fetched = 0;
  const counted = set.changes.map((one) => ({
    ...one,
    before: one.before && { ...one.before, bytes: () => assert.fail("not needed") },
    after: one.after && {
      ...one.after,
      bytes: async () => {
        fetched++;
        most = Math.max(most, ++inHand);
        await new Promise((resolve) => setImmediate(resolve));
        inHand--;
        return (await one.after?.bytes()) ?? Buffer.alloc(0);
      },
    },
  }));
  writeFileSync(join(directory, "7"), "changed");
  assert.equal((await apply({ ...set, changes: counted })).state, "stale");
  assert.equal(fetched, 0);
  writeFileSync(join(directory, "7"), "7");
  assert.equal((await apply({ ...set, changes: counted })).state, "changed");
  assert.equal(fetched, 40);
  assert.ok(most <= 8, `${most}`);
  const cancel = new AbortController();
  let asked = 0;
  const cancelling = swapped(set).changes.map((one) => ({
    ...one,
    after: one.after && {
      ...one.after,
      bytes: () => {
        asked++;
        cancel.abort();
        return one.after?.bytes() ?? Buffer.alloc(0);
      },
    },
  }));
  assert.equal((await changes.apply({ ...set, changes: cancelling }, { signal: cancel.signal })).state, "cancelled");
  assert.ok(asked >= 1 && asked <= 8, `${asked}`);
});

const THROWN: readonly (readonly [name: string, bytes: () => Uint8Array, message: RegExp])[] = [
  [
    "the content cannot be had",
    () => {
      throw new Error("no such blob");
    },
    /^Error: no such blob$/,
  ],
  ["the content is not what its digest says", () => Buffer.from("other"), /are not those of sha256:/],
];
for (const [name, bytes, message] of THROWN) {
  test(`${name}: it rejects, nothing is changed or left`, async (t) => {
    const directory = scratch(t);
    const set = laid(directory, MANY);
    const before = tree(directory);
    const broken = set.changes.map((one) =>
      one.path.endsWith("read-only") && one.after ? { ...one, after: { ...one.after, bytes } } : one,
    );
    await assert.rejects(apply({ ...set, changes: broken }), message);
    assert.deepEqual(tree(directory), before);
  });
}

test("a cancel before the commit point wins, at every moment; after it the files are changed", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, MANY);
  const before = tree(directory);
  const cancelled = await changes.apply(set, { signal: AbortSignal.abort(), committing: () => assert.fail("committed") });
  assert.deepEqual([cancelled, tree(directory)], [{ state: "cancelled" }, before]);
  for (const at of ["b.txt", "made.txt", "read-only"]) {
    const cancel = new AbortController();
    const aborting = set.changes.map((one) => ({
      ...one,
      after: one.after && {
        ...one.after,
        bytes: () => {
          if (one.path.endsWith(at)) cancel.abort();
          return one.after?.bytes() ?? Buffer.alloc(0);
        },
      },
    }));
    const end = await changes.apply({ ...set, changes: aborting }, { signal: cancel.signal, committing: () => assert.fail("committed") });
    assert.deepEqual([end, tree(directory)], [{ state: "cancelled" }, before]);
  }
  const late = new AbortController();
  let commits = 0;
  const committing = (): void => {
    commits++;
    assert.deepEqual(readFileSync(join(directory, "b.txt"), "utf8"), "b old");
    late.abort();
  };
  assert.deepEqual([await changes.apply(set, { signal: late.signal, committing }), commits], [{ state: "changed" }, 1]);
});

test("a commit that the caller refuses changes nothing", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, MANY);
  const before = tree(directory);
  const refuse = (): void => {
    throw new Error("not now");
  };
  await assert.rejects(apply(set, refuse), /not now/);
  assert.deepEqual(tree(directory), before);
});

test("a file with several names: each name of the set changes, the others keep the old bytes", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, [["a", "x", "y"]]);
  linkSync(join(directory, "a"), join(directory, "b"));
  linkSync(join(directory, "a"), join(directory, "c"));
  const two = { ...set, changes: [...set.changes, { path: join(directory, "b"), before: image("x"), after: image("z"), mode: null }] };
  assert.deepEqual(await apply(two), { state: "changed" });
  assert.deepEqual(tree(directory), { a: "644 y", b: "644 z", c: "644 x" });
});

test("two names that differ only in case and lead to one file are refused", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, [["a.txt", "x", "y"]]);
  linkSync(join(directory, "a.txt"), join(directory, "A.txt"));
  const two = { ...set, changes: [...set.changes, { path: join(directory, "A.txt"), before: image("x"), after: image("z"), mode: null }] };
  const end = await apply(two);
  assert.ok(end.state === "failed");
  assert.match(end.message, /A\.txt and .*a\.txt are one file$/);
  assert.deepEqual(tree(directory), { "A.txt": "644 x", "a.txt": "644 x" });
});

const MISTAKES: readonly (readonly [name: string, set: ChangeSet, message: RegExp])[] = [
  ["an id that is a path", fileSet("/nonexistent", [], "../x"), /cannot be part of a file name/],
  ["an empty id", fileSet("/nonexistent", [], ""), /cannot be part of a file name/],
  [
    "a path twice",
    fileSet("/nonexistent", [
      ["a", "x", null],
      ["a", null, "y"],
    ]),
    /\/nonexistent\/a appears twice in one change set/,
  ],
];
for (const [name, set, message] of MISTAKES) {
  test(`${name} is a mistake of the caller`, async () => {
    await assert.rejects(apply(set), message);
    await assert.rejects(changes.recover(set), message);
  });
}

test("a temporary file of the same set left by a power cut is replaced", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, [["a", "x", "y"]]);
  writeFileSync(join(directory, ".assent-p_test-0.tmp"), "old");
  assert.deepEqual([await apply(set), tree(directory)], [{ state: "changed" }, { a: "644 y" }]);
});

test("more directories than are held open at a time", async (t) => {
  const directory = scratch(t);
  const rows = Array.from({ length: 150 }, (_, i): Row => [`d${i}/sub/f`, i % 2 ? "old" : null, "new"]);
  const set = laid(directory, rows);
  const open = readdirSync("/proc/self/fd").length;
  assert.deepEqual(await apply(set), { state: "changed" });
  assert.equal(readdirSync("/proc/self/fd").length, open);
  assert.deepEqual(new Set(Object.values(tree(directory))), new Set(["", "644 new"]));
});

/** What an earlier process left, and what becomes of it. */
const LEFT: readonly (readonly [name: string, leave: (directory: string) => void, end: unknown, at?: "before" | "after"])[] = [
  [
    "nothing was replaced yet",
    (d) => {
      writeFileSync(join(d, ".assent-p_test-0.tmp"), "ON");
      writeFileSync(join(d, "d/.assent-p_test-1.tmp"), "TWO");
    },
    { state: "before", restored: 0 },
    "before",
  ],
  [
    "one file was replaced and one made",
    (d) => {
      writeFileSync(join(d, "1"), "ONE");
      writeFileSync(join(d, "d/4"), "four");
      writeFileSync(join(d, "d/.assent-p_test-3.tmp"), "four");
    },
    { state: "before", restored: 2 },
    "before",
  ],
  [
    "all but one were replaced, one deleted among them",
    (d) => {
      writeFileSync(join(d, "1"), "ONE");
      unlinkSync(join(d, "d/3"));
      writeFileSync(join(d, "d/4"), "four");
    },
    { state: "before", restored: 3 },
    "before",
  ],
  [
    "everything was done",
    (d) => {
      writeFileSync(join(d, "1"), "ONE");
      writeFileSync(join(d, "d/2"), "TWO");
      unlinkSync(join(d, "d/3"));
      writeFileSync(join(d, "d/4"), "four");
      writeFileSync(join(d, "d/.assent-p_test-3.tmp"), "four");
    },
    { state: "after" },
    "after",
  ],
];
for (const [name, leave, end, at] of LEFT) {
  test(`${name}: recovery`, async (t) => {
    const directory = scratch(t);
    const set = laid(directory, THREE);
    const before = tree(directory);
    leave(directory);
    assert.deepEqual(await changes.recover(set), end);
    const after = { "1": "644 ONE", "d/": "", "d/2": "644 TWO", "d/4": "644 four" };
    assert.deepEqual(tree(directory), at === "before" ? before : after);
    assert.deepEqual(await changes.recover(set), at === "before" ? { state: "before", restored: 0 } : { state: "after" });
  });
}

const NEITHER: readonly (readonly [name: string, leave: (directory: string) => void])[] = [
  ["other bytes", (d) => writeFileSync(join(d, "d/2"), "mine")],
  ["no file", (d) => unlinkSync(join(d, "d/2"))],
  [
    "a directory",
    (d) => {
      unlinkSync(join(d, "d/2"));
      mkdirSync(join(d, "d/2"));
    },
  ],
];
for (const [name, leave] of NEITHER) {
  test(`${name} in the place of one of the files: unknown, and no file is touched`, async (t) => {
    const directory = scratch(t);
    const set = laid(directory, THREE);
    writeFileSync(join(directory, "1"), "ONE");
    leave(directory);
    const before = tree(directory);
    writeFileSync(join(directory, "d/.assent-p_test-1.tmp"), "TWO");
    const end = await changes.recover(set);
    assert.ok(end.state === "unknown");
    assert.deepEqual(
      end.files.map(({ at }) => at),
      ["after", "other", "before", "before"],
    );
    assert.deepEqual(tree(directory), before);
  });
}

for (const path of ["d", "d/e/f"]) {
  test(`recovery keeps away from what is behind a link, with the files in ${path}`, async (t) => {
    const directory = scratch(t);
    const set = laid(directory, [[`${path}/1`, "one", "ONE"]]);
    writeFileSync(join(directory, path, ".assent-p_test-0.tmp"), "ONE");
    renameSync(join(directory, "d"), join(directory, "outside"));
    symlinkSync("outside", join(directory, "d"));
    const before = tree(directory);
    const end = await changes.recover(set);
    assert.deepEqual([end.state, tree(directory)], ["unknown", before]);
  });
}

test("a deleted file returns with the mode that the set knows, when another process restores it", async (t) => {
  const directory = scratch(t);
  const set = laid(directory, [
    ["a", "x", null, 0o751],
    ["b", "x", "y"],
  ]);
  unlinkSync(join(directory, "a"));
  assert.deepEqual(await changes.recover(set), { state: "before", restored: 1 });
  assert.deepEqual(tree(directory), { a: "751 x", b: "644 x" });
});

test("withdrawing keeps directories that existed before or are in use by now", async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, "empty"));
  const set = laid(directory, [
    ["empty/a", null, "x"],
    ["new/a", null, "x"],
    ["used/a", null, "x"],
    ["z", "x", "y"],
  ]);
  const end = await apply(set, () => {
    writeFileSync(join(directory, "used/mine"), "mine");
    lose(set, "z")();
  });
  assert.deepEqual([end.state, tree(directory)], ["failed", { "empty/": "", "used/": "", "used/mine": "644 mine", z: "644 x" }]);
});
