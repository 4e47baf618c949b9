import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { place } from "../../support/assent.ts";
import { converse, endedCalls, say, type Turn } from "../support/conversation.ts";
import type { Screen } from "../support/screen.ts";

/** A key by its name, a text after a quote, or something to wait for. */
type Step = string | { readonly until: string | RegExp };

type Case = {
  readonly name: string;
  readonly questions: readonly object[];
  readonly steps: readonly Step[];
  readonly outcome?: string;
  readonly type?: string;
  readonly text: string;
  readonly details?: object;
};

const options = (...labels: readonly string[]): readonly object[] => labels.map((label) => ({ label }));
const one = (question: string, more: object = {}): object => ({ id: "db", question, options: options("A", "B", "C"), ...more });
const two = (question: string): readonly object[] => [
  { id: "q1", question, options: options("A", "B") },
  { id: "q2", question: "And the other?", options: options("C", "D") },
];

/** Answered one after the other in one conversation. Each is found by its own words. */
const ANSWERED: readonly Case[] = [
  {
    name: "picks B",
    questions: [one("Twenty?")],
    steps: ["down", "enter"],
    text: "User selected: B",
    details: { selectedOptions: ["B"], outcome: "answered" },
  },
  {
    name: "the recommended one, without the suffix",
    questions: [one("Twenty-one?", { recommended: 0 })],
    steps: [{ until: "A (Recommended)" }, "enter"],
    text: "User selected: A",
    details: { selectedOptions: ["A"] },
  },
  {
    name: "a recommendation that names no option",
    questions: [one("Twenty-two?", { recommended: 7 })],
    steps: [{ until: /^> {3}A$/m }, "enter"],
    text: "User selected: A",
    details: { selectedOptions: ["A"] },
  },
  {
    name: "several, in the order of choosing",
    questions: [one("Twenty-three?", { multi: true })],
    steps: ["down", "down", "enter", "up", "up", "space", { until: "(2 selected)" }, "up", "enter"],
    text: "User selected: C, A",
    details: { selectedOptions: ["C", "A"] },
  },
  {
    name: "off and on again moves to the end",
    questions: [one("Twenty-four?", { multi: true })],
    steps: ["space", "down", "space", "up", "space", "space", { until: "(2 selected)" }, "up", "enter"],
    text: "User selected: B, A",
    details: { selectedOptions: ["B", "A"] },
  },
  {
    name: "a check and a text",
    questions: [one("Twenty-five?", { multi: true })],
    steps: ["space", "down", "down", "down", "enter", { until: "Your answer (" }, '"x', "enter"],
    text: "User selected: A\nUser provided custom input: x",
    details: { selectedOptions: ["A"], customInput: "x" },
  },
  {
    name: "Other, Esc, then A",
    questions: [one("Twenty-six?")],
    steps: ["up", "enter", { until: "Your answer (" }, '"zz', "escape", { until: "Enter: choose" }, "down", "enter"],
    text: "User selected: A",
    details: { selectedOptions: ["A"] },
  },
  {
    name: "Other with an empty text",
    questions: [one("Twenty-seven?")],
    steps: ["up", "enter", { until: "Your answer (" }, "enter"],
    text: "User provided custom input: ",
    details: { selectedOptions: [], customInput: "" },
  },
  {
    name: "back, changed, forward",
    questions: two("Twenty-eight?"),
    steps: [
      ...["enter", { until: "(2/2)" }, "left", { until: "(1/2)" }, "down", "enter", { until: "(2/2)" }],
      ...["enter", { until: "Your answers" }, "enter"],
    ],
    text: "User answers:\nq1: B\nq2: C",
  },
  {
    name: "right on both, submit",
    questions: two("Twenty-nine?"),
    steps: ["right", { until: "(2/2)" }, "right", { until: "2 questions have no answer" }, "enter"],
    text: "User answers:\nq1: (no answer)\nq2: (no answer)",
  },
  {
    name: "without options only a text, of several lines",
    questions: [one("Thirty-eight?", { options: [] })],
    steps: ["enter", { until: "Your answer (" }, '"my', "shift+enter", '"text', { until: "text▏" }, "enter"],
    text: "User provided custom input: my\n  text",
    details: { selectedOptions: [], customInput: "my\ntext" },
  },
  {
    name: "markup and codes are escaped on the screen and come back as they are",
    questions: [one("Forty?", { options: options("<b>\u001b[31mred") })],
    steps: [{ until: "<b>\\x1b[31mred" }, "enter"],
    text: "User selected: <b>\u001b[31mred",
    details: { selectedOptions: ["<b>\u001b[31mred"] },
  },
  {
    name: "a note beside the choice",
    questions: [one("Noted?")],
    steps: ["n", { until: "Your note (" }, '"why', "enter", { until: "note: why" }, "enter"],
    text: "User selected: A\nUser added note: why",
    details: { selectedOptions: ["A"], note: "why" },
  },
];

