import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { displayWidth, type OpenApproval, type PlannedChange, reviewChanges } from "@assent/core";
import { sampleApproval } from "@assent/core/testing";
import { nodeDigest } from "@assent/host";
import type { CardMeans } from "../../../src/tui/cards/actions.ts";
import { approvalCard, type CardOutcome, type CardState } from "../../../src/tui/cards/approval-card.ts";
import { partOf } from "../../../src/tui/diff/choice.ts";
import type { Canvas } from "../../../src/tui/draw/dialog.ts";
import { makeTheme } from "../../../src/tui/draw/theme.ts";

const THEME = makeTheme("none");
const SIZES: readonly Canvas[] = [
  { columns: 80, rows: 22, theme: THEME },
  { columns: 40, rows: 10, theme: THEME },
  { columns: 160, rows: 48, theme: THEME },
];
const [SMALL = assert.fail()] = SIZES;
const TALL: Canvas = { ...SMALL, rows: 100 };

const bytes = (text: string | null): Uint8Array | null => (text === null ? null : new TextEncoder().encode(text));
const change = (name: string, before: string | null, after: string | null, over: Partial<PlannedChange> = {}): PlannedChange => ({
  ...{ path: `/w/${name}`, realPath: `/w/${name}`, before: bytes(before), after: bytes(after) },
  ...over,
});
const review = (...changes: Parameters<typeof reviewChanges>[0]): ReturnType<typeof reviewChanges> =>
  reviewChanges(changes, { cwd: "/w", digest: nodeDigest });

const NUMBERS: string = Array.from({ length: 30 }, (_, at) => `${at + 1}\n`).join("");
const TWO_HUNKS = change("two.txt", NUMBERS, NUMBERS.replace("2\n", "two\n").replace("28\n", "last\n"));
const THREE = review(change("a.txt", "a\n", "A\n"), TWO_HUNKS, change("new.txt", null, "n\n"));
const many = (count: number, lines = 3): ReturnType<typeof review> =>
  review(...Array.from({ length: count }, (_, at) => change(`f${at}.txt`, null, `line of ${at}\n`.repeat(lines))));

const APPLY: OpenApproval["details"] = { type: "info", prompt: "", hideAlwaysAllow: true };

/** A person who reads the screen before every key. */
function reader(files: ReturnType<typeof review>, canvas: Canvas = SMALL, means: Partial<CardMeans> = {}, details = APPLY) {
  const approval = sampleApproval({ title: "AST edit: 3 files", details, suggestions: [], explicitAsk: true });
  const card = approvalCard(approval, { editable: "content", editor: true, isProposal: true, review: files, ...means });
  let state: CardState = card.begin();
  const screen = (): string => card.view(state, canvas).join("\n");
  const press = (...names: readonly string[]): CardOutcome | undefined => {
    let outcome: CardOutcome | undefined;
    for (const name of names) {
      state = card.shown(state, canvas);
      const pressed = card.key(state, { name }, canvas);
      state = pressed.state;
      outcome = pressed.outcome;
    }
    state = card.shown(state, canvas);
    return outcome;
  };
  const resize = (to: Canvas): string => {
    state = card.shown(state, to);
    return card.view(state, to).join("\n");
  };
  return { screen, press, resize, card, state: () => state };
}

const partFrom = (outcome: CardOutcome | undefined): readonly (readonly [string, number | string])[] | undefined => {
  const part = outcome && "answer" in outcome ? outcome.answer.part : undefined;
  return part?.files.map(({ path, hunks, content }) => [path.replace("/w/", ""), content ?? hunks?.length ?? "all"]);
};

