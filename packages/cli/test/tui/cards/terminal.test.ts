import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { place } from "../../support/assent.ts";
import { matchesGolden, painted } from "../support/golden.ts";
import { AFTER, HOSTILE } from "../support/scenes.ts";
import { openScreen, type Screen } from "../support/screen.ts";
import { stage } from "../support/stage.ts";

const SIZES = [
  [80, 24],
  [160, 50],
] as const;

type Stage = {
  readonly screen: Screen;
  readonly answers: () => readonly (readonly [scene: string, answer: Said])[];
  readonly [Symbol.dispose]: () => void;
};
type Said = Readonly<Record<string, unknown>>;

/** A desk of its own on a terminal, without the shell around it. */
function stageOf(
  scenes: readonly string[],
  size: { readonly columns?: number; readonly rows?: number; readonly env?: Record<string, string> } = {},
): Stage {
  const at = place();
  const file = join(at.root, "answers");
  const { env, ...room } = size;
  const screen = openScreen({ program: stage(file, scenes), cwd: at.root, env: { ...at.env, ...env }, ...room });
  return {
    screen,
    answers: () => (existsSync(file) ? readFileSync(file, "utf8") : "").split("\n").filter(Boolean).map(said),
    [Symbol.dispose]: () => {
      screen[Symbol.dispose]();
      at[Symbol.dispose]();
    },
  };
}

/** Only what the person said, not to what and who they are. */
function said(line: string): readonly [string, Said] {
  const { scene, answer } = JSON.parse(line);
  const { approval: _approval, revision: _revision, fingerprint: _fingerprint, by: _by, ...rest } = answer;
  return [scene, rest];
}

const HIDDEN = /^… \d+ more line/;

/** Reads on until nothing is hidden. */
async function pageToEnd(screen: Screen, look: () => void = () => undefined): Promise<void> {
  while (screen.lines().some((line) => HIDDEN.test(line))) {
    const before = screen.lines().join("\n");
    screen.press("pageDown");
    await screen.until((now) => now !== before);
    look();
  }
}

type Step = readonly [scene: string, shows: string, look: (screen: Screen, golden: (name: string) => void) => Promise<void>, answer: Said];

/** Each scene: what shows that it is there, what is looked at, and keys that end it. */
const STEPS: readonly Step[] = [
  [
    "exec",
    "git push origin main",
    async (screen, golden) => {
      golden("exec");
      screen.press("s");
      await screen.until("saves this rule: Shell(git push *)");
      golden("exec-session");
      screen.press("escape");
      await screen.until("Nothing is selected.");
      screen.press("e", "enter");
      await screen.until("> git push origin main▏");
      golden("exec-editing");
      screen.type(" --dry-run");
      screen.press("enter");
      await screen.read("edited  by you");
      golden("exec-edited");
      screen.press("n", "enter");
      await screen.until("Reason for the model");
      screen.type("not on a Friday");
      await screen.until("> not on a Friday▏");
      golden("exec-reason");
      screen.press("enter");
    },
    { outcome: "reject", reason: "not on a Friday" },
  ],
  [
    "long",
    "echo step 1",
    async (screen, golden) => {
      golden("long");
      if (screen.lines().some((line) => line.includes("more lines"))) {
        screen.press("y", "enter");
        await screen.until("There is more to read first");
        golden("long-refused");
      }
      await pageToEnd(screen);
      golden("long-end");
      screen.press("y");
      await screen.until("Enter: Allow once");
      screen.press("enter");
    },
    { outcome: "approve" },
  ],
  [
    "edit",
    "src/greet.ts",
    async (screen, golden) => {
      golden("edit");
      screen.press("f");
      await screen.until((now) => !now.includes("Hello"));
      golden("edit-folded");
      screen.press("f");
      await screen.until("Hello");
      screen.press("h", "enter");
      await screen.until("[x]");
      screen.press("right", "tab");
      await screen.until("1 of 2 hunks will be applied.");
      golden("edit-hunks");
      await pageToEnd(screen);
      screen.press("y");
      await screen.until("Enter: Allow once");
      screen.press("enter");
    },
    { outcome: "approve", newContent: AFTER.replace("VERSION = 2", "VERSION = 1") },
  ],
  [
    "effect",
    "./generate",
    async (screen, golden) => {
      golden("effect");
      await pageToEnd(screen);
      golden("effect-end");
      screen.press("y");
      await screen.until("Enter: Write these changes; do not run it again");
      screen.press("enter");
    },
    { outcome: "approve", write: "v_sample" },
  ],
  [
    "plan",
    "Read the parser",
    async (screen, golden) => {
      golden("plan");
      screen.press("a");
      await screen.until("Enter: Yes, start, and allow edits without asking");
      screen.press("enter");
    },
    { outcome: "approve", mode: "auto-edit" },
  ],
  [
    "info",
    "It leaves this machine.",
    async (screen, golden) => {
      golden("info");
      screen.press("x", "enter");
      await screen.until("Reject and stop. Reason");
      screen.press("enter");
    },
    { outcome: "reject", interrupt: true },
  ],
  [
    "single",
    "Which database",
    async (screen, golden) => {
      golden("ask-single");
      screen.press("p");
      await screen.until("DATABASE=./app.db");
      golden("ask-preview");
      screen.press("p", "n");
      await screen.until("Your note (");
      screen.type("it is small");
      screen.press("enter");
      await screen.until("note: it is small");
      golden("ask-note");
      screen.press("enter");
    },
    { outcome: "answered", answers: [{ id: "db", selected: ["SQLite"], note: "it is small" }] },
  ],
  [
    "multi",
    "Which checks",
    async (screen, golden) => {
      screen.press("space", "down", "down", "space");
      await screen.until("(2 selected)");
      golden("ask-multi");
      screen.press("down", "enter");
      await screen.until("Your answer (");
      screen.paste("and\nspelling");
      await screen.until("spelling▏");
      golden("ask-other");
      screen.press("enter");
    },
    { outcome: "answered", answers: [{ id: "checks", selected: ["types", "unit tests"], custom: "and\nspelling" }] },
  ],
  [
    "several",
    "Which database",
    async (screen, golden) => {
      golden("ask-several");
      screen.press("enter");
      await screen.until("(2/2)");
      golden("ask-second");
      screen.press("escape");
      await screen.until("Press Esc again to cancel");
      screen.press("right");
      await screen.until("Your answers");
      golden("ask-review");
      screen.press("enter");
    },
    {
      outcome: "answered",
      answers: [
        { id: "db", selected: ["SQLite"] },
        { id: "checks", selected: [] },
      ],
    },
  ],
  [
    "countdown",
    "answers itself in",
    async (screen, golden) => {
      await screen.until(/answers itself in 3\d\d\d s\s+unless you\s+press a key/);
      golden("ask-countdown");
      screen.press("escape");
    },
    { outcome: "cancelled", partial: [] },
  ],
];

