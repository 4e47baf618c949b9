import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { manualClock } from "@assent/core/testing";
import { askYesNo, confirmLines, pressConfirm, UNCONFIRMED } from "../../../src/tui/cards/confirm-card.ts";
import { createCardStack } from "../../../src/tui/cards/stack.ts";
import { liveTheme, makeTheme, themeForBackground, themeFromEnvironment } from "../../../src/tui/draw/theme.ts";
import { commandItems, fileItems, idItems, promptCompletion } from "../../../src/tui/input/completion.ts";
import { promptHistory } from "../../../src/tui/input/history.ts";
import { applyChosenKeys, BINDINGS, findAction, keyLines } from "../../../src/tui/input/keys.ts";
import { readKey } from "../../../src/tui/input/read-key.ts";
import { firstFrame } from "../../../src/tui/screen/first-frame.ts";
import { type ScreenContent, screenLines } from "../../../src/tui/screen/layout.ts";
import { openReader } from "../../../src/tui/screen/reader.ts";
import { type Status, statusLine } from "../../../src/tui/screen/status-line.ts";
import { helpPage, keysPage, readSlash, SLASH_COMMANDS, slashLines } from "../../../src/tui/slash/commands.ts";
import type { Block } from "../../../src/tui/transcript/block.ts";

const CANVAS = { columns: 60, rows: 10, theme: makeTheme("none") };
const DRAWING = { ...CANVAS, markdown: (text: string) => text.split("\n"), isMarkdown: () => false, open: false, cwd: "/w", now: 0 };

