import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "../../packages/cli/test/support/assent.ts";
import { withoutProgram } from "../support/programs.ts";

type Files = Readonly<Record<string, string>>;
type Parked = { readonly id: string; readonly session: string; readonly changes: readonly Change[] };
type Change = { readonly name: string; readonly notes: readonly string[]; readonly hunks: readonly { readonly id: string }[] };

/** A workspace in which the model asked for a command, whose preview waits for an answer. `seen`: what the result for the model contains. */
async function park(files: Files, command: string, { seen = "", cwd = "." } = {}): Promise<Parked & { readonly at: Place }> {
  const at = place();
  put(join(at.root, ".config/assent/settings.json"), JSON.stringify({ version: 1, preview: "always" }));
  for (const [name, text] of Object.entries(files)) put(at.path(name), text);
  symlinkSync("one.txt", at.path("old-link"));
  const turns = [
    { calls: [{ tool: "shell", id: "c1", input: { command } }] },
    { expect: { result: { call: "c1", contains: seen } }, say: "Done." },
  ];
  put(join(at.root, "script.json"), JSON.stringify({ turns, allowUnused: true }));
  const ran = await at.run(["run", "go", "--model", `script:${join(at.root, "script.json")}`, "--on-ask", "park"], { cwd: at.path(cwd) });
  assert.equal(ran.code, 75, ran.stderr);
  const [{ id, sessionId: session }] = (await at.hereJson(["approvals"])).value;
  return { at, id, session, changes: (await at.hereJson(["approvals", "show", id])).value.changes };
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Every path below the workspace, directories with a slash at their end. */
function paths({ workspace }: Place): readonly string[] {
  return readdirSync(workspace, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name).slice(workspace.length + 1) + (entry.isDirectory() ? "/" : ""))
    .filter((path) => !path.startsWith(".git/"))
    .toSorted();
}

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join("");
const FILES: Files = { "one.txt": LINES, "two.txt": LINES, "old/a.txt": "a\n", "old/deep/b.txt": "b\n" };
const START = ["old-link", "old/", "old/a.txt", "old/deep/", "old/deep/b.txt", "one.txt", "two.txt"];

