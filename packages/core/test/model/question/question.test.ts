import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type AskedQuestion,
  answersFault,
  expiredAnswer,
  type Question,
  type QuestionAnswer,
  readQuestions,
} from "../../../src/model/question/question.ts";
import { partialResult, questionResult } from "../../../src/model/question/result.ts";

const labels = (...all: string[]) => all.map((label) => ({ label }));
const asked = (over: Partial<AskedQuestion> = {}): AskedQuestion => ({ id: "q", question: "Which?", options: labels("A", "B"), ...over });
const one = (over: Partial<AskedQuestion> = {}): Question => {
  const read = readQuestions([asked(over)]);
  assert.ok("questions" in read, JSON.stringify(read));
  return read.questions[0] as Question;
};

test("without options none is chosen or reported", () => {
  const none: Question = { ...one(), options: [] };
  assert.deepEqual(expiredAnswer(none, undefined), { id: "q", selected: [], timedOut: true });
});

describe("questions a model puts", () => {
  const REFUSED: readonly [sentence: string, questions: readonly AskedQuestion[], fault: string][] = [
    ["none", [], "questions must not be empty"],
    [
      "an option that the picker adds, in any case",
      [asked({ options: labels("other (TYPE your own)") })],
      'Option "other (TYPE your own)" is reserved in question q; the picker adds it',
    ],
    [
      "the row that ends a choice, also in single select",
      [asked({ options: labels("Done selecting") })],
      'Option "Done selecting" is reserved in question q; the picker adds it',
    ],
    [
      "a reserved option hidden behind a carriage return",
      [asked({ options: labels("Done \rselecting ") })],
      'Option "Done selecting" is reserved in question q; the picker adds it',
    ],
    ["two equal options", [asked({ options: labels("A", " A ") })], 'Duplicate option "A" in question q'],
    ["two options equal in their normal form", [asked({ options: labels("é", "e\u0301") })], 'Duplicate option "é" in question q'],
    ["one id twice", [asked(), asked()], 'Duplicate question id "q"'],
    ["a blank option", [asked({ options: labels("  ") })], "Invalid option label in question q"],
    ["an option of two lines", [asked({ options: labels("a\nb") })], "Invalid option label in question q"],
    ["an option beyond the limit", [asked({ options: labels("x".repeat(201)) })], "Invalid option label in question q"],
  ];
  for (const [sentence, questions, fault] of REFUSED) {
    test(`${sentence} is refused`, () => assert.deepEqual(readQuestions(questions), { fault }));
  }

  test("a label and the same with the picker's suffix are two options", () => {
    assert.equal(one({ options: labels("X", "X (Recommended)") }).options.length, 2);
  });
  for (const recommended of [-1, 0.5, Number.NaN, 7]) {
    test(`recommended ${recommended} is ignored, not an error`, () => assert.equal(one({ recommended }).recommended, undefined));
  }
  test("options that differ in case are two", () => assert.equal(one({ options: labels("a", "A") }).options.length, 2));
});

describe("answers to questions", () => {
  const questions = [one(), { ...one({ id: "m", multi: true }) }];
  const right: QuestionAnswer[] = [
    { id: "q", selected: ["A"] },
    { id: "m", selected: ["B", "A"], custom: "x" },
  ];
  const REFUSED: readonly [sentence: string, answers: readonly QuestionAnswer[], fault: RegExp][] = [
    ["a question left out", right.slice(1), /Question q has no answer/],
    ["an unknown question", [...right, { id: "z", selected: [] }], /no question z/],
    ["a question answered twice", [...right, ...right], /answered twice/],
    ["an unknown option", [{ id: "q", selected: ["C"] }, ...right.slice(1)], /there is no option "C"; a text of your own goes into custom/],
    ["two options in single select", [{ id: "q", selected: ["A", "B"] }, ...right.slice(1)], /only one option/],
    ["an option and a text in single select", [{ id: "q", selected: ["A"], custom: "x" }, ...right.slice(1)], /one option or a text/],
    ["an option twice", [...right.slice(0, 1), { id: "m", selected: ["A", "A"] }], /chosen twice/],
  ];
  for (const [sentence, answers, fault] of REFUSED) {
    test(`${sentence} is refused, and says which question`, () => assert.match(answersFault(questions, answers) ?? "", fault));
  }
  test("one per question is right, and so is leaving one empty", () => {
    assert.equal(answersFault(questions, right), undefined);
    assert.equal(
      answersFault(questions, [
        { id: "q", selected: [] },
        { id: "m", selected: [] },
      ]),
      undefined,
    );
  });
});

