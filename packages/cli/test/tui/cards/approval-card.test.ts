import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { displayWidth, type OpenApproval } from "@assent/core";
import { unifiedDiff } from "@assent/core/parts";
import { manualClock, sampleApproval, testApprover } from "@assent/core/testing";
import fc from "fast-check";
import type { ApprovalEditor } from "../../../src/desk/approvals/editor.ts";
import type { CardMeans } from "../../../src/tui/cards/actions.ts";
import { approvalCard, type CardState } from "../../../src/tui/cards/approval-card.ts";
import { cardApprover } from "../../../src/tui/cards/approver.ts";
import { type CardStack, createCardStack } from "../../../src/tui/cards/stack.ts";
import type { Canvas, Key } from "../../../src/tui/draw/dialog.ts";
import { makeTheme } from "../../../src/tui/draw/theme.ts";

const SMALL: Canvas = { columns: 80, rows: 22, theme: makeTheme("none") };
const TALL: Canvas = { ...SMALL, rows: 60 };
const BY = { kind: "person", user: "u", name: "U", door: "tui", pid: 1 } as const;
const key = (name: string): Key => ({ name });

const shell = (command: string, over: Partial<OpenApproval> = {}): OpenApproval =>
  sampleApproval({
    tool: "shell",
    title: "Run a command",
    input: { command },
    details: { type: "exec", command, rootCommand: command.split(" ")[0] ?? "" },
    suggestions: ["Shell(git push *)"],
    ...over,
  });

function edit(before: string, after: string): OpenApproval {
  const fileDiff = unifiedDiff({ name: "a.ts", before, after });
  const details = { type: "edit", fileName: "a.ts", filePath: "/w/a.ts", fileDiff, originalContent: before, newContent: after } as const;
  return sampleApproval({
    tool: "write",
    title: "Write a.ts",
    details,
    input: { file_path: "a.ts", content: after },
    suggestions: ["Write(a.ts)"],
  });
}

/** A person who reads the screen before every key. */
function reader(approval: OpenApproval, canvas: Canvas = SMALL, means: Partial<CardMeans> = {}) {
  const kinds = { edit: "content", exec: "command", plan: undefined, info: "input", mcp: "input" } as const;
  const card = approvalCard(approval, { editable: kinds[approval.details.type], editor: true, ...means });
  let state: CardState = card.begin();
  const screen = (): string => card.view(state, canvas).join("\n");
  const read = (): void => {
    state = card.shown(state, canvas);
  };
  const press = (...names: string[]): ReturnType<typeof card.key>["outcome"] => {
    let outcome: ReturnType<typeof card.key>["outcome"];
    for (const name of names) {
      read();
      const pressed = card.key(state, key(name), canvas);
      state = pressed.state;
      outcome = pressed.outcome;
    }
    return outcome;
  };
  const paste = (pasted: string): void => {
    state = card.key(state, { pasted }, canvas).state;
  };
  return { screen, press, paste, state: () => state, card };
}

