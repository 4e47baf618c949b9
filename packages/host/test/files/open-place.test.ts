import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { replaceFile } from "../../src/files/replace.ts";
import { scratch } from "../scratch.ts";

function anchorOf(path: string): { readonly path: string; readonly device: string; readonly inode: string } {
  const { dev, ino } = statSync(path, { bigint: true });
  return { path, device: String(dev), inode: String(ino) };
}

/** A workspace with a directory in it, and a home that nothing may be written to. */
function makePlace(t: Parameters<typeof scratch>[0]): { readonly dir: string; readonly home: string; readonly root: string } {
  const root = join(scratch(t), "around");
  const [dir, home] = [join(root, "dir"), join(root, "home")];
  for (const directory of [root, dir, home]) mkdirSync(directory);
  return { root, dir, home };
}

test("a file is replaced below the directory that was judged, with missing directories made", async (t) => {
  const { dir } = makePlace(t);
  await replaceFile(join(dir, "f"), "one", { anchor: anchorOf(dir) });
  await replaceFile(join(dir, "a/b/f"), "two", { anchor: anchorOf(dir) });
  assert.deepEqual([readFileSync(join(dir, "f"), "utf8"), readFileSync(join(dir, "a/b/f"), "utf8")], ["one", "two"]);
  assert.deepEqual(readdirSync(dir).sort(), ["a", "f"]);
});

type Swap = (place: { readonly root: string; readonly dir: string; readonly home: string }) => void;

const CHANGED: readonly (readonly [name: string, file: string, swap: Swap])[] = [
  [
    "the directory became a link to the home",
    "f",
    ({ root, dir, home }) => {
      renameSync(dir, join(root, "old"));
      symlinkSync(home, dir);
    },
  ],
  [
    "the directory was exchanged for another",
    "f",
    ({ root, dir }) => {
      renameSync(dir, join(root, "old"));
      mkdirSync(dir);
    },
  ],
  [
    "the directory was moved and a link leads to it",
    "f",
    ({ root, dir, home }) => {
      renameSync(dir, join(home, "moved"));
      symlinkSync(join(root, "home/moved"), dir);
    },
  ],
  [
    "a directory above it was moved and a link leads there",
    "f",
    ({ root }) => {
      renameSync(root, `${root}-moved`);
      symlinkSync(`${root}-moved`, root);
    },
  ],
  ["a link to the home came up below it", "sub/f", ({ dir, home }) => symlinkSync(home, join(dir, "sub"))],
  ["a link that leads nowhere came up below it", "sub/f", ({ dir, root }) => symlinkSync(join(root, "absent"), join(dir, "sub"))],
];
for (const [name, file, swap] of CHANGED) {
  test(`${name}: nothing is written`, async (t) => {
    const place = makePlace(t);
    const anchor = anchorOf(place.dir);
    swap(place);
    const before = readdirSync(place.root, { recursive: true }).sort();
    await assert.rejects(replaceFile(join(place.dir, file), "x", { anchor }), { code: "ERR_PLACE_CHANGED" });
    assert.deepEqual(readdirSync(place.root, { recursive: true }).sort(), before);
  });
}

test("a path that is not below the anchor is refused", async (t) => {
  const { dir, home } = makePlace(t);
  await assert.rejects(replaceFile(join(home, "f"), "x", { anchor: anchorOf(dir) }), { code: "ERR_PLACE_CHANGED" });
  assert.deepEqual(readdirSync(home), []);
});

test("with an anchor the file itself is never followed: what became a link is refused", async (t) => {
  const { dir, home } = makePlace(t);
  writeFileSync(join(home, "secret"), "old");
  symlinkSync(join(home, "secret"), join(dir, "f"));
  await assert.rejects(replaceFile(join(dir, "f"), "x", { anchor: anchorOf(dir) }), { code: "ERR_NOT_REGULAR_FILE" });
  assert.equal(readFileSync(join(home, "secret"), "utf8"), "old");
  assert.deepEqual(readdirSync(dir), ["f"]);
});

test("a file in place of the directory is an error", async (t) => {
  const { dir } = makePlace(t);
  writeFileSync(join(dir, "sub"), "");
  await assert.rejects(replaceFile(join(dir, "sub/f"), "x", { anchor: anchorOf(dir) }), { code: "ENOTDIR" });
});

test("a directory that may be written but not listed is written", async (t) => {
  const { dir } = makePlace(t);
  const anchor = anchorOf(dir);
  chmodSync(dir, 0o300);
  await replaceFile(join(dir, "f"), "x", { anchor }).finally(() => chmodSync(dir, 0o700));
  assert.equal(readFileSync(join(dir, "f"), "utf8"), "x");
});
