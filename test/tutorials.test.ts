import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { BIN, type Place, place } from "../packages/cli/test/support/assent.ts";
import { say } from "../packages/cli/test/tui/support/conversation.ts";
import { openScreen, type Screen } from "../packages/cli/test/tui/support/screen.ts";
import { withoutProgram } from "./support/programs.ts";

const EXAMPLES = join(import.meta.dirname, "../examples");
const IDS = /\b[asp]_[a-z2-7]{20}\b/g;
const CHANGING = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\b[0-9a-f]{64}\b|\bh_[0-9a-f]{12}\b|\b\d+ events\b/g;

/** A workspace with the files of one folder of the examples. */
function folder(name: string): Place {
  const at = place();
  for (const file of readdirSync(join(EXAMPLES, name))) copyFileSync(join(EXAMPLES, name, file), at.path(file));
  return at;
}

/** Runs the commands of a transcript in order. Ids differ from run to run: the first of a step stands for the first that is promised there, and so on. */
function play(at: Place, promised: string): string {
  const { ASSENT_STORE: _, ...rest } = at.env; // the store is in its usual place, below the home, as a reader has it
  const env = { ...rest, PATH: `${commands(at)}:${at.env["PATH"]}` };
  const real = new Map<string, string>();
  const steps = promised.split(/^(?=\$ )/m);
  const printed = steps.map((step) => {
    const [line = ""] = step.split("\n", 1);
    const command = line.slice(2).replaceAll(IDS, (id) => real.get(id) ?? id);
    const { stdout } = spawnSync("bash", ["-c", `exec 2>&1\n${command}`], { cwd: at.workspace, env, encoding: "utf8" });
    const news = distinct(stdout, [...real.values()]);
    for (const [index, known] of distinct(step, [...real.keys()]).entries()) real.set(known, news[index] ?? known);
    const shown = [...real].reduce((text, [known, id]) => text.replaceAll(id, known), stdout);
    return `${line}\n${shown.replaceAll(at.workspace, "/home/ann/assent-ci").replaceAll(`(${userInfo().username})`, "(ann)")}`;
  });
  return printed.join("");
}

/** A directory for PATH with `assent` in it: a script that a transcript starts must find it, too. */
function commands(at: Place): string {
  const directory = join(at.root, "bin");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "assent"), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@" < /dev/null\n`, { mode: 0o755 });
  return directory;
}

function distinct(text: string, seen: readonly string[]): readonly string[] {
  return [...new Set(text.match(IDS))].filter((id) => !seen.includes(id));
}

/** Transcripts of one page in its order: each goes on where the one before it ended, in the same folder and store. */
const PAGES: readonly (readonly [page: string, examples: string, transcripts: readonly string[]])[] = [
  ["docs/tutorial-ci.md", "ci", ["park.out", "refuse.out", "job.out"]],
  ["docs/operations.md", "operations", ["restore.out", "verify.out"]],
  ["docs/audit.md", "audit", ["stream.out"]],
  ["docs/proposals.md", "proposals", ["settle.out"]],
  ["docs/effect-preview.md", "effect", ["park.out"]],
];
for (const [page, examples, transcripts] of PAGES) {
  describe(page, { skip: examples === "effect" && withoutProgram("bwrap") }, () => {
    test("every transcript is played", () => {
      const found = readdirSync(join(EXAMPLES, examples)).filter((name) => name.endsWith(".out"));
      assert.deepEqual(found.sort(), transcripts.toSorted());
    });

    test("the commands print what stands there, one page in one folder", () => {
      using at = folder(examples);
      for (const name of transcripts) {
        const promised = readFileSync(join(EXAMPLES, examples, name), "utf8");
        const printed = play(at, promised);
        assert.equal(printed.replaceAll(CHANGING, "…"), promised.replaceAll(CHANGING, "…"), name);
      }
    });
  });
}

