import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { createHostFiles, sessionOutputDirectory } from "../../src/files/files.ts";
import { runNode } from "../processes/run-node.ts";
import { scratch } from "../scratch.ts";

const mode = (path: string): number => lstatSync(path).mode & 0o7777;
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

test("11: full output goes to a private file under a safe name with a random part", async (t) => {
  const outputDirectory = join(scratch(t), "output");
  const files = createHostFiles({ outputDirectory });
  const spilled = [];
  for (const call of ["call/../../x:1", "call/../../x:1"]) {
    const file = await files.spill("s_1", call);
    await file.write("héllo ");
    await file.write(Buffer.from("wörld"));
    spilled.push(await file.end());
  }
  for (const { path, size, sha256: digest } of spilled) {
    assert.equal(dirname(path), join(outputDirectory, "s_1"));
    assert.match(path, /\/call_______x_1-[0-9a-f]{16}\.txt$/);
    assert.equal(readFileSync(path, "utf8"), "héllo wörld");
    assert.deepEqual([size, digest, mode(path), mode(dirname(path))], [13, sha256("héllo wörld"), 0o600, 0o700]);
  }
  assert.notEqual(spilled[0]?.path, spilled[1]?.path);
});

for (const [name, id, expected] of [
  ["a name with a path in it", "../../etc/x", "______etc_x"],
  ["an empty name", "", "_"],
  ["dots", "..", "__"],
  ["a long name", "a".repeat(500), "a".repeat(80)],
] as const) {
  test(`a session's directory stays in the output directory: ${name}`, () =>
    assert.equal(sessionOutputDirectory("/out", id), `/out/${expected}`));
}

test("writes that are not waited for stay in order", async (t) => {
  const file = await createHostFiles({ outputDirectory: scratch(t) }).spill("s", "c");
  const writes = Array.from({ length: 50 }, (_, i) => file.write(`${i},`));
  const { path } = await file.end();
  await Promise.all(writes);
  assert.equal(readFileSync(path, "utf8"), Array.from({ length: 50 }, (_, i) => `${i},`).join(""));
});

test("11: past the file's limit the file ends with the mark, once, at a whole character", async (t) => {
  const files = createHostFiles({ outputDirectory: scratch(t), limits: { perFile: 41, perSession: 1000 } });
  const file = await files.spill("s", "c");
  await file.write("0123456789");
  await file.write("漢字漢字");
  await file.write("never");
  const { path, size, sha256: digest, cut } = await file.end();
  const text = readFileSync(path, "utf8");
  assert.equal(text, "0123456789漢字漢\n[file limit reached]");
  assert.deepEqual([size, digest, cut], [Buffer.byteLength(text), sha256(text), true]);
  assert.ok(size <= 41);
});

test("11: the session's limit holds over files and over processes", async (t) => {
  const outputDirectory = scratch(t);
  const limits = { perFile: 1000, perSession: 120 };
  const first = await createHostFiles({ outputDirectory, limits }).spill("s", "c");
  await first.write("x".repeat(60));
  await first.end();
  const later = createHostFiles({ outputDirectory, limits });
  const second = await later.spill("s", "c");
  await second.write("y".repeat(60));
  const { path } = await second.end();
  assert.equal(readFileSync(path, "utf8"), `${"y".repeat(39)}\n[file limit reached]`);
  const third = await later.spill("s", "d");
  await third.write("z");
  assert.equal(readFileSync((await third.end()).path, "utf8"), "\n[file limit reached]");
  const other = await later.spill("another", "c");
  await other.write("z");
  const whole = await other.end();
  assert.deepEqual([whole.size, "cut" in whole], [1, false]);
});

test("a link in place of the session's directory is refused", async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, "elsewhere"));
  symlinkSync(join(directory, "elsewhere"), join(directory, "s"));
  await assert.rejects(createHostFiles({ outputDirectory: directory }).spill("s", "c"), { code: "ENOTDIR" });
  assert.deepEqual(readdirSync(join(directory, "elsewhere")), []);
});

test("a directory others could read is closed to them", async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, "s"), { mode: 0o755 });
  await (await createHostFiles({ outputDirectory: directory }).spill("s", "c")).end();
  assert.equal(mode(join(directory, "s")), 0o700);
});

const FULL_DISK = "ulimit -f 8"; // in blocks of 1,024 bytes

test("a full disk is reported, and no partial output file remains", async (t) => {
  const directory = scratch(t);
  const source = `
    import { createHostFiles } from "../../src/files/files.ts";
    const file = await createHostFiles({ outputDirectory: ${JSON.stringify(directory)} }).spill("s", "c");
    const answers = [];
    for (const write of [() => file.write("x".repeat(4000)), () => file.write("x".repeat(9000)), () => file.write("x"), () => file.end()])
      answers.push(await write().then(() => "ok", (error) => error.code));
    console.log(JSON.stringify(answers));`;
  assert.deepEqual(JSON.parse(await runNode(source, FULL_DISK)), ["ok", "EFBIG", "EFBIG", "EFBIG"]);
  assert.deepEqual(readdirSync(join(directory, "s")), []);
});

