import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { displayWidth, type OpenQuestion, type Question, type QuestionAnswer } from "@assent/core";
import { readQuestions } from "@assent/core/parts";
import { manualClock } from "@assent/core/testing";
import fc from "fast-check";
import { pressAsk } from "../../../src/tui/ask/keys.ts";
import { askQuestioner } from "../../../src/tui/ask/questioner.ts";
import { type AskOutcome, beginAsk } from "../../../src/tui/ask/state.ts";
import { askLines } from "../../../src/tui/ask/view.ts";
import { createCardStack } from "../../../src/tui/cards/stack.ts";
import type { Canvas, Key } from "../../../src/tui/draw/dialog.ts";
import { makeTheme } from "../../../src/tui/draw/theme.ts";

const CANVAS: Canvas = { columns: 80, rows: 22, theme: makeTheme("none") };
const BY = { kind: "person", user: "u", name: "U", door: "tui", pid: 1 } as const;

const one = (over: Partial<Question> = {}): Question => ({
  id: "db",
  question: "Which?",
  options: ["A", "B", "C"].map((label) => ({ label })),
  multi: false,
  ...over,
});

/** Keys by name; `"text` types a text. */
const keysOf = (texts: readonly string[]): readonly Key[] =>
  texts.flatMap((text) =>
    text.startsWith('"') ? [...text.slice(1)].map((name) => ({ name: name === " " ? "space" : name })) : [{ name: text }],
  );

function play(questions: readonly Question[], keys: readonly string[]): { outcome: AskOutcome | undefined; screen: string } {
  let state = beginAsk(questions);
  let outcome: AskOutcome | undefined;
  for (const [at, key] of keysOf(keys).entries()) {
    assert.equal(outcome, undefined, "nothing is pressed after the end");
    ({ state, outcome } = { outcome: undefined, ...pressAsk(questions, state, at === 0 && "name" in key ? { ...key, alone: true } : key) });
  }
  return { outcome, screen: askLines({ questions }, state, CANVAS).join("\n") };
}

const only = (answer: Omit<QuestionAnswer, "id">): AskOutcome => ({ answers: [{ id: "db", ...answer }] });
const two = [one({ id: "q1" }), one({ id: "q2", multi: true })];

