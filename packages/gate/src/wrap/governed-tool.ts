import {
  contentText,
  defineTool,
  isObject,
  type JsonSchema,
  jsonResult,
  type ProposedCall,
  type RunContext,
  type StandardSchema,
  type Tool,
  ToolDefinitionError,
  type Verdict,
} from "@assent/core";
import { type EmbeddedCall, isWithoutOutput, type TurnRunner } from "../adapters/embedding.ts";
import { CallError } from "../call-error.ts";
import { GateUsageError } from "../gate-error.ts";
import type { TraitsDefinition } from "./traits.ts";

/** What wrappers need of a gate. */
export type WrapContext = {
  readonly turns: TurnRunner;
  readonly put: (tools: readonly Tool[]) => void;
  /** Calls that ask wait in the store. */
  readonly parks: boolean;
  /** How a call would be decided; undefined if it is invalid. */
  readonly judge: (name: string, input: unknown) => Promise<Verdict | undefined>;
  /** True if a call with this id has not ended, or ended with the same tool and arguments. Some models use an id again for another call. */
  readonly knows: (call: ProposedCall & { readonly id: string }) => Promise<boolean>;
};

/** A tool that was written without Assent. */
export type ForeignTool = {
  readonly name: string;
  readonly description: unknown;
  readonly input: StandardSchema | JsonSchema;
  readonly traits: TraitsDefinition;
  readonly run: (input: unknown, ctx: RunContext) => unknown;
};

/** Turns a foreign tool into one that the gate runs. Throws `GateUsageError`. */
export function governTool({ name, description, input, traits, run }: ForeignTool): Tool {
  const text = typeof description === "string" && description.trim() !== "" ? description : `The tool ${name}.`;
  try {
    return defineTool<StandardSchema<unknown, unknown>>({
      ...traits,
      name,
      description: text,
      input: input as StandardSchema,
      run: async (given: unknown, ctx) => jsonResult(await lastValue(await run(given, ctx))),
    });
  } catch (error) {
    if (!(error instanceof ToolDefinitionError)) throw error;
    throw new GateUsageError("bad_tool", error.message, { cause: error });
  }
}

/** A tool that yields intermediate results: the last one counts. */
async function lastValue(result: unknown): Promise<unknown> {
  const isStream = typeof result === "object" && result !== null && Symbol.asyncIterator in result;
  if (!isStream) return result;
  let last: unknown;
  for await (const value of result as AsyncIterable<unknown>) last = value;
  return last;
}

/** The value that a tool returned. Throws `CallError` unless the call succeeded. */
export function callValue(call: EmbeddedCall): unknown {
  if (call.outcome !== "succeeded") throw new CallError(call, contentText(call.content));
  if (call.value !== undefined) return call.value;
  return isWithoutOutput(call.content) ? undefined : call.content;
}

/** The text for the model if it is not just the value: a shortened text, words of a hook, a note about an edited input. */
export function findModelText({ content, value }: EmbeddedCall): string | undefined {
  const text = contentText(content);
  return text === (typeof value === "string" ? value : JSON.stringify(value)) ? undefined : text;
}

/** Reads the schema of a tool: a Standard Schema such as zod's, or a JSON Schema. */
export function readToolSchema(name: string, schema: unknown): StandardSchema | JsonSchema {
  const isStandard = typeof schema === "function" || (typeof schema === "object" && schema !== null) ? "~standard" in schema : false;
  if (isStandard) return schema as StandardSchema;
  if (isObject(schema)) return schema;
  throw new GateUsageError("bad_tool", `Tool '${name}' needs an input schema: a zod object, or a JSON Schema of type object.`);
}

/** Calls of the same tool share what their SDK passed with them, by call id. */
export type CallNotes<T> = {
  readonly during: <R>(id: string, note: T, act: () => Promise<R>) => Promise<R>;
  readonly get: (id: string) => T | undefined;
};

/** Creates empty notes. */
export function createCallNotes<T>(): CallNotes<T> {
  const notes = new Map<string, T>();
  return {
    get: (id) => notes.get(id),
    during: async (id, note, act) => {
      notes.set(id, note);
      try {
        return await act();
      } finally {
        if (notes.get(id) === note) notes.delete(id);
      }
    },
  };
}

/** A call whose result is still to come, by the id its SDK gave it. */
export function waitingCall(id: string, tool: string): EmbeddedCall {
  return { id, callId: id, tool, outcome: "waiting", type: "waiting", content: "Not run: it waits for a person's approval." };
}
