import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { withoutProgram } from "../../../../../test/support/programs.ts";
import { type Place, place } from "../../support/assent.ts";
import { converse, converseAbout, endedCalls, record, say, type Turn } from "../support/conversation.ts";
import type { Screen } from "../support/screen.ts";

const FILLER = Array.from({ length: 12 }, (_, at) => `// ${at}`).join("\n");
const rewrite = (id: string): Turn => ({
  calls: [{ tool: "ast_edit", id, input: { ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["src"] } }],
});
const RESOLVE: Turn = { calls: [{ tool: "resolve", id: "r1", input: { action: "apply", reason: "as asked" } }] };
const FOR_PERSON = { proposals: { resolver: "person", steering: "none" } };
const ASKED = { proposals: { steering: "none" }, permissions: { ask: ["Edit(src/**)"] } };

/** So many files with one change each, and a last one with two hunks. */
function prepare(at: Place, files: number, lines = 1): void {
  mkdirSync(at.path("src"), { recursive: true });
  for (let file = 0; file < files; file++) writeFileSync(at.path(`src/f${file}.ts`), `old(${file});\n`.repeat(lines));
  writeFileSync(at.path("src/two.ts"), `old("first");\n${FILLER}\nold("last");\n`);
}

const text = (at: Place, name: string): string => readFileSync(at.path(`src/${name}`), "utf8");

async function press(screen: Screen, letter: string): Promise<void> {
  screen.press(letter);
  await screen.until(new RegExp(`^> ${letter} `, "m"));
  screen.press("enter");
}

/** Reads to the end, page by page. */
async function readOn(screen: Screen): Promise<void> {
  for (let now = screen.lines().join("\n"); / more(?: lines?)?: /.test(now); ) {
    screen.press("pageDown");
    const before = now;
    now = await screen.until((next) => next !== before);
  }
}

const idle = (screen: Screen, shows: string): Promise<string> =>
  screen.until((now) => now.includes(shows) && now.includes("? keys") && !now.includes("» working"));

const notices = async (at: Place): Promise<readonly string[]> =>
  (await record(at)).filter(({ type }) => type === "notice.queued").map(({ body }) => body.modelText);