describe("docs/tutorial-terminal.md", () => {
  const idle = (screen: Screen, shows: string): Promise<string> =>
    screen.until((now) => now.includes(shows) && now.includes("? keys") && !now.includes("» working"));

  /** Begins the tour, and takes what its first question recommends. */
  async function answerFirstQuestion(screen: Screen): Promise<void> {
    await idle(screen, "script:tour.yaml");
    await say(screen, "change the greeting");
    await screen.read("Other (type your own)");
    screen.press("enter");
  }

  /** Chooses an answer of the card in front by its letter, and confirms it. */
  async function answer(screen: Screen, { to, with: letter }: { readonly to: string; readonly with: string }): Promise<void> {
    await screen.read((now) => now.includes("Approval needed") && now.includes(to));
    screen.press(letter);
    await screen.until(new RegExp(`^> ${letter} `, "m"));
    screen.press("enter");
  }

  function open(at: Place, args: readonly string[]): Screen {
    const editor = join(at.root, "editor.sh");
    writeFileSync(editor, `sed -i 's/"Hi"/"Ahoy"/' "$1"\n`);
    return openScreen({ cwd: at.workspace, env: { ...at.env, EDITOR: `sh ${editor}` }, args, rows: 40 });
  }

  test("the tour goes as it is told: a question, an edit before the yes, a no, an undo, and on again later", async () => {
    using at = folder("terminal");
    using screen = open(at, ["--model", "script:tour.yaml"]);
    await answerFirstQuestion(screen);
    await answer(screen, { to: '"Hi"', with: "e" });
    await answer(screen, { to: '"Ahoy"', with: "y" });
    await answer(screen, { to: "git push", with: "n" });
    await screen.until("Reason for the model");
    screen.type("not before the review");
    screen.press("enter");
    await answer(screen, { to: "NOTES.txt", with: "y" });
    await idle(screen, "All done.");
    assert.equal(readFileSync(at.path("greet.js"), "utf8"), 'export const greeting = "Ahoy";\n');
    assert.ok(existsSync(at.path("NOTES.txt")));

    await say(screen, "/proposals --all");
    const listed = await screen.until(/p_[a-z2-7]{20} +applied +write/);
    const [, id = ""] = /(p_[a-z2-7]{6})[a-z2-7]{14} +applied +write/.exec(listed) ?? [];
    await say(screen, `/undo ${id}`);
    await idle(screen, "undone: Write: NOTES.txt");
    assert.equal(existsSync(at.path("NOTES.txt")), false);
    screen.press("ctrl+d");
    assert.equal(await screen.exit(), 0);
    const [, session = ""] = /assent resume (s_\w+)/.exec(screen.lines().join("\n")) ?? [];

    using again = open(at, ["resume", session]);
    await idle(again, "All done.");
    await say(again, "what is left?");
    await idle(again, "I see that you took the note back. Nothing is left to do.");
    again.press("ctrl+d");
    assert.equal(await again.exit(), 0);
    const { stdout } = await at.here(["sessions", "export", session, "--format", "md"]);
    assert.match(stdout, /not before the review/);
    assert.match((await at.here(["log", "--type", "approval.*"])).stdout, /approval\./);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  const KEYS: readonly (readonly [sentence: string, key: string, waiting: number])[] = [
    ["ctrl+c at a card cancels the call that waits", "ctrl+c", 0],
    ["ctrl+d at a card leaves it parked", "ctrl+d", 1],
  ];
  for (const [sentence, key, waiting] of KEYS) {
    test(sentence, async () => {
      using at = folder("terminal");
      using screen = open(at, ["--model", "script:tour.yaml"]);
      await answerFirstQuestion(screen);
      await screen.read((now) => now.includes("Approval needed") && now.includes('"Hi"'));
      screen.press(key);
      if (key === "ctrl+c") {
        await screen.until((now) => !now.includes("Approval needed"));
        screen.press("ctrl+d");
      }
      assert.equal(await screen.exit(), waiting === 0 ? 0 : 75);
      assert.equal((await at.hereJson(["approvals"])).value.length, waiting);
    });
  }
});
