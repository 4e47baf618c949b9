import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ToolResult } from "@assent/core";
import { execute, previewOf, type Session, session, shown } from "../session.ts";

const SIGNAL = new AbortController().signal;
const context = ({ root }: Session) => ({ cwd: root, callId: "c1", sessionId: "s_1" });

test("a new file is made, with its parents", async (t) => {
  const { call, root } = session(t);
  const result = await call("write", { file_path: "a/b/c.txt", content: "x\ny\n" });
  assert.deepEqual([result.error, result.content], [undefined, "Created a/b/c.txt: 2 lines added, 0 removed."]);
  assert.equal(readFileSync(join(root, "a/b/c.txt"), "utf8"), "x\ny\n");
});

test("a file that was read is replaced, byte for byte, and keeps its mode", async (t) => {
  const { call, root } = session(t);
  writeFileSync(join(root, "f"), "old\r\n");
  chmodSync(join(root, "f"), 0o750);
  await call("read", { file_path: "f" });
  const result = await call("write", { file_path: "./f", content: "\ufeffnew\r\nno end" });
  assert.equal(result.error, undefined);
  assert.equal(readFileSync(join(root, "f"), "utf8"), "\ufeffnew\r\nno end");
  assert.equal(statSync(join(root, "f")).mode & 0o777, 0o750);
  assert.deepEqual(readdirSync(root), ["f"]);
});

test("what was written is known, so it can be written again", async (t) => {
  const { call, root } = session(t);
  await call("write", { file_path: "f", content: "1" });
  assert.equal((await call("write", { file_path: "f", content: "2" })).error, undefined);
  assert.equal(readFileSync(join(root, "f"), "utf8"), "2");
});

test("a partial read is enough, and a read through a link counts for the file", async (t) => {
  const { call, root } = session(t);
  writeFileSync(join(root, "f"), "1\n2\n3\n");
  symlinkSync("f", join(root, "link"));
  await call("read", { file_path: "link", offset: 2, limit: 1 });
  assert.equal((await call("write", { file_path: "f", content: "x" })).error, undefined);
});

type Prepare = (session: Session) => unknown;
const REFUSED: readonly (readonly [name: string, prepare: Prepare, type: string])[] = [
  ["a file that was not read in this session", ({ root }) => writeFileSync(join(root, "f"), "old"), "edit_requires_prior_read"],
  [
    "a file that another session has read",
    async ({ root, call }) => {
      writeFileSync(join(root, "f"), "old");
      await call("read", { file_path: "f" }, { sessionId: "s_2" });
    },
    "edit_requires_prior_read",
  ],
  [
    "a file that changed after the read",
    async ({ root, call }) => {
      writeFileSync(join(root, "f"), "old");
      await call("read", { file_path: "f" });
      writeFileSync(join(root, "f"), "changed");
    },
    "file_changed_since_read",
  ],
  [
    "a file that was replaced by one of the same size and time",
    async ({ root, call }) => {
      writeFileSync(join(root, "f"), "old");
      const { atime, mtime } = statSync(join(root, "f"));
      await call("read", { file_path: "f" });
      writeFileSync(join(root, "f"), "odd");
      const { utimesSync } = await import("node:fs");
      utimesSync(join(root, "f"), atime, mtime);
    },
    "file_changed_since_read",
  ],
  [
    "equal content",
    async ({ root, call }) => {
      writeFileSync(join(root, "f"), "new");
      await call("read", { file_path: "f" });
    },
    "edit_no_change",
  ],
  ["a directory", ({ root }) => mkdirSync(join(root, "f")), "target_is_directory"],
  ["a FIFO", ({ root }) => execFileSync("mkfifo", [join(root, "f")]), "target_not_regular_file"],
  ["a loop of links", ({ root }) => symlinkSync("f", join(root, "f")), "file_write_failure"],
];
for (const [name, prepare, type] of REFUSED) {
  test(`${name} is ${type}, and nothing is written`, async (t) => {
    const made = session(t);
    await prepare(made);
    const before = readdirSync(made.root);
    const old =
      type === "target_not_regular_file" || !existsSync(join(made.root, "f")) || statSync(join(made.root, "f")).isDirectory()
        ? ""
        : readFileSync(join(made.root, "f"), "utf8");
    const result = await made.call("write", { file_path: "f", content: "new" });
    assert.equal(result.error?.type, type);
    assert.deepEqual(readdirSync(made.root), before);
    if (old !== "") assert.equal(readFileSync(join(made.root, "f"), "utf8"), old);
  });
}