describe("cards and questions on a real terminal", { concurrency: 2 }, () => {
  for (const [columns, rows] of SIZES) {
    test(`every state looks as it did, ${columns}×${rows}`, async () => {
      using stage = stageOf(
        STEPS.map(([scene]) => scene),
        { columns, rows },
      );
      const { screen } = stage;
      for (const [, shows, look] of STEPS) {
        await screen.read(shows);
        await look(screen, (name) => matchesGolden(`${name}-${columns}x${rows}`, screen.lines()));
      }
      assert.equal(await screen.exit(), 0);
      assert.deepEqual(
        stage.answers(),
        STEPS.map(([scene, , , answer]) => [scene, answer]),
      );
      assert.deepEqual(screen.modes(), { paste: false, cursorHidden: false, isAlternate: false });
    });
  }
});

describe("on a light ground", { concurrency: 2 }, () => {
  for (const [scene, shows] of [
    ["exec", "git push origin main"],
    ["edit", "src/greet.ts"],
  ] as const) {
    test(`the colours of ${scene} are those for a light ground`, async () => {
      using stage = stageOf([scene], { columns: 160, rows: 50, env: { COLORFGBG: "0;15" } });
      const { screen } = stage;
      await screen.read(shows);
      screen.press("y");
      await screen.until("Enter: Allow once");
      matchesGolden(`${scene}-light-160x50`, painted(screen));
    });
  }
});

const nothingSaid = ({ answers }: Stage): void => assert.deepEqual(answers(), []);