test("a replace that fails half-way leaves the old bytes and no temporary file", async (t) => {
  const directory = scratch(t);
  const path = join(directory, "a.txt");
  writeFileSync(path, "old");
  const source = `
    import { createHostFiles } from "../../src/files/files.ts";
    const files = createHostFiles({ outputDirectory: "/nonexistent" });
    console.log(await files.replace(${JSON.stringify(path)}, "x".repeat(100_000)).then(() => "ok", (error) => error.code));`;
  assert.equal(await runNode(source, FULL_DISK), "EFBIG\n");
  assert.deepEqual([readFileSync(path, "utf8"), readdirSync(directory)], ["old", ["a.txt"]]);
});

const files = createHostFiles({ outputDirectory: "/nonexistent" });

test("a new file is made with its parents, under the umask", async (t) => {
  const path = join(scratch(t), "a", "b", "c.txt");
  await files.replace(path, "new");
  assert.deepEqual([readFileSync(path, "utf8"), mode(path)], ["new", 0o666 & ~process.umask()]);
  assert.deepEqual(readdirSync(dirname(path)), ["c.txt"]);
});

test("the old file's mode is kept, and a given mode wins", async (t) => {
  const path = join(scratch(t), "run.sh");
  writeFileSync(path, "old");
  chmodSync(path, 0o751);
  await files.replace(path, Buffer.from([0, 255]));
  assert.deepEqual([mode(path), [...readFileSync(path)]], [0o751, [0, 255]]);
  await files.replace(path, "x", { mode: 0o600 });
  assert.equal(mode(path), 0o600);
});

test("a replaced file is a new file: readers with the old one open keep reading the old bytes", async (t) => {
  const path = join(scratch(t), "a");
  writeFileSync(path, "old");
  const before = statSync(path).ino;
  await files.replace(path, "new");
  assert.notEqual(statSync(path).ino, before);
});

test("a link stays a link: the file it leads to is replaced", async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, "real"));
  writeFileSync(join(directory, "real", "a"), "old");
  symlinkSync("real/a", join(directory, "one"));
  symlinkSync("one", join(directory, "two"));
  await files.replace(join(directory, "two"), "new");
  assert.deepEqual([readlinkSync(join(directory, "two")), readFileSync(join(directory, "real", "a"), "utf8")], ["one", "new"]);
});

test("a link that leads nowhere yet: the file it names is made", async (t) => {
  const directory = scratch(t);
  symlinkSync("sub/new", join(directory, "link"));
  await files.replace(join(directory, "link"), "x");
  assert.equal(readFileSync(join(directory, "sub", "new"), "utf8"), "x");
  assert.ok(lstatSync(join(directory, "link")).isSymbolicLink());
});

test("`..` in a link is taken from where the link really is", async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, "deep", "er"), { recursive: true });
  symlinkSync("deep/er", join(directory, "short"));
  symlinkSync("../target", join(directory, "deep", "er", "link"));
  await files.replace(join(directory, "short", "link"), "x");
  assert.equal(readFileSync(join(directory, "deep", "target"), "utf8"), "x");
  assert.ok(!existsSync(join(directory, "target")));
});

const REFUSED: readonly (readonly [name: string, prepare: (path: string) => void, code: string])[] = [
  ["a loop of links", (path) => symlinkSync(path, path), "ELOOP"],
  ["a directory", (path) => mkdirSync(path), "EISDIR"],
];
for (const [name, prepare, code] of REFUSED) {
  test(`${name} is not replaced`, async (t) => {
    const directory = scratch(t);
    prepare(join(directory, "x"));
    await assert.rejects(files.replace(join(directory, "x"), "new"), { code });
    assert.deepEqual(readdirSync(directory), ["x"]);
  });
}

/** As root every owner can be given; as anybody else the question does not arise for one's own files. */
test("the owner is kept, and where it cannot be, nothing is replaced", async (t) => {
  const directory = scratch(t);
  const path = join(directory, "a");
  writeFileSync(path, "old");
  chmodSync(directory, 0o777);
  const source = (become: string, change: string): string => `
    import { chownSync, statSync } from "node:fs";
    import { createHostFiles } from "../../src/files/files.ts";
    const path = ${JSON.stringify(path)};
    ${change}
    const before = statSync(path);
    ${become}
    const answer = await createHostFiles({ outputDirectory: "/" }).replace(path, "new").then(() => "ok", (error) => error.code);
    const { uid, gid } = statSync(path);
    console.log(answer, uid === before.uid && gid === before.gid);`;
  const root = process.getuid?.() === 0;
  assert.equal(await runNode(source("", root ? "chownSync(path, 12345, 23456);" : "")), "ok true\n");
  if (!root) return;
  assert.equal(await runNode(source("process.setgroups([]); process.setgid(54321); process.setuid(54321);", "")), "EPERM true\n");
  assert.deepEqual([readFileSync(path, "utf8"), readdirSync(directory)], ["new", ["a"]]);
});