test("a parent that is a file is no directory", async (t) => {
  const { call, root } = session(t);
  writeFileSync(join(root, "f"), "");
  assert.equal((await call("write", { file_path: "f/x", content: "" })).error?.type, "path_is_not_a_directory");
});

test("people see the change as a diff", async (t) => {
  const { call, root } = session(t);
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/f"), "a\nb\n");
  await call("read", { file_path: "src/f" });
  const { display } = await call("write", { file_path: "src/f", content: "a\nc\n" });
  assert.deepEqual(display, {
    type: "file_diff",
    fileName: "f",
    fileDiff: "--- a/src/f\n+++ b/src/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
    originalContent: "a\nb\n",
    newContent: "a\nc\n",
    diffStat: {
      model_added_lines: 1,
      model_removed_lines: 1,
      model_added_chars: 1,
      model_removed_chars: 1,
      user_added_lines: 0,
      user_removed_lines: 0,
      user_added_chars: 0,
      user_removed_chars: 0,
    },
  });
});

test("a file that did not exist has no original, and one that is no text is named by its size", async (t) => {
  const { call, root } = session(t);
  const display = async (path: string) => (await call("write", { file_path: path, content: "x\n" })).display;
  const made = await display("new");
  assert.ok(typeof made === "object" && made.type === "file_diff");
  assert.equal(made.originalContent, null);
  writeFileSync(join(root, "picture"), Buffer.from("89504e470d0a1a0a00", "hex"));
  await call("read", { file_path: "picture" });
  const replaced = await display("picture");
  assert.ok(typeof replaced === "object" && replaced.type === "file_diff");
  assert.equal(replaced.originalContent, "[9 bytes, not shown]");
});

async function details(made: Session, input: object) {
  const invocation = await made.tool("write").build(input, context(made));
  const found = await invocation.confirmation(SIGNAL);
  assert.ok(found?.type === "edit");
  return found;
}

test("7: the person is shown the file, the diff and both contents", async (t) => {
  const made = session(t);
  writeFileSync(join(made.root, "f"), "a\n");
  await made.call("read", { file_path: "f" });
  assert.deepEqual(await details(made, { file_path: "f", content: "b\n" }), {
    type: "edit",
    fileName: "f",
    filePath: join(made.root, "f"),
    fileDiff: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
    originalContent: "a\n",
    newContent: "b\n",
  });
});

test("the person is shown where a path really leads, and warned of what else is special", async (t) => {
  const made = session(t);
  symlinkSync("/nonexistent", join(made.root, "out"));
  writeFileSync(join(made.root, "unread"), "x");
  const outside = await details(made, { file_path: "out/f", content: "b" });
  assert.equal(outside.filePath, "/nonexistent/f");
  assert.deepEqual(outside.warnings, ["out/f leads to /nonexistent/f.", "The file is outside the workspace."]);
  assert.match((await details(made, { file_path: ".env", content: "b" })).warnings?.join() ?? "", /secrets/);
  assert.match(
    (await details(made, { file_path: "unread", content: "b" })).warnings?.join() ?? "",
    /nothing would be written: unread exists and was not read/,
  );
});

test("a write asks, inside the workspace and elsewhere", async (t) => {
  const made = session(t);
  for (const file_path of ["f", "/etc/f", ".env"]) {
    assert.equal(await (await made.tool("write").build({ file_path, content: "" }, context(made))).permission(), "ask");
  }
});

test("what a person approved outside the workspace is written", async (t) => {
  const made = session(t);
  const elsewhere = session(t).root;
  assert.equal(
    (await made.call("write", { file_path: join(elsewhere, "f"), content: "x" })).content,
    `Created ${elsewhere}/f: 1 line added, 0 removed.`,
  );
});

test("a parent that became a link after judging is refused, and nothing is written there", async (t) => {
  const made = session(t);
  const elsewhere = session(t).root;
  mkdirSync(join(made.root, "dir"));
  const invocation = await made.tool("write").build({ file_path: "dir/f", content: "x" }, context(made));
  await invocation.permission();
  rmSync(join(made.root, "dir"), { recursive: true });
  symlinkSync(elsewhere, join(made.root, "dir"));
  assert.equal((await execute(made.tool("write"), invocation, context(made))).error?.type, "execution_denied");
  assert.deepEqual(readdirSync(elsewhere), []);
  await invocation.permission();
  assert.equal((await execute(made.tool("write"), invocation, context(made))).error, undefined, "judged again, it may");
});

