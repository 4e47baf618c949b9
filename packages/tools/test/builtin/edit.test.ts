import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { execute, previewOf, type Session, session, shown } from "../session.ts";

const SIGNAL = new AbortController().signal;
const context = ({ root }: Session) => ({ cwd: root, callId: "c1", sessionId: "s_1" });

async function ready(made: Session, file: string | Buffer, name = "f"): Promise<void> {
  writeFileSync(join(made.root, name), file);
  await made.call("read", { file_path: name });
}

type Row = readonly [name: string, file: string, input: readonly [from: string, to: string, all?: boolean], after: string];
const ROWS: readonly Row[] = [
  ["a text is replaced", "a\nb\nc\n", ["b", "x"], "a\nx\nc\n"],
  ["an empty new text deletes", "a\nb\nc\n", ["b\n", ""], "a\nc\n"],
  ["all of a file", "abc", ["abc", "x"], "x"],
  ["all of a file, to nothing", "abc", ["abc", ""], ""],
  ["part of a line", "let a = 1;", ["a = 1", "b = 2"], "let b = 2;"],
  ["`$&` is taken literally in both", "cost $& 1", ["$& 1", "$& $1 $$ $` $'"], "cost $& $1 $$ $` $'"],
  ["a backreference is taken literally in both", "a\\1b", ["\\1", "\\2$<x>"], "a\\2$<x>b"],
  ["regex characters are taken literally", "f(x)[0].*+?^{1}|y", ["f(x)[0].*+?^{1}|", "g"], "gy"],
  ["regex characters match nothing else", "a.c abc", ["a.c", "x"], "x abc"],
  ["everywhere", "a b a b a", ["a", "xx", true], "xx b xx b xx"],
  ["everywhere, where it stands once", "a b", ["a", "x", true], "x b"],
  ["everywhere, from left to right where places overlap", "aaaaa", ["aa", "b", true], "bba"],
  ["what comes is not looked at again", "a", ["a", "aa", true], "aa"],
  ["text beyond ASCII", "é漢🙂\n", ["漢", "字"], "é字🙂\n"],
  ["`\\n` finds CRLF, and the new text gets it", "a\r\nb\r\nc\r\n", ["a\nb", "x\ny\nz"], "x\r\ny\r\nz\r\nc\r\n"],
  ["CRLF finds `\\n`, and the new text gets that", "a\nb\nc\n", ["a\r\nb", "x\r\ny\r\nz"], "x\ny\nz\nc\n"],
  ["a line put into a file with CRLF", "a\r\nb\r\n", ["b", "b\nc"], "a\r\nb\r\nc\r\n"],
  ["a line put behind the last one, which has no end", "a\r\nb", ["b", "b\nc"], "a\r\nb\r\nc"],
  ["a line break that goes takes its carriage return along", "a\r\nb\r\n", ["a\n", "a"], "ab\r\n"],
  ["mixed: the lines around keep their breaks", "a\r\nb\nc\r\nd\n", ["b\nc", "x\ny"], "a\r\nx\ny\r\nd\n"],
  ["mixed: lines that both texts have keep their breaks", "a\r\nb\nc\r\nd\n", ["a\nb\nc\nd", "a\nb\nNEW\nc\nd"], "a\r\nb\nNEW\r\nc\r\nd\n"],
  ["mixed: a new line gets the break of the line it stands on", "a\nb\r\nc\n", ["b", "b\nx"], "a\nb\r\nx\r\nc\n"],
  ["mixed: each new line gets the break of the one it replaces", "a1\r\nb1\nc1\r\n", ["a1\nb1\nc1", "A\nB\nC"], "A\r\nB\nC\r\n"],
  ["mixed, everywhere", "a\r\na\n", ["a\n", "b\nb\n", true], "b\r\nb\r\nb\nb\n"],
  ["in a file without line breaks those of the new text stay", "ab", ["b", "\r\nc\n"], "a\r\nc\n"],
  ["a lone carriage return is a character like others", "a\rb\n", ["a\rb", "x"], "x\n"],
  ["a BOM stays", "\ufeffa\nb\n", ["a\nb", "x"], "\ufeffx\n"],
  ["a text of many lines", "if (a) {\n  b();\n}\n", ["{\n  b();\n}", "b();"], "if (a) b();\n"],
];
for (const [name, file, [old_string, new_string, all], after] of ROWS) {
  test(name, async (t) => {
    const made = session(t);
    await ready(made, file);
    const result = await made.call("edit", { file_path: "f", old_string, new_string, ...(all && { replace_all: all }) });
    assert.equal(result.error, undefined, shown(result.content));
    assert.deepEqual(readFileSync(join(made.root, "f"), "utf8"), after);
  });
}

