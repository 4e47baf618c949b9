import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { lineWindow } from "../../src/files/line-window.ts";
import { session, shown } from "../session.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const NOT_UTF8 = "[not valid UTF-8: invalid bytes are shown as \ufffd]\n";
const many = (lines: number): string => Array.from({ length: lines }, (_, i) => `line ${i + 1}`).join("\n");

const ROWS: readonly (readonly [name: string, file: string | Buffer, input: object, content: string])[] = [
  ["text comes with line numbers", "a\nb\n", {}, "1→a\n2→b"],
  ["the last line need not end", "a\nb", {}, "1→a\n2→b"],
  ["empty lines are lines", "\n\na\n", {}, "1→\n2→\n3→a"],
  ["CRLF is not shown", "a\r\nb\r\n", {}, "1→a\n2→b"],
  ["a lone carriage return is no line break", "a\rb", {}, "1→a\rb"],
  ["a BOM is not shown", "\ufeffa\n", {}, "1→a"],
  ["offset and limit", many(10), { offset: 3, limit: 2 }, "3→line 3\n4→line 4\n[6 more lines; continue with offset 5]"],
  ["a limit that reaches the end exactly", many(4), { offset: 3, limit: 2 }, "3→line 3\n4→line 4"],
  ["an offset beyond the end", "a\nb\n", { offset: 3 }, "The file has 2 lines."],
  ["an empty file", "", {}, "The file has 0 lines."],
  [
    "a line over 2,000 characters is cut and marked",
    `${"x".repeat(2500)}\nb`,
    {},
    `1→${"x".repeat(2000)}… [line cut: 2500 characters]\n2→b`,
  ],
  ["a line of 2,000 characters is whole, also with CRLF", `${"x".repeat(2000)}\r\nb`, {}, `1→${"x".repeat(2000)}\n2→b`],
  ["a cut never splits a character", `${"x".repeat(1999)}🙂y`, {}, `1→${"x".repeat(1999)}… [line cut: 2002 characters]`],
  ["text beyond ASCII", "é漢🙂\n", {}, "1→é漢🙂"],
  ["a replacement character that the file itself holds", "a\ufffd\n", {}, "1→a\ufffd"],
  ["bytes that are no text are replaced, and that is said", Buffer.from([0x61, 0xe9, 0x0a, 0x62]), {}, `${NOT_UTF8}1→a\ufffd\n2→b`],
  ["a character cut off at the end of the file", Buffer.from([0x61, 0xe6, 0xbc]), {}, `${NOT_UTF8}1→a\ufffd`],
  [
    "text that is not UTF-8 pages as others do",
    Buffer.from([0xff, 0x0a, 0x61, 0x0a, 0x62]),
    { limit: 1 },
    `${NOT_UTF8}1→\ufffd\n[2 more lines; continue with offset 2]`,
  ],
];
for (const [name, file, input, content] of ROWS) {
  test(name, async (t) => {
    const { call, workspace } = session(t);
    writeFileSync(join(workspace, "f"), file);
    const result = await call("read", { file_path: "f", ...input });
    assert.deepEqual([result.error, result.content], [undefined, content]);
  });
}

test("2,000 lines are read unless told otherwise", async (t) => {
  const { call, workspace } = session(t);
  writeFileSync(join(workspace, "f"), many(2500));
  const content = shown((await call("read", { file_path: "f" })).content).split("\n");
  assert.deepEqual([content.length, content[1999], content[2000]], [2001, "2000→line 2000", "[500 more lines; continue with offset 2001]"]);
});

test("a result that would be larger than all results of a batch pages instead", async (t) => {
  const { call, workspace } = session(t);
  writeFileSync(join(workspace, "f"), `${"x".repeat(1000)}\n`.repeat(1000));
  let offset = 1;
  let pages = 0;
  for (; ; pages++) {
    const content = shown((await call("read", { file_path: "f", offset })).content);
    assert.ok(content.length <= 200_100);
    const next = /\[\d+ more lines; continue with offset (\d+)\]$/.exec(content)?.[1];
    if (next === undefined) break;
    assert.ok(Number(next) > offset);
    offset = Number(next);
  }
  assert.ok(pages >= 5);
});

