import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createSafeguards } from "../../src/safeguards/safeguards.ts";
import { bench } from "../workspace-bench.ts";

type Row = readonly [sentence: string, command: string, said: string, note?: string];

const ROWS: readonly Row[] = [
  ["an empty command is malformed", "", "deny safeguard:malformed-command"],
  ["blanks are no command", " \n ", "deny safeguard:malformed-command"],
  ["a command with a NUL is malformed", "ls \0", "deny safeguard:malformed-command"],
  ["the root is not deleted", "rm -rf /", "deny safeguard:root-delete", "it would delete the root directory"],
  ["nor behind another command", "ls; rm -rf /", "deny safeguard:root-delete"],
  ["nor in a text that is too long to be read", `rm -rf / #${"x".repeat(70_000)}`, "deny safeguard:root-delete"],
  [
    "what a variable would delete is asked about",
    "rm -rf $X/",
    "ask safeguard:deny-in-doubt",
    "Assent can't tell what this recursive rm would delete",
  ],
  ["a program that a variable names is asked about", "$X y", "ask safeguard:deny-in-doubt", "The command's name is only known at run time"],
  ["a text that does not parse is asked about", "echo 'a", "ask safeguard:deny-in-doubt", "the command cannot be parsed"],
  [
    "a write that only a shell can name is asked about",
    "echo x > $OUT",
    "ask safeguard:deny-in-doubt",
    'Assent can\'t tell whether "$OUT" is one of its own files',
  ],
  ["a text that is too long is asked about", "x".repeat(70_000), "ask safeguard:analysis-limit", "the command is too long to analyze"],
  [
    "a text that is nested too deeply is asked about",
    `${"nice ".repeat(110)}ls`,
    "ask safeguard:analysis-limit",
    "the command is nested too deeply to analyze",
  ],
  ["a remark is nothing to doubt", "# x", "ask undefined"],
  [
    "a substitution whose end cannot be told is asked about",
    "echo $(( 1 ) )",
    "ask safeguard:deny-in-doubt",
    "Assent can't tell where a quote or a substitution ends",
  ],
  ["Assent's own files are closed", "cat ../h/state/assent/x", "deny safeguard:own-files", "tools may not access Assent's own files"],
  ["a control file is asked about", "echo x > .git/config", "ask safeguard:control-file", "it would change the control file .git/config"],
  ["a rule that may forbid it is named", "curl $(x)", "deny Shell(curl)"],
  ["an allow opens none of them", "npm test > .git/config", "ask safeguard:control-file"],
  ["and an allow is heard where none of them speaks", "npm test", "allow Shell(npm test)"],
];

test("every safeguard is named by a test in this folder", () => {
  const text = readdirSync(import.meta.dirname)
    .map((file) => readFileSync(join(import.meta.dirname, file), "utf8"))
    .join("\n");
  const ids = createSafeguards({ own: { stateDirectory: "/state", settingsFiles: [] }, rules: [] }).map(({ id }) => id);
  assert.deepEqual(
    ids.filter((id) => !text.includes(`safeguard:${id}"`)),
    [],
    "Add a row that expects safeguard:ID.",
  );
});

describe("the safeguards of a shell line, regardless of rules and modes", () => {
  const settings = { permissions: { allow: ["Shell(npm test)"], deny: ["Shell(curl)"] } };
  for (const [sentence, command, said, note] of ROWS) {
    test(sentence, async (t) => {
      const { decision } = await bench(t, settings).assess("shell", { command });
      assert.equal(`${decision.verdict} ${decision.rule?.text}`, said);
      if (note !== undefined) assert.equal(decision.note, note);
    });
  }

  for (const [sentence, command, said] of ROWS.filter((row) => row[2].includes("guard:"))) {
    test(`in the mode yolo, too: ${sentence}`, async (t) => {
      const { decision } = await bench(t, settings, { flags: { mode: "yolo" } }).assess("shell", { command });
      assert.equal(`${decision.verdict} ${decision.rule?.text}`, said);
    });
  }

  test("a deny that only a shell can rule out is asked about, and the rule is named", async (t) => {
    const { decision } = await bench(t, { permissions: { deny: ["Shell(git push origin main)"] } }).assess("shell", {
      command: "git push $X main",
    });
    assert.deepEqual(
      [decision.verdict, decision.rule?.text, decision.note],
      ["ask", "safeguard:deny-in-doubt", "Assent can't tell whether the rule Shell(git push origin main) forbids this"],
    );
  });

  test("shell safeguards ignore calls of other tools", async (t) => {
    assert.equal(await bench(t, { permissions: { allow: ["deploy"] } }).judge("deploy", { target: "" }), "allow checker deploy");
  });
});