describe("the ask dialog", () => {
  for (const [name, questions, keys, outcome] of [
    ["the second option", [one()], ["down", "enter"], only({ selected: ["B"] })],
    [
      "the recommended one has the cursor, and comes back without the suffix",
      [one({ recommended: 1 })],
      ["enter"],
      only({ selected: ["B"] }),
    ],
    [
      "several, in the order of choosing",
      [one({ multi: true })],
      ["down", "down", "enter", "up", "up", "space", "up", "enter"],
      only({ selected: ["C", "A"] }),
    ],
    [
      "off and on again moves a label to the end",
      [one({ multi: true })],
      ["enter", "down", "enter", "up", "enter", "enter", "up", "enter"],
      only({ selected: ["B", "A"] }),
    ],
    ["a check and a text", [one({ multi: true })], ["enter", "up", "up", "enter", '"x', "enter"], only({ selected: ["A"], custom: "x" })],
    ["Other, Esc, then an option", [one()], ["up", "enter", '"zz', "escape", "down", "enter"], only({ selected: ["A"] })],
    ["an empty text is an answer", [one()], ["up", "enter", "enter"], only({ selected: [], custom: "" })],
    ["without options only a text", [one({ options: [] })], ["enter", '"my text', "enter"], only({ selected: [], custom: "my text" })],
    [
      "its field is open from the start, and n is a letter there",
      [one({ options: [] })],
      ['"notes 1 p', "enter"],
      only({ selected: [], custom: "notes 1 p" }),
    ],
    ["Enter on its empty field sends nothing", [one({ options: [] })], ["enter", "enter", "enter"], undefined],
    [
      "Esc keeps the text, and a letter goes on with it",
      [one({ options: [] })],
      ['"a', "escape", '"n', "enter"],
      only({ selected: [], custom: "an" }),
    ],
    ["Esc, and Esc again cancels", [one({ options: [] })], ["escape", "escape"], { cancelled: [] }],
    [
      "among several questions the arrows go past an empty field, and back to the text",
      [one({ id: "q1", options: [] }), one({ id: "q2", options: [] })],
      ["right", '"two', "enter", "left", '"!', "escape", "left", '"one', "enter", "enter", "enter"],
      {
        answers: [
          { id: "q1", selected: [], custom: "one" },
          { id: "q2", selected: [], custom: "two!" },
        ],
      },
    ],
    ["nothing checked and done", [one({ multi: true })], ["up", "enter"], only({ selected: [] })],
    ["a text of several lines", [one()], ["up", "enter", '"a', "shift+enter", '"b', "enter"], only({ selected: [], custom: "a\nb" })],
    ["a note beside the choice", [one()], ["n", '"why', "enter", "enter"], only({ selected: ["A"], note: "why" })],
    ["a word and Enter choose nothing", [one()], ['"okay', "enter", "enter"], undefined],
    ["a sentence and Enter choose nothing", [one()], ['"do it 2 times', "enter"], undefined],
    ["after a word an arrow and Enter choose", [one()], ['"okay', "enter", "down", "enter"], only({ selected: ["B"] })],
    ["a space chooses nothing where one is chosen", [one()], ["space", "enter"], undefined],
    ["a word and Enter send no review", two, ["enter", "right", '"ok', "enter"], undefined],
    ["Esc on the only question", [one()], ["escape"], { cancelled: [] }],
    ["Ctrl-C at any time", two, ["enter", "ctrl+c"], { cancelled: [{ id: "q1", selected: ["A"] }] }],
    [
      "back, changed, forward",
      two,
      ["enter", "left", "down", "enter", "enter", "right", "enter"],
      {
        answers: [
          { id: "q1", selected: ["B"] },
          { id: "q2", selected: ["A"] },
        ],
      },
    ],
    [
      "right on both, submit",
      two,
      ["right", "right", "enter"],
      {
        answers: [
          { id: "q1", selected: [] },
          { id: "q2", selected: [] },
        ],
      },
    ],
    ["cancelled on the second keeps the first", two, ["enter", "escape", "escape"], { cancelled: [{ id: "q1", selected: ["A"] }] }],
    [
      "Esc once, then on",
      two,
      ["enter", "escape", "right", "enter"],
      {
        answers: [
          { id: "q1", selected: ["A"] },
          { id: "q2", selected: [] },
        ],
      },
    ],
    [
      "an option after a text replaces it",
      [one({ id: "q1" }), one({ id: "q2" })],
      ["up", "enter", '"x', "enter", "left", "down", "enter", "right", "enter"],
      {
        answers: [
          { id: "q1", selected: ["A"] },
          { id: "q2", selected: [] },
        ],
      },
    ],
    ["a digit moves the cursor, and answers nothing", [one()], ["3", "enter"], only({ selected: ["C"] })],
  ] as const satisfies readonly (readonly [string, readonly Question[], readonly string[], AskOutcome | undefined])[]) {
    test(name, () => assert.deepEqual(play(questions, keys).outcome, outcome));
  }

  test("a recommendation that names no option is none", () => {
    const read = readQuestions([{ id: "db", question: "Which?", options: [{ label: "A" }, { label: "B" }], recommended: 7 }]);
    assert.ok("questions" in read);
    const { screen } = play(read.questions, []);
    assert.doesNotMatch(screen, /Recommended/);
    assert.match(screen, /^> {3}A$/m);
  });

  test("what is shown: place, count, suffix, hints; Done only where nothing else ends the choice", () => {
    assert.match(play([one({ recommended: 0 })], []).screen, /A \(Recommended\)/);
    assert.match(play(two, ["enter", "enter"]).screen, /Which\? \(2\/2\) \(1 selected\)/);
    assert.match(play([one({ multi: true })], []).screen, /Done selecting/);
    assert.doesNotMatch(play(two, ["right"]).screen, /Done selecting/);
    assert.match(play(two, ["right", "right"]).screen, /1 question has no answer/);
    assert.match(play(two, ["enter", "escape"]).screen, /Press Esc again to cancel, any other key to continue/);
  });

  test("a question without options shows its field at once, and says what Enter on nothing does not do", () => {
    const asked = [one({ options: [] })];
    assert.match(play(asked, []).screen, /Your answer \(Enter: send[^\n]*\n> ▏/);
    assert.match(play(asked, ["enter"]).screen, /Type an answer, or press Esc/);
    assert.doesNotMatch(play(asked, ["enter", "x"]).screen, /Type an answer, or press Esc/);
    assert.match(play(asked, ["escape"]).screen, /> {3}Other \(type your own\)\n/);
    assert.doesNotMatch(play(asked, ["escape"]).screen, /n: note/);
  });

  test("a label with markup and codes comes back as it is, and is escaped on the screen", () => {
    const label = "<b>\u001b[31mred";
    const { outcome } = play([one({ options: [{ label }] })], ["enter"]);
    assert.deepEqual(outcome, only({ selected: [label] }));
    assert.match(play([one({ options: [{ label }] })], []).screen, /<b>\\x1b\[31mred/);
  });

  test("the editor repeats the question; checked rows stay, the rest is counted", () => {
    const options = Array.from({ length: 12 }, (_, at) => ({ label: `option ${at + 1}` }));
    const { screen } = play([one({ options, multi: true })], ["up", "up", "up", "enter", "down", "enter"]);
    assert.match(screen, /\[x\] option 12/);
    assert.match(screen, /… 4 more/);
    assert.match(screen, /Your answer \(Enter: send/);
  });

  test("a preview opens on demand", () => {
    const question = one({ options: [{ label: "A", preview: "# more\nof it" }, { label: "B" }] });
    assert.match(play([question], ["p"]).screen, /│ # more/);
    assert.doesNotMatch(play([question], ["p", "p"]).screen, /# more/);
  });

  test("law: any keys in any order never throw, and no line is wider than the screen", () => {
    const key = fc.constantFrom("up", "down", "left", "right", "enter", "space", "n", "p", "escape", "x", "backspace", "3", "home");
    fc.assert(
      fc.property(fc.array(key, { maxLength: 30 }), fc.integer({ min: 30, max: 120 }), (keys, columns) => {
        let state = beginAsk(two);
        for (const pressed of keysOf(keys)) {
          const { state: after, outcome } = pressAsk(two, state, pressed);
          if (outcome) return;
          state = after;
          const lines = askLines({ questions: two, agentName: "explorer" }, state, { ...CANVAS, columns });
          assert.deepEqual(lines, askLines({ questions: two, agentName: "explorer" }, state, { ...CANVAS, columns }));
          for (const line of lines) assert.ok(displayWidth(line) <= columns, line);
        }
      }),
    );
  });
});

describe("questions on the card stack", () => {
  function bench(timeout = 0) {
    const clock = manualClock();
    const desk = createCardStack({ clock, changed: () => undefined });
    const timed: string[] = [];
    let expire: (answer: QuestionAnswer) => void = () => undefined;
    let notices = 0;
    const notify = (): void => {
      notices += 1;
    };
    const questioner = askQuestioner({ stack: desk, clock, by: BY, notify });
    const open = (questions: readonly Question[]): OpenQuestion => ({
      ...{ id: "q_1", sessionId: "s", callId: "c1", questions, timeout: () => timeout },
      timer: {
        restart: (id) => void timed.push(id),
        stop: () => void timed.push("-"),
        onExpired: (told) => {
          expire = told;
        },
      },
    });
    const press = async (...names: string[]): Promise<void> => {
      for (const name of names) {
        desk.painted(CANVAS);
        await clock.advance(300);
        desk.key({ name }, CANVAS);
      }
    };
    return { clock, desk, questioner, open, press, timed, expire: (answer: QuestionAnswer) => expire(answer), notices: () => notices };
  }

  test("one notification per call; the answer says who gave it", async () => {
    const b = bench();
    const asking = b.questioner.ask(b.open(two), new AbortController().signal, () => undefined);
    await b.press("enter", "right", "enter");
    const answered = await asking;
    assert.deepEqual([answered?.outcome, answered?.by?.name, b.notices()], ["answered", "U", 1]);
  });

  test("the countdown starts when the list is drawn, starts over with every key, and pauses while text is typed", async () => {
    const b = bench(5);
    const asking = b.questioner.ask(b.open([one()]), new AbortController().signal, () => undefined);
    assert.deepEqual(b.timed, []);
    b.desk.painted(CANVAS);
    assert.deepEqual(b.timed, ["db"]);
    await b.press("down", "up", "up", "enter");
    assert.deepEqual(b.timed.slice(1), ["db", "db", "db", "-"]);
    await b.press("x", "enter");
    assert.equal((await asking)?.outcome, "answered");
    assert.equal(b.clock.pending(), 0, "no timer is left");
  });

  test("a countdown is shown, and counts", async () => {
    const b = bench(5);
    void b.questioner.ask(b.open([one()]), new AbortController().signal, () => undefined);
    b.desk.painted(CANVAS);
    assert.match(b.desk.view(CANVAS).join("\n"), /answers itself in 5 s/);
    await b.clock.advance(2_000);
    assert.match(b.desk.view(CANVAS).join("\n"), /answers itself in 3 s/);
  });

  test("a question whose time was over is passed, and can be answered again", async () => {
    const b = bench(5);
    const asking = b.questioner.ask(b.open(two), new AbortController().signal, () => undefined);
    b.desk.painted(CANVAS);
    b.expire({ id: "q1", selected: ["A"], timedOut: true, automatic: true });
    assert.match(b.desk.view(CANVAS).join("\n"), /\(2\/2\)/);
    await b.press("left", "down", "enter", "right", "enter");
    const answered = await asking;
    assert.ok(answered?.outcome === "answered");
    assert.deepEqual(answered.answers[0], { id: "q1", selected: ["B"] });
  });

  test("an abort takes the dialog away, and what was chosen so far is known", async () => {
    const b = bench();
    const abort = new AbortController();
    let partial: readonly QuestionAnswer[] = [];
    const asking = b.questioner.ask(b.open(two), abort.signal, (answers) => {
      partial = answers;
    });
    await b.press("enter");
    abort.abort();
    assert.equal(await asking, undefined);
    assert.deepEqual(partial[0], { id: "q1", selected: ["A"] });
    assert.equal(b.desk.front(), undefined);
  });
});