test("bytes that are no text stay as they are", async (t) => {
  const made = session(t);
  const bytes = (middle: string) => Buffer.concat([Buffer.from([0xff, 0xfe, 0x80]), Buffer.from(middle), Buffer.from([0xc3, 0x28, 0x0a])]);
  await ready(made, bytes("old"));
  assert.equal((await made.call("edit", { file_path: "f", old_string: "old", new_string: "é" })).error, undefined);
  assert.deepEqual(readFileSync(join(made.root, "f")), bytes("é"));
});

test("one edit after another needs no further read", async (t) => {
  const made = session(t);
  await ready(made, "a b c");
  await made.call("edit", { file_path: "f", old_string: "a", new_string: "x" });
  assert.equal((await made.call("edit", { file_path: "f", old_string: "b", new_string: "y" })).error, undefined);
  await made.call("write", { file_path: "g", content: "1" });
  assert.equal((await made.call("edit", { file_path: "g", old_string: "1", new_string: "2" })).error, undefined);
  assert.deepEqual([readFileSync(join(made.root, "f"), "utf8"), readFileSync(join(made.root, "g"), "utf8")], ["x y c", "2"]);
});

type Refusal = readonly [name: string, prepare: (made: Session) => unknown, input: object, type: string, message: RegExp];
const REFUSED: readonly Refusal[] = [
  ["a file that was not read", ({ root }) => writeFileSync(join(root, "f"), "a"), {}, "edit_requires_prior_read", /f exists and was not/],
  [
    "a file that changed after the read",
    async (made) => {
      await ready(made, "a");
      writeFileSync(join(made.root, "f"), "a2");
    },
    {},
    "file_changed_since_read",
    /f changed after it was read/,
  ],
  ["a file that does not exist", () => undefined, {}, "file_not_found", /Use write/],
  ["a directory", ({ root }) => mkdirSync(join(root, "f")), {}, "target_is_directory", /f is a directory/],
  ["a binary file", (made) => ready(made, Buffer.from("89504e470d0a1a0a0061", "hex")), {}, "edit_preparation_failure", /binary/],
  ["a text that is not there", (made) => ready(made, "b"), {}, "edit_no_occurrence_found", /old_string was not found in f/],
  [
    "a text that stands there more than once",
    (made) => ready(made, "a\nb\na\na a\n"),
    {},
    "edit_expected_occurrence_mismatch",
    /occurs 4 times in f, at lines 1, 3 and 4\. Include more/,
  ],
  [
    "places that overlap are more than one",
    (made) => ready(made, "aaa"),
    { old_string: "aa" },
    "edit_expected_occurrence_mismatch",
    /occurs 2 times in f, at line 1\./,
  ],
  [
    "a text that differs only in its line breaks stands there twice",
    (made) => ready(made, "a\r\nb\na\nb\n"),
    { old_string: "a\nb" },
    "edit_expected_occurrence_mismatch",
    /occurs 2 times in f, at lines 1 and 3\./,
  ],
  ["equal texts", (made) => ready(made, "a"), { new_string: "a" }, "edit_no_change", /are equal/],
  [
    "texts that differ only in their line breaks",
    (made) => ready(made, "a\nb"),
    { old_string: "a\nb", new_string: "a\r\nb" },
    "edit_no_change",
    /Use write to change the line breaks/,
  ],
  [
    "what would become too large",
    (made) => ready(made, "a".repeat(2000)),
    { new_string: "x".repeat(10_000), replace_all: true },
    "file_too_large",
    /more than 16777216 bytes/,
  ],
];
for (const [name, prepare, input, type, message] of REFUSED) {
  test(`${name}: ${type}, and nothing is written`, async (t) => {
    const made = session(t);
    await prepare(made);
    const bytes = () => (type === "file_not_found" || type === "target_is_directory" ? "" : readFileSync(join(made.root, "f"), "latin1"));
    const before = bytes();
    const result = await made.call("edit", { file_path: "f", old_string: "a", new_string: "x", ...input });
    assert.equal(result.error?.type, type);
    assert.match(shown(result.content), message);
    assert.equal(bytes(), before);
  });
}