describe("writing a part of what a command would change", { skip: withoutProgram("bwrap") }, () => {
  const rows: readonly (readonly [sentence: string, command: string, chosen: readonly string[], after: readonly string[]])[] = [
    ["a file in a new directory brings the directory", "mkdir -p n/m && touch n/x n/m/y", ["n/m/y"], [...START, "n/", "n/m/", "n/m/y"]],
    ["an empty directory is chosen by its name", "mkdir -p e f", ["e"], [...START, "e/"]],
    ["a link is chosen as a whole", "ln -s one.txt l && rm old-link", ["l"], [...START, "l"]],
    ["a directory stays while something in it stays", "rm -r old", ["old/a.txt"], START.filter((path) => path !== "old/a.txt")],
    [
      "a directory goes with the last file in it",
      "rm -r old && touch x",
      ["old/a.txt", "old/deep/b.txt"],
      START.filter((path) => !path.startsWith("old/")),
    ],
  ];
  for (const [sentence, command, chosen, after] of rows)
    test(`${sentence}, and undo restores everything`, async () => {
      const { at, id, session } = await park(FILES, command, { seen: "The person approved only a part of its changes." });
      using _closed = at;
      const answered = await at.here(["approve", id, "--write", ...chosen.flatMap((name) => ["--file", name])]);
      assert.equal(answered.code, 0, answered.stderr);
      const resumed = await at.here(["resume", session]);
      assert.equal(resumed.code, 0, resumed.stderr);
      assert.deepEqual(paths(at), after.toSorted());
      const [proposal] = (await at.hereJson(["proposals", "--all"])).value;
      assert.match(proposal.label, /^Part of Run /, "what a restart tells the model");
      const shown = await at.here(["proposals", "show", proposal.id]);
      assert.equal(shown.code, 0, shown.stderr);
      assert.equal((await at.here(["undo", proposal.id])).code, 0);
      assert.deepEqual(paths(at), START.toSorted());
      assert.equal((await at.here(["verify"])).code, 0);
    });

  test("one of two hunks is written, and the model learns which", async () => {
    const command = "sed -i 's/line 1$/ONE/; s/line 28$/END/' one.txt two.txt && chmod +x one.txt";
    const seen = "Written: one.txt (hunk 2 of 2).\nNot written: one.txt (hunk 1 and its permissions), two.txt.";
    const { at, id, session, changes } = await park(FILES, command, { seen });
    using _closed = at;
    const [one] = changes;
    assert.deepEqual([one?.name, one?.hunks.length], ["one.txt", 2]);
    const text = await at.here(["approvals", "show", id]);
    const last = one?.hunks[1]?.id ?? "none";
    assert.match(text.stdout, new RegExp(`@@ .*  ${last}`));
    assert.equal((await at.here(["approve", id, "--write", "--hunk", last])).code, 0);
    assert.equal((await at.here(["resume", session])).code, 0);
    assert.equal(readFileSync(at.path("one.txt"), "utf8"), LINES.replace("line 28\n", "END\n"));
    assert.equal(statSync(at.path("one.txt")).mode & 0o111, 0);
    assert.equal(readFileSync(at.path("two.txt"), "utf8"), LINES);
  });

  test("files are named from the workspace, wherever the command runs; the model learns names that it can use", async () => {
    const seen = "Written: /";
    const { at, id, session, changes } = await park({ ...FILES, "old/one.txt": LINES }, "sed -i s/line/row/ one.txt ../one.txt", {
      seen,
      cwd: "old",
    });
    using _closed = at;
    assert.deepEqual(
      changes.map(({ name }) => name),
      ["old/one.txt", "one.txt"],
    );
    const { stdout } = await at.here(["approvals", "show", id]);
    for (const { name, hunks } of changes) assert.match(stdout, new RegExp(`b/${name}\n *@@ .*  ${hunks[0]?.id}`));
    assert.equal((await at.here(["approve", id, "--write", "--file", "one.txt"])).code, 0);
    assert.equal((await at.here(["resume", session])).code, 0);
    assert.deepEqual(
      [readFileSync(at.path("old/one.txt"), "utf8"), readFileSync(at.path("one.txt"), "utf8")],
      [LINES, LINES.replaceAll("line", "row")],
    );
  });

  test("each hunk has its own id, whatever the text and the names of files are", async () => {
    const names = ["two.txt", "a\nb", "a\\nb"];
    const { at, id, changes } = await park(
      { ...FILES, "a\nb": LINES, "a\\nb": `${LINES}more\n` },
      `sed -i 's/line 2$/++ b\\/one.txt/' two.txt; sed -i 's/line 2$/X/' one.txt a*`,
    );
    using _closed = at;
    const { stdout } = await at.here(["approvals", "show", id]);
    const shown = stdout.match(/h_[0-9a-f]{12}/g);
    assert.deepEqual(
      shown,
      changes.flatMap(({ hunks }) => hunks.map((hunk) => hunk.id)),
    );
    assert.deepEqual([new Set(shown).size, names.filter((name) => !changes.some((change) => change.name === name))], [4, []]);
  });

  test("what a commit changes in .git is chosen together", async () => {
    const repository = "git init -q && git -c user.name=a -c user.email=a@b.test commit -q --allow-empty -m first && touch x";
    const { at, id, session, changes } = await park(FILES, repository);
    using _closed = at;
    assert.deepEqual(
      changes.map(({ name, notes }) => [name, notes.some((note) => /can only be chosen together/.test(note))]),
      [
        [".git", true],
        ["x", false],
      ],
    );
    assert.equal((await at.here(["approve", id, "--write", "--file", ".git"])).code, 0);
    assert.equal((await at.here(["resume", session])).code, 0);
    assert.equal(existsSync(at.path("x")), false);
    assert.equal(execFileSync("git", ["log", "--format=%s"], { cwd: at.workspace, env: at.env, encoding: "utf8" }), "first\n");
  });

  const LATE: readonly (readonly [sentence: string, first: readonly string[], second: readonly string[], code: number])[] = [
    ["all of it after a part", ["--write", "--file", "one.txt"], ["--write"], 1],
    ["another part", ["--write", "--file", "one.txt"], ["--write", "--file", "two.txt"], 1],
    ["running it after a part", ["--write", "--file", "one.txt"], ["--run"], 1],
    ["writing after running it", ["--run"], ["--write"], 1],
    ["the same part", ["--write", "--file", "one.txt"], ["--write", "--file", "one.txt"], 0],
  ];
  for (const [sentence, first, second, code] of LATE)
    test(`a second answer that chooses ${sentence} ${code === 0 ? "is the same answer" : "learns that it does not count"}`, async () => {
      const { at, id } = await park(FILES, "sed -i s/line/row/ one.txt two.txt");
      using _closed = at;
      assert.equal((await at.here(["approve", id, ...first])).code, 0);
      const late = await at.here(["approve", id, ...second]);
      const note = code === 0 ? "" : " Your choice of what to run or write was not saved.";
      assert.match(late.stderr, new RegExp(`^Already answered: approved by .*Z\\.${note}\\n$`));
      assert.equal(late.code, code);
    });

  const REFUSED: readonly (readonly [sentence: string, options: readonly string[], message: RegExp])[] = [
    ["a file that is not changed", ["--write", "--file", "two.txt"], /does not change two\.txt/],
    ["a hunk that does not exist", ["--write", "--hunk", "h_123456789abc"], /has no hunk h_123456789abc/],
    ["a part as JSON with an unknown hunk", ["--write", "--part", "../part.json"], /one\.txt has no hunk h_0/],
    ["running for real with a choice", ["--run", "--file", "one.txt"], /'--file' needs '--write'/],
    ["a choice without saying what to do", ["--file", "one.txt"], /Say what to do/],
  ];
  for (const [sentence, options, message] of REFUSED)
    test(`${sentence} is refused, and the approval stays open`, async () => {
      const { at, id } = await park(FILES, "sed -i s/line/row/ one.txt");
      using _closed = at;
      put(join(at.root, "part.json"), JSON.stringify({ files: [{ path: "one.txt", hunks: ["h_0"] }] }));
      const { code, stderr } = await at.here(["approve", id, ...options]);
      assert.notEqual(code, 0);
      assert.match(stderr, message);
      assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    });
});
