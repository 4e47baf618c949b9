import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  chownSync,
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
import {
  findProgram,
  mayBeProxy,
  PROGRAM_PATH,
  programDirectories,
  programPlaces,
  sameProgram,
} from "../../../src/shell/plan/find-program.ts";
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

/** The user's `PATH`: programs in `own`, and the traps that a row sets in `R`. */
const BY_USER_PATH: readonly (readonly [name: string, path: string, file: string | undefined, set?: (root: string) => void])[] = [
  ["a directory of the user", "R/own", "R/own/tool"],
  ["the first of two", "R/other:R/own", "R/other/tool"],
  ["a link of the user to a directory, by its real path", "R/owned", "R/own/tool"],
  ["a link of the user to a program", "R/links", "R/links/tool", (root) => linkIn(root, "../own/tool")],
  ["none in an empty path", "", undefined],
  ["none in a relative directory", "own:.:../own", undefined],
  ["none in the workspace", "R/ws:R/ws/bin", undefined],
  ["none by a link to the workspace", "R/alias/bin", undefined],
  ["none by a way around into the workspace", "R/own/../ws/bin", undefined],
  ["none that a link leads to in the workspace", "R/linked", undefined],
  ["the next after one in the workspace", "R/ws/bin:R/linked:R/own", "R/own/tool"],
  ["none where everyone can write", "R/own", undefined, (root) => chmodSync(join(root, "own"), 0o777)],
  ["none where everyone can add files", "R/own", undefined, (root) => chmodSync(join(root, "own"), 0o1777)],
  ["none below a directory where everyone can write", "R/open/bin", undefined, (root) => makeOpen(root, 0o777)],
  ["one below a directory where others can only add files", "R/open/bin", "R/open/bin/tool", (root) => makeOpen(root, 0o1777)],
  ["none in a directory of another group that can write", "R/own", undefined, (root) => giveToGroup(join(root, "own"))],
  ["no program that everyone can write to", "R/own", undefined, (root) => chmodSync(join(root, "own/tool"), 0o777)],
  ["no link to a program that everyone can write to", "R/links", undefined, (root) => linkToOpen(root)],
  ["no link that goes around in a circle", "R/links", undefined, (root) => linkIn(root, "tool")],
  ["none in a directory that npm adds", "R/node_modules/.bin", undefined, (root) => makeTool(join(root, "node_modules/.bin"))],
];
for (const [name, path, file, set] of BY_USER_PATH) {
  test(`the user's PATH leads to ${name}`, (t) => {
    const { root, workspace } = places(t);
    set?.(root);
    const userPath = path.replaceAll("R", root);
    const found = findProgram("tool", programPlaces([], { userPath, workspace }));
    assert.equal(found?.file, file?.replace("R", root));
    assert.equal(found?.byUserPath, file && true);
    const directories = programDirectories({ path: [], userPath, workspace });
    assert.equal(directories.includes(dirname(file?.replace("R", root) ?? "/absent")), file !== undefined);
  });
}

test("a program of another user is not found by the user's PATH", {
  skip: process.getuid?.() !== 0 && "only root can give files away",
}, (t) => {
  for (const given of ["own/tool", "own"]) {
    const { root, workspace } = places(t);
    chownSync(join(root, given), 65534, 65534);
    assert.equal(findProgram("tool", { path: [], userPath: join(root, "own"), workspace }), undefined, given);
  }
});

test("the system's program comes before one of the same name in the user's PATH, and settings replace both", (t) => {
  const { root, workspace } = places(t);
  copyFileSync(join(root, "own/tool"), join(root, "own/ls"));
  const user = { userPath: join(root, "own"), workspace };
  assert.match(findProgram("ls", programPlaces([], user))?.file ?? "", /^\/usr\/bin\/ls$|^\/bin\/ls$/);
  assert.equal(findProgram("tool", programPlaces([join(root, "absent")], user)), undefined);
});

const PROXIES: readonly (readonly [sentence: string, text: string, proxy: boolean, more?: (directory: string) => void])[] = [
  ["a binary is none", "\u007fELF", false],
  ["a shell script is one", "#!/bin/sh\nexec asdf exec tool\n", true],
  ["a script of bash by env is one", "#!/usr/bin/env bash\n", true],
  ["a script of node without a node beside it is one", "#!/usr/bin/env node\n", true],
  ["a script of node with a node beside it is none", "#!/usr/bin/env node\n", false, (at) => makeTool(at, "node", "\u007fELF")],
  ["a script of node with a script as node is one", "#!/usr/bin/env node\n", true, (at) => makeTool(at, "node", "#!/bin/sh\n")],
];
for (const [sentence, text, proxy, more] of PROXIES) {
  test(`a proxy in the user's PATH: ${sentence}`, (t) => {
    const { root, workspace } = places(t);
    makeTool(join(root, "own"), "tool", text);
    more?.(join(root, "own"));
    const found = findProgram("tool", { path: [], userPath: join(root, "own"), workspace });
    assert.ok(found);
    assert.equal(mayBeProxy("tool", found), proxy);
  });
}

test("a proxy in the user's PATH: a link to another program and a binary among shims are ones", (t) => {
  const { root, workspace } = places(t);
  makeTool(join(root, "shims"), "tool", "\u007fELF");
  makeTool(join(root, "rust"), "rustup", "\u007fELF");
  symlinkSync("rustup", join(root, "rust/tool"));
  for (const directory of ["shims", "rust"]) {
    const found = findProgram("tool", { path: [], userPath: join(root, directory), workspace });
    assert.ok(found && mayBeProxy("tool", found), directory);
  }
});

function makeTool(directory: string, name = "tool", text = "#!/bin/sh\n"): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), text);
  chmodSync(join(directory, name), 0o755);
}

function linkIn(root: string, target: string): void {
  mkdirSync(join(root, "links"));
  symlinkSync(target, join(root, "links/tool"));
}

function linkToOpen(root: string): void {
  chmodSync(join(root, "other/tool"), 0o777);
  linkIn(root, "../other/tool");
}

function makeOpen(root: string, mode: number): void {
  makeTool(join(root, "open/bin"));
  chmodSync(join(root, "open"), mode);
}

/** To a group that is not the user's own, if the user may. */
function giveToGroup(directory: string): void {
  const others = process.getgroups?.().filter((group) => group !== process.getuid?.()) ?? [];
  if (process.getuid?.() === 0) chownSync(directory, 0, 65534);
  else if (others[0] !== undefined) chownSync(directory, -1, others[0]);
  chmodSync(directory, others.length > 0 || process.getuid?.() === 0 ? 0o775 : 0o777);
}

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