/** These end the turn, and the next thing that is said goes on. */
const CANCELLED: readonly Case[] = [
  {
    name: "Esc on the only question",
    questions: [one("Thirty-four?")],
    steps: ["escape"],
    outcome: "cancelled",
    type: "ask_cancelled",
    text: "Ask tool was cancelled by the user",
  },
  {
    name: "the first is answered, cancel on the second",
    questions: two("Thirty-five?"),
    steps: ["enter", { until: "(2/2)" }, "escape", { until: "Press Esc again to cancel" }, "escape"],
    outcome: "cancelled",
    type: "ask_cancelled",
    text: "Ask tool was cancelled by the user\nAnswered before cancelling:\nq1: A",
  },
  {
    name: "Ctrl-C while a text is written cancels, too",
    questions: [one("Ctrl-C?")],
    steps: ["up", "enter", { until: "Your answer (" }, '"half', "ctrl+c"],
    outcome: "cancelled",
    type: "ask_cancelled",
    text: "Ask tool was cancelled by the user",
  },
];

const idOf = (at: number, prefix: string): string => `${prefix}${at}`;
const askTurns = (cases: readonly Case[], prefix: string): readonly Turn[] =>
  cases.map(({ questions }, at) => ({ calls: [{ tool: "ask", id: idOf(at, prefix), input: { questions } }] }));

async function take(screen: Screen, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === "object") await screen.until(step.until);
    else if (step.startsWith('"')) screen.type(step.slice(1));
    else screen.press(step);
  }
}

/** The question at the beginning of a line: the dialog, not the call above it. */
const dialogOf = (question: string): ((screen: string) => boolean) => {
  return (screen) => screen.split("\n").some((line) => line.startsWith(question));
};
const titleOf = ({ questions }: Case): ReturnType<typeof dialogOf> => dialogOf((questions[0] as { readonly question: string }).question);

