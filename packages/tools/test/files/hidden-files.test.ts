import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { isInside } from "@assent/policy";
import { type Session, session, shown } from "../session.ts";

const FILES = {
  "a.ts": "f(1)\n",
  "private/b.ts": "f(2)\n",
  "private/deep/c.ts": "f(3)\n",
  "other/d.ts": "f(4)\n",
};

/** A session in which a rule forbids to read what lies in `private`; `asked` is what was asked about. */
function hiding(t: TestContext, environment?: Record<string, string>): Session & { readonly asked: string[] } {
  const asked: string[] = [];
  let root = "";
  const hides = (path: string): boolean => {
    asked.push(path);
    return isInside(join(root, "private"), path);
  };
  const made = session(t, environment, { hides });
  root = made.workspace;
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return { ...made, asked };
}

const edit = { ops: [{ pat: "f($A)", out: "g($A)" }], paths: ["."] };

type Row = readonly [name: string, tool: string, input: object, content: string];
const ROWS: readonly Row[] = [
  ["search gives no file of it", "search", { pattern: "f" }, "a.ts\nother/d.ts\n[2 files are hidden by a rule]"],
  ["search counts none", "search", { pattern: "f", output_mode: "count" }, "a.ts:1\nother/d.ts:1\n[2 files are hidden by a rule]"],
  [
    "search shows no line of it",
    "search",
    { pattern: "f", output_mode: "content" },
    "a.ts:1:f(1)\nother/d.ts:1:f(4)\n[2 files are hidden by a rule]",
  ],
  ["search does not tell whether it matches", "search", { pattern: "no such text" }, "No matches found.\n[2 files are hidden by a rule]"],
  [
    "search of a file of it finds nothing",
    "search",
    { pattern: "f", path: "private/b.ts" },
    "No matches found.\n[1 file is hidden by a rule]",
  ],
  ["search counts what its glob means", "search", { pattern: "f", glob: "c.*" }, "No matches found.\n[1 file is hidden by a rule]"],
  ["glob names none", "glob", { pattern: "private/**" }, "No files found.\n[2 files are hidden by a rule]"],
  ["list leaves the directory out", "list", { path: "." }, "other/\na.ts (5 bytes)\n[1 file is hidden by a rule]"],
  [
    "ast_grep searches none",
    "ast_grep",
    { pattern: "f($A)", paths: [".", "private/b.ts"] },
    "a.ts:1:1: f(1)\nother/d.ts:1:1: f(4)\n[2 files are hidden by a rule]",
  ],
];
for (const environment of [undefined, { PATH: "/nonexistent" }]) {
  for (const [name, tool, input, content] of ROWS) {
    test(`of what a rule forbids to read ${name}${environment ? ", without ripgrep" : ""}`, async (t) => {
      assert.equal(shown((await hiding(t, environment).call(tool, input)).content), content);
    });
  }
}

test("glob names the others, newest first, and counts what is hidden", async (t) => {
  const text = shown((await hiding(t).call("glob", { pattern: "*.ts" })).content).split("\n");
  assert.deepEqual([text.slice(0, 2).sort(), text.slice(2)], [["a.ts", "other/d.ts"], ["[2 files are hidden by a rule]"]]);
});

test("list asks about a link as about any other entry, before it names it", async (t) => {
  const at = hiding(t);
  symlinkSync("private/b.ts", join(at.workspace, "link"));
  await at.call("list", { path: "." });
  assert.ok(at.asked.includes(join(at.workspace, "link")));
});

test("ast_edit neither shows nor changes a file that a rule hides", async (t) => {
  const at = hiding(t);
  const { content, details } = await at.call("ast_edit", edit);
  assert.equal(content, "Applied 2 replacements in 2 files.");
  assert.deepEqual(
    Object.keys(FILES).map((path) => readFileSync(join(at.workspace, path), "utf8")),
    ["g(1)\n", "f(2)\n", "f(3)\n", "g(4)\n"],
  );
  assert.doesNotMatch(JSON.stringify(details), /private/);
});

test("ast_edit of a hidden file alone stages nothing, and says why", async (t) => {
  const at = hiding(t);
  const { content, details } = await at.call("ast_edit", { ...edit, paths: ["private/b.ts"] });
  assert.equal(content, "No matches. Nothing was staged.\n1 file is hidden by a rule.");
  assert.equal((details as { hidden?: number }).hidden, 1);
});

test("where no rule hides anything nothing is said of it", async (t) => {
  const at = session(t);
  writeFileSync(join(at.workspace, "a.ts"), "f(1)\n");
  assert.equal(shown((await at.call("search", { pattern: "f" })).content), "a.ts");
});