const HINTS: readonly (readonly [name: string, file: string, old: string, message: RegExp])[] = [
  [
    "other blanks",
    "x\nfunction a() {\n\treturn 1;\n}\ny\n",
    "function a() {\n  return 1;\n}",
    /The most similar text is at lines 2 to 4, which differ only in whitespace:\n2→function a\(\) \{\n3→\treturn 1;\n4→\}$/,
  ],
  ["other words in the middle", "a\nconst one = first(2);\nb\n", "const one = second(2);", /at line 2:\n2→const one = first\(2\);$/],
  ["a part of a line with other blanks", "x\nlet a  =  1;\n", "a = 1", /at line 2, which differ only in whitespace/],
  ["line numbers in the text", "a\nb\n", "1→a\n2→b", /line numbers that read shows/],
  ["a text that is there already", "x = 2;\n", "x = 1;", /new_string is already in the file/],
  ["bytes that are no text", "x = \ufffd;\n", "y = \ufffd;", /replacement character/],
  ["nothing like it", "alpha\nbeta\n", "zzzz()", /^Error: old_string was not found in f\.$/],
  [
    "lines after each other, one of them changed",
    "p\nq = 1\nr = 2\ns = 3\nt\n",
    "q = 1\nr = 9\ns = 3",
    /at lines 2 to 4:\n2→q = 1\n3→r = 2\n4→s = 3$/,
  ],
];
for (const [name, file, old_string, message] of HINTS) {
  test(`if a text is not found, the result shows the most similar lines: ${name}`, async (t) => {
    const made = session(t);
    await ready(made, file);
    assert.match(shown((await made.call("edit", { file_path: "f", old_string, new_string: "x = 2;" })).content), message);
  });
}

test("the result says where and how much; people see the diff", async (t) => {
  const made = session(t);
  mkdirSync(join(made.root, "src"));
  await ready(made, "a\nb\na\n", "src/f");
  const one = await made.call("edit", { file_path: "src/f", old_string: "b", new_string: "x\ny" });
  assert.equal(one.content, "Edited src/f, line 2: 2 lines added, 1 removed.");
  assert.ok(typeof one.display === "object" && one.display.type === "file_diff");
  assert.equal(one.display.fileDiff, "--- a/src/f\n+++ b/src/f\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n a\n");
  assert.deepEqual([one.display.originalContent, one.display.newContent], ["a\nb\na\n", "a\nx\ny\na\n"]);
  assert.equal(one.display.diffStat?.model_added_lines, 2);
  const all = await made.call("edit", { file_path: "src/f", old_string: "a", new_string: "z", replace_all: true });
  assert.equal(all.content, "Edited src/f at 2 places, lines 1 and 4: 2 lines added, 2 removed.");
});

test("9: a preview names file, place, and all lines that go and come, and changes nothing", async (t) => {
  const made = session(t);
  await ready(made, "one\ntwo\nthree\nfour\ntwo");
  const input = { file_path: "f", old_string: "two", new_string: "TWO\n2", replace_all: true };
  const invocation = await made.tool("edit").build(input, context(made));
  const preview = await previewOf(made.tool("edit"), invocation, context(made));
  assert.ok(!("content" in preview));
  assert.equal(preview.label, "Edit: f");
  assert.deepEqual(preview.blocks, [
    "f\n  2:1\n  - two\n  + TWO\n  + 2",
    "  5:1\n  - two\n  \\ No newline at end of file\n  + TWO\n  + 2\n  \\ No newline at end of file",
  ]);
  const [change, ...further] = preview.changes;
  assert.deepEqual(further, []);
  assert.deepEqual([change?.path, change?.realPath], [join(made.root, "f"), join(made.root, "f")]);
  assert.deepEqual(
    [change?.before, change?.after].map((bytes) => bytes && Buffer.from(bytes).toString()),
    ["one\ntwo\nthree\nfour\ntwo", "one\nTWO\n2\nthree\nfour\nTWO\n2"],
  );
  assert.equal(readFileSync(join(made.root, "f"), "utf8"), "one\ntwo\nthree\nfour\ntwo");
});

async function details(made: Session, input: object) {
  const found = await (await made.tool("edit").build(input, context(made))).confirmation(SIGNAL);
  assert.ok(found?.type === "edit");
  return found;
}

test("7: the person is shown the file, the diff and both contents", async (t) => {
  const made = session(t);
  await ready(made, "a\nb\n");
  assert.deepEqual(await details(made, { file_path: "f", old_string: "b", new_string: "c" }), {
    type: "edit",
    fileName: "f",
    filePath: join(made.root, "f"),
    fileDiff: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
    originalContent: "a\nb\n",
    newContent: "a\nc\n",
  });
});

test("what would fail is shown with the reason and what the model wants, and is no text to be edited: a part is not the file", async (t) => {
  const made = session(t);
  symlinkSync("/nonexistent", join(made.root, "out"));
  const input = { file_path: "out/f", old_string: "b", new_string: "c" };
  assert.deepEqual(await (await made.tool("edit").build(input, context(made))).confirmation(SIGNAL), {
    type: "info",
    prompt: "out/f\n- b\n+ c",
    warnings: [
      "out/f leads to /nonexistent/f.",
      "The file is outside the workspace.",
      "This would fail now, so nothing would be written: out/f does not exist. Use write to create it.",
    ],
  });
});

