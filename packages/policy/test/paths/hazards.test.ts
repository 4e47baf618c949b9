import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { foldPath } from "../../src/paths/fold.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { scratch } from "../scratch.ts";

function makePlace(root: string): void {
  mkdirSync(join(root, "dir"));
  writeFileSync(join(root, "one"), "");
  writeFileSync(join(root, "two"), "");
  linkSync(join(root, "two"), join(root, "dir/other-name"));
  symlinkSync("loop", join(root, "loop"));
  symlinkSync("two", join(root, "to-two"));
  symlinkSync("pipe", join(root, "to-pipe"));
  execFileSync("mkfifo", [join(root, "pipe")]);
}

/** Hazards of a path in any use, and those that only a write has. */
const ROWS: readonly (readonly [name: string, path: string, any: readonly string[], write: readonly string[]])[] = [
  ["an ordinary file", "one", [], []],
  ["a file that does not exist", "new/er", [], []],
  ["a directory", "dir", [], []],
  ["a loop", "loop/x", ["path_unresolved"], []],
  ["a line break", "a\nb", ["control_character"], []],
  ["a carriage return", "a\rb", ["control_character"], []],
  ["a line separator", "a\u2028b", ["control_character"], []],
  ["a server's share", "\\\\server\\share\\x", ["other_system_path"], []],
  ["a drive", "C:x", ["other_system_path"], []],
  ["a drive with a slash", "c:/x", ["other_system_path"], []],
  ["a stream", "x:stream", ["other_system_path"], []],
  ["a stream of a file", "one:stream", ["other_system_path"], []],
  ["a backslash", "dir\\one", ["other_system_path"], []],
  ["a colon in a directory's name", "ab:c/d", [], []],
  ["a FIFO", "pipe", ["path_unresolved"], []],
  ["a FIFO behind a link", "to-pipe", ["path_unresolved"], []],
  ["a device", "/dev/zero", ["path_unresolved"], []],
  ["/dev/null", "/dev/null", [], []],
  ["a file with two names", "two", [], ["hard_link"]],
  ["the other name", "dir/other-name", [], ["hard_link"]],
  ["behind a link", "to-two", [], ["hard_link"]],
];
for (const [name, path, any, write] of ROWS) {
  test(`${name}: ${[...any, ...write].join(", ") || "no hazard"}`, (t) => {
    const root = scratch(t);
    makePlace(root);
    const fact = createPathLookup({ workspace: root })(path, root);
    assert.deepEqual(
      fact.hazards.map(({ id }) => id),
      any,
    );
    assert.deepEqual(
      fact.writeHazards.map(({ id }) => id),
      [...any, ...write],
    );
    if (any.length > 0) assert.equal(fact.inside, false);
    for (const { text } of fact.writeHazards) assert.ok(text.startsWith(JSON.stringify(path)), text);
  });
}

test("a socket is a hazard", async (t) => {
  const root = scratch(t);
  const server = createServer().listen(join(root, "s"));
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => server.close());
  assert.deepEqual(
    createPathLookup({ workspace: root })("s", root).hazards.map(({ id }) => id),
    ["path_unresolved"],
  );
});

test("the nearest existing directory above is known by its real path, device and inode", (t) => {
  const root = scratch(t);
  makePlace(root);
  symlinkSync("dir", join(root, "to-dir"));
  const look = createPathLookup({ workspace: root });
  const dir = statSync(join(root, "dir"));
  const anchor = { path: join(root, "dir"), device: String(dir.dev), inode: String(dir.ino) };
  assert.deepEqual(look("dir/x", root).anchor(), anchor);
  assert.deepEqual(look("to-dir/new/er/x", root).anchor(), anchor);
  renameSync(join(root, "dir"), join(root, "old"));
  mkdirSync(join(root, "dir"));
  assert.notDeepEqual(look("dir/x", root).anchor(), anchor);
  assert.equal(look("loop/x", root).anchor(), null);
});

test("settings add sensitive files, by either spelling", (t) => {
  const root = scratch(t);
  makePlace(root);
  symlinkSync("one", join(root, "harmless"));
  const look = createPathLookup({ workspace: root, sensitive: [(folded) => folded.endsWith("/one")] });
  assert.deepEqual(
    ["ONE", "harmless", "two"].map((path) => look(path, root).sensitive),
    [true, true, false],
  );
});

const SAME: readonly (readonly [one: string, other: string])[] = [
  ["/w/.ENV", "/w/.env"],
  ["/w/.env.", "/w/.env"],
  ["/w/.env ", "/w/.env"],
  ["/w/.env . ./x", "/w/.env/x"],
  ["/w/cafe\u0301", "/w/caf\u00e9"],
  ["/w/CAF\u00c9", "/w/cafe\u0301"],
  ["/w/\u017fecret", "/w/secret"],
  ["/w/\u212aey", "/w/key"],
  ["/w/.g\u200cit/config", "/w/.git/config"],
  ["/w/stra\u00dfe", "/w/STRASSE"],
];
for (const [one, other] of SAME) {
  test(`${JSON.stringify(one)} is compared as ${JSON.stringify(other)}`, () => assert.equal(foldPath(one), foldPath(other)));
}

test("folding twice is folding once, and never joins or splits components", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), (names) => {
      const path = `/${names.map((name) => name.replaceAll("/", "")).join("/")}`;
      assert.equal(foldPath(foldPath(path)), foldPath(path));
      assert.equal(foldPath(path).split("/").length, path.split("/").length);
    }),
  );
});
