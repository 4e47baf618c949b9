import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import {
  type By,
  defineTool,
  type JsonObject,
  type OpenQuestion,
  type ProposedCall,
  type QuestionAnswer,
  type Questioner,
  type QuestionerReply,
  type QuestionRow,
  type StandardSchema,
  type Tool,
} from "@assent/core";
import { type Bench, type BenchOptions, bench, until } from "../harness.ts";

const anySchema: StandardSchema<Record<string, unknown>, Record<string, unknown>> = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Record<string, unknown> }) },
};

/** `ask`, as a host declares it; its schema lets everything pass, so that the body is seen to guard itself. */
export const askTool: Tool = defineTool({
  name: "ask",
  title: "Ask",
  description: "Asks.",
  kind: "think",
  hidden: true,
  runtimeHandler: "ask",
  input: anySchema,
  inputSchema: { type: "object" },
  permission: () => "allow",
});

/** One question that is before the person: what they see, and how they answer. */
export type Shown = {
  readonly open: OpenQuestion;
  readonly signal: AbortSignal;
  readonly partial: (answers: readonly QuestionAnswer[]) => void;
  readonly say: (answered: QuestionerReply | undefined) => void;
  readonly fail: (error: unknown) => void;
};

export type Person = Questioner & {
  readonly shown: Shown[];
  readonly leave: () => void;
  readonly next: (count?: number) => Promise<Shown>;
};

/** A person who is shown questions and answers when the test says so. */
export function person(): Person {
  const shown: Shown[] = [];
  let here = true;
  return {
    shown,
    available: () => here,
    leave: () => {
      here = false;
    },
    ask: (open, signal, partial) => {
      const { promise, resolve, reject } = Promise.withResolvers<QuestionerReply | undefined>();
      shown.push({ open, signal, partial, say: resolve, fail: reject });
      return promise;
    },
    next: async (count = 1) => {
      await until(() => shown.length >= count, "the question");
      return shown[count - 1] ?? assert.fail();
    },
  };
}

export type QuestionBench = Bench & { readonly asked: Person; readonly row: () => QuestionRow | undefined };
export type QuestionOptions = BenchOptions & { readonly asked?: Person | "nobody" };

/** A bench with `ask` and a person who may be asked. */
export async function questionBench(t: TestContext, options: QuestionOptions = {}): Promise<QuestionBench> {
  const asked = typeof options.asked === "object" ? options.asked : person();
  const own = options.beside && !options.tools ? {} : { tools: [askTool, ...(options.tools ?? [])] };
  const deps = { ...(options.asked !== "nobody" && { questioner: asked }), ...options.deps };
  const b = await bench(t, { ...options, ...own, deps });
  return { ...b, asked, row: () => [...b.session.state.questions.values()][0] };
}

/** The process after this one, on the same store. */
export function after(t: TestContext, b: QuestionBench, options: QuestionOptions = {}): Promise<QuestionBench> {
  return questionBench(t, { beside: b, reopen: { id: b.session.id, takeOver: true }, ...options });
}

export const options = (...labels: string[]): { label: string }[] => labels.map((label) => ({ label }));

/** One question as a model puts it: `db`, with A and B, unless told otherwise. */
export const question = (over: JsonObject = {}): JsonObject => ({ id: "db", question: "Which?", options: options("A", "B"), ...over });

/** A call of `ask`. */
export function asking(questions: readonly JsonObject[] = [question()], id = "ask"): ProposedCall {
  return { id, name: "ask", arguments: { questions } };
}

export const answered = (...answers: QuestionAnswer[]): QuestionerReply => ({ outcome: "answered", answers });
export const pick = (...selected: string[]): QuestionAnswer => ({ id: "db", selected });

export const other: By = { kind: "person", user: "u", name: "elsewhere", door: "command", pid: 7 };
