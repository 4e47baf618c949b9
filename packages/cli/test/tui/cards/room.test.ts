import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OpenApproval } from "@assent/core";
import { manualClock, sampleApproval } from "@assent/core/testing";
import fc from "fast-check";
import { approvalCard } from "../../../src/tui/cards/approval-card.ts";
import { confirmLines, markConfirmShown, pressConfirm, UNCONFIRMED } from "../../../src/tui/cards/confirm-card.ts";
import { createCardStack, type StackedCard } from "../../../src/tui/cards/stack.ts";
import type { Canvas } from "../../../src/tui/draw/dialog.ts";
import { makeTheme } from "../../../src/tui/draw/theme.ts";

const theme = makeTheme("none");

function longCommand(lines: number, over: Partial<OpenApproval> = {}): OpenApproval {
  const command = Array.from({ length: lines }, (_, at) => `: ${at}.`).join("\n");
  const details = { type: "exec", command, rootCommand: ":" } as const;
  return sampleApproval({ tool: "shell", input: { command }, details, suggestions: ["Shell(: *)"], ...over });
}

/** What a terminal shows of a card: no more rows than it has, and of those the last. */
const visibleOf = (lines: readonly string[], { rows }: Canvas): readonly string[] => lines.slice(-rows);

type Read = { readonly approved: boolean; readonly seen: ReadonlySet<string> };

/** Presses the keys, a frame before each; what was on the screen until the card was answered. */
function read(lines: number, canvas: Canvas, keys: readonly string[]): Read {
  const card = approvalCard(longCommand(lines), { editable: undefined, editor: false });
  const seen = new Set<string>();
  let state = card.begin();
  for (const name of keys) {
    for (const line of visibleOf(card.view(state, canvas), canvas)) seen.add(line.replace(/^│/, "").trim().replace(/^\$ /, ""));
    const { state: next, outcome } = card.key(card.shown(state, canvas), { name }, canvas);
    state = next;
    if (outcome) return { approved: "answer" in outcome && outcome.answer.outcome === "approve", seen };
  }
  return { approved: false, seen };
}

