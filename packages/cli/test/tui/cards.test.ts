import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { displayWidth, type OpenApproval } from "@assent/core";
import { manualClock, sampleApproval, testApprover } from "@assent/core/testing";
import { unifiedDiff } from "@assent/tools";
import fc from "fast-check";
import { approvalCard, type CardState } from "../../src/tui/cards/approval-card.ts";
import { cardApprover } from "../../src/tui/cards/card-approver.ts";
import { createDesk, type Desk } from "../../src/tui/cards/desk.ts";
import type { Canvas, Key } from "../../src/tui/dialog.ts";
import { themeOf } from "../../src/tui/theme.ts";

const SMALL: Canvas = { columns: 80, rows: 22, theme: themeOf("none") };
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
function reader(approval: OpenApproval, canvas: Canvas = SMALL, editable = true) {
  const card = approvalCard(approval, { editable });
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
  test("shows the tool, where, why with the rule's place, the whole command and the rule an always would store", () => {
    const rule = { text: "Shell(git push *)", file: "/w/.assent/settings.json", line: 3, because: "it is public" };
    const { screen } = reader(shell("git push origin main", { reason: "checker", source: "project", rule }));
    assert.match(screen(), /Approval needed: Run a command/);
    assert.match(screen(), /tool\s+shell/);
    assert.match(screen(), /in\s+\/workspace/);
    assert.match(
      screen().replaceAll(/\n\s+/g, ""),
      /an ask rule of the project: Shell\(git push \*\) \(it is public\), \/w\/.assent\/settings\.json:3/,
    );
    assert.match(screen(), /\$ git push origin main/);
    assert.match(screen(), /s {2}Yes, and the like in this session: Shell\(git push \*\)/);
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

  test("an insisting ask offers no always", () => {
    const { screen } = reader(shell("git push", { explicitAsk: true }));
    assert.doesNotMatch(screen(), /the like/);
  });

  test("a long request: what is hidden is counted, and yes is off until all of it was shown", () => {
    const { screen, press } = reader(shell(Array.from({ length: 100 }, (_, at) => `echo ${at}`).join("\n")));
    assert.match(screen(), /… \d+ more lines: PgDn or space shows them/);
    assert.match(screen(), /y {2}Yes, this once \(when all of it was shown\)/);
    assert.equal(press("y", "enter"), undefined);
    assert.match(screen(), /There is more to see first/);
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
    assert.match(card.view(state, SMALL).join("\n"), /There is more to see first/);
  });

  test("another width is another text: what was seen counts anew", () => {
    const { card } = reader(shell("x\n".repeat(8)));
    const state = card.key(card.shown(card.begin(), SMALL), key("y"), SMALL).state;
    const narrow = { ...SMALL, columns: 60, rows: 40 };
    assert.equal(card.key(state, key("enter"), narrow).outcome, undefined);
    assert.ok(card.key(card.shown(state, narrow), key("enter"), narrow).outcome);
  });

  test("one line of a megabyte can be paged through and approved", () => {
    const { press, screen } = reader(shell("x".repeat(20_000)));
    for (let pages = 0; pages < 200 && /more line/.test(screen()); pages += 1) press("space");
    assert.deepEqual(press("y", "enter"), { answer: { outcome: "approve" } });
  });

  test("S36: what a terminal would act on, or a reader could not see, is shown as text", () => {
    const { screen } = reader(shell("echo \u001b[2J\u001b]52;c;x\u0007\r\b\u202e\u2066\u200b\u{e0069}", { title: "a\u001b[31m" }));
    assert.doesNotMatch(screen(), /(?!\n)[\p{Cc}\p{Cf}]/u);
    assert.match(screen(), /\\x1b\[2J.*\\u\{202e\}/s);
  });

  test("law: no line is wider than the screen, whatever the request", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 40, max: 130 }), (text, columns) => {
        const card = approvalCard(shell(text, { title: text, cwd: text }), { editable: false });
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
    assert.match(screen(), /▸ a\.ts/);
    assert.equal(press("y", "enter"), undefined);
    press("f");
    assert.deepEqual(press("y", "enter"), { answer: { outcome: "approve" } });
  });

  test("edit first hands the file to the person's editor", () => {
    assert.deepEqual(reader(edit(twenty, changed), { ...SMALL, rows: 60 }).press("e", "enter"), { wants: "editor" });
    assert.doesNotMatch(reader(edit(twenty, changed), SMALL, false).screen(), /Edit first/);
  });

  test("a plan is approved into a mode", () => {
    const plan = sampleApproval({ details: { type: "plan", plan: "# Do it", prePlanMode: "yolo" }, suggestions: [] });
    assert.deepEqual(reader(plan).press("a", "enter"), { answer: { outcome: "approve", mode: "auto-edit" } });
    assert.deepEqual(reader(plan).press("b", "enter"), { answer: { outcome: "approve", mode: "yolo" } });
  });

  test("pasted text answers nothing, and is text in a reason", () => {
    const { paste, press, screen } = reader(shell("git push"));
    paste("y\n");
    assert.match(screen(), /answers nothing/);
    press("n", "enter");
    paste("too\nearly");
    assert.deepEqual(press("enter"), { answer: { outcome: "reject", reason: "too\nearly" } });
  });
});

describe("the desk", () => {
  const desk = (): { desk: Desk; clock: ReturnType<typeof manualClock> } => {
    const clock = manualClock();
    return { desk: createDesk({ clock, changed: () => undefined }), clock };
  };

  test("S37: keys before a card was painted, and for a short while after, are not for it", async () => {
    const { desk: at, clock } = desk();
    const approver = cardApprover({ desk: at, by: BY, say: () => undefined });
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

  test("a card that comes to the front has its own while", async () => {
    const { desk: at, clock } = desk();
    const approver = cardApprover({ desk: at, by: BY, say: () => undefined });
    const signal = new AbortController().signal;
    void approver.ask(shell("one", { id: "a_1" }), signal);
    void approver.ask(shell("two", { id: "a_2" }), signal);
    at.painted(SMALL);
    await clock.advance(1_000);
    at.turn();
    assert.equal(at.front()?.id, "a_2");
    assert.equal(at.key(key("y"), SMALL), false);
    assert.match(at.view(SMALL).join("\n"), /1 of 2 waiting/);
  });

  test("what the editor made of it is shown again, and is what a yes is for", async () => {
    const { desk: at, clock } = desk();
    const approval = edit("a\n", "b\n");
    const approver = cardApprover({
      ...{ desk: at, by: BY, say: () => undefined },
      edit: async () => ({ approval: edit("a\n", "c\n"), newContent: "c\n" }),
    });
    const asking = approver.ask(approval, new AbortController().signal);
    const press = async (...names: string[]): Promise<void> => {
      for (const name of names) {
        at.painted(TALL);
        await clock.advance(300);
        at.key(key(name), TALL);
      }
    };
    await press("e", "enter");
    await clock.advance(1);
    assert.match(at.view(TALL).join("\n"), /\+ c/);
    await press("y", "enter");
    const { newContent, fingerprint } = (await asking) ?? {};
    assert.deepEqual([newContent, fingerprint], ["c\n", approval.fingerprint]);
  });

  testApprover("the approver at the desk", async () => {
    const { desk: at, clock } = desk();
    const approver = cardApprover({ desk: at, by: BY, say: () => undefined });
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
