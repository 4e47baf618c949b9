import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AnsweredElsewhere, type OpenQuestion, type Question, type QuestionAnswer, type QuestionerReply } from "@assent/core";
import { oneAtATime } from "../../../src/desk/terminal/one-at-a-time.ts";
import { terminalQuestioner } from "../../../src/desk/terminal/questioner.ts";
import { type FakeTerminal, fakeTerminal } from "../../support/terminal.ts";

const BY = { kind: "person", user: "ann", name: "ann", door: "call", pid: 1 } as const;

const one = (over: Partial<Question> = {}): Question => ({
  id: "db",
  question: "Which database?",
  multi: false,
  options: [{ label: "SQLite", description: "one file" }, { label: "Postgres" }],
  ...over,
});

type Asked = FakeTerminal & {
  readonly answer: Promise<QuestionerReply | undefined>;
  readonly abort: AbortController;
  readonly timed: string[];
  readonly expire: (answer: QuestionAnswer) => void;
  readonly partials: (readonly QuestionAnswer[])[];
};

function ask(questions: readonly Question[] = [one()], over: Partial<OpenQuestion> = {}): Asked {
  const terminal = fakeTerminal();
  const abort = new AbortController();
  const timed: string[] = [];
  const partials: (readonly QuestionAnswer[])[] = [];
  let expire = (_answer: QuestionAnswer): void => undefined;
  const timer: OpenQuestion["timer"] = {
    restart: (id) => void timed.push(id),
    stop: () => void timed.push("stop"),
    onExpired: (told) => {
      expire = told;
    },
  };
  const open: OpenQuestion = { id: "q_1", sessionId: "s_1", callId: "c_1", questions, timeout: () => 0, timer, ...over };
  const questioner = terminalQuestioner({ io: terminal.io, clock: terminal.clock, by: BY });
  const answer = questioner.ask(open, abort.signal, (answers) => void partials.push(answers));
  return { ...terminal, abort, timed, partials, answer, expire: (late) => expire(late) };
}

async function read(asked: FakeTerminal, text = "then Enter: "): Promise<void> {
  await asked.shows(text);
  await asked.clock.advance(300);
}

const answered = (...answers: QuestionAnswer[]): QuestionerReply => ({ outcome: "answered", answers, by: BY });