const FAILURES: readonly (readonly [name: string, make: (path: string) => void, type: string])[] = [
  ["a file that does not exist", () => undefined, "file_not_found"],
  ["a directory", (path) => mkdirSync(path), "target_is_directory"],
  ["a FIFO nobody writes to", (path) => execFileSync("mkfifo", [path]), "target_not_regular_file"],
  ["a device", (path) => symlinkSync("/dev/zero", path), "target_not_regular_file"],
  ["a loop of links", (path) => symlinkSync(path, path), "read_content_failure"],
  ["a binary file", (path) => writeFileSync(path, Buffer.from([1, 0, 2])), "read_content_failure"],
  ["a file over 256 MiB", (path) => sparse(path, 256 * 1024 * 1024 + 1), "file_too_large"],
];
for (const [name, make, type] of FAILURES) {
  test(`${name} is ${type}`, async (t) => {
    const { call, workspace } = session(t);
    make(join(workspace, "f"));
    const result = await call("read", { file_path: "f" });
    assert.equal(result.error?.type, type);
    assert.match(shown(result.content), /^Error: .*\bf\b/s);
  });
}

function sparse(path: string, size: number): void {
  writeFileSync(path, "text\n");
  truncateSync(path, size);
}

test("a file behind a file is not a directory", async (t) => {
  const { call, workspace } = session(t);
  writeFileSync(join(workspace, "f"), "");
  assert.equal((await call("read", { file_path: "f/x" })).error?.type, "path_is_not_a_directory");
});

const MEDIA: readonly (readonly [name: string, bytes: Buffer, part: object])[] = [
  ["PNG", PNG, { type: "image", mediaType: "image/png" }],
  ["JPEG", Buffer.from("ffd8ffe000104a46", "hex"), { type: "image", mediaType: "image/jpeg" }],
  ["GIF", Buffer.from("GIF89a\0\0"), { type: "image", mediaType: "image/gif" }],
  ["WebP", Buffer.from("RIFF\0\0\0\0WEBPVP8 "), { type: "image", mediaType: "image/webp" }],
  ["PDF", Buffer.from("%PDF-1.7\n\0"), { type: "file", mediaType: "application/pdf", name: "picture.txt" }],
];
for (const [name, bytes, part] of MEDIA) {
  test(`${name} is returned unchanged, regardless of its name`, async (t) => {
    const { call, workspace } = session(t);
    writeFileSync(join(workspace, "picture.txt"), bytes);
    assert.deepEqual((await call("read", { file_path: "picture.txt" })).content, [{ ...part, data: bytes.toString("base64") }]);
  });
}

test("an image over 20 MB is named instead of shown", async (t) => {
  const { call, workspace } = session(t);
  writeFileSync(join(workspace, "f"), PNG);
  truncateSync(join(workspace, "f"), 20_000_001);
  assert.equal((await call("read", { file_path: "f" })).content, "[image/png, 20000001 bytes: too large to show]");
});

test("a large file is read to its end, without holding it", async (t) => {
  const { call, workspace } = session(t);
  writeFileSync(join(workspace, "f"), `${"x".repeat(999)}\n`.repeat(30_000));
  const content = shown((await call("read", { file_path: "f", offset: 29_999 })).content);
  assert.equal(content, `29999→${"x".repeat(999)}\n30000→${"x".repeat(999)}`);
});

test("a cancelled read throws instead of answering", async (t) => {
  const { tool, workspace } = session(t);
  writeFileSync(join(workspace, "f"), "x");
  const invocation = await tool("read").build({ file_path: "f" }, { cwd: workspace, callId: "c", sessionId: "s" });
  await assert.rejects(invocation.execute(AbortSignal.abort(new Error("stop"))), /stop/);
});

