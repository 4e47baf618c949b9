import { type InferOutput, isObject, type JsonSchema, type Maybe, type RunContext, type StandardSchema } from "@assent/core";
import { gatherCalls } from "../adapters/gather-calls.ts";
import { GateUsageError } from "../gate-error.ts";
import { callValue, governTool, readToolSchema, type WrapContext } from "./governed-tool.ts";
import { checkTraitNames, entryOf, type ToolTraits, traitsDefinition } from "./traits.ts";

/** A plain function with a schema of its input. */
export type PlainFunction<S extends StandardSchema | JsonSchema = StandardSchema | JsonSchema> = {
  readonly description: string;
  /** A zod object, another Standard Schema, or a JSON Schema. */
  readonly input: S;
  readonly run: (input: never, ctx: RunContext) => unknown;
};

/** Plain functions by name. */
export type PlainFunctions = Readonly<Record<string, PlainFunction>>;

/** The same functions behind a gate. */
export type GovernedFunctions<T extends PlainFunctions> = {
  readonly [Name in keyof T]: (input: InferOutput<T[Name]["input"]>) => Promise<Awaited<ReturnType<T[Name]["run"]>>>;
};

/** Wraps plain functions. Calls of one tick are one batch. */
export function wrapFunctions<T extends PlainFunctions>(
  context: WrapContext,
  functions: T,
  traits: Readonly<Record<string, ToolTraits | undefined>> = {},
): GovernedFunctions<T> {
  if (!isObject(functions)) throw new GateUsageError("bad_tool", "gate.functions takes { name: { description, input, run } }.");
  checkTraitNames(Object.keys(functions), traits);
  const gather = gatherCalls(context.turns);
  context.put(
    Object.entries(functions).map(([name, { description, input, run }]) => {
      if (typeof run !== "function") throw new GateUsageError("bad_tool", `Function '${name}' needs run: (input) => result.`);
      const body = run as (input: unknown, ctx: RunContext) => Maybe<unknown>;
      return governTool({
        name,
        description,
        input: readToolSchema(name, input),
        traits: traitsDefinition(name, entryOf(traits, name)),
        run: body,
      });
    }),
  );
  const governed = Object.keys(functions).map((name) => [
    name,
    async (input: unknown) => callValue(await gather({ call: { name, arguments: input }, signal: undefined, newPrompt: false })),
  ]);
  // Inputs and results are those of the given functions.
  return Object.fromEntries(governed) as GovernedFunctions<T>;
}
