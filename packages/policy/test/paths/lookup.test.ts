import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { isInside, resolvePath } from "../../src/paths/resolve.ts";
import { scratch } from "../scratch.ts";

const INSIDE: readonly (readonly [root: string, path: string, inside: boolean])[] = [
  ["/w/app", "/w/app", true],
  ["/w/app", "/w/app/x", true],
  ["/w/app", "/w/app-evil/x", false],
  ["/w/app", "/w/ap", false],
  ["/w/app", "/w", false],
  ["/", "/x", true],
  ["/", "/", true],
];
for (const [root, path, inside] of INSIDE) {
  test(`${path} is ${inside ? "inside" : "outside"} ${root}`, () => assert.equal(isInside(root, path), inside));
}

/** Where a path leads, in a workspace with links of every sort; `R` stands for the directory around it. */
const PATHS: readonly (readonly [name: string, path: string, real: string | null, inside: boolean])[] = [
  ["a file of the workspace", "a.txt", "R/ws/a.txt", true],
  ["a file spelled in a roundabout way", ".//sub/../a.txt", "R/ws/a.txt", true],
  ["a new file in a new directory", "new/er/x", "R/ws/new/er/x", true],
  ["a directory whose name begins like the workspace's", "../ws-evil/x", "R/ws-evil/x", false],
  ["an absolute path", "/nonexistent/x", "/nonexistent/x", false],
  ["a file behind a link that leads out", "out/x", "R/other/x", false],
  ["a new file behind a link that leads out", "out/b/c.ts", "R/other/b/c.ts", false],
  ["a link that stays inside", "in/x", "R/ws/sub/x", true],
  ["a dangling link that leads out", "dangling", "R/other/absent", false],
  ["a dangling link that leads to a dangling link", "dangling2", "R/other/absent", false],
  ["`..` behind a link, which is removed by its spelling", "out/../a.txt", "R/ws/a.txt", true],
  ["a link whose target goes up from where it leads", "up", "R/other/file", false],
  ["a file used as a directory", "a.txt/x", "R/ws/a.txt/x", true],
  ["a loop", "loop", null, false],
  ["a file behind a loop", "loop/x/y", null, false],
  ["more than 40 links in a row", "hop0", null, false],
  ["40 links in a row", "hop1", "R/ws/a.txt", true],
  ["a line break", "a\nb", "R/ws/a\nb", false],
  ["a NUL", "a\0b", null, false],
  ["the workspace itself", ".", "R/ws", true],
];

function makePlace(root: string): void {
  for (const directory of ["ws/sub", "ws-evil", "other/deep"]) mkdirSync(join(root, directory), { recursive: true });
  for (const file of ["ws/a.txt", "other/file"]) writeFileSync(join(root, file), "");
  const links = {
    out: "../other",
    in: "sub",
    dangling: "../other/absent",
    dangling2: "dangling",
    up: "../other/deep/../file",
    loop: "loop2",
    loop2: "loop",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, "ws", name));
  for (let i = 0; i <= 40; i++) symlinkSync(i === 40 ? "a.txt" : `hop${i + 1}`, join(root, "ws", `hop${i}`));
}

for (const [name, path, real, inside] of PATHS) {
  test(`${name}: ${JSON.stringify(path)} is ${inside ? "inside" : "outside"}`, (t) => {
    const root = scratch(t);
    makePlace(root);
    const fact = createPathLookup({ workspace: join(root, "ws") })(path, join(root, "ws"));
    assert.equal(fact.real, real === null ? null : real.replace(/^R/, root));
    assert.equal(fact.inside, inside);
  });
}

test("a link that is not resolvable to the end counts hops also through directories that do not exist", (t) => {
  const root = scratch(t);
  symlinkSync("self/x", join(root, "self"));
  assert.equal(resolvePath("self/new/file", root).real, null);
});

test("a directory one may not look into is unresolved", (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "closed"), { mode: 0o700 });
  mkdirSync(join(root, "closed", "in"));
  chmodSync(root, 0o755);
  if (process.getuid?.() !== 0) chmodSync(join(root, "closed"), 0);
  const source = `
    import { resolvePath } from "../../src/paths/resolve.ts";
    if (process.getuid() === 0) process.setuid(54321);
    console.log(JSON.stringify(["closed/in/x", "closed"].map((path) => resolvePath(path, ${JSON.stringify(root)}).real)));`;
  const shown = execFileSync(process.execPath, ["--conditions=@assent/source", "--input-type=module", "-e", source], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  chmodSync(join(root, "closed"), 0o700); // or its owner could not remove it
  assert.deepEqual(JSON.parse(shown), [null, join(root, "closed")]);
});

test("the lexical spelling is NFC, but what is opened is what was named", () => {
  const { absolute, lexical } = resolvePath("e\u0301", "/x");
  assert.deepEqual([absolute, lexical], ["/x/e\u0301", "/x/\u00e9"]);
});

test("additional directories count as the workspace, by their real path", (t) => {
  const root = scratch(t);
  makePlace(root);
  symlinkSync("other", join(root, "alias"));
  const look = createPathLookup({ workspace: join(root, "ws"), additionalDirectories: [join(root, "alias")] });
  assert.equal(look("out/x", join(root, "ws")).inside, true);
  assert.equal(look("../ws-evil/x", join(root, "ws")).inside, false);
});