const INVALID: readonly (readonly [name: string, input: object, message: RegExp])[] = [
  ["another field name", { path: "a" }, /params must have required property 'file_path'/],
  ["an offset of 0", { file_path: "a", offset: 0 }, /params\/offset must be >= 1/],
  ["a limit over 10,000", { file_path: "a", limit: 10_001 }, /params\/limit must be <= 10000/],
  ["an empty path", { file_path: "" }, /params\/file_path/],
  ["a NUL in the path", { file_path: "a\0b" }, /params\/file_path must not contain a NUL/],
  ["an unknown field", { file_path: "a", encoding: "latin1" }, /additional property 'encoding'/],
];
for (const [name, input, message] of INVALID) {
  test(`${name} is invalid`, async (t) => {
    const result = await session(t).call("read", input);
    assert.equal(result.error?.type, "invalid_tool_params");
    assert.match(result.error.message, message);
  });
}

test("numbers sent as text are read as numbers", async (t) => {
  const { call, workspace } = session(t);
  writeFileSync(join(workspace, "f"), "a\nb\n");
  assert.equal((await call("read", { file_path: "f", offset: "2" })).content, "2→b");
});

const OPINIONS: readonly (readonly [name: string, path: string, verdict: string])[] = [
  ["a file of the workspace", "a.txt", "allow"],
  ["a new file of the workspace", "new/x", "allow"],
  ["a sensitive file", ".env", "ask"],
  ["a sensitive place", ".ssh/config", "ask"],
  ["a file elsewhere", "/etc/hostname", "ask"],
  ["a file behind a link that leads out", "out/hostname", "ask"],
  ["the kernel's tree", "/proc/self/environ", "ask"],
  ["a loop", "loop", "ask"],
  ["a line break", "a\nb", "ask"],
  ["11: the session's own output", ".state/output/s_1/c1.txt", "allow"],
];
for (const [name, path, verdict] of OPINIONS) {
  test(`${name}: ${verdict}`, async (t) => {
    const { tool, root } = session(t);
    symlinkSync("/etc", join(root, "out"));
    symlinkSync("loop", join(root, "loop"));
    const invocation = await tool("read").build({ file_path: path }, { cwd: root, callId: "c", sessionId: "s" });
    assert.equal(await invocation.permission(), verdict);
  });
}

test("a path that leads elsewhere than when it was judged is not read", async (t) => {
  const { tool, root } = session(t);
  mkdirSync(join(root, "dir"));
  writeFileSync(join(root, "dir/f"), "harmless");
  const invocation = await tool("read").build({ file_path: "dir/f" }, { cwd: root, callId: "c", sessionId: "s" });
  assert.equal(await invocation.permission(), "allow");
  rmSync(join(root, "dir"), { recursive: true });
  symlinkSync(dirname(root), join(root, "dir"));
  writeFileSync(join(dirname(root), "f"), "secret");
  t.after(() => rmSync(join(dirname(root), "f")));
  const result = await invocation.execute(new AbortController().signal);
  assert.equal(result.error?.type, "execution_denied");
});

test("what the model is shown never changes by accident", (t) => {
  const read = session(t).tool("read");
  assert.equal(read.kind, "read");
  assert.deepEqual(Object.keys(read.inputSchema === true || read.inputSchema === false ? {} : (read.inputSchema.properties ?? {})), [
    "file_path",
    "offset",
    "limit",
  ]);
  assert.match(read.description, /^Reads a file\./);
});

test("a line of any length costs no more than what is shown of it", () => {
  const window = lineWindow({ offset: 1, limit: 10, lineChars: 5, totalChars: 1000 });
  for (let i = 0; i < 100; i++) window.add("abcdefgh");
  window.add("\nx");
  assert.deepEqual(window.end(), { lines: ["1→abcde… [line cut: 800 characters]", "2→x"], last: 2, total: 2 });
});