test("a parent that was made after judging is no reason to refuse", async (t) => {
  const made = session(t);
  const invocation = await made.tool("write").build({ file_path: "dir/sub/f", content: "x" }, context(made));
  await invocation.permission();
  mkdirSync(join(made.root, "dir"));
  assert.equal((await execute(made.tool("write"), invocation, context(made))).error, undefined);
});

test("a link stays a link", async (t) => {
  const { call, root } = session(t);
  writeFileSync(join(root, "f"), "old");
  symlinkSync("f", join(root, "link"));
  await call("read", { file_path: "link" });
  await call("write", { file_path: "link", content: "new" });
  assert.deepEqual([readlinkSync(join(root, "link")), readFileSync(join(root, "f"), "utf8")], ["f", "new"]);
});

test("another name of the file keeps the old bytes", async (t) => {
  const { call, root } = session(t);
  writeFileSync(join(root, "f"), "old");
  linkSync(join(root, "f"), join(root, "g"));
  await call("read", { file_path: "f" });
  await call("write", { file_path: "f", content: "new" });
  assert.equal(readFileSync(join(root, "g"), "utf8"), "old");
});

test("9: the editor gets the present and the proposed content, and its text becomes the input", async (t) => {
  const made = session(t);
  mkdirSync(join(made.root, "sub"));
  writeFileSync(join(made.root, "sub/f"), "old");
  const tool = made.tool("write");
  const invocation = await tool.build({ file_path: "f", content: "new" }, { ...context(made), cwd: join(made.root, "sub") });
  await invocation.permission();
  const { modify } = tool.definition;
  assert.ok(modify);
  assert.deepEqual([await modify.current(invocation.input), await modify.proposed(invocation.input)], ["old", "new"]);
  assert.deepEqual(modify.withContent(invocation.input, "edited"), { file_path: "f", content: "edited" });
  assert.equal(await modify.current({ file_path: "absent", content: "" }), "", "no file, empty left side");
});

test("9: a preview names file, place, and all lines that go and come, and changes nothing", async (t) => {
  const made = session(t);
  writeFileSync(join(made.root, "f"), "one\ntwo\n");
  await made.call("read", { file_path: "f" });
  const rows: readonly (readonly [input: object, blocks: readonly string[], before: string | null, after: string])[] = [
    [{ file_path: "f", content: "one\ntwice\n" }, ["f\n  2:3\n  - two\n  + twice"], "one\ntwo\n", "one\ntwice\n"],
    [{ file_path: "f", content: "" }, ["f\n  1:1\n  - one\n  - two"], "one\ntwo\n", ""],
    [{ file_path: "new", content: "a\n\nb" }, ["new\n  1:1\n  + a\n  + \n  + b\n  \\ No newline at end of file"], null, "a\n\nb"],
    [{ file_path: "empty", content: "" }, ["empty\n  1:1"], null, ""],
  ];
  for (const [input, blocks, before, after] of rows) {
    const invocation = await made.tool("write").build(input, context(made));
    const preview = await previewOf(made.tool("write"), invocation, context(made));
    assert.ok(!("content" in preview));
    assert.equal(preview.label, `Write: ${invocation.input["file_path"]}`);
    assert.deepEqual(preview.blocks, blocks);
    assert.deepEqual(
      [preview.changes[0]?.before, preview.changes[0]?.after].map((bytes) => bytes && Buffer.from(bytes).toString()),
      [before, after],
    );
  }
  assert.deepEqual([readFileSync(join(made.root, "f"), "utf8"), readdirSync(made.root)], ["one\ntwo\n", ["f"]]);
});

const INVALID: readonly (readonly [name: string, input: object, message: RegExp])[] = [
  ["missing content", { file_path: "f" }, /required property 'content'/],
  ["content that is no text", { file_path: "f", content: { a: 1 } }, /params\/content must be string/],
  [
    "content over 16 MiB",
    { file_path: "f", content: "é".repeat(9 * 1024 * 1024) },
    /params\/content must NOT have more than 16777216 bytes/,
  ],
  ["a NUL in the path", { file_path: "a\0b", content: "" }, /params\/file_path must not contain a NUL/],
];
for (const [name, input, message] of INVALID) {
  test(`${name} is invalid, and nothing is written`, async (t) => {
    const made = session(t);
    const result: ToolResult = await made.call("write", input);
    assert.equal(result.error?.type, "invalid_tool_params");
    assert.match(shown(result.content), message);
    assert.deepEqual(readdirSync(made.root), []);
  });
}