describe("an approval card", () => {
  const REASON = "Bubblewrap is not installed. Install the package bubblewrap (apt, dnf, pacman, apk and zypper have it).";
  for (const columns of [80, 45, 160])
    test(`the reason why there is no preview is shown in full at ${columns} columns`, () => {
      const details = { ...shell("make").details, effect: { state: "unavailable", reason: REASON } } as OpenApproval["details"];
      const { screen } = reader(shell("make", { details }), { ...SMALL, columns });
      assert.ok(screen().replaceAll(/\n +/g, " ").includes(`A preview is not available: ${REASON}`), screen());
    });

  test("two pages turned before a frame was drawn turn one page, so that none is passed over", () => {
    const card = approvalCard(shell(Array.from({ length: 80 }, (_, at) => `echo ${at}`).join("\n")), {
      editable: undefined,
      editor: false,
    });
    let state = card.shown(card.begin(), SMALL);
    const turn = (): void => {
      state = card.key(state, key("space"), SMALL).state;
    };
    turn();
    const once = card.view(state, SMALL).join("\n");
    turn();
    assert.equal(card.view(state, SMALL).join("\n"), once);
    state = card.shown(state, SMALL);
    turn();
    assert.notEqual(card.view(state, SMALL).join("\n"), once);
  });

  test("shows the tool, where, why with the rule's place, the whole command and the rule an always would store", () => {
    const rule = { text: "Shell(git push *)", file: "/w/.assent/settings.json", line: 3, because: "it is public" };
    const { screen } = reader(shell("git push origin main", { reason: "checker", source: "project", rule }));
    assert.match(screen(), /Approval needed: Run a command/);
    assert.match(screen(), /tool\s+shell/);
    assert.match(screen(), /in\s+\/workspace/);
    assert.match(
      screen().replaceAll(/\n\s+/g, ""),
      /a rule from the project asks first: Shell\(git push \*\) \(it is public\), \/w\/.assent\/settings\.json:3/,
    );
    assert.match(screen(), /\$ git push origin main/);
    assert.match(screen(), /s {2}Always allow this in this session: Shell\(git push \*\)/);
  });

  for (const [name, keys, answer] of [
    ["y and Enter approve once", ["y", "enter"], { outcome: "approve" }],
    [
      "s stores the rule that was shown, for the session",
      ["s", "enter"],
      { outcome: "approve", remember: { scope: "session", rules: ["Shell(git push *)"] } },
    ],
    ["p, for the project", ["p", "enter"], { outcome: "approve", remember: { scope: "project", rules: ["Shell(git push *)"] } }],
    ["u, for the user", ["u", "enter"], { outcome: "approve", remember: { scope: "user", rules: ["Shell(git push *)"] } }],
    ["arrows choose too", ["down", "enter"], { outcome: "approve" }],
    ["n asks for a reason", ["n", "enter", "n", "o", "space", "w", "enter"], { outcome: "reject", reason: "no w" }],
    ["n without a reason", ["n", "enter", "enter"], { outcome: "reject" }],
    ["x stops the turn", ["x", "enter", "enter"], { outcome: "reject", interrupt: true }],
    ["a reason can be left with Esc", ["n", "enter", "a", "escape", "y", "enter"], { outcome: "approve" }],
  ] as const) {
    test(name, () => assert.deepEqual(reader(shell("git push")).press(...keys), { answer }));
  }

  for (const [agentName, scope] of [
    [undefined, "project"],
    ["worker", "session"],
  ] as const) {
    test(`w stores the wider rule for the ${scope}, and the card says what it permits`, () => {
      const wider = { rules: ["Shell(npm run *)"], risk: "It runs scripts of this repository." };
      const details = { type: "exec", command: "npm run x", rootCommand: "npm", wider } as const;
      const asked = reader(shell("npm run x", { details, ...(agentName !== undefined && { agentName }) }), TALL);
      assert.match(asked.screen(), /always +w stores Shell\(npm run \*\): It runs scripts of this repository\./);
      assert.match(asked.screen(), new RegExp(`w {2}Always allow these in this ${scope}: Shell\\(npm run \\*\\)`));
      assert.deepEqual(asked.press("w", "enter"), { answer: { outcome: "approve", remember: { scope, rules: ["Shell(npm run *)"] } } });
    });
  }

  test("a sentence about a rule breaks between words", () => {
    const wider = { rules: ["Shell(make *)"], risk: "It runs build instructions of this repository, which are any code." };
    const asked = reader(shell("make", { details: { type: "exec", command: "make", rootCommand: "make", wider } }), TALL);
    assert.match(asked.screen(), /of this repository,\n {8}which are any code\./);
  });

  test("what is said to an agent is remembered for its session, and nothing wider is offered", () => {
    const asked = reader(shell("git push", { agentName: "worker" }));
    assert.match(asked.screen(), /s {2}Always allow this in this session/);
    assert.doesNotMatch(asked.screen(), /in this project|in all my projects/);
    assert.equal(asked.press("p", "enter"), undefined);
  });

  for (const [name, keys] of [
    ["Enter alone answers nothing: the default is not approve", ["enter"]],
    ["a letter alone answers nothing", ["y"]],
    ["other keys answer nothing", ["q", "escape", "ctrl+c", "left", "1"]],
  ] as const) {
    test(name, () => assert.equal(reader(shell("git push")).press(...keys), undefined));
  }

  for (const text of ["/quit", "no way", "yes", "you", "ny", "pay", "sty"]) {
    test(`words typed at a card, and Enter, answer nothing: ${text}`, () => {
      const names = [...text].map((letter) => (letter === " " ? "space" : letter));
      const { press, screen } = reader(shell("git push"));
      assert.equal(press(...names, "enter"), undefined);
      assert.doesNotMatch(screen(), /^> /m);
      assert.deepEqual(press("escape", "y", "enter"), { answer: { outcome: "approve" } }, "Esc, then a letter");
    });
  }

  /** Keys at the desk, each so long after the one before; what is chosen then. */
  async function pressedAfter(...keys: readonly (readonly [name: string, afterMs: number])[]) {
    const clock = manualClock();
    const desk = createCardStack({ clock, changed: () => undefined });
    const closed = new AbortController();
    const asking = cardApprover({ stack: desk, by: BY }).ask(shell("git push"), closed.signal);
    const answered: (string | undefined)[] = [];
    void asking.then((answer) => answered.push(answer?.outcome));
    desk.painted(SMALL);
    await clock.advance(1_000);
    for (const [name, afterMs] of keys) {
      await clock.advance(afterMs);
      desk.key(key(name), SMALL);
      desk.painted(SMALL);
    }
    await clock.advance(1);
    const screen = desk.view(SMALL).join("\n");
    closed.abort();
    return { answered, screen, chosen: /^> (\w) /m.exec(screen)?.[1] };
  }

  for (const [name, keys, chosen] of [
    [
      "a second letter after a pause takes the place of the first",
      [
        ["s", 0],
        ["p", 600],
      ],
      "p",
    ],
    [
      "a second letter at once is of a word, and nothing is chosen",
      [
        ["s", 0],
        ["p", 599],
      ],
      undefined,
    ],
    [
      "what follows in that word chooses nothing either, however slowly",
      [
        ["s", 0],
        ["p", 100],
        ["y", 5_000],
      ],
      undefined,
    ],
    [
      "after a wrong key a letter chooses nothing",
      [
        ["q", 0],
        ["y", 5_000],
      ],
      undefined,
    ],
    [
      "after a wrong key and Enter, which asks for a letter, a letter chooses",
      [
        ["q", 0],
        ["enter", 100],
        ["y", 600],
      ],
      "y",
    ],
    [
      "but none that is of the next line of a text",
      [
        ["q", 0],
        ["enter", 100],
        ["y", 100],
      ],
      undefined,
    ],
    [
      "and Enter after that line answers nothing",
      [
        ["q", 0],
        ["enter", 100],
        ["y", 100],
        ["enter", 100],
      ],
      undefined,
    ],
  ] as const) {
    test(`letters and time: ${name}`, async () => {
      const pressed = await pressedAfter(...keys);
      assert.deepEqual([pressed.chosen, pressed.answered], [chosen, []]);
      assert.equal(pressed.screen.includes("saves this rule"), chosen === "p");
    });
  }

  test("letters and time: Enter gives the answer that was chosen last", async () => {
    assert.deepEqual((await pressedAfter(["n", 0], ["y", 600], ["enter", 0])).answered, ["approve"]);
  });

  test("an insisting ask offers no always", () => {
    const { screen } = reader(shell("git push", { explicitAsk: true }));
    assert.doesNotMatch(screen(), /Always allow this/);
  });

  for (const [name, over, why] of [
    ["a rule insists", { explicitAsk: true, reason: "checker", source: "project" }, "a rule from the project asks every time"],
    ["a guard insists", { explicitAsk: true, reason: "guard", source: "git-push" }, "the safeguard 'git-push' asks every time"],
    ["a hook insists", { explicitAsk: true, reason: "hook", source: "lint" }, "the hook 'lint' asks every time"],
    ["it is risky", { suggestions: [], facts: { hazards: [{ id: "redirection", text: "> x" }] } }, "no rule can cover the risks above"],
    ["no rule fits", { suggestions: [] }, "no rule can describe similar calls"],
  ] as const) {
    test(`where nothing can be remembered, the card says why: ${name}`, () => {
      const { screen } = reader(shell("git push", over));
      assert.ok(screen().includes(`"Always allow" is not available: ${why}.`), screen());
      assert.doesNotMatch(screen(), /Always allow this/);
    });
  }

  test("where something can be remembered, or nothing need be, nothing is said of it", () => {
    assert.doesNotMatch(reader(shell("git push")).screen(), /"Always allow" is not available/);
    assert.doesNotMatch(reader(shell("git push", { suggestions: [], reason: "edited" })).screen(), /"Always allow" is not available/);
  });

  test("a card that offers to allow confined commands says what that means and what it writes", () => {
    const approval = shell("make", { facts: { containment: { confined: true, network: false } }, reason: "default" });
    assert.doesNotMatch(reader(approval, TALL).screen(), /c {2}Allow all confined/);
    const { screen, press } = reader(approval, TALL, { allowConfinedIn: "/home/u/.config/assent/settings.json" });
    assert.match(screen(), /confined: writes only in the workspace/);
    assert.match(screen(), /c {2}Allow all confined commands: they change only the workspace, no network$/m);
    press("c");
    assert.match(
      screen().replaceAll("\n", " "),
      /writes this setting: "allowConfined": true in \/home\/u\/\.config\/assent\/settings\.json\./,
    );
    assert.deepEqual(press("enter"), { answer: { outcome: "approve", allowConfined: true } });
  });

  test("a rule about a path says where the path begins; one about a program need not", () => {
    const rows = reader({ ...edit("a\n", "b\n"), suggestions: ["Edit(/src/a.js)"] }, { ...TALL, columns: 120 });
    assert.match(rows.screen(), /u {2}Always allow this in all my projects: Edit\(\/src\/a\.js\) {2}\(\/ = project root\)/);
    rows.press("u");
    assert.match(rows.screen(), /saves this rule: Edit\(\/src\/a\.js\) \(\/ = project root\)/);
    assert.doesNotMatch(reader({ ...edit("a\n", "b\n"), suggestions: ["Edit(//etc/hosts)"] }, TALL).screen(), /project root/);
    assert.doesNotMatch(reader(shell("ls", { suggestions: ["Shell(/usr/bin/ls)"] }), TALL).screen(), /project root/);
  });

  test("a one-line command is edited on the card", () => {
    const { press, screen } = reader(shell("git push"));
    assert.match(screen(), /e {2}Edit the command first\n/);
    press("e", "enter");
    assert.match(screen(), /Your command \(Enter: check and show it; ctrl\+g: your editor; Esc: back\):\n> git push▏/);
    assert.deepEqual(press("space", "-", "n", "enter"), { command: "git push -n" });
    assert.deepEqual(press("ctrl+g"), { wants: "editor", draft: "git push -n" });
  });

  for (const [name, keys, shows] of [
    ["without a change there is nothing to judge", ["enter"], /Nothing was changed\.[^▏]*$/],
    ["without a command neither", ["ctrl+u", "enter"], /The command is empty/],
    ["Esc leaves it as it was", ["x", "escape"], /\$ git push\n[^▏]*$/],
    ["ctrl+w takes a word, ctrl+a goes to the beginning", ["ctrl+w", "ctrl+a", "x"], /> x▏git $/m],
  ] as const) {
    test(`editing a command: ${name}`, () => {
      const { press, screen } = reader(shell("git push"));
      assert.equal(press("e", "enter", ...keys), undefined);
      assert.match(screen(), shows);
    });
  }

  test("longer commands, and other inputs, are for the editor", () => {
    assert.deepEqual(reader(shell("a\nb"), TALL).press("e", "enter"), { wants: "editor" });
    assert.match(reader(shell("a\nb"), TALL).screen(), /Edit the command first, in your editor/);
    const info = sampleApproval({ details: { type: "info", prompt: "Fetch?" }, suggestions: [] });
    assert.deepEqual(reader(info, TALL).press("e", "enter"), { wants: "editor" });
    assert.match(reader(info, TALL).screen(), /Edit the input first, in your editor/);
  });

  test("without an editor the row is not offered, and the card says so; a short command needs none", () => {
    const none = { editor: false };
    const { screen, press } = reader(edit("a\n", "b\n"), TALL, none);
    assert.doesNotMatch(screen(), /e {2}Edit/);
    assert.match(screen(), /Editing first needs an editor: set VISUAL or EDITOR\./);
    assert.equal(press("e", "enter"), undefined);
    const short = reader(shell("git push"), TALL, none);
    short.press("e", "enter");
    assert.match(short.screen(), /Your command \(Enter: check and show it; Esc: back\):/);
    assert.doesNotMatch(short.screen(), /no editor/);
  });

  test("what the diff of an edit shows is not shown twice; what it does not show is", () => {
    const approval = edit("one\ntwo\n", "one\n2\n");
    const input = { file_path: "a.ts", old_string: "two", new_string: "2" };
    const of = (over: Partial<OpenApproval>): string => reader({ ...approval, tool: "edit", cwd: "/w", input, ...over }, TALL).screen();
    assert.doesNotMatch(of({}), /^input/m);
    assert.match(of({ input: { ...input, replace_all: true } }), /^input {3}every occurrence: yes$/m);
    assert.match(of({ input: { ...input, new_string: "not there" } }), /^input {3}new_string: "not there"$/m);
    assert.match(of({ cwd: "/elsewhere" }), /^input {3}file_path: "a\.ts"$/m);
    assert.match(of({ tool: "write" }), /^input {3}old_string: "two"$/m);
  });

  const STAYS = "It runs in the background until it exits, is stopped, or the session ends.";
  const background = (over: Partial<OpenApproval["input"]> = {}, warnings: readonly string[] = [STAYS, "The model says: serve it"]) =>
    shell("npm run dev", {
      input: { command: "npm run dev", description: "serve it", run_in_background: true, ...over },
      details: { type: "exec", command: "npm run dev", rootCommand: "npm", cwd: "/workspace", warnings },
    });

  for (const [name, approval, rows] of [
    ["what the warnings say is not said again", background(), []],
    ["unless they do not say it", background({}, []), ['description: "serve it"', "in the background: yes"]],
    [
      "or say something else",
      background({ description: "another", run_in_background: false }),
      ['description: "another"', "in the background: no"],
    ],
    ["a text that is shown once stands for one field", background({ stdin: "npm run dev" }), ['stdin: "npm run dev"']],
    ["the directory is named above", background({ cwd: "." }), []],
    ["another one is not", background({ cwd: "other" }), ['cwd: "other"']],
    ["a name that is no word is quoted", background({ "a\nb": 1 }), ['"a\\nb": 1']],
  ] as const) {
    test(`what else a command is given, a row each: ${name}`, () => {
      const { screen } = reader(approval, TALL);
      const shown = screen()
        .split("\n")
        .filter((line) => line.startsWith("input"));
      assert.deepEqual(
        shown,
        rows.map((row) => `input   ${row}`),
      );
    });
  }

  test("a background command with a description, and an edit everywhere, can be approved at 80×24 without turning a page", () => {
    assert.deepEqual(reader(background()).press("y", "enter"), { answer: { outcome: "approve" } });
    const everywhere = { ...edit("a\nb\n", "a\nc\n"), tool: "edit", cwd: "/w" };
    const input = { file_path: "a.ts", old_string: "b", new_string: "c", replace_all: true };
    assert.deepEqual(reader({ ...everywhere, input }).press("y", "enter"), { answer: { outcome: "approve" } });
  });

  test("a long value is a block of its own, whole, and no row of it is a bracket alone", () => {
    const list = Array.from({ length: 12 }, (_, at) => ({ name: `number ${at}`, on: true }));
    const details = { type: "mcp", serverName: "s", toolName: "t", toolDisplayName: "T" } as const;
    const { screen, press } = reader(sampleApproval({ details, input: { list, few: [1, 2] } }));
    const seen: string[] = [];
    for (let pages = 0; pages < 20; pages += 1) {
      seen.push(...screen().split("\n"));
      if (!/more line/.test(screen())) break;
      press("space");
    }
    assert.ok(seen.includes("input   few: [1,2]"));
    for (const { name } of list)
      assert.ok(
        seen.some((line) => line.includes(`"name": "${name}"`)),
        name,
      );
    assert.deepEqual(
      seen.filter((line) => /^[\s}\],]*[}\]][\s}\],]*$/.test(line)),
      [],
    );
    assert.deepEqual(press("y", "enter"), { answer: { outcome: "approve" } });
  });

  test("the last page is a full one, and one last row is shown, not counted", () => {
    const lines = (count: number): string => Array.from({ length: count }, (_, at) => `: ${at}.`).join("\n");
    const shown = (screen: string): number => screen.split("\n").filter((line) => /: \d+\./.test(line)).length;
    for (let count = 1; count < 40; count += 1) {
      const { screen, press } = reader(shell(lines(count)));
      assert.doesNotMatch(screen(), /… 1 more line:/, `${count} lines`);
      const first = shown(screen());
      if (!/more lines/.test(screen())) continue;
      while (/more line/.test(screen())) press("space");
      assert.ok(shown(screen()) >= Math.min(count, first), `${count} lines`);
      assert.match(screen(), new RegExp(`: ${count - 1}\\.`));
    }
  });

  for (const chooses of ["y", "down"]) {
    test(`${chooses} on a card that was not shown whole says what to do first`, () => {
      const { screen, press } = reader(shell("x\n".repeat(40)));
      press(chooses);
      assert.match(screen(), /There is more to read first: press PgDn or Space\. Then Enter: Allow once/);
      press("pageDown", "pageDown", "pageDown", "pageDown", "pageDown");
      assert.doesNotMatch(screen(), /more to read/);
      assert.deepEqual(press("enter"), { answer: { outcome: "approve" } });
    });
  }

  test("y beside a folded file says how to unfold it", () => {
    const { screen, press } = reader(edit("a\n", "b\n"), TALL);
    press("f", "y");
    assert.match(screen(), /press f to unfold it/);
  });

  test("beside a person's own command the model's words are about its own", () => {
    const own = reader({ ...background(), details: { ...background().details, command: "npm start" } as never }, TALL, {
      original: background(),
    });
    assert.doesNotMatch(own.screen(), /The model says/);
    assert.match(own.screen(), /! The model said of its own version: serve it/);
    assert.match(reader(background(), TALL).screen(), /! The model says: serve it/);
  });

  test("a long request: what is hidden is counted, and yes is off until all of it was shown", () => {
    const { screen, press } = reader(shell(Array.from({ length: 100 }, (_, at) => `echo ${at}`).join("\n")));
    assert.match(screen(), /… \d+ more lines: press PgDn or Space/);
    assert.match(screen(), /y {2}Allow once \(once you have seen all of it\)/);
    assert.equal(press("y", "enter"), undefined);
    assert.match(screen(), /There is more to read first/);
    assert.deepEqual(
      reader(shell("x\n".repeat(100))).press("n", "enter", "enter"),
      { answer: { outcome: "reject" } },
      "no is always possible",
    );
    for (let pages = 0; pages < 40 && /more lines/.test(screen()); pages += 1) press("pageDown");
    assert.match(screen(), /echo 99/);
    assert.deepEqual(press("y", "enter"), { answer: { outcome: "approve" } });
  });

  test("going to the end without having read the middle does not count as read", () => {
    const { card } = reader(shell("x\n".repeat(100)));
    let state = card.shown(card.begin(), SMALL);
    for (let pages = 0; pages < 40; pages += 1) state = card.key(state, key("pageDown"), SMALL).state;
    state = card.shown(state, SMALL);
    state = card.key(card.key(state, key("y"), SMALL).state, key("enter"), SMALL).state;
    assert.match(card.view(state, SMALL).join("\n"), /There is more to read first/);
  });

  const LONG_EDIT = edit(
    Array.from({ length: 40 }, (_, at) => `const line${at} = ${at};\n`).join(""),
    Array.from({ length: 40 }, (_, at) => `const line${at} = ${at % 3 === 0 ? "a new value" : at};\n`).join(""),
  );
  const RESIZES: readonly [sentence: string, approval: Parameters<typeof reader>[0], from: Canvas, to: Canvas][] = [
    ["narrower", shell("x\n".repeat(60)), SMALL, { ...SMALL, columns: 60 }],
    ["wider and higher", shell("x".repeat(3_000)), SMALL, { ...SMALL, columns: 120, rows: 40 }],
    ["narrower and lower", shell("x".repeat(3_000)), SMALL, { ...SMALL, columns: 40, rows: 18 }],
    ["to two columns of a diff", LONG_EDIT, SMALL, { ...SMALL, columns: 160, rows: 50 }],
    ["to one column of a diff", LONG_EDIT, { ...SMALL, columns: 160, rows: 30 }, SMALL],
  ];
  for (const [sentence, approval, from, to] of RESIZES) {
    test(`a card that was read to its end is approved after a resize: ${sentence}`, () => {
      const { card } = reader(approval, from);
      let state = card.shown(card.begin(), from);
      for (let pages = 0; pages < 100; pages += 1) state = card.shown(card.key(state, key("pageDown"), from).state, from);
      state = card.shown(state, to);
      assert.doesNotMatch(card.view(state, to).join("\n"), /once you have seen all of it/);
      assert.ok(card.key(card.key(state, key("y"), to).state, key("enter"), to).outcome);
    });

    test(`a card that was half read leads on to its end after a resize: ${sentence}`, () => {
      const { card } = reader(approval, from);
      let state = card.shown(card.key(card.shown(card.begin(), from), key("pageDown"), from).state, from);
      state = card.shown(state, to);
      assert.equal(card.key(card.key(state, key("y"), to).state, key("enter"), to).outcome, undefined, "the rest was not seen");
      for (let pages = 0; pages < 100; pages += 1) state = card.shown(card.key(state, key("pageDown"), to).state, to);
      assert.ok(card.key(card.key(state, key("y"), to).state, key("enter"), to).outcome);
    });
  }

  test("one line of a megabyte can be paged through and approved", () => {
    const { press, screen } = reader(shell("x".repeat(20_000)));
    for (let pages = 0; pages < 200 && /more line/.test(screen()); pages += 1) press("space");
    assert.deepEqual(press("y", "enter"), { answer: { outcome: "approve" } });
  });

  test("what a terminal would act on, or a reader could not see, is shown as text", () => {
    const { screen } = reader(shell("echo \u001b[2J\u001b]52;c;x\u0007\r\b\u202e\u2066\u200b\u{e0069}", { title: "a\u001b[31m" }));
    assert.doesNotMatch(screen(), /(?!\n)[\p{Cc}\p{Cf}]/u);
    assert.match(screen(), /\\x1b\[2J.*\\u\{202e\}/s);
  });

  test("no line of any request is wider than the screen", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 40, max: 130 }), (text, columns) => {
        const card = approvalCard(shell(text, { title: text, cwd: text }), { editable: undefined, editor: false });
        for (const line of card.view(card.begin(), { ...SMALL, columns })) assert.ok(displayWidth(line) <= columns, line);
      }),
    );
  });

  const twenty = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`).join("");
  const changed = twenty.replace("line 2\n", "two\n").replace("line 18\n", "eighteen\n");

  test("some hunks of an edit: the answer carries the file as it would then be", () => {
    const { press, screen } = reader(edit(twenty, changed), { ...SMALL, rows: 60 });
    press("h", "enter", "right", "tab");
    assert.match(screen(), /\[x\] @@ .*\n[\s\S]*\[ \] @@/);
    assert.deepEqual(press("y", "enter"), { answer: { outcome: "approve", newContent: twenty.replace("line 2\n", "two\n") } });
  });

  test("a folded file is not a seen one", () => {
    const { press, screen } = reader(edit(twenty, changed), { ...SMALL, rows: 60 });
    press("f");
    assert.match(screen(), /▸ a\.ts[\s\S]*The files are folded: press f to unfold them\./);
    assert.equal(press("y", "enter"), undefined);
    press("f");
    assert.deepEqual(press("y", "enter"), { answer: { outcome: "approve" } });
  });

  test("edit first hands the file to the person's editor", () => {
    assert.deepEqual(reader(edit(twenty, changed), TALL).press("e", "enter"), { wants: "editor" });
    assert.doesNotMatch(reader(edit(twenty, changed), TALL, { editable: undefined }).screen(), /Edit first/);
  });

  test("a plan is approved into a mode", () => {
    const plan = sampleApproval({ details: { type: "plan", plan: "# Do it", prePlanMode: "yolo" }, suggestions: [] });
    assert.deepEqual(reader(plan).press("a", "enter"), { answer: { outcome: "approve", mode: "auto-edit" } });
    assert.deepEqual(reader(plan).press("b", "enter"), { answer: { outcome: "approve", mode: "yolo" } });
  });

  test("pasted text answers nothing, and is text in a reason", () => {
    const { paste, press, screen } = reader(shell("git push"));
    paste("y\n");
    assert.match(screen(), /is not an answer/);
    press("n", "enter");
    paste("too\nearly");
    assert.deepEqual(press("enter"), { answer: { outcome: "reject", reason: "too\nearly" } });
  });
});

describe("the card stack", () => {
  const desk = (): { desk: CardStack; clock: ReturnType<typeof manualClock> } => {
    const clock = manualClock();
    return { desk: createCardStack({ clock, changed: () => undefined }), clock };
  };

  test("keys before a card was painted, and for a short while after, are not for it", async () => {
    const { desk: at, clock } = desk();
    const approver = cardApprover({ stack: at, by: BY });
    const asking = approver.ask(shell("git push"), new AbortController().signal);
    assert.equal(at.key(key("y"), SMALL), false);
    at.view(SMALL);
    at.painted(SMALL);
    assert.equal(at.key(key("y"), SMALL), false);
    await clock.advance(300);
    assert.equal(at.key(key("y"), SMALL), true);
    at.painted(SMALL);
    assert.equal(at.key(key("enter"), SMALL), true);
    assert.equal((await asking)?.outcome, "approve");
    assert.equal(at.key(key("y"), SMALL), false, "nothing waits any more");
  });

  const CONFINED = { facts: { containment: { confined: true, network: false } }, reason: "default" } as const;
  const OFFERS: readonly (readonly [sentence: string, over: Partial<OpenApproval>, isOffered: boolean])[] = [
    ["the default prompt about a confined command", CONFINED, true],
    ["an explicit ask", { ...CONFINED, reason: "checker", explicitAsk: true }, false],
    ["a command with network", { ...CONFINED, facts: { containment: { confined: true, network: true } } }, false],
    ["a command in the background", { ...CONFINED, facts: { containment: { confined: true, network: false, lasting: true } } }, false],
    ["a command outside the sandbox", { ...CONFINED, facts: { containment: { confined: false, reason: "x" } } }, false],
  ];
  for (const [sentence, over, isOffered] of OFFERS) {
    test(`confined commands can be allowed, once, on the card of ${sentence}: ${isOffered}`, async () => {
      const { desk: at } = desk();
      const taken: string[] = [];
      const confinedOffer = { take: () => (taken.push("taken") === 1 ? "/settings.json" : undefined), accept: async () => undefined };
      const approver = cardApprover({ stack: at, by: BY, confinedOffer });
      const leaving = new AbortController();
      void approver.ask(shell("make", over), leaving.signal);
      await new Promise(setImmediate);
      assert.equal(at.view(TALL).join("\n").includes("Allow all confined commands"), isOffered);
      assert.equal(taken.length, isOffered ? 1 : 0);
      leaving.abort();
    });
  }

  test("allowing confined commands writes the setting before the answer, which names it; a failure answers nothing", async () => {
    const { desk: at, clock } = desk();
    let isBroken = true;
    const written: string[] = [];
    const confinedOffer = {
      take: () => "/settings.json",
      accept: async () => {
        if (isBroken) throw new Error("The file is broken.");
        written.push("allowConfined");
      },
    };
    const asking = cardApprover({ stack: at, by: BY, confinedOffer }).ask(shell("make", CONFINED), new AbortController().signal);
    const choose = async (): Promise<void> => {
      await new Promise(setImmediate);
      at.view(TALL);
      at.painted(TALL);
      await clock.advance(300);
      for (const name of ["c", "enter"]) {
        at.key(key(name), TALL);
        at.painted(TALL);
      }
      await new Promise(setImmediate);
    };
    await choose();
    assert.match(at.view(TALL).join("\n"), /The setting was not written, and nothing was answered: The file is broken\./);
    isBroken = false;
    await choose();
    const answer = await asking;
    assert.deepEqual(
      [answer?.outcome, answer?.reason, written],
      ["approve", 'Also set "allowConfined": true in /settings.json.', ["allowConfined"]],
    );
  });

  test("a card that comes to the front has its own while", async () => {
    const { desk: at, clock } = desk();
    const approver = cardApprover({ stack: at, by: BY });
    const signal = new AbortController().signal;
    void approver.ask(shell("one", { id: "a_1" }), signal);
    void approver.ask(shell("two", { id: "a_2" }), signal);
    at.painted(SMALL);
    await clock.advance(1_000);
    at.turn();
    assert.equal(at.front()?.id, "a_2");
    assert.equal(at.key(key("y"), SMALL), true, "a key that is too early was for the card before it, and is for nobody");
    at.painted(SMALL);
    assert.equal(at.key(key("y"), SMALL), true);
    assert.match(at.view(SMALL).join("\n"), /2 of 2 waiting/);
    assert.doesNotMatch(at.view(SMALL).join("\n"), /> y/);
    at.turn();
    assert.match(at.view(SMALL).join("\n"), /1 of 2 waiting[\s\S]*\$ one/);
  });

  /** Cards of calls c0, c1, …, put up in the order given. */
  function cards(): ReturnType<typeof desk> & { put: (...calls: readonly number[]) => void; shows: () => string } {
    const made = desk();
    const placeOf = ({ callId }: OpenApproval): number => Number(callId.slice(1));
    const approver = cardApprover({ stack: made.desk, by: BY, placeOf });
    const put = (...calls: readonly number[]): void => {
      for (const at of calls) void approver.ask(shell(`: ${at}.`, { id: `a_${at}`, callId: `c${at}` }), new AbortController().signal);
    };
    const shows = (): string => `${made.desk.front()?.id} ${/^\d of \d/.exec(made.desk.view(SMALL).join("\n"))?.[0] ?? "alone"}`;
    return { ...made, put, shows };
  }

  test("cards of one turn come up in the order of its calls, however late each is", () => {
    const { desk: at, put, shows } = cards();
    put(1);
    at.painted(SMALL);
    put(0, 2);
    assert.equal(shows(), "a_0 1 of 3");
    at.turn();
    assert.equal(shows(), "a_1 2 of 3");
    at.turn();
    assert.equal(shows(), "a_2 3 of 3");
    at.turn();
    assert.equal(shows(), "a_0 1 of 3");
  });

  test("what a person reads by now stays in front, and says which one it is", async () => {
    const { desk: at, clock, put, shows } = cards();
    put(1);
    at.painted(SMALL);
    await clock.advance(300);
    put(0);
    assert.equal(shows(), "a_1 2 of 2");
    at.turn();
    assert.equal(shows(), "a_0 1 of 2");
  });

  test("cards of different sessions keep the order in which they came", () => {
    const { desk: at } = desk();
    const approver = cardApprover({ stack: at, by: BY, placeOf: ({ callId }) => Number(callId.slice(1)) });
    for (const [sessionId, callId] of [
      ["s_1", "c5"],
      ["s_2", "c0"],
      ["s_1", "c3"],
    ] as const)
      void approver.ask(shell("x", { id: `${sessionId}${callId}`, sessionId, callId }), new AbortController().signal);
    assert.deepEqual(
      at.waiting().map(({ id }) => id),
      ["s_1c3", "s_1c5", "s_2c0"],
    );
  });

  /** An editor that makes everything `c`, and a judge who thinks of it what the test says. */
  const editing = (over: Partial<ApprovalEditor> = {}): ApprovalEditor => ({
    editable: ({ details }) => (details.type === "exec" ? "command" : "content"),
    hasEditor: () => true,
    open: async () => ({ newContent: "c\n" }),
    openText: async () => ({ text: "c\n" }),
    revise: async (asked, made) =>
      "newContent" in made ? edit("a\n", "c\n") : { ...asked, ...shell(String(made.updatedInput["command"])) },
    ...over,
  });

  function sitting(approval: OpenApproval, over: Partial<ApprovalEditor> = {}, abort = new AbortController()) {
    const { desk: at, clock } = desk();
    const asking = cardApprover({ stack: at, by: BY, edit: editing(over) }).ask(approval, abort.signal);
    const press = async (...names: string[]): Promise<void> => {
      for (const name of names) {
        at.painted(TALL);
        await clock.advance(300);
        at.key(key(name), TALL);
      }
      await clock.advance(1);
    };
    return { at, asking, press, clock, screen: () => at.view(TALL).join("\n") };
  }

  test("the edited request is shown again, and an approval covers it", async () => {
    const approval = edit("a\n", "b\n");
    const { asking, press, screen } = sitting(approval);
    await press("e", "enter");
    assert.match(screen(), /edited {2}by you, and checked again/);
    assert.match(screen(), /\+ c/);
    await press("y", "enter");
    const { newContent, fingerprint } = (await asking) ?? {};
    assert.deepEqual([newContent, fingerprint], ["c\n", approval.fingerprint]);
  });

  test("a command is edited on its card; what was made of it is judged, shown again, and only then approved", async () => {
    const { asking, press, screen } = sitting(shell("ls"));
    await press("e", "enter", "space", "-", "l");
    assert.match(screen(), /> ls -l▏/);
    await press("enter");
    assert.match(screen(), /edited {2}by you, and checked again; the model proposed: ls\n/);
    assert.match(screen(), /\$ ls -l/);
    assert.doesNotMatch(screen(), /▏/);
    await press("y", "enter");
    assert.deepEqual((await asking)?.updatedInput, { command: "ls -l" });
  });

  test("an edit that would do something else by now is shown again before it is approved", async () => {
    let digest = "sha256:1";
    const revise: ApprovalEditor["revise"] = async (asked) => ({
      ...asked,
      ...shell("sh x"),
      facts: { scripts: [{ file: "/w/x", digest }] },
    });
    const { asking, press, screen } = sitting(shell("ls"), { revise });
    await press("e", "enter", "x", "enter");
    assert.match(screen(), /\/w\/x \(sha256:1/);
    digest = "sha256:2";
    await press("y", "enter");
    assert.match(screen(), /\/w\/x \(sha256:2[\s\S]*Its effect changed while you were looking/);
    await press("y", "enter");
    assert.deepEqual((await asking)?.updatedInput, { command: "lsx" });
  });

  test("what an edit is denied for is said on the card, and what was typed is still there", async () => {
    const { asking, press, screen } = sitting(shell("ls"), { revise: async () => ({ message: "It would be denied." }) });
    await press("e", "enter", "x", "enter");
    assert.match(screen(), /> lsx▏[\s\S]*It would be denied\./);
    await press("escape", "y", "enter");
    const answer = await asking;
    assert.deepEqual([answer?.outcome, answer?.updatedInput], ["approve", undefined], "what was not judged is not approved");
  });

  test("the editor takes over what was typed, and gives back what it could not use", async () => {
    const drafts: (string | undefined)[] = [];
    const { press, screen } = sitting(edit("a\n", "b\n"), {
      open: async ({ draft }) => {
        drafts.push(draft);
        return { message: "That is no JSON.", text: "{" };
      },
    });
    await press("e", "enter");
    assert.match(screen(), /That is no JSON\./);
    assert.doesNotMatch(screen(), /▏/);
    await press("e", "enter");
    assert.deepEqual(drafts, [undefined, "{"]);
    const typing = sitting(shell("ls"), { open: async ({ draft }) => ({ message: `It began with ${draft}.` }) });
    await typing.press("e", "enter", "x", "ctrl+g");
    assert.match(typing.screen(), /It began with lsx\./);
  });

  test("a card keeps its place while it is edited, and keys pressed meanwhile are dropped", async () => {
    const gate = Promise.withResolvers<{ readonly newContent: string }>();
    const { at, press, clock, screen } = sitting(edit("a\n", "b\n"), { open: () => gate.promise });
    void cardApprover({ stack: at, by: BY }).ask(shell("two", { id: "a_2" }), new AbortController().signal);
    await press("e", "enter", "y", "enter");
    assert.equal(at.key(key("y"), TALL), true);
    gate.resolve({ newContent: "c\n" });
    await clock.advance(1);
    assert.match(screen(), /\+ c/);
    assert.equal(at.key(key("y"), TALL), true, "not for the text either");
    at.painted(TALL);
    assert.equal(at.key(key("y"), TALL), true);
    assert.doesNotMatch(screen(), /> y/);
  });

  test("an approval that is answered elsewhere while its editor is open goes away", async () => {
    const abort = new AbortController();
    const open: ApprovalEditor["open"] = (_editing, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const { at, asking, press } = sitting(edit("a\n", "b\n"), { open }, abort);
    await press("e", "enter");
    abort.abort();
    assert.equal(await asking, undefined);
    assert.equal(at.front(), undefined);
  });

  testApprover("the approver at the desk", async () => {
    const { desk: at, clock } = desk();
    const approver = cardApprover({ stack: at, by: BY });
    return {
      approver,
      answer: async ({ id }, outcome) => {
        while (at.front()?.id !== id) at.turn();
        for (const name of outcome === "approve" ? ["y", "enter"] : ["n", "enter", "enter"]) {
          at.painted(SMALL);
          await clock.advance(300);
          at.key(key(name), SMALL);
        }
      },
    };
  });
});