describe("the terminal questioner", () => {
  type Row = readonly [name: string, question: Question, keys: readonly string[], answer: QuestionAnswer];
  const multi = one({ multi: true });
  const ROWS: readonly Row[] = [
    ["a number chooses", one(), ["2\r"], { id: "db", selected: ["Postgres"] }],
    ["numbers with commas, in the order typed", multi, ["2,1\r"], { id: "db", selected: ["Postgres", "SQLite"] }],
    ["numbers with blanks", multi, [" 1  2 \r"], { id: "db", selected: ["SQLite", "Postgres"] }],
    ["checks and a text of one's own", multi, ["1,3\r", "mine\r"], { id: "db", selected: ["SQLite"], custom: "mine" }],
    ["an empty text is an answer", one(), ["3\r", "\r"], { id: "db", selected: [], custom: "" }],
    ["a text is taken raw", one(), ["3\r", "  a b \r"], { id: "db", selected: [], custom: "  a b " }],
    ["nothing of several is a valid answer", multi, ["\r"], { id: "db", selected: [] }],
    ["no options: a text", one({ options: [] }), ["my own\r"], { id: "db", selected: [], custom: "my own" }],
    ["the recommended one by its own label", one({ recommended: 0 }), ["1\r"], { id: "db", selected: ["SQLite"] }],
  ];
  for (const [name, question, keys, answer] of ROWS) {
    test(name, async () => {
      const asked = ask([question]);
      for (const key of keys) {
        await read(asked);
        asked.press(key);
      }
      assert.deepEqual(await asked.answer, answered(answer));
      assert.equal(asked.held(), false);
    });
  }

  for (const [name, question, keys] of [
    ["Enter alone chooses nothing of one", one(), "\r"],
    ["0 is not an option", one(), "0\r"],
    ["a number beyond the list", one(), "4\r"],
    ["two of one", one(), "1,2\r"],
    ["the same twice", multi, "1,1\r"],
    ["a label is not a number", one(), "SQLite\r"],
    ["commas alone", multi, ",\r"],
    ["one question cannot be left open", one(), "s\r"],
  ] as const) {
    test(`${name}: it is asked again`, async () => {
      const asked = ask([question]);
      await read(asked);
      asked.press(keys);
      await asked.shows("is not an answer");
      await read(asked);
      asked.press("1\r");
      assert.deepEqual(await asked.answer, answered({ id: "db", selected: ["SQLite"] }));
    });
  }

  test("it shows the question, the options, what they mean, the recommended one and the way to a text", async () => {
    const asked = ask([one({ recommended: 1, header: "Store" })], { agentName: "explorer" });
    await asked.shows("then Enter: ");
    for (const text of [
      "Question from explorer: Store",
      "Which database?",
      "1  SQLite",
      "one file",
      "2  Postgres (Recommended)",
      "3  Other (type your own)",
    ])
      assert.ok(asked.painted().includes(text), text);
    asked.abort.abort();
    await asked.answer;
  });

  test("without a valid hint nothing is recommended", async () => {
    const asked = ask();
    await asked.shows("then Enter: ");
    assert.ok(!asked.painted().includes("(Recommended)"));
    asked.abort.abort();
    await asked.answer;
  });

  test("markup and commands to the terminal are shown escaped, and come back verbatim", async () => {
    const asked = ask([one({ question: "a\u001b[2Jb", options: [{ label: "<b>\u001b[31m" }] })]);
    await read(asked);
    assert.ok(!asked.painted().includes("\u001b[2J") && asked.painted().includes("<b>\\x1b[31m"));
    asked.press("1\r");
    assert.deepEqual(await asked.answer, answered({ id: "db", selected: ["<b>\u001b[31m"] }));
  });

  test("a preview is shown on demand", async () => {
    const asked = ask([one({ options: [{ label: "SQLite", preview: "# All about it" }, { label: "Postgres" }] })]);
    await read(asked);
    assert.ok(!asked.painted().includes("All about it"));
    asked.press("p1\r");
    await asked.shows("# All about it");
    await read(asked);
    asked.press("1\r");
    assert.deepEqual(await asked.answer, answered({ id: "db", selected: ["SQLite"] }));
  });

  test("several questions are asked one after the other, one can be left open, and the choice so far is shown", async () => {
    const asked = ask([one(), one({ id: "x", multi: true }), one({ id: "z" })]);
    for (const [place, key] of [
      ["(1/3)", "1\r"],
      ["(2/3)", "2\r"],
      ["(3/3)", "s\r"],
    ] as const) {
      await asked.shows(place);
      await read(asked);
      asked.press(key);
    }
    const said = [
      { id: "db", selected: ["SQLite"] },
      { id: "x", selected: ["Postgres"] },
      { id: "z", selected: [] },
    ];
    assert.deepEqual(await asked.answer, answered(...said));
    assert.deepEqual(asked.partials, [said.slice(0, 1), said.slice(0, 2), said]);
  });

  test("Ctrl-C cancels, with what was answered before", async () => {
    const asked = ask([one(), one({ id: "x" })]);
    await read(asked);
    asked.press("1\r");
    await asked.shows("(2/2)");
    asked.press("\u0003");
    assert.deepEqual(await asked.answer, { outcome: "cancelled", partial: [{ id: "db", selected: ["SQLite"] }], by: BY });
    assert.equal(asked.held(), false);
  });

  test("Ctrl-C cancels while a text is typed, too", async () => {
    const asked = ask();
    await read(asked);
    asked.press("3\r");
    await asked.shows("Your answer");
    asked.press("\u0003");
    assert.deepEqual(await asked.answer, { outcome: "cancelled", partial: [], by: BY });
  });

  test("the end of input leaves the question to others", async () => {
    const asked = ask();
    await read(asked);
    asked.press("\u0004");
    assert.equal(await asked.answer, undefined);
    assert.ok(asked.painted().includes("the question stays open"));
  });

  test("an abort takes it away and gives the keyboard back", async () => {
    const asked = ask();
    await asked.shows("then Enter: ");
    asked.abort.abort();
    assert.equal(await asked.answer, undefined);
    assert.equal(asked.held(), false);
  });

  test("it says who answered elsewhere", async () => {
    const asked = ask();
    await asked.shows("then Enter: ");
    asked.abort.abort(new AnsweredElsewhere({ state: "answered", answeredBy: { ...BY, name: "Bob\u001b[2J", user: "bob" } }));
    await asked.answer;
    assert.ok(asked.painted().includes("This question was answered elsewhere by Bob\\x1b[2J (bob)."));
  });

  test("keys typed before the question could be read answer nothing", async () => {
    const asked = ask();
    await asked.shows("then Enter: ");
    asked.press("1\r");
    await asked.clock.advance(300);
    asked.press("2\r");
    assert.deepEqual(await asked.answer, answered({ id: "db", selected: ["Postgres"] }));
  });

  test("an answer that was refused is asked for again with the reason", async () => {
    const asked = ask([one()], { fault: "Question db has no answer." });
    await asked.shows("That answer can't be used: Question db has no answer.");
    asked.abort.abort();
    await asked.answer;
  });

  test("its time limit starts when it is drawn, restarts with every key, and pauses while a text is typed", async () => {
    const asked = ask([one()], { timeout: () => 5 });
    await asked.shows("If you press nothing for 5 s, the recommended option (or the first) is used.");
    await read(asked);
    assert.deepEqual(asked.timed, ["db"]);
    asked.press("3");
    asked.press("\r");
    await asked.shows("Your answer");
    assert.deepEqual(asked.timed, ["db", "db", "db", "stop"]);
    asked.press("text\r");
    await asked.answer;
    assert.deepEqual(asked.timed, ["db", "db", "db", "stop"]);
  });

  test("after its time limit the next question is shown, and the chosen options are returned", async () => {
    const asked = ask([one(), one({ id: "x" })], { timeout: () => 5 });
    const late: QuestionAnswer = { id: "db", selected: ["SQLite"], timedOut: true, automatic: true };
    await asked.shows("(1/2)");
    asked.expire(late);
    await asked.shows("(2/2)");
    await read(asked);
    asked.press("2\r");
    assert.deepEqual(await asked.answer, answered(late, { id: "x", selected: ["Postgres"] }));
    assert.deepEqual(asked.partials[0], [late]);
  });
});

test("a question waits until what is asked at the same terminal is answered", async () => {
  const first = Promise.withResolvers<undefined>();
  const order: string[] = [];
  const ways = oneAtATime({
    approver: {
      available: () => true,
      ask: () => {
        order.push("approval");
        return first.promise;
      },
    },
    questioner: {
      available: () => true,
      ask: async () => {
        order.push("question");
        return undefined;
      },
    },
  });
  const { signal } = new AbortController();
  const approval = ways.approver.ask({} as never, signal);
  const question = ways.questioner.ask({} as never, signal, () => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, ["approval"]);
  first.resolve(undefined);
  await Promise.all([approval, question]);
  assert.deepEqual(order, ["approval", "question"]);
});