test("a parent that became a link, or another directory, after judging is refused", async (t) => {
  for (const replace of [(path: string) => symlinkSync("other", path), (path: string) => renameSync(join(path, "../other"), path)]) {
    const made = session(t);
    for (const name of ["dir", "other"]) {
      mkdirSync(join(made.root, name));
      await ready(made, "a", `${name}/f`);
    }
    const tool = made.tool("edit");
    const invocation = await tool.build({ file_path: "dir/f", old_string: "a", new_string: "x" }, context(made));
    assert.equal(await invocation.permission(), "ask");
    renameSync(join(made.root, "dir"), join(made.root, "old"));
    replace(join(made.root, "dir"));
    assert.equal((await execute(tool, invocation, context(made))).error?.type, "execution_denied");
    assert.equal(readFileSync(join(made.root, "dir/f"), "utf8"), "a");
  }
});

test("9: the editor gets both contents, and its text becomes an edit that makes it", async (t) => {
  const made = session(t);
  const before = "}\n\na\n}\n\nb\r\n}\n";
  await ready(made, before);
  const tool = made.tool("edit");
  const input = { file_path: "f", old_string: "b", new_string: "c" };
  const { modify } = tool.definition;
  assert.ok(modify);
  assert.deepEqual([await modify.current(input), await modify.proposed(input)], [before, "}\n\na\n}\n\nc\r\n}\n"]);
  for (const content of ["}\n\na\n}\n\nperson\r\n}\n", "}\n\na\n}\nNEW\n\nb\r\n}\n", "", "x", `${before}}\n`]) {
    const edited = modify.withContent(input, content);
    const invocation = await tool.build(edited, context(made));
    const preview = await previewOf(tool, invocation, context(made));
    assert.ok(!("content" in preview), JSON.stringify(preview));
    assert.equal(Buffer.from(preview.changes[0]?.after ?? []).toString(), content);
  }
  const same = modify.withContent(input, before);
  assert.equal((await made.call("edit", same)).error?.type, "edit_no_change");
});

test("it says in a line what it will do", async (t) => {
  const made = session(t);
  const said = async (input: object) => (await made.tool("edit").build({ file_path: "src/f", ...input }, context(made))).describe();
  assert.deepEqual(
    [
      await said({ old_string: "a\n", new_string: "b\nc" }),
      await said({ old_string: "a\nb", new_string: "" }),
      await said({ old_string: "a", new_string: "b", replace_all: true }),
    ],
    ["Edit src/f: replace 1 line with 2 lines", "Edit src/f: delete 2 lines", "Edit src/f: replace 1 line with 1 line everywhere"],
  );
});

test("a path with a line break cannot forge a line of the preview", async (t) => {
  const made = session(t);
  const preview = await previewOf(
    made.tool("write"),
    await made.tool("write").build({ file_path: "a\n  + b", content: "x" }, context(made)),
    context(made),
  );
  assert.ok(!("content" in preview));
  assert.equal(preview.blocks[0]?.split("\n")[0], "a\\u000a  + b");
});

const INVALID: readonly (readonly [name: string, input: object, message: RegExp])[] = [
  ["an empty old text", { file_path: "f", old_string: "", new_string: "x" }, /params\/old_string must NOT have fewer than 1/],
  ["a missing new text", { file_path: "f", old_string: "a" }, /required property 'new_string'/],
  ["half a character", { file_path: "f", old_string: "a", new_string: "\ud800" }, /params\/new_string must not contain a lone surrogate/],
  ["a NUL in the path", { file_path: "a\0b", old_string: "a", new_string: "" }, /params\/file_path must not contain a NUL/],
];
for (const [name, input, message] of INVALID) {
  test(`${name} is invalid`, async (t) => {
    const result = await session(t).call("edit", input);
    assert.equal(result.error?.type, "invalid_tool_params");
    assert.match(shown(result.content), message);
  });
}

test("a file of 8 MB with 200,000 lines is edited at one place and at all", async (t) => {
  const made = session(t);
  const lines = Array.from({ length: 200_000 }, (_, i) => `line ${i} of a text that is long enough`);
  await ready(made, lines.join("\n"));
  assert.equal((await made.call("edit", { file_path: "f", old_string: "line 150000 ", new_string: "LINE " })).error, undefined);
  const all = await made.call("edit", { file_path: "f", old_string: "of a text", new_string: "of the text", replace_all: true });
  assert.match(shown(all.content), /at 200000 places, lines 1, 2, .* and more: 200000 lines added, 200000 removed\.$/);
  const none = await made.call("edit", { file_path: "f", old_string: "line 7 of the  text", new_string: "" });
  assert.match(shown(none.content), /at line 8, which differ only in whitespace:\n8→line 7 of the text that is long enough$/);
});

test("a text that repeats itself is sought in linear time", async (t) => {
  const made = session(t);
  await ready(made, "a".repeat(4_000_000));
  const result = await made.call("edit", { file_path: "f", old_string: `${"a".repeat(1_000_000)}b`, new_string: "" });
  assert.equal(result.error?.type, "edit_no_occurrence_found");
});