describe("a part of a previewed change, at the terminal", { concurrency: 2 }, () => {
  for (const [columns, rows] of [
    [80, 24],
    [40, 16],
    [160, 50],
  ] as const) {
    test(`files and hunks are chosen on a card of ${columns} columns and ${rows} rows`, async () => {
      using at = place();
      prepare(at, 1);
      using screen = await converseAbout(at, "go", { turns: [rewrite("c1"), { say: "It waits." }], settings: FOR_PERSON, columns, rows });
      await screen.read("Apply this change?");
      screen.press("h");
      await screen.until(/^> h |press one to read it/m);
      screen.press("enter");
      await screen.until(/^>\[x\] ▾ src\/f0\.ts/m);
      screen.press("tab");
      await screen.until(/\[ \] ▸ src\/f0\.ts/);
      for (const _ of [1, 2, 3]) screen.press("right");
      await screen.until(/hunk 2 of 2/);
      screen.press("tab");
      await screen.until("1 of 3 changes will be applied.");
      screen.press("home");
      await screen.until(/tool +ast_edit/);
      await readOn(screen);
      screen.press("y");
      await screen.until(/Enter: Apply this change/);
      screen.press("enter");
      await screen.until(/applied: Part/);
      assert.equal(text(at, "f0.ts"), "old(0);\n");
      assert.equal(text(at, "two.ts"), `fresh("first");\n${FILLER}\nold("last");\n`);
      const [notice = ""] = await notices(at);
      assert.match(notice, /^A person applied a part of AST edit/);
      assert.match(notice, /Applied: src\/two\.ts \(hunk 1 of 2\)\.\nNot applied: src\/f0\.ts, src\/two\.ts \(hunk 2\)\./);
    });
  }

  test("30 files: f lists them, resize, paste and Ctrl-C answer nothing, and all are applied", async () => {
    using at = place();
    prepare(at, 29);
    using screen = await converseAbout(at, "go", { turns: [rewrite("c1"), { say: "It waits." }], settings: FOR_PERSON, rows: 40 });
    await screen.read("Apply this change?");
    await screen.until("] skips this file, f lists the files");
    screen.press("f");
    await screen.until(/▸ src\/f0\.ts[\s\S]*▸ src\/f1\.ts/);
    screen.press("f");
    await screen.until("▾ src/f0.ts");
    screen.resize(60, 30);
    await screen.until(/^… \d+ more: PgDn, \] skip file, f list$/m);
    screen.paste("y\n");
    await screen.until("Pasted text is not an answer here.");
    await press(screen, "h");
    await screen.until(/^>\[x\] ▾ src\/f0\.ts/m);
    screen.press("ctrl+c");
    screen.press("tab");
    await screen.until("30 of 31 changes will be applied.");
    screen.press("tab");
    await screen.until("31 of 31 changes will be applied.");
    await readOn(screen);
    await press(screen, "y");
    await screen.until(/applied: AST edit: 31 replacements\s+in 30 files/);
    assert.equal(text(at, "f28.ts"), "fresh(28);\n");
  });

  test("5,000 changed lines: the file is skipped with ], and what was skipped is applied too", async () => {
    using at = place();
    prepare(at, 1, 5_000);
    using screen = await converseAbout(at, "go", { turns: [rewrite("c1"), { say: "It waits." }], settings: FOR_PERSON });
    await screen.read("Apply this change?");
    screen.press("]");
    await screen.until(/▸ src\/f0\.ts {2}\+5000 -5000 skipped/);
    await readOn(screen);
    screen.press("y");
    await screen.until("(you skipped 1 file)");
    screen.press("enter");
    await screen.until(/applied: AST edit: 5002/, 30_000);
    assert.equal(text(at, "f0.ts"), "fresh(0);\n".repeat(5_000));
  });

  test("a file is changed in the editor first, and the person's version is applied", async () => {
    using at = place();
    prepare(at, 0);
    const editor = join(at.root, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\nfor file; do :; done\nprintf "mine\\n" > "$file"\n');
    chmodSync(editor, 0o755);
    const opening = {
      turns: [rewrite("c1"), { say: "It waits." }],
      settings: FOR_PERSON,
      env: { EDITOR: editor, VISUAL: editor },
      rows: 50,
    };
    using screen = await converseAbout(at, "go", opening);
    await screen.read("Apply this change?");
    await press(screen, "e");
    await screen.read(/edited by you[\s\S]*\+ mine[\s\S]*This is your version\. It is checked when you apply it\./);
    await press(screen, "y");
    await screen.until(/applied: Part of AST edit/);
    assert.equal(text(at, "two.ts"), "mine\n");
    assert.match((await notices(at))[0] ?? "", /Applied: src\/two\.ts \(as the person changed it\)\./);
  });

  test("a part that cannot be applied leaves the change on its card", async () => {
    using at = place();
    prepare(at, 1);
    using screen = await converseAbout(at, "go", { turns: [rewrite("c1"), { say: "It waits." }], settings: FOR_PERSON, rows: 50 });
    await screen.read("Apply this change?");
    writeFileSync(at.path("src/two.ts"), "mine\n");
    await press(screen, "h");
    await screen.until(/^>\[x\] ▾ src\/f0\.ts/m);
    screen.press("tab");
    await screen.until(/\[ \] ▸ src\/f0\.ts/);
    await press(screen, "y");
    await screen.until(/Stale: 1 file changed since the preview|Files changed since the preview/);
    await screen.read("The change is still waiting: the line above says why.");
    await press(screen, "h");
    await screen.until(/^>\[x\] ▾ src\/f0\.ts/m);
    screen.press("right", "tab");
    await screen.until(/\[ \] ▸ src\/two\.ts/);
    await press(screen, "y");
    await screen.until(/applied: Part of AST edit/);
    assert.deepEqual([text(at, "f0.ts"), text(at, "two.ts")], ["fresh(0);\n", "mine\n"]);
  });

  for (const [door, args] of [
    ["on a card", []],
    ["line by line", ["--plain"]],
  ] as const) {
    test(`of a change that the model asks to apply, a part is chosen ${door}: the call applies it, and its result says what was applied and what was not`, async () => {
      using at = place();
      prepare(at, 1);
      const turns = [rewrite("c1"), RESOLVE, { say: "As you like." }, { say: "I see." }];
      using screen = converse(at, { turns, settings: ASKED, args, rows: 50 });
      if (door === "on a card") {
        await idle(screen, "script:");
        await say(screen, "go");
        await screen.read("Approval needed");
        await press(screen, "h");
        await screen.until(/^>\[x\] ▾ src\/f0\.ts/m);
        screen.press("right", "tab");
        await screen.until(/\[ \] ▸ src\/two\.ts/);
        await press(screen, "y");
      } else {
        await screen.until(/You: \s*$/);
        screen.type("go\r");
        await screen.read(/1 {2}src\/f0\.ts[\s\S]*2\.2 {2}@@[\s\S]*h {2}choose which files and hunks to apply/);
        screen.type("h\r");
        await screen.read("Apply which?");
        screen.type("3\r");
        await screen.read("'3' is not a number from the list.");
        screen.type("1\r");
      }
      await screen.until("As you like.");
      assert.deepEqual([text(at, "f0.ts"), text(at, "two.ts").startsWith("old(")], ["fresh(0);\n", true]);
      const ended = (await endedCalls(at)).get("r1");
      assert.equal(ended?.outcome, "succeeded");
      assert.match(
        ended?.content ?? "",
        /^The person approved only a part of this change\.\nApplied a part of .*\nApplied: src\/f0\.ts\.\nNot applied: src\/two\.ts\.$/,
      );
      assert.deepEqual(await notices(at), []);
    });
  }

  const COMMAND = "sed -i s/old/fresh/ src/*.ts && echo one > .git/one && echo two > .git/two && echo changed";
  for (const door of ["on a card", "line by line"])
    test(`of what a command would change, a part is chosen ${door}: only this is written`, { skip: withoutProgram("bwrap") }, async () => {
      using at = place();
      prepare(at, 1);
      const turns = [{ calls: [{ tool: "shell", id: "c1", input: { command: COMMAND } }] }, { say: "As you like." }];
      const isCard = door === "on a card";
      using screen = converse(at, { turns, args: isCard ? [] : ["--plain"], rows: 90 });
      if (isCard) {
        await idle(screen, "script:");
        await say(screen, "go");
        await screen.read("Approval needed");
        await press(screen, "v");
        await screen.read("Choose which files and hunks to write");
        await press(screen, "h");
        await screen.until(/^>\[x\] ▾ \.git[\s\S]*can only be chosen together[\s\S]*\.git\/one[\s\S]*\+ one/m);
        screen.press("tab", "right", "tab");
        await screen.until(/^>\[ \] ▸ src\/f0\.ts/m);
        screen.press("right", "right", "tab");
        await screen.until("1 of 4 changes will be applied.");
        screen.press("y");
        await screen.until("Enter: Write only what is chosen");
        screen.press("enter");
      } else {
        await screen.until(/You: \s*$/);
        screen.type("go\r");
        await screen.read("show me what it would do");
        screen.type("v\r");
        await screen.read("choose which files and hunks to write");
        screen.type("h\r");
        await screen.read(/1 {2}\.git[\s\S]*\+ one[\s\S]*3\.2 {2}@@[\s\S]*Write which\?/);
        screen.type("3.2\r");
      }
      await screen.until("As you like.");
      assert.deepEqual([text(at, "f0.ts"), existsSync(at.path(".git/one"))], ["old(0);\n", false]);
      assert.equal(text(at, "two.ts"), `old("first");\n${FILLER}\nfresh("last");\n`);
      assert.match(
        (await endedCalls(at)).get("c1")?.content ?? "",
        /^changed\n\[.* approved only a part of its changes\.\nWritten: src\/two\.ts \(hunk 2 of 2\)\.\nNot written: \.git, src\/f0\.ts, src\/two\.ts \(hunk 1\)\.\]$/,
      );
    });
});