function directory(): { readonly path: string; readonly [Symbol.dispose]: () => void } {
  const path = mkdtempSync(join(tmpdir(), "assent-tui-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

describe("keys", () => {
  const ROWS: readonly [sentence: string, given: unknown, key: string, action: string | undefined, warnings: number][] = [
    ["keys without a choice stay", undefined, "ctrl+o", "open", 0],
    ["one key may be chosen", { open: "f2" }, "f2", "open", 0],
    ["the key before it is free then", { open: "f2" }, "ctrl+o", undefined, 0],
    ["several may be", { mode: ["f3", "f4"] }, "f4", "mode", 0],
    ["unknown actions are one warning, and the rest counts", { fly: "f1", swim: "f5", open: "f2" }, "f2", "open", 1],
    ["a key that is none is refused", { open: 3 }, "ctrl+o", "open", 1],
    ["a list is no choice of keys", ["f1"], "ctrl+o", "open", 1],
  ];
  for (const [sentence, given, key, action, warnings] of ROWS) {
    test(sentence, () => {
      const chosen = applyChosenKeys(given, "keys.json");
      assert.equal(findAction(chosen.bindings, key), action);
      assert.equal(chosen.warnings.length, warnings);
    });
  }

  const rowsIn = (blocks: readonly Block[]): readonly string[] =>
    blocks.flatMap((block) => (block.type === "page" ? ["", block.title, ...block.text.split("\n")] : []));
  /** Rows of the prompt, its borders and the status line. */
  const PROMPT_ROWS = 5;

  for (const [name, blocks, lines] of [
    ["? shows every key, and where the commands are", keysPage(BINDINGS), ["Keys (/help lists the commands)", ...keyLines(BINDINGS)]],
    ["/help shows every command, and where the keys are", helpPage(BINDINGS), ["Commands (? shows the keys)", ...slashLines()]],
  ] as const) {
    test(`on a screen of 80 columns and 24 rows ${name}`, () => {
      const seen = rowsIn(blocks).slice(-(24 - PROMPT_ROWS));
      assert.deepEqual(
        seen.filter((row) => row !== "" && row.length <= 78),
        lines,
      );
    });
  }

  test("/help names the key that the person chose, and none where there are no keys", () => {
    const { bindings } = applyChosenKeys({ help: "f1" }, "keys.json");
    assert.equal(rowsIn(helpPage(bindings))[1], "Commands (f1 shows the keys)");
    assert.equal(rowsIn(helpPage([]))[1], "Commands");
  });

  test("every meaning is in the help, with its keys", () => {
    const help = keyLines(BINDINGS).join("\n");
    for (const { says, keys } of BINDINGS) assert.ok(help.includes(says) && keys.every((key) => help.includes(key)), says);
  });

  const READ: readonly [data: string, key: object | undefined][] = [
    ["a", { name: "a" }],
    ["A", { name: "A" }],
    ["漢", { name: "漢" }],
    ["\u001b[A", { name: "up" }],
    ["\u001b[200~x\ny\u001b[201~", { pasted: "x\ny" }],
    ["\n", { name: "ctrl+j" }],
    ["\u001b[999~", undefined],
  ];
  for (const [data, key] of READ) test(`${JSON.stringify(data)} is ${JSON.stringify(key)}`, () => assert.deepEqual(readKey(data), key));
});

describe("commands of the prompt", () => {
  const ROWS: readonly [line: string, name: string | undefined, words: readonly string[]][] = [
    ["/mode plan", "mode", ["plan"]],
    ["/mod", undefined, []],
    ["/mode", "mode", []],
    ["/und p_1", "undo", ["p_1"]],
    ["/", undefined, []],
    ["/nope", undefined, []],
  ];
  for (const [line, name, words] of ROWS) {
    test(`${line} means ${name ?? "nothing"}`, () => {
      const read = readSlash(line);
      if ("unknown" in read) assert.equal(name, undefined);
      else assert.deepEqual([read.command.name, read.words], [name, words]);
    });
  }

  test("commands are completed, then what they take", () => {
    assert.deepEqual(
      commandItems(SLASH_COMMANDS, "/mod").map(({ label }) => label),
      ["/mode", "/model"],
    );
    assert.deepEqual(
      commandItems(SLASH_COMMANDS, "/mode a").map(({ value }) => value),
      ["/mode auto-edit"],
    );
  });

  const IDS: readonly (readonly [sentence: string, line: string, values: readonly string[]])[] = [
    ["an id right behind its command", "/undo p_a", ["/undo p_aa"]],
    ["all of them where nothing is typed yet", "/undo ", ["/undo p_aa", "/undo p_bb"]],
    ["an id behind a word", "/approvals show p_b", ["/approvals show p_bb"]],
    ["none that is typed whole", "/undo p_aa", []],
    ["none behind a word that takes none", "/approvals hide p_", []],
    ["none of a command that takes none", "/cost p_", []],
  ];
  for (const [sentence, line, values] of IDS) {
    test(`Tab completes ${sentence}`, async () => {
      const ids = async () => [
        { id: "p_aa", says: "one" },
        { id: "p_bb", says: "" },
      ];
      const items = await idItems({ commands: SLASH_COMMANDS, ids }, line);
      assert.deepEqual(
        items.map(({ value }) => value),
        values,
      );
      const { signal } = new AbortController();
      const unasked = await promptCompletion({ commands: SLASH_COMMANDS, ids, cwd: "/" }).getSuggestions([line], 0, line.length, {
        signal,
      });
      assert.equal(unasked, null, "only where it is asked for");
    });
  }

  const CHOSEN: readonly [sentence: string, line: string, prefix: string, result: string][] = [
    ["a chosen suggestion replaces what it was made for", "/re", "/re", "/resume "],
    ["text that was typed after the suggestions were made stays as it is", "/resume s_1", "/re", "/resume s_1"],
  ];
  for (const [sentence, line, prefix, result] of CHOSEN)
    test(sentence, () => {
      const completion = promptCompletion({ commands: SLASH_COMMANDS, ids: async () => [], cwd: "/" });
      const chosen = { value: "/resume ", label: "/resume" };
      assert.deepEqual(completion.applyCompletion([line], 0, line.length, chosen, prefix), {
        lines: [result],
        cursorLine: 0,
        cursorCol: result.length,
      });
    });

  test("files are found by any part of their path; names that cannot be read are not offered", async () => {
    using at = directory();
    mkdirSync(join(at.path, "src"));
    mkdirSync(join(at.path, "node_modules"));
    for (const name of ["src/apple.ts", "apple.md", "node_modules/apple.js", "src/app\u202ele.ts"]) writeFileSync(join(at.path, name), "");
    const { signal } = new AbortController();
    assert.deepEqual(
      (await fileItems(at.path, "appl", signal)).map(({ label }) => label),
      ["apple.md", "src/apple.ts"],
    );
    assert.deepEqual(await fileItems(join(at.path, "gone"), "", signal), []);
  });
});

describe("what was written before", () => {
  test("it is kept per workspace, oldest first, for its owner alone", async () => {
    using at = directory();
    const history = promptHistory(at.path, "/w");
    for (const text of ["one", "two\nlines"]) assert.equal(await history.add(text), undefined);
    assert.deepEqual(await history.load(), ["one", "two\nlines"]);
    assert.deepEqual(await promptHistory(at.path, "/other").load(), []);
    const [file] = readdirSync(join(at.path, "prompts"));
    assert.equal(statSync(join(at.path, "prompts", file ?? "")).mode & 0o777, 0o600);
  });

  test("a line that was cut short is left out; what cannot be kept is said", async () => {
    using at = directory();
    const history = promptHistory(at.path, "/w");
    await history.add("one");
    const [file] = readdirSync(join(at.path, "prompts"));
    writeFileSync(join(at.path, "prompts", file ?? ""), '"one"\n"tw');
    assert.deepEqual(await history.load(), ["one"]);
    writeFileSync(join(at.path, "file"), "");
    assert.match((await promptHistory(join(at.path, "file"), "/w").add("x")) ?? "", /could not be saved/);
  });
});

describe("the line at the bottom", () => {
  const STATUS: Status = { mode: "plan", model: "m:x", tokens: 12_345, cost: 0.1234, context: 0.5, waiting: 2, keys: "? keys", note: "" };
  const ROWS: readonly [columns: number, line: string][] = [
    [80, " plan · 2 waiting · m:x · 12k tokens · $0.123 · context 50 %             ? keys"],
    [40, " plan · 2 waiting · m:x          ? keys"],
    [12, "plan"],
  ];
  for (const [columns, line] of ROWS) test(`at ${columns} columns`, () => assert.equal(statusLine(STATUS, { ...CANVAS, columns }), line));
});

describe("a question of the program", () => {
  const LONG = { title: "Trust it?", lines: Array.from({ length: 30 }, (_, at) => `rule ${at}`), yes: "Trust", no: "Not now" };
  const ALL_SEEN = { seen: { piece: LONG.lines.length, row: 0 }, seenAt: CANVAS.columns };
  test("yes needs everything to have been seen", () => {
    const chosen = { ...UNCONFIRMED, chosen: "y" } as const;
    const hint = "There is more to read first: press PgDn or Space.";
    assert.deepEqual(pressConfirm(LONG, chosen, { name: "enter", size: CANVAS }), { ...chosen, hint });
    assert.equal(pressConfirm(LONG, { ...chosen, ...ALL_SEEN }, { name: "enter", size: CANVAS }), true);
    const wider = { ...CANVAS, columns: CANVAS.columns + 1 };
    assert.equal(pressConfirm(LONG, { ...chosen, ...ALL_SEEN }, { name: "enter", size: wider }), true, "what was read stays read");
    const half = { ...chosen, at: { piece: 10, row: 0 }, seen: { piece: 20, row: 0 }, seenAt: CANVAS.columns };
    assert.notEqual(pressConfirm(LONG, half, { name: "enter", size: wider }), true);
    assert.match(confirmLines(LONG, UNCONFIRMED, CANVAS).join("\n"), /25 more lines[\s\S]*once you have seen all of it/);
  });

  const NONE: readonly [key: string, chosen: "y" | "n" | undefined, answer: unknown][] = [
    ["escape", "y", false],
    ["ctrl+c", "y", false],
    ["enter", "n", false],
    ["enter", undefined, "open"],
    ["x", undefined, "open"],
  ];
  for (const [name, chosen, answer] of NONE) {
    test(`${name} with ${chosen ?? "nothing"} chosen is ${answer === "open" ? "no answer" : "a no"}`, () => {
      const pressed = pressConfirm(LONG, { ...UNCONFIRMED, chosen, ...ALL_SEEN }, { name, size: CANVAS });
      assert.equal(typeof pressed === "boolean" ? pressed : "open", answer);
    });
  }

  for (const text of ["hello", "yes", "why", "any", "no way"]) {
    test(`words typed at it, and Enter, answer nothing, and it says what the keys are: ${text}`, async () => {
      const clock = manualClock();
      const desk = createCardStack({ clock, changed: () => undefined });
      const asked = askYesNo(desk, { ...LONG, lines: ["one"] });
      desk.painted(CANVAS);
      await clock.advance(1_000);
      const keys = "press y or n, then Enter; Esc means n.";
      const shown = (): string => desk.view({ ...CANVAS, columns: 80 }).join("\n");
      for (const name of text.replaceAll(" ", "")) desk.key({ name }, CANVAS);
      assert.ok(shown().includes(`is not an answer: ${keys}`), shown());
      desk.key({ name: "enter" }, CANVAS);
      assert.ok(shown().includes(`Nothing is selected: ${keys}`), shown());
      await clock.advance(1_000);
      for (const name of ["y", "enter"]) desk.key({ name }, CANVAS);
      assert.equal(await asked, true, "a letter that comes alone chooses again");
    });
  }

  test("its lines end at words", async () => {
    const desk = createCardStack({ clock: manualClock(), changed: () => undefined });
    const words = "A demonstration with a scripted model runs offline, in a temporary directory that is removed afterwards.";
    void askYesNo(desk, { ...LONG, lines: [words] });
    const [, ...lines] = desk.view({ ...CANVAS, columns: 80, rows: 24 });
    assert.equal(lines[0], "  A demonstration with a scripted model runs offline, in a temporary directory");
    assert.equal(lines[1], "  that is removed afterwards.");
  });

  test("keys pressed before it could be read answer nothing", async () => {
    const clock = manualClock();
    const desk = createCardStack({ clock, changed: () => undefined });
    const asked = askYesNo(desk, { ...LONG, lines: ["one"] });
    desk.painted(CANVAS);
    assert.equal(desk.key({ name: "y" }, CANVAS), false);
    await clock.advance(300);
    for (const name of ["y", "enter"]) desk.key({ name }, CANVAS);
    assert.equal(await asked, true);
    assert.equal(desk.front(), undefined);
  });
});

describe("the reader", () => {
  const blocks: readonly Block[] = Array.from({ length: 50 }, (_, at) => ({ type: "note", text: `part ${at}`, role: "dim" }));
  test("it opens at the end, and goes to the beginning and back", () => {
    const reader = openReader(blocks, DRAWING);
    assert.match(reader.view(CANVAS).join("\n"), /part 49/);
    for (const [key, shows] of [
      ["home", /part 0\b/],
      ["pageDown", /part 4\b/],
      ["end", /part 49/],
      ["up", /part 49|part 48/],
    ] as const) {
      assert.ok(reader.press({ name: key }, CANVAS));
      assert.match(reader.view(CANVAS).join("\n"), shows);
      assert.equal(reader.view(CANVAS).length, CANVAS.rows);
    }
    assert.equal(reader.press({ name: "q" }, CANVAS), false);
  });

  test("at the end it does not go further", () => {
    const reader = openReader(blocks, DRAWING);
    const before = reader.view(CANVAS);
    for (const name of ["down", "pageDown", "space"]) reader.press({ name }, CANVAS);
    assert.deepEqual(reader.view(CANVAS), before);
  });
});

describe("themes", () => {
  const ROWS: readonly [sentence: string, env: Record<string, string>, theme: string | undefined][] = [
    ["NO_COLOR, whatever it is", { NO_COLOR: "", COLORFGBG: "0;15" }, "none"],
    ["a simple terminal", { TERM: "dumb" }, "none"],
    ["a light ground", { COLORFGBG: "0;15" }, "light"],
    ["a dark ground", { COLORFGBG: "15;default;0" }, "dark"],
    ["nothing is known", {}, undefined],
    ["nonsense is nothing", { COLORFGBG: "x;y" }, undefined],
  ];
  for (const [sentence, env, theme] of ROWS) test(sentence, () => assert.equal(themeFromEnvironment(env), theme));

  test("a theme can change while it is in use", () => {
    const look = liveTheme("dark");
    const before = look.theme.accent("x");
    look.choose("light");
    assert.notEqual(look.theme.accent("x"), before);
    look.choose("none");
    assert.equal(look.theme.accent("x"), "x");
    assert.deepEqual([themeForBackground({ r: 255, g: 255, b: 255 }), themeForBackground({ r: 0, g: 0, b: 40 })], ["light", "dark"]);
  });
});

describe("the live part of the screen", () => {
  const STATE: ScreenContent = {
    live: [],
    last: undefined,
    todos: [],
    tasks: [],
    queued: [],
    busySince: undefined,
    status: { mode: "default", model: "", tokens: 0, cost: undefined, context: undefined, waiting: 0, keys: "? keys", note: "" },
    hint: "",
    below: () => ["---", "", "---"],
  };
  const running = (at: number): Block => ({
    type: "call",
    callId: `c${at}`,
    tool: "shell",
    input: { command: `make ${at}` },
    state: "running",
    live: "1\n2\n3\n4\n5\n6\n7",
  });

  for (const rows of [6, 10, 24, 50])
    test(`never more than ${rows} rows, the status last`, () => {
      const live = Array.from({ length: 10 }, (_, at) => running(at));
      const queued = ["a", "b", "c", "d", "e"];
      const lines = screenLines({ ...STATE, live, queued, busySince: 0, hint: "hint" }, { ...DRAWING, rows });
      assert.ok(lines.length <= rows, `${lines.length}`);
      assert.match(lines.at(-1) ?? "", /default/);
    });

  test("where there is little room a call still says what it is", () => {
    const lines = screenLines({ ...STATE, live: [running(1)] }, { ...DRAWING, rows: 7 });
    assert.ok(lines.includes("» shell make 1"), lines.join("\n"));
  });

  test("points that are open stand above the prompt; a finished list is gone", () => {
    const todos = [
      { id: "1", content: "look", status: "completed" },
      { id: "2", content: "write", status: "pending" },
    ] as const;
    assert.match(screenLines({ ...STATE, todos }, { ...DRAWING, rows: 20 }).join("\n"), /To do \(1 of 2 done\)\n {2}\[ \] write/);
    assert.ok(
      !screenLines({ ...STATE, todos: [todos[0]] }, { ...DRAWING, rows: 20 })
        .join("\n")
        .includes("To do"),
    );
  });

  test("a background agent is a line", () => {
    const task = {
      id: "t_1",
      agent: "explorer",
      description: "find",
      callId: null,
      session: "s",
      status: "running",
      foreground: false,
      startedAt: "1970-01-01T00:00:00Z",
      model: null,
      mode: "default",
      usage: { totalTokens: 1, toolUses: 2, durationMs: 3 },
    } as const;
    assert.match(
      screenLines({ ...STATE, tasks: [task, { ...task, foreground: true }] }, { ...DRAWING, rows: 20, now: 5_000 }).join("\n"),
      /● explorer: find {2}running 5 s · 2 calls · t_1/,
    );
  });

  test("the first frame is the prompt, at any width", () => {
    for (const columns of [20, 80, 200]) {
      const { printed, lines } = firstFrame({ columns, theme: makeTheme("none"), version: "1.2.3", cwd: "/home/ada/w", home: "/home/ada" });
      assert.ok(
        [...printed, ...lines].every((line) => line.length <= columns),
        `${columns}`,
      );
      assert.match(printed.join("\n"), /Assent 1\.2\.3/);
    }
  });
});