describe("texts for the model", () => {
  const ONE: readonly [sentence: string, question: Question, answer: QuestionAnswer, text: string, details: object][] = [
    ["the choice", one(), { id: "q", selected: ["B"] }, "User selected: B", { selectedOptions: ["B"], outcome: "answered" }],
    [
      "several, in the order they were chosen",
      one({ multi: true, options: labels("A", "B", "C") }),
      { id: "q", selected: ["C", "A"] },
      "User selected: C, A",
      { selectedOptions: ["C", "A"] },
    ],
    [
      "a check and a text",
      one({ multi: true }),
      { id: "q", selected: ["A"], custom: "x" },
      "User selected: A\nUser provided custom input: x",
      { selectedOptions: ["A"], customInput: "x" },
    ],
    [
      "an empty text is an answer",
      one(),
      { id: "q", selected: [], custom: "" },
      "User provided custom input: ",
      { customInput: "", outcome: "answered" },
    ],
    [
      "a text of several lines is indented",
      one(),
      { id: "q", selected: [], custom: "a\nb" },
      "User provided custom input: a\n  b",
      { customInput: "a\nb" },
    ],
    ["a note", one(), { id: "q", selected: ["A"], note: "but soon" }, "User selected: A\nUser added note: but soon", { note: "but soon" }],
    [
      "multi, nothing chosen",
      one({ multi: true }),
      { id: "q", selected: [] },
      "User selected nothing.",
      { selectedOptions: [], outcome: "answered" },
    ],
    [
      "taken by itself",
      one({ recommended: 1 }),
      expiredAnswer(one({ recommended: 1 }), undefined),
      "User selected: B\n(selected automatically after 5 s without an answer)",
      { selectedOptions: ["B"], outcome: "timed_out", automatic: true },
    ],
    [
      "what was checked is kept",
      one({ multi: true }),
      expiredAnswer(one({ multi: true }), { id: "q", selected: ["A"] }),
      "User selected: A\n(selected automatically after 5 s without an answer)",
      { selectedOptions: ["A"], outcome: "timed_out", automatic: undefined },
    ],
  ];
  for (const [sentence, question, answer, text, details] of ONE) {
    test(sentence, () => {
      const result = questionResult([question], [answer], 5);
      assert.equal(result.text, text);
      for (const [key, value] of Object.entries(details)) assert.deepEqual(Reflect.get(result.details, key), value, key);
    });
  }

  test("several questions are one line each, in their order", () => {
    const questions = [
      one({ id: "a" }),
      one({ id: "b", multi: true }),
      one({ id: "c", multi: true }),
      one({ id: "d" }),
      one({ id: "e", multi: true }),
      one({ id: "f" }),
      one({ id: "g" }),
    ];
    const answers: QuestionAnswer[] = [
      { id: "g", selected: ["A"], note: "n" },
      { id: "a", selected: ["A"] },
      { id: "b", selected: ["B", "A"] },
      { id: "c", selected: [] },
      { id: "d", selected: [], custom: 'x\n"y"' },
      { id: "e", selected: ["A"], custom: "t" },
      { id: "f", selected: ["B"], timedOut: true, automatic: true },
    ];
    const { text, details, outcome } = questionResult(questions, answers);
    assert.equal(
      text,
      ["User answers:", "a: A", "b: [B, A]", "c: []", 'd: "x\\n\\"y\\""', 'e: [A] + "t"', "f: B (automatic)", 'g: A note: "n"'].join("\n"),
    );
    assert.equal(outcome, "timed_out");
    assert.deepEqual(
      (details["results"] as { id: string }[]).map(({ id }) => id),
      ["a", "b", "c", "d", "e", "f", "g"],
    );
  });

  test("moved past without an answer", () => {
    const questions = [one({ id: "a" }), one({ id: "b" })];
    const { text, details } = questionResult(questions, [
      { id: "a", selected: [] },
      { id: "b", selected: [] },
    ]);
    assert.equal(text, "User answers:\na: (no answer)\nb: (no answer)");
    assert.deepEqual(
      (details["results"] as { outcome: string }[]).map(({ outcome }) => outcome),
      ["unanswered", "unanswered"],
    );
  });

  test("what was answered before a cancel is kept", () => {
    const { lines, partial } = partialResult(
      [one({ id: "a" }), one({ id: "b" })],
      [
        { id: "a", selected: ["A"] },
        { id: "b", selected: [] },
      ],
    );
    assert.deepEqual(lines, ["Answered before cancelling:", "a: A"]);
    assert.equal(partial.length, 1);
  });
});