describe("what a terminal must not do to a person", { concurrency: 2 }, () => {
  for (const [scene, more, end] of [
    ["blanks", "«300 blanks»", "; id"],
    ["newlines", "«79 empty lines»", "id"],
    ["line", "more line", "xxx"],
  ] as const) {
    test(`${scene}: hidden lines are counted, and approving waits until all were shown`, async () => {
      using stage = stageOf([scene]);
      const { screen } = stage;
      await screen.read("Approval needed");
      assert.equal(
        screen.lines().some((line) => line.startsWith(">")),
        false,
        "no answer is chosen by itself",
      );
      const isWhole = !screen.lines().some((line) => HIDDEN.test(line));
      if (!isWhole) {
        screen.press("y", "enter");
        await screen.until("There is more to read first");
        nothingSaid(stage);
        await pageToEnd(screen);
      } else assert.ok(screen.lines().join("\n").includes(more), screen.lines().join("\n"));
      await screen.until(end);
      screen.press("y");
      await screen.until("Enter: Allow once");
      screen.press("enter");
      assert.equal(await screen.exit(), 0);
      assert.deepEqual(stage.answers(), [[scene, { outcome: "approve" }]]);
    });
  }

  test("codes, and characters that hide or turn text, are shown as escapes and never reach the terminal", async () => {
    using stage = stageOf(["hostile", "hostileEdit", "hostileAsk"], { columns: 160, rows: 50, env: { NO_COLOR: "1" } });
    const { screen } = stage;
    for (const keys of [
      ["n", "enter"],
      ["n", "enter"],
      ["p", "escape"],
    ]) {
      await screen.read("\\x1b[2J");
      await pageToEnd(screen);
      assert.match(screen.lines().join("\n"), /\\u\{202e\}/);
      screen.press(...keys);
      if (keys[0] === "n") {
        await screen.until("Reason for the model");
        screen.paste(HOSTILE);
        await screen.until("▏");
        screen.press("enter");
        await screen.until((now) => !now.includes("Reason for the model"));
      }
    }
    assert.equal(await screen.exit(), 0);
    for (const raw of [
      "\u001b[2J",
      "\u001b]8",
      "\u001b]52",
      "\u001b]0",
      "\u001b]2",
      "d\re",
      "\b",
      "\u202e",
      "\u2066",
      "\u200b",
      "\u{e0069}",
    ])
      assert.equal(screen.rawBytes().includes(raw), false, `${JSON.stringify(raw)} reached the terminal`);
    assert.equal(stage.answers().length, 3);
  });

  test("keys typed without pause while an approval appears answer nothing; as text they are kept", async () => {
    using stage = stageOf(["exec"]);
    const { screen } = stage;
    await screen.until("Approval needed");
    screen.type("yyyy\r a\r");
    await screen.read("draft: yyyyenter");
    nothingSaid(stage);
    assert.equal(
      screen.lines().some((line) => line.startsWith(">")),
      false,
    );
    screen.press("y", "enter");
    assert.equal(await screen.exit(), 0);
    assert.deepEqual(stage.answers(), [["exec", { outcome: "approve" }]]);
  });

  test("two approvals, and keys for both at once: the second still waits", async () => {
    using stage = stageOf(["exec+second"]);
    const { screen } = stage;
    await screen.read("1 of 2 waiting");
    screen.press("y", "enter", "enter", "y", "enter");
    await screen.until("rm -rf build");
    await screen.read((now) => now.trimEnd().endsWith("draft:"));
    assert.deepEqual(stage.answers(), [["exec", { outcome: "approve" }]]);
    screen.press("n", "enter");
    await screen.until("Reason for the model");
    screen.press("enter");
    assert.equal(await screen.exit(), 0);
    assert.deepEqual(stage.answers()[1], ["second", { outcome: "reject" }]);
  });

  for (const [scenes, columns, rows] of [
    ["long", 80, 24],
    ["long+second", 80, 24],
    ["long+second+exec", 40, 16],
    ["long", 80, 10],
  ] as const) {
    test(`${scenes} at ${columns}×${rows}: every line was on the screen before approving works`, async () => {
      using stage = stageOf([scenes], { columns, rows });
      const { screen } = stage;
      await screen.read("Approval needed");
      const shown = new Set(screen.lines());
      await pageToEnd(screen, () => {
        for (const line of screen.lines()) shown.add(line);
      });
      for (let step = 1; step <= 60; step += 1) assert.ok(shown.has(`│ echo step ${step}`), `step ${step} was never shown`);
      screen.press("y");
      await screen.until("Enter: Allow once");
      screen.press("enter");
      await screen.until((now) => !now.includes("echo step"));
      assert.deepEqual(stage.answers()[0], ["long", { outcome: "approve" }]);
    });
  }

  test("several wait: ctrl+n brings the next to the front, and each is answered for itself", async () => {
    using stage = stageOf(["exec+second+single"]);
    const { screen } = stage;
    await screen.read("1 of 3 waiting");
    screen.press("ctrl+n");
    await screen.read("rm -rf build");
    screen.press("y", "enter");
    await screen.read("Which database");
    screen.press("ctrl+n");
    await screen.read("git push origin main");
    screen.press("y", "enter");
    await screen.read("Which database");
    screen.press("down", "enter");
    assert.equal(await screen.exit(), 0);
    assert.deepEqual(
      stage.answers().map(([scene]) => scene),
      ["second", "exec", "single"],
    );
  });

  test("a diff of 200,000 lines is shown page by page, and cannot be approved half seen", async () => {
    using stage = stageOf(["huge"]);
    const { screen } = stage;
    await screen.read(/… (19\d\d\d\d|20\d\d\d\d) more lines/);
    screen.press("pageDown");
    await screen.until("old 15");
    screen.press("y", "enter");
    await screen.until("There is more to read first");
    nothingSaid(stage);
  });

  test("line ends and the mark of the encoding are shown, not swallowed", async () => {
    using stage = stageOf(["crlf"], { columns: 160, rows: 50 });
    await stage.screen.read("dos.txt");
    matchesGolden("crlf-160x50", stage.screen.lines());
  });
});