test("the session's own output is known, also before its directory exists, and nothing beside it", (t) => {
  const root = scratch(t);
  makePlace(root);
  const look = createPathLookup({ workspace: join(root, "ws"), readable: [join(root, "state/output/s_1")] });
  const known = (path: string): boolean => look(path, root).ownOutput;
  assert.deepEqual(["state/output/s_1/c.txt", "state/output/s_2/c.txt", "state/output/s_1/../../ledger.db"].map(known), [
    true,
    false,
    false,
  ]);
  mkdirSync(join(root, "state/output/s_1"), { recursive: true });
  symlinkSync("/etc/hostname", join(root, "state/output/s_1/planted"));
  assert.equal(known("state/output/s_1/planted"), false);
});

const PLANS: readonly (readonly [sentence: string, path: string, make: (root: string) => void, planFile: boolean])[] = [
  ["a plan that is not written yet", ".assent/plans/s_1.md", () => undefined, true],
  ["a plan that is", ".assent/plans/s_1.md", (root) => write(root, ".assent/plans/s_1.md"), true],
  ["the plan of another session", ".assent/plans/s_2.md", () => undefined, false],
  ["a link to another file", ".assent/plans/s_1.md", (root) => link(root, "a.txt", ".assent/plans/s_1.md"), false],
  ["a link on the way", ".assent/plans/s_1.md", (root) => link(root, "sub", ".assent/plans"), false],
  ["a link that leads to it", "alias.md", (root) => link(root, ".assent/plans/s_1.md", "alias.md"), false],
  ["a file that has another name", ".assent/plans/s_1.md", (root) => hardLink(root, "a.txt", ".assent/plans/s_1.md"), false],
];
for (const [sentence, path, make, planFile] of PLANS) {
  test(`${sentence} is ${planFile ? "the plan" : "not the plan"}`, (t) => {
    const root = scratch(t);
    makePlace(root);
    const workspace = join(root, "ws");
    make(workspace);
    const look = createPathLookup({ workspace, planFile: () => join(workspace, ".assent/plans/s_1.md") });
    assert.equal(look(path, workspace).planFile, planFile);
    assert.equal(createPathLookup({ workspace })(path, workspace).planFile, false);
  });
}

function write(root: string, name: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), "x");
}

function link(root: string, target: string, name: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  symlinkSync(join(root, target), join(root, name));
}

function hardLink(root: string, target: string, name: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  linkSync(join(root, target), join(root, name));
}

const SYSTEM: readonly (readonly [path: string, inside: boolean, sensitive: boolean])[] = [
  ["/proc/self/environ", false, true],
  ["/dev/sda", false, true],
  ["/dev", false, true],
  ["/PROC/1/mem", false, true],
  ["/dev/null", true, false],
  ["/device", true, false],
];
for (const [path, inside, sensitive] of SYSTEM) {
  test(`in the workspace / the path ${path} is ${inside ? "inside" : "outside"} and ${sensitive ? "" : "not "}sensitive`, () => {
    const fact = createPathLookup({ workspace: "/" })(path, "/");
    assert.deepEqual([fact.inside, fact.sensitive], [inside, sensitive]);
  });
}

test("a link into the kernel's tree is outside and sensitive", (t) => {
  const root = scratch(t);
  symlinkSync("/proc/self", join(root, "me"));
  const fact = createPathLookup({ workspace: root })("me/environ", root);
  assert.deepEqual([fact.inside, fact.sensitive], [false, true]);
});

test("a harmless name that leads to a secret is sensitive, and so is a secret's name that leads to something harmless", (t) => {
  const root = scratch(t);
  for (const name of [".env", "plain"]) writeFileSync(join(root, name), "");
  symlinkSync(".env", join(root, "notes"));
  symlinkSync("plain", join(root, "server.key"));
  const look = createPathLookup({ workspace: root });
  assert.deepEqual(
    ["notes", "server.key", "plain"].map((path) => look(path, root).sensitive),
    [true, true, false],
  );
});

test("forty links in a row are followed, also where the last leads to nothing; one more is a loop to the system", (t) => {
  const root = scratch(t);
  for (let i = 0; i < 41; i++) symlinkSync(i === 0 ? "gone" : `l${i - 1}`, join(root, `l${i}`));
  const look = createPathLookup({ workspace: root });
  assert.deepEqual([look("l39", root).real, look("l40", root).real], [join(root, "gone"), null]);
});

test("the anchor of a path is the nearest directory that is there, and none where one cannot look", (t) => {
  const root = scratch(t);
  makePlace(root);
  const look = createPathLookup({ workspace: join(root, "ws") });
  const anchor = (path: string): string | undefined => look(path, join(root, "ws")).anchor()?.path;
  assert.equal(anchor("a.txt"), join(root, "ws"));
  assert.equal(anchor("new/deep/x"), join(root, "ws"));
  assert.equal(anchor("a.txt/below/x"), join(root, "ws"));
  assert.equal(anchor("/nonexistent-directory/x"), "/");
  assert.equal(anchor(`${"x".repeat(300)}/x`), undefined);
});
