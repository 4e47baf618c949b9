import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { findProgram, PROGRAM_PATH, programDirectories, sameProgram } from "../../../src/shell/plan/find-program.ts";
import { scratch } from "../../scratch.ts";

/** A workspace `ws` with programs, and directories `own` and `other` outside of it. */
function places(t: TestContext): { readonly root: string; readonly workspace: string } {
  const root = scratch(t);
  for (const directory of ["ws/bin", "own", "other"]) {
    mkdirSync(join(root, directory), { recursive: true });
    writeFileSync(join(root, directory, "tool"), "#!/bin/sh\n");
    chmodSync(join(root, directory, "tool"), 0o755);
  }
  copyFileSync(join(root, "ws/bin/tool"), join(root, "ws/tool"));
  symlinkSync("ws", join(root, "alias"));
  symlinkSync("own", join(root, "owned"));
  mkdirSync(join(root, "linked"));
  symlinkSync("../ws/bin/tool", join(root, "linked/tool"));
  mkdirSync(join(root, "plain"));
  writeFileSync(join(root, "plain/tool"), "not executable");
  mkdirSync(join(root, "folder/tool"), { recursive: true });
  return { root, workspace: join(root, "ws") };
}

/** `R` is the directory of the test. */
const FOUND: readonly (readonly [name: string, program: string, path: readonly string[], file: string | undefined])[] = [
  ["the first directory counts", "tool", ["R/own", "R/other"], "R/own/tool"],
  ["the order is that of the path", "tool", ["R/other", "R/own"], "R/other/tool"],
  ["a directory without it is passed over", "tool", ["R/absent", "R/own"], "R/own/tool"],
  ["the workspace is passed over", "tool", ["R/ws", "R/own"], "R/own/tool"],
  ["a directory in the workspace is passed over", "tool", ["R/ws/bin", "R/own"], "R/own/tool"],
  ["a link to the workspace is passed over", "tool", ["R/alias/bin", "R/own"], "R/own/tool"],
  ["a way around into the workspace is passed over", "tool", ["R/own/../ws/bin", "R/own"], "R/own/tool"],
  ["a link from outside to a program in the workspace is passed over", "tool", ["R/linked", "R/own"], "R/own/tool"],
  ["a link to a directory outside is used", "tool", ["R/owned"], "R/owned/tool"],
  ["the present directory is passed over", "tool", [".", "", "own", "R/other"], "R/other/tool"],
  ["a file that may not be executed is passed over", "tool", ["R/plain", "R/own"], "R/own/tool"],
  ["a directory of that name is passed over", "tool", ["R/folder", "R/own"], "R/own/tool"],
  ["nothing of that name", "absent-tool", ["R/own"], undefined],
  ["an empty name", "", ["R/own"], undefined],
  ["the directory itself", ".", ["R/own"], undefined],
  ["the directory above", "..", ["R/own"], undefined],
  ["a name with a slash is not looked up", "own/tool", ["R"], undefined],
  ["./tool is not looked up", "./tool", ["R/own"], undefined],
  ["an absolute name is that file", "R/other/tool", ["R/own"], "R/other/tool"],
  ["an absolute name of nothing", "R/other/absent", ["R/own"], undefined],
  ["a NUL in the name", "tool\0", ["R/own"], undefined],
];
for (const [name, program, path, file] of FOUND) {
  test(`${name}`, (t) => {
    const { root, workspace } = places(t);
    const at = (text: string): string => text.replace(/^R/, root);
    const found = findProgram(at(program), { path: path.map(at), workspace });
    assert.equal(found?.file, file && at(file));
  });
}

test("a found program has device, inode, size and time of its real file", (t) => {
  const { root, workspace } = places(t);
  symlinkSync("tool", join(root, "own/link"));
  const found = findProgram("link", { path: [join(root, "own")], workspace });
  const { dev, ino, size, mtimeMs, ctimeMs } = statSync(join(root, "own/tool"));
  assert.deepEqual(found, { file: join(root, "own/link"), dev, ino, size, mtimeMs, ctimeMs });
});

test("node and npm are also looked up next to the running Node, after the path, and not in the workspace", (t) => {
  const { root, workspace } = places(t);
  for (const directory of ["own", "ws/bin"])
    for (const name of ["node", "npm", "npx"]) copyFileSync(join(root, directory, "tool"), join(root, directory, name));
  const beside = { path: [join(root, "other")], workspace, nodeDirectory: join(root, "own") };
  assert.deepEqual(
    ["node", "npm", "npx", "tool"].map((name) => findProgram(name, beside)?.file),
    [join(root, "own/node"), join(root, "own/npm"), undefined, join(root, "other/tool")],
  );
  copyFileSync(join(root, "own/node"), join(root, "other/node"));
  assert.equal(findProgram("node", beside)?.file, join(root, "other/node"));
  assert.equal(findProgram("npm", { ...beside, nodeDirectory: join(root, "ws/bin") }), undefined);
  assert.equal(findProgram("node", { path: [], workspace })?.file, join(dirname(process.execPath), "node"));
});

test("the system's directories are the path unless settings say otherwise", () => {
  assert.deepEqual(PROGRAM_PATH, ["/usr/local/bin", "/usr/bin", "/bin"]);
  assert.match(findProgram("sh", { path: PROGRAM_PATH, workspace: "/nonexistent" })?.file ?? "", /^\/(usr\/(local\/)?)?bin\/sh$/);
});

test("programs that a program starts are looked up in the same directories", (t) => {
  const { root, workspace } = places(t);
  const path = ["relative", join(root, "ws/bin"), join(root, "alias"), join(root, "own"), `${root}/own:${root}/ws`, join(root, "other")];
  assert.deepEqual(programDirectories({ path, workspace }), [join(root, "own"), join(root, "other")]);
});

const CHANGES: readonly (readonly [name: string, change: (file: string) => void, same: boolean])[] = [
  ["untouched", () => undefined, true],
  ["only read", (file) => readFileSync(file), true],
  ["longer", (file) => appendFileSync(file, "x"), false],
  ["of the same size, with another time", (file) => utimesSync(file, 5, 5), false],
  [
    "another file with the same bytes and time",
    (file) => {
      const { atimeMs, mtimeMs } = statSync(file);
      copyFileSync(file, `${file}.new`);
      utimesSync(`${file}.new`, atimeMs / 1000, mtimeMs / 1000);
      renameSync(`${file}.new`, file);
    },
    false,
  ],
  ["gone", (file) => rmSync(file), false],
  ["not executable", (file) => chmodSync(file, 0o644), false],
  [
    "a link to another file",
    (file) => {
      renameSync(file, `${file}.old`);
      symlinkSync("/bin/sh", file);
    },
    false,
  ],
];
for (const [name, change, same] of CHANGES) {
  test(`a program that is ${name} is ${same ? "the same" : "another one"}`, (t) => {
    const { root, workspace } = places(t);
    const found = findProgram("tool", { path: [join(root, "own")], workspace });
    assert.ok(found);
    change(found.file);
    assert.equal(sameProgram(found), same);
  });
}