describe("the room a card has", () => {
  test("with any size and any keys, approving works only after every line was on the screen", () => {
    const key = fc.constantFrom("pageDown", "pageDown", "pageDown", "space", "pageUp", "home", "y", "s", "f", "up");
    const sizes = fc.record({
      columns: fc.integer({ min: 20, max: 160 }),
      rows: fc.oneof(fc.integer({ min: 2, max: 9 }), fc.integer({ min: 2, max: 60 })),
    });
    const lengths = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 60 }));
    let approvals = 0;
    fc.assert(
      fc.property(sizes, lengths, fc.array(key, { maxLength: 40 }), (size, lines, keys) => {
        const { approved, seen } = read(lines, { ...size, theme }, [...keys, "y", "enter"]);
        if (!approved) return;
        approvals += 1;
        for (let at = 0; at < lines; at += 1) assert.ok(seen.has(`: ${at}.`), `line ${at} was never shown at ${size.columns}×${size.rows}`);
      }),
      { numRuns: 400 },
    );
    assert.ok(approvals > 20, `${approvals} were approved`);
  });

  const HEADS: readonly (readonly [sentence: string, columns: number, head: RegExp])[] = [
    ["wide card names the call and its id", 80, /^Approval needed: Write a note {2}a_\S+$/],
    ["narrow card names the call, not its id", 40, /^Approval needed: Write a note$/],
  ];
  for (const [sentence, columns, head] of HEADS)
    test(`the head of a ${sentence}`, () => {
      const card = approvalCard(longCommand(1, { id: "a_szh5u7nyydofhqn7phwa" }), { editable: undefined, editor: false });
      assert.match(card.view(card.begin(), { columns, rows: 24, theme })[0] ?? "", head);
    });

  test("the shared row of answers fits a narrow card", () => {
    const card = approvalCard(longCommand(1), { editable: "command", editor: true });
    const lines = card.view(card.begin(), { columns: 40, rows: 9, theme });
    assert.ok(lines.includes("  y s p u e n x  press one to read it"), lines.join("\n"));
  });

  test("a card fits from eight rows on, and can be read to its end there", () => {
    for (let rows = 8; rows <= 60; rows += 1) {
      const canvas: Canvas = { columns: 80, rows, theme };
      const card = approvalCard(longCommand(30), { editable: "command", editor: true });
      let state = card.begin();
      for (let pages = 0; pages < 60; pages += 1) {
        assert.ok(card.view(state, canvas).length <= rows, `${rows} rows`);
        state = card.key(card.shown(state, canvas), { name: "pageDown" }, canvas).state;
      }
      state = card.key(card.shown(state, canvas), { name: "y" }, canvas).state;
      assert.ok(card.key(card.shown(state, canvas), { name: "enter" }, canvas).outcome, `${rows} rows`);
    }
  });

  test("a terminal that is too small is said, and approves nothing", () => {
    const canvas: Canvas = { columns: 80, rows: 3, theme };
    const card = approvalCard(longCommand(1), { editable: undefined, editor: false });
    let state = card.begin();
    for (const name of [...Array.from({ length: 12 }, () => "pageDown"), "y"])
      state = card.key(card.shown(state, canvas), { name }, canvas).state;
    const pressed = card.key(card.shown(state, canvas), { name: "enter" }, canvas);
    assert.equal(pressed.outcome, undefined);
    assert.match(pressed.state.hint, /This terminal is too small/);
  });

  /** Presses the keys at a question of the program, a frame before each, and reads what a terminal shows of it. */
  function confirmed(lines: number, canvas: Canvas, keys: readonly string[]): Read {
    const asked = { title: "Trust it?", lines: Array.from({ length: lines }, (_, at) => `rule ${at}.`), yes: "Trust", no: "Not now" };
    const seen = new Set<string>();
    let state = UNCONFIRMED;
    for (const name of keys) {
      for (const line of visibleOf(confirmLines(asked, state, canvas), canvas)) seen.add(line.trim());
      const pressed = pressConfirm(asked, markConfirmShown(asked, state, canvas), { name, size: canvas });
      if (typeof pressed === "boolean") return { approved: pressed, seen };
      state = pressed;
    }
    return { approved: false, seen };
  }

  test("with any size and any keys, a yes-or-no question is a yes only after every line was on the screen", () => {
    const key = fc.constantFrom("pageDown", "pageDown", "pageDown", "space", "pageUp", "home", "y", "tab");
    const sizes = fc.record({ columns: fc.integer({ min: 20, max: 160 }), rows: fc.integer({ min: 2, max: 12 }) });
    let approvals = 0;
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 12 }), fc.array(key, { maxLength: 40 }), (size, lines, keys) => {
        const { approved, seen } = confirmed(lines, { ...size, theme }, [...keys, "y", "enter"]);
        if (!approved) return;
        approvals += 1;
        for (let at = 0; at < lines; at += 1)
          assert.ok(seen.has(`rule ${at}.`), `line ${at} was never shown at ${size.columns}×${size.rows}`);
      }),
      { numRuns: 400 },
    );
    assert.ok(approvals > 20, `${approvals} were approved`);
  });

  test("a question of the program can be read and answered from six rows on; where it cannot, it says so", () => {
    const reading = [...Array.from({ length: 12 }, () => "pageDown"), "y", "enter"];
    for (let rows = 2; rows <= 30; rows += 1) {
      const canvas: Canvas = { columns: 80, rows, theme };
      assert.equal(confirmed(12, canvas, reading).approved, rows >= 6, `${rows} rows`);
      assert.equal(
        [...confirmed(12, canvas, ["y", "n"]).seen].some((line) => line.includes("make the terminal larger")),
        rows < 6,
        `${rows} rows`,
      );
    }
  });

  test("with several cards, the canvas marked as shown is the one that was drawn", async () => {
    const clock = manualClock();
    const desk = createCardStack({ clock, changed: () => undefined });
    const given: number[] = [];
    const item = (id: string): StackedCard => ({
      ...{ id, title: id },
      view: ({ rows }) => {
        given.push(rows);
        return [];
      },
      shown: ({ rows }) => void given.push(rows),
      press: (_, { rows }) => void given.push(rows),
    });
    const canvas: Canvas = { columns: 80, rows: 20, theme };
    const look = async (): Promise<void> => {
      desk.view(canvas);
      desk.painted(canvas);
      await clock.advance(300);
      desk.key({ name: "x" }, canvas);
    };
    desk.put(item("first"));
    await look();
    assert.deepEqual(given.splice(0), [20, 20, 20]);
    desk.put(item("second"));
    await look();
    assert.deepEqual(given, [19, 19, 19]);
  });
});
