import { defineTool, type Tool } from "@assent/core";
import { readQuestions } from "@assent/core/parts";
import { array, boolean, type Field, type InputOf, object, optional, record, string } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

/** Shows limits to the model but leaves checking them to `check`, which words the problem. */
function shownWith<T>(field: Field<T>, limits: Readonly<Record<string, unknown>>): Field<T> {
  return { ...field, schema: { ...field.schema, ...limits } };
}

const ID = /^[A-Za-z0-9_.-]+$/;
const idOf = string({ description: "Identifies the question in the answer: letters, digits, _, - and .", minLength: 1, maxLength: 64 });
const id: Field<string> = {
  schema: { ...idOf.schema, pattern: ID.source },
  optional: false,
  fault: (value) => idOf.fault(value) ?? (ID.test(String(value)) ? undefined : `must match pattern "${ID.source}"`),
};

const questionOf = string({ description: "The question, as the person reads it.", minLength: 1, maxLength: 2_000 });
const question: Field<string> = {
  ...questionOf,
  fault: (value) => questionOf.fault(value) ?? (String(value).trim() === "" ? "must NOT be blank" : undefined),
};

/** Only a hint, so any number is accepted. */
const recommended: Field<number> = {
  schema: { type: "number", description: "Which option you recommend, counted from 0." },
  optional: false,
  fault: (value) => (typeof value === "number" ? undefined : "must be number"),
};

const option = record({
  label: shownWith(string({ description: "The choice in a few words on one line." }), { minLength: 1, maxLength: 200 }),
  description: optional(string({ description: "What it means; shown, never part of the answer.", maxLength: 500 })),
  preview: optional(string({ description: "Markdown that is shown on demand.", maxLength: 4_000 })),
});

const asked = record({
  id,
  question,
  header: optional(string({ description: "A short title; the id if omitted.", minLength: 1, maxLength: 16 })),
  options: array({
    description: "2 to 5 choices are best, at most 20. Use an empty list if only text can answer. A row for free text is always added.",
    maxItems: 20,
    items: option,
  }),
  multi: optional(boolean({ description: "True: several options can be chosen." })),
  recommended: optional(recommended),
});

const FIELDS = {
  questions: shownWith(array({ description: "What to ask, in this order.", maxItems: 20, items: asked }), { minItems: 1 }),
};

type AskInput = InputOf<typeof FIELDS>;

export const ASK: ToolListing = { name: "ask", title: "Ask", kind: "think" };

/** Asks the person questions. The runtime implements it; it is offered only if someone can answer. */
export function askTool(): Tool {
  return defineTool({
    ...listedFields(ASK),
    hidden: true,
    input: object(FIELDS),
    isOutputMarkdown: false,
    check: checkQuestions,
    describe: ({ questions }) => `Ask: ${questions.map((one) => one.question).join(" / ")}`,
    permission: () => "allow",
    runtimeHandler: "ask",
  });
}

function checkQuestions({ questions }: AskInput): string | undefined {
  const read = readQuestions(questions);
  return "fault" in read ? read.fault : undefined;
}