describe("questions in a real terminal", { concurrency: 3 }, () => {
  test("every way to answer, one after the other", async (t) => {
    using at = place();
    using screen = converse(at, { turns: [...askTurns(ANSWERED, "c"), { say: "all answered" }] });
    await screen.until("? keys");
    await say(screen, "ask me");
    for (const each of ANSWERED) {
      await screen.read(titleOf(each));
      await take(screen, each.steps);
    }
    await screen.until("all answered");
    const ended = await endedCalls(at);
    for (const [index, { name, text, details }] of ANSWERED.entries()) {
      await t.test(name, () => {
        const end = ended.get(idOf(index, "c"));
        assert.deepEqual([end?.outcome, end?.type, end?.content], ["succeeded", "answered", text]);
        const found = Object.fromEntries(Object.keys(details ?? {}).map((field) => [field, end?.details?.[field]]));
        assert.deepEqual(found, details ?? {});
        if (details && !("customInput" in details)) assert.equal("customInput" in (end?.details ?? {}), false);
      });
    }
  });

  test("cancelling a question ends the turn, and the conversation continues", async (t) => {
    using at = place();
    using screen = converse(at, { turns: [...askTurns(CANCELLED, "x"), { say: "still here" }] });
    await screen.until("? keys");
    for (const each of CANCELLED) {
      await say(screen, `ask for ${each.name.slice(0, 5)}`);
      await screen.read(titleOf(each));
      await take(screen, each.steps);
      await screen.until("? keys");
    }
    await say(screen, "and now");
    await screen.until("still here");
    const ended = await endedCalls(at);
    for (const [index, { name, outcome, type, text }] of CANCELLED.entries()) {
      await t.test(name, () => {
        const end = ended.get(idOf(index, "x"));
        assert.deepEqual([end?.outcome, end?.type, end?.content], [outcome, type, text]);
      });
    }
  });

  test("two asks in one batch: one after the other; cancelling the first ends both", async () => {
    using at = place();
    const batch = (prefix: string): Turn => ({
      calls: [1, 2].map((number) => ({
        tool: "ask",
        id: `${prefix}${number}`,
        input: { questions: [one(`${prefix}, number ${number}?`)] },
      })),
    });
    using screen = converse(at, { turns: [batch("both"), { say: "thanks" }, batch("none"), { say: "well" }] });
    await screen.until("? keys");
    await say(screen, "ask both");
    const first = await screen.read(dialogOf("both, number 1?"));
    assert.equal(dialogOf("both, number 2?")(first), false);
    screen.press("enter");
    await screen.read(dialogOf("both, number 2?"));
    screen.press("down", "enter");
    await screen.until("thanks");
    await say(screen, "ask again");
    await screen.read(dialogOf("none, number 1?"));
    screen.press("escape");
    await screen.until("? keys");
    const ended = await endedCalls(at);
    assert.deepEqual(
      ["both1", "both2", "none1", "none2"].map((id) => [ended.get(id)?.outcome, ended.get(id)?.type]),
      [
        ["succeeded", "answered"],
        ["succeeded", "answered"],
        ["cancelled", "ask_cancelled"],
        ["cancelled", "cancelled"],
      ],
    );
  });

  test("SIGTERM while a question is open: it stays open for another terminal, and the terminal is given back", async () => {
    using at = place();
    using screen = converse(at, { turns: [{ calls: [{ tool: "ask", id: "c1", input: { questions: [one("Thirty-six?")] } }] }] });
    await screen.until("? keys");
    await say(screen, "ask me");
    await screen.read(dialogOf("Thirty-six?"));
    screen.kill("SIGTERM");
    assert.equal(await screen.exit(), 75);
    assert.equal((await endedCalls(at)).has("c1"), false);
    assert.match((await at.here(["approvals"])).stdout, /Thirty-six\?/);
    assert.deepEqual(screen.modes(), { paste: false, cursorHidden: false, isAlternate: false });
  });

  test("a question answers itself after its time, but not while a text is written, and not in plan mode", async () => {
    using at = place();
    const timed = (id: string, question: object): Turn => ({ calls: [{ tool: "ask", id, input: { questions: [question] } }] });
    const turns = [
      timed("c30", one("Thirty?", { recommended: 1 })),
      timed("c31", one("Thirty-one?", { multi: true })),
      timed("c32", one("Thirty-two?")),
      { say: "timed out" },
      timed("c33", one("Thirty-three?")),
      { say: "planned" },
    ];
    using screen = converse(at, { turns, settings: { ask: { timeout: 3 } } });
    await screen.until("? keys");
    await say(screen, "ask me");
    await screen.until(/answers itself in [123] s/);
    await screen.read(dialogOf("Thirty-one?"));
    screen.press("space");
    await screen.read(dialogOf("Thirty-two?"));
    screen.press("up", "enter");
    await screen.until("Your answer (");
    await aWhile(3_600);
    screen.type("late");
    screen.press("enter");
    await screen.until("timed out");
    screen.press("shift+tab");
    await screen.until(/^ plan/m);
    await say(screen, "ask again");
    await screen.read(dialogOf("Thirty-three?"));
    await aWhile(3_600);
    assert.equal((await screen.read(dialogOf("Thirty-three?"))).includes("answers itself"), false);
    screen.press("enter");
    await screen.until("planned");
    const ended = await endedCalls(at);
    const facts = (id: string): unknown => {
      const { details, type } = ended.get(id) ?? {};
      return [type, details?.selectedOptions, details?.automatic, details?.outcome];
    };
    assert.deepEqual(facts("c30"), ["timed_out", ["B"], true, "timed_out"]);
    assert.deepEqual(facts("c31"), ["timed_out", ["A"], undefined, "timed_out"]);
    assert.deepEqual([ended.get("c32")?.type, ended.get("c32")?.content], ["answered", "User provided custom input: late"]);
    assert.deepEqual(facts("c33"), ["answered", ["A"], undefined, "answered"]);
  });
});

/** The time a question must not use; a program that shows nothing can only be waited for. */
function aWhile(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
