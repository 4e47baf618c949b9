import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type WalkOptions, walkFiles } from "../../src/files/walk.ts";
import { scratch } from "../scratch.ts";

/** Contents by path; a path that ends with a slash is a directory. */
type Tree = Readonly<Record<string, string>>;

function plant(root: string, tree: Tree): void {
  for (const [path, content] of Object.entries(tree)) {
    const at = join(root, path);
    mkdirSync(path.endsWith("/") ? at : dirname(at), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(at, content);
  }
}

async function walked(root: string, from = "", options: Partial<WalkOptions> = {}): Promise<string[]> {
  const found: string[] = [];
  for await (const path of walkFiles(join(root, from), { signal: new AbortController().signal, ...options }))
    found.push(path.slice(root.length + 1));
  return found;
}

type Row = readonly [name: string, tree: Tree, from: string, expected: readonly string[], options?: Partial<WalkOptions>];

const ROWS: readonly Row[] = [
  ["files in the order of their paths", { b: "", "a/z": "", "a.ts": "", "a-b/c": "" }, "", ["a-b/c", "a.ts", "a/z", "b"]],
  ["never .git and node_modules", { ".git/x": "", "node_modules/x": "", "a/node_modules/x": "", "a/b": "" }, "", ["a/b"], { hidden: true }],
  ["a directory that is named itself", { "node_modules/a/b": "" }, "node_modules/a", ["node_modules/a/b"]],
  ["hidden files are left out", { ".a": "", ".b/c": "", d: "" }, "", ["d"]],
  ["unless they are wanted", { ".a": "", ".b/c": "", d: "" }, "", [".a", ".b/c", "d"], { hidden: true }],
  ["ignore files are honoured", { ".gitignore": "*.log\n/out/", "a.log": "", "b/a.log": "", "out/x": "", "b/out/x": "" }, "", ["b/out/x"]],
  ["a deeper one has the say", { ".gitignore": "*.log", "a/.gitignore": "!*.log", "x.log": "", "a/x.log": "" }, "", ["a/x.log"]],
  [
    "where it says nothing, one above does",
    { ".gitignore": "*.log", "a/.gitignore": "x", "a/b/.gitignore": "y", "a/b/x.log": "", "a/b/z": "" },
    "",
    ["a/b/z"],
  ],
  ["but does not open a directory that is ignored", { ".gitignore": "a/", "a/.gitignore": "!*", "a/x": "", b: "" }, "", ["b"]],
  [".ignore goes before .gitignore", { ".gitignore": "a", ".ignore": "!a\nb", a: "", b: "" }, "", ["a"]],
  ["patterns are tied to their own directory", { "a/.gitignore": "/x", "a/x": "", "a/b/x": "", x: "" }, "", ["a/b/x", "x"]],
  ["what git excludes", { ".git/info/exclude": "a", a: "", "b/a": "", c: "" }, "", ["c"]],
  ["an ignore file goes before it", { ".git/info/exclude": "a", ".gitignore": "!a", a: "" }, "", ["a"]],
  [
    "ignore files above count up to the repository",
    { ".gitignore": "x", "r/.git/": "", "r/.gitignore": "/s/y", "r/s/x": "", "r/s/y": "" },
    "r/s",
    ["r/s/x"],
  ],
  ["a repository within starts anew", { ".gitignore": "x", "r/.git/": "", "r/x": "", x: "" }, "", ["r/x"]],
  ["outside of any repository those above do not count", { ".gitignore": "x", "r/x": "" }, "r", ["r/x"]],
  [
    "an ignored directory that is named itself is walked",
    { ".git/": "", ".gitignore": "out/\n*.log", "out/a": "", "out/b.log": "" },
    "out",
    ["out/a"],
  ],
  ["an empty directory", { "a/": "" }, "", []],
];

for (const [name, tree, from, expected, options] of ROWS) {
  test(`a walk: ${name}`, async (t) => {
    const root = scratch(t);
    plant(root, tree);
    assert.deepEqual(await walked(root, from, options), expected);
  });
}

test("outside of any repository ignore files count up to the given directory", async (t) => {
  const root = scratch(t);
  plant(root, { ".gitignore": "y", "top/.gitignore": "x", "top/r/s/x": "", "top/r/s/y": "" });
  assert.deepEqual(await walked(root, "top/r", { top: join(root, "top") }), ["top/r/s/y"]);
});

test("links are not followed, and nothing but regular files is found", async (t) => {
  const root = scratch(t);
  plant(root, { "a/b": "" });
  symlinkSync("a", join(root, "directory"));
  symlinkSync("a/b", join(root, "file"));
  symlinkSync(".", join(root, "a/loop"));
  execFileSync("mkfifo", [join(root, "fifo")]);
  assert.deepEqual(await walked(root), ["a/b"]);
});

test("an ignore file that is no regular file ignores nothing, and is not waited for", async (t) => {
  const root = scratch(t);
  plant(root, { a: "", rules: "a" });
  execFileSync("mkfifo", [join(root, ".gitignore")]);
  symlinkSync("rules", join(root, ".ignore"));
  assert.deepEqual(await walked(root), ["a", "rules"]);
});

test("a directory that is not there rejects; one below that is gone by then hides only itself", async (t) => {
  const root = scratch(t);
  await assert.rejects(walked(root, "gone"), { code: "ENOENT" });
  plant(root, { a: "", "b/x": "", "c/x": "" });
  const found: string[] = [];
  const unreadable: string[] = [];
  for await (const path of walkFiles(root, {
    signal: new AbortController().signal,
    unreadable: (directory) => unreadable.push(directory),
  })) {
    found.push(path);
    rmSync(join(root, "b"), { recursive: true, force: true });
  }
  assert.deepEqual(found, [join(root, "a"), join(root, "c/x")]);
  assert.deepEqual(unreadable, [join(root, "b")]);
});

test("an abort ends the walk", async (t) => {
  const root = scratch(t);
  plant(root, { a: "", b: "" });
  const { signal, abort } = controller();
  await assert.rejects(
    (async () => {
      for await (const path of walkFiles(root, { signal })) if (path.endsWith("a")) abort();
    })(),
    { name: "AbortError" },
  );
});

function controller(): { signal: AbortSignal; abort: () => void } {
  const made = new AbortController();
  return { signal: made.signal, abort: () => made.abort() };
}
