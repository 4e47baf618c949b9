import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  createDispatcher,
  createRegistry,
  memoryLedger,
  openSession,
  type Questioner,
  type QuestionerReply,
  staticPolicy,
} from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { askTool } from "../../src/builtin/ask.ts";
import { scratch } from "../scratch.ts";

const tool = askTool();
const labels = (...all: string[]) => all.map((label) => ({ label }));
const question = (over: object = {}) => ({ id: "db", question: "Which database?", options: labels("SQLite", "Postgres"), ...over });

async function faultOf(input: object): Promise<string> {
  try {
    await tool.build(input);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "";
}

describe("input that is refused", () => {
  const REFUSED: readonly (readonly [name: string, input: object, text: string])[] = [
    ["no question", { questions: [] }, "questions must not be empty"],
    ["no questions", {}, "params must have required property 'questions'"],
    ["questions that are no list", { questions: "Which?" }, "params/questions must be array"],
    [
      "an option that the picker adds",
      { questions: [question({ options: labels("OTHER (type your own)") })] },
      'Option "OTHER (type your own)" is reserved in question db; the picker adds it',
    ],
    [
      "the row that ends a choice",
      { questions: [question({ options: labels("done selecting"), multi: true })] },
      'Option "done selecting" is reserved in question db; the picker adds it',
    ],
    ["two equal labels", { questions: [question({ options: labels("A", "A\r") })] }, 'Duplicate option "A" in question db'],
    ["two equal ids", { questions: [question(), question()] }, 'Duplicate question id "db"'],
    ["an empty label", { questions: [question({ options: labels("") })] }, "Invalid option label in question db"],
    ["a label of two lines", { questions: [question({ options: labels("a\nb") })] }, "Invalid option label in question db"],
    ["a label beyond the limit", { questions: [question({ options: labels("x".repeat(201)) })] }, "Invalid option label in question db"],
    [
      "more than 20 questions",
      { questions: Array.from({ length: 21 }, (_, at) => question({ id: `q${at}` })) },
      "params/questions must NOT have more than 20 items",
    ],
    [
      "more than 20 options",
      { questions: [question({ options: labels(..."abcdefghijklmnopqrstu") })] },
      "params/questions/0/options must NOT have more than 20 items",
    ],
    ["a blank question", { questions: [question({ question: " \n" })] }, "params/questions/0/question must NOT be blank"],
    ["an id of other letters", { questions: [question({ id: "a b" })] }, 'params/questions/0/id must match pattern "^[A-Za-z0-9_.-]+$"'],
    [
      "a header beyond the limit",
      { questions: [question({ header: "x".repeat(17) })] },
      "params/questions/0/header must NOT have more than 16 characters",
    ],
    ["no options at all", { questions: [{ id: "a", question: "b" }] }, "params/questions/0 must have required property 'options'"],
    ["a field too many", { questions: [question({ why: "x" })] }, "params/questions/0 must NOT have additional property 'why'"],
  ];
  for (const [name, input, text] of REFUSED) test(name, async () => assert.equal(await faultOf(input), text));
});

describe("input that is taken", () => {
  const TAKEN: readonly (readonly [name: string, over: object])[] = [
    ["a label, and the same with the picker's suffix", { options: labels("X", "X (Recommended)") }],
    ["no options: only a text can answer", { options: [] }],
    ["labels with markup and control characters", { options: labels("<b>", "\u001b[1mbold") }],
    ...[-1, 0.5, 7, 1e15].map((recommended) => [`${recommended} as a hint`, { recommended }] as const),
  ];
  for (const [name, over] of TAKEN) test(name, async () => assert.equal(await faultOf({ questions: [question(over)] }), ""));
});

test("it is hidden until someone can answer, changes nothing, and never asks for approval", async () => {
  assert.deepEqual([tool.kind, tool.hidden, tool.definition.runtimeHandler], ["think", true, "ask"]);
  const invocation = await tool.build({ questions: [question()] });
  assert.equal(await invocation.permission(), "allow");
  assert.equal(invocation.describe(), "Ask: Which database?");
});

test("the schema also shows the limits that its own check enforces", () => {
  const shown = JSON.stringify(tool.inputSchema);
  for (const part of ['"minItems":1,"maxItems":20', '"minLength":1,"maxLength":200']) {
    const members = part.split(",");
    assert.ok(
      members.every((member) => shown.includes(member)),
      part,
    );
  }
});

test("the real tool in the real runtime", async (t) => {
  const { clock, ids, digest } = createHostPorts({ stateDirectory: scratch(t) });
  const session = await openSession(
    { ledger: memoryLedger({ clock, ids }), clock, ids },
    { holder: currentHolder("test"), create: { cwd: "/" } },
  );
  const said: QuestionerReply = { outcome: "answered", answers: [{ id: "db", selected: ["Postgres"] }] };
  const questioner: Questioner = { available: () => true, ask: async () => said };
  const tools = createRegistry();
  tools.add(tool);
  const by = { kind: "person", user: "u", name: "n", door: "test", pid: 1 } as const;
  const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy(), questioner, by });
  const { signal } = new AbortController();
  const ask = (questions: object[]) => dispatcher.process({ calls: [{ name: "ask", arguments: { questions } }], tools, signal });
  const [report] = (await ask([question({ recommended: 1 })])).results;
  assert.ok(report && report.outcome !== "waiting");
  assert.deepEqual([report.outcome, report.type, report.result.content], ["succeeded", "answered", "User selected: Postgres"]);
  const [refused] = (await ask([])).results;
  assert.ok(refused && refused.outcome !== "waiting");
  assert.deepEqual(
    [refused.outcome, refused.type, refused.result.content],
    ["invalid", "invalid_tool_params", "Error: Invalid parameters provided. Reason: questions must not be empty"],
  );
});