describe("a card with several changed files", () => {
  test("shows every file with its counts, and the keys", () => {
    const { screen } = reader(THREE, TALL);
    for (const line of ["3 files, +4 -3", "▾ a.txt  +1 -1", "▾ two.txt  +2 -2", "▾ new.txt  +1 -0 new file"])
      assert.ok(screen().includes(line), line);
    assert.match(screen(), /^ {2}y {2}Apply this change$/m);
    assert.match(screen(), /^ {2}e {2}Edit a file first, in your editor$/m);
    assert.match(screen(), /^ {2}h {2}Choose which files and hunks to apply$/m);
    assert.match(reader(many(30)).screen(), /more lines: PgDn or Space; \] skips this file, f lists the files$/m);
  });

  const SHOWN: readonly (readonly [name: string, change: PlannedChange, shows: RegExp])[] = [
    ["a new file", change("n", null, "x\n"), /▾ n {2}\+1 -0 new file[\s\S]*\+ x/],
    ["a deletion", change("n", "x\n", null), /▾ n {2}\+0 -1 deleted[\s\S]*- x/],
    ["a binary file", change("n", "\u0000", "\u0000\u0000"), /▾ n {2}\+0 -0\n {2}not shown as text: 1 byte before, 2 bytes after/],
    ["a new name", change("n", "x\n", "y\n", { to: "/w/m" }), /renamed to m/],
    ["permissions", change("n", null, "x\n", { mode: 0o755 }), /permissions 755/],
    ["an escape and a bidi control in a name", change("n\u001b[2J\u202e", null, "x\n"), /▾ n\\x1b\[2J\\u\{202e\}/],
    ["an escape in a line", change("n", null, "x\u001b[2J\r\n"), /\+ x\\x1b\[2J\\r/],
    ["no line break at the end", change("n", null, "x"), /\(no line break at the end\)/],
  ];
  for (const [name, one, shows] of SHOWN)
    test(`shows ${name}`, () => assert.match(reader(review(one, change("z", null, "z\n")), TALL).screen(), shows));

  for (const canvas of SIZES) {
    test(`at ${canvas.columns} columns and ${canvas.rows} rows, paging shows all of 30 files, and no line is too wide`, () => {
      const { screen, press, state } = reader(many(30), canvas);
      let seen = "";
      for (let page = 0; page < 200; page++) {
        seen += screen();
        for (const line of screen().split("\n")) assert.ok(displayWidth(line) <= canvas.columns, line);
        assert.ok(screen().split("\n").length <= canvas.rows, screen());
        const { at } = state();
        press("space");
        if (state().at === at) break;
      }
      for (let file = 0; file < 30; file++) assert.ok(seen.includes(`line of ${file}`), `file ${file} at ${canvas.columns}`);
      assert.deepEqual(press("y", "enter"), { answer: { outcome: "approve" } });
    });
  }

  const KEYS: readonly (readonly [name: string, keys: readonly string[], part: ReturnType<typeof partFrom>])[] = [
    ["all of it is not a part", ["h", "enter", "y", "enter"], undefined],
    [
      "the first file is left out",
      ["h", "enter", "tab", "y", "enter"],
      [
        ["two.txt", "all"],
        ["new.txt", "all"],
      ],
    ],
    [
      "one hunk is left out",
      ["h", "enter", "right", "right", "tab", "y", "enter"],
      [
        ["a.txt", "all"],
        ["two.txt", 1],
        ["new.txt", "all"],
      ],
    ],
    [
      "a file is left out at its heading",
      ["h", "enter", "right", "tab", "y", "enter"],
      [
        ["a.txt", "all"],
        ["new.txt", "all"],
      ],
    ],
    ["and taken back", ["h", "enter", "right", "tab", "tab", "y", "enter"], undefined],
    [
      "both hunks of a file, one by one",
      ["h", "enter", "right", "right", "tab", "right", "tab", "y", "enter"],
      [
        ["a.txt", "all"],
        ["new.txt", "all"],
      ],
    ],
    [
      "left goes to the last file",
      ["h", "enter", "left", "tab", "y", "enter"],
      [
        ["a.txt", "all"],
        ["two.txt", "all"],
      ],
    ],
  ];
  for (const [name, keys, part] of KEYS)
    test(`choosing: ${name}`, () => {
      const outcome = reader(THREE, TALL).press(...keys);
      assert.ok(outcome && "answer" in outcome, "it is answered");
      assert.deepEqual(partFrom(outcome), part);
    });

  test("marks say what is chosen, and where the cursor is; a file that is left out is folded", () => {
    const { press, screen } = reader(THREE, TALL);
    press("h", "enter", "right", "right", "tab");
    assert.match(screen(), /^ \[x\] ▾ a\.txt/m);
    assert.match(screen(), /^ \[~\] ▾ two\.txt/m);
    assert.match(screen(), /^>\[ \] @@ -1,5 /m);
    assert.match(screen(), /^ \[x\] @@ -25,6 /m);
    assert.match(screen(), /3 of 4 changes will be applied\./);
    press("left", "tab", "tab");
    assert.match(screen(), /^>\[ \] ▸ two\.txt/m);
    press("escape");
    press("pageUp");
    assert.match(screen(), /^Left, Right: move\. Tab: in or out\. y, then Enter: apply what is marked \[x\]\.$/m);
  });

  test("with nothing chosen, y applies nothing and says so", () => {
    const { press, screen } = reader(review(change("a", "a\n", "A\n"), change("b", "b\n", "B\n")), TALL);
    assert.equal(press("h", "enter", "tab", "right", "tab", "y", "enter"), undefined);
    assert.match(screen(), /Nothing is chosen: include a file or a hunk with Tab, or reject the change\./);
  });

  test("what is left out need not be read", () => {
    const { press, screen } = reader(review(change("big.txt", null, "x\n".repeat(5_000)), change("b.txt", "b\n", "B\n")));
    assert.match(screen(), /once you have seen all of it/);
    const outcome = press("h", "enter", "tab", "y", "enter");
    assert.deepEqual(partFrom(outcome), [["b.txt", "all"]]);
  });

  test("] skips a long file, which is folded and named; [ opens it again", () => {
    const { press, screen } = reader(review(change("big.txt", null, "x\n".repeat(5_000)), change("b.txt", "b\n", "B\n")));
    press("]");
    assert.match(screen(), /▸ big\.txt {2}\+5000 -0 new file skipped\n/);
    assert.match(screen(), /\+ B/);
    press("y");
    assert.match(screen(), /Enter: Apply this change \(you skipped 1 file\)/);
    press("[");
    assert.match(screen(), /▾ big\.txt/);
    assert.equal(press("y", "enter"), undefined, "what is open again must be read");
    assert.match(screen(), /There is more to read first/);
  });

  test("f lists all files, and back; in the list nothing can be approved", () => {
    const { press, screen } = reader(many(12, 2), TALL);
    press("f");
    assert.equal(screen().match(/^▸ f\d+\.txt {2}\+2 -0 new file$/gm)?.length, 12);
    assert.equal(press("y", "enter"), undefined);
    assert.match(screen(), /press f to unfold it/);
    press("f");
    assert.deepEqual(press("y", "enter"), { answer: { outcome: "approve" } }, "what was read stays read");
  });

  test("e edits the file at the top of the page or at the cursor, but no deleted or binary one", () => {
    assert.deepEqual(reader(THREE, TALL).press("e", "enter"), { wants: "editor", file: 0 });
    assert.deepEqual(reader(THREE, TALL).press("h", "enter", "right", "e", "enter"), { wants: "editor", file: 1 });
    const { press, screen } = reader(review(change("gone.txt", "x\n", null), change("b.txt", "b\n", "B\n")), TALL);
    assert.equal(press("e", "enter"), undefined);
    assert.match(screen(), /gone\.txt can't be edited\. Go to another file with \] or \[\./);
  });

  test("an edited file is applied with the person's content, some hunks of it too", () => {
    const [, two = assert.fail()] = THREE;
    const edited = { ...two, edited: true as const };
    assert.deepEqual(partOf([edited])?.files, [{ path: "/w/two.txt", content: two.text?.after }]);
    assert.deepEqual(partOf([edited], new Set(["0.1"]))?.files, [{ path: "/w/two.txt", content: NUMBERS.replace("28\n", "last\n") }]);
  });

  for (const wrong of ["q", "ctrl+c", "tab", "left", "1", "enter"])
    test(`a key that means nothing answers nothing: ${wrong}`, () => assert.equal(reader(THREE, TALL).press(wrong, "enter"), undefined));

  test("pasted text answers nothing in any state", () => {
    const { card, press, state } = reader(THREE, TALL);
    for (const keys of [[], ["h", "enter"], ["f"], ["y"]]) {
      press(...keys);
      const pasted = card.key(state(), { pasted: "y\n" }, TALL);
      assert.equal(pasted.outcome, undefined);
      assert.match(pasted.state.hint, /Pasted text is not an answer here\./);
    }
  });

  test("another size while choosing keeps the choice", () => {
    const { press, resize } = reader(THREE, TALL);
    press("h", "enter", "tab");
    for (const canvas of [...SIZES, TALL]) assert.match(resize({ ...canvas, rows: 60 }), /\[ \] ▸ a\.txt/);
    assert.deepEqual(partFrom(press("y", "enter")), [
      ["two.txt", "all"],
      ["new.txt", "all"],
    ]);
  });

  test("a call that would apply the change offers the same; a rule is not saved for a part", () => {
    const { press, screen } = reader(THREE, TALL, { isProposal: false, discards: true });
    assert.match(screen(), /h {2}Choose which files and hunks to apply[\s\S]*d {2}No, and discard the change/);
    assert.deepEqual(partFrom(press("h", "enter", "tab", "y", "enter")), [
      ["two.txt", "all"],
      ["new.txt", "all"],
    ]);
  });

  test("5,000 lines in one file: a frame is drawn at once", () => {
    const long = review(change("long.txt", "o\n".repeat(5_000), "n\n".repeat(5_000)), change("b", "b\n", "B\n"));
    const { press } = reader(long);
    const start = performance.now();
    press(...Array.from({ length: 50 }, () => "space"));
    assert.ok(performance.now() - start < 5_000);
  });
});

const LINK = { ...change("link", null, null), after: { link: "a.txt" } };
const LONG = change("long.txt", null, Array.from({ length: 500 }, (_, at) => `long ${at}\n`).join(""));
const HOOKS = { ...THREE[0], path: "/w/.git", name: ".git", hunks: [], notes: ["2 paths, which can only be chosen together"] };
const EFFECT = [
  { ...HOOKS, inside: review(change(".git/hooks/post-merge", null, "reboot\n")) },
  ...review(change("a.txt", "a\n", "A\n"), TWO_HUNKS, LONG, LINK),
] as ReturnType<typeof review>;

/** A card after a preview, which shows only the beginning of a long file. */
function previewed(canvas: Canvas, files: ReturnType<typeof review> = EFFECT, unwritable?: string): ReturnType<typeof reader> {
  const changes = ["a.txt", "two.txt", "long.txt", "link"].map((path) => ({ path, what: "modified" as const }));
  const blocks = [
    "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A",
    "--- /dev/null\n+++ b/long.txt\n@@ -0,0 +1,500 @@\n+long 0\n… 499 more lines",
  ];
  const shown = { ...{ id: "v_1", ended: "exit code 0", succeeded: true, durationMs: 100, output: "the output" }, changes, blocks };
  const effect = { ...{ state: "shown" as const, ...shown, notes: ["Not shown in full: long.txt."] }, ...(unwritable && { unwritable }) };
  const details = { type: "exec", command: "./change", rootCommand: "change", effect } as const;
  return reader(files, canvas, { isProposal: false, editable: undefined }, details);
}

describe("a card with what a command would change", () => {
  const HUGE: Canvas = { ...SMALL, rows: 700 };

  test("h shows every change in full, also what can only be chosen together, and keeps what the card said", () => {
    const { press, screen } = previewed(HUGE);
    assert.match(
      screen(),
      /y {2}Write these changes; do not run it again\n {2}h {2}Choose which files and hunks to write\n {2}r {2}Run the command/,
    );
    assert.doesNotMatch(screen(), /long 499/);
    press("h", "enter");
    assert.match(
      screen(),
      />\[x\] ▾ \.git[\s\S]*2 paths, which can only[\s\S]*\.git\/hooks\/post-merge\n[\s\S]*\+ reboot[\s\S]*\[x\] ▾ a\.txt/,
    );
    for (const line of ["$ ./change", "exit code 0", "modified  link", "! Not shown in full: long.txt.", "+ long 499", "the output"])
      assert.ok(screen().includes(line), line);
    assert.match(screen(), /yes +Yes writes what is marked \[x\], exactly these bytes\./);
    assert.match(screen(), /y {2}Write only what is chosen\n[\s\S]* r {2}Run the whole command for real instead/);
  });

  const WRITE = { outcome: "approve", write: "v_1" };
  const KEYS: readonly (readonly [
    name: string,
    keys: readonly string[],
    answer: object | undefined,
    part?: ReturnType<typeof partFrom>,
  ])[] = [
    ["without a choice, all is written", ["y", "enter"], WRITE],
    ["all of it is not a part", ["h", "enter", "y", "enter"], WRITE],
    [
      "one hunk and .git are left out",
      ["h", "enter", "tab", "right", "right", "right", "tab", "y", "enter"],
      WRITE,
      [
        ["a.txt", "all"],
        ["two.txt", 1],
        ["long.txt", "all"],
        ["link", "all"],
      ],
    ],
    ["running for real takes no part", ["h", "enter", "tab", "r", "enter"], { outcome: "approve" }],
    ["running on a copy again takes no part", ["h", "enter", "tab", "v", "enter"], { outcome: "preview" }],
    ["h again chooses all again", ["h", "enter", "tab", "h", "enter", "y", "enter"], WRITE],
    [
      "nothing chosen writes nothing",
      ["h", "enter", ...["tab", "right", "tab", "right", "tab", "right", "tab", "right", "tab"], "y", "enter"],
      undefined,
    ],
  ];
  for (const [name, keys, answer, part] of KEYS)
    test(name, () => {
      const outcome = previewed(HUGE).press(...keys);
      const { part: given, ...said } = outcome && "answer" in outcome ? outcome.answer : {};
      assert.deepEqual([outcome ? said : undefined, given && partFrom(outcome)], [answer, part]);
    });

  for (const canvas of SIZES)
    test(`at ${canvas.columns} columns and ${canvas.rows} rows, all is read again while choosing, except what comes before the files`, () => {
      const { press, screen } = previewed(canvas);
      const pageToEnd = (): void => {
        for (let page = 0; /^… /m.test(screen()); page++) {
          assert.ok(page < 300);
          press("pageDown");
        }
      };
      pageToEnd();
      press("h", "enter", "y");
      assert.match(screen(), />\[x\] ▾ \.git[\s\S]*There is more to read first/);
      assert.equal(press("enter"), undefined);
      pageToEnd();
      assert.deepEqual(press("y", "enter"), { answer: WRITE });
    });

  test("what is left out need not be read", () => {
    const { press } = previewed(TALL);
    assert.equal(press("h", "enter", "y", "enter"), undefined);
    press("left", "left", "tab", "home");
    assert.deepEqual(
      partFrom(press("y", "enter"))?.map(([name]) => name),
      [".git", "a.txt", "two.txt", "link"],
    );
  });

  test("at another size the choice is kept", () => {
    const { press, resize } = previewed(HUGE);
    press("h", "enter", "tab");
    for (const canvas of SIZES) assert.match(resize({ ...canvas, rows: 100 }), /\[ \] ▸ \.git/);
  });

  test("a single change, or changes that cannot be written, offer no choice", () => {
    assert.doesNotMatch(previewed(HUGE, EFFECT.slice(0, 1)).screen(), /h {2}Choose/);
    assert.doesNotMatch(previewed(HUGE, EFFECT, "A pipe.").screen(), /h {2}Choose/);
  });
});
