import type { CheckedInput, InputReader } from "./input-reader.ts";
import { bindInvocation } from "./invocation.ts";
import { copyInput } from "./model/json/copy.ts";
import type { Json, JsonObject } from "./model/json/json.ts";
import { pointerStep } from "./model/json/pointer.ts";
import { sameJson } from "./model/json/same.ts";
import { messageOf } from "./model/result/thrown.ts";
import type { Coercion } from "./model/schema/coerce.ts";
import { coerce } from "./model/schema/coerce.ts";
import { InvalidInput, problemText } from "./model/schema/problems.ts";
import type { SchemaProblem } from "./ports.ts";
import type { CallContext, Invocation, Maybe, ToolDefinition } from "./tool-definition.ts";

export type BuildInput = { readonly definition: ToolDefinition; readonly reader: InputReader; readonly ctx: CallContext };

/** An input with every change made to what was sent. */
type SentInput = { readonly input: JsonObject; readonly coercions: readonly Coercion[] };

const NONE: readonly Coercion[] = Object.freeze([]);

/** Turns a frozen input into an invocation. Throws, or rejects if the schema is asynchronous, with the first failing step. */
export function buildInvocation(building: BuildInput, input: JsonObject): Maybe<Invocation> {
  const sent = foldAliases(building.definition.inputAliases, input);
  return whenChecked(building.reader.validate(sent.input), (checked) =>
    checked.ok ? finish(building, sent, checked.value) : afterCoercion(building, sent, checked.problems),
  );
}

/** `build` throws synchronously unless the schema is asynchronous. */
function whenChecked(checked: Maybe<CheckedInput>, next: (checked: CheckedInput) => Maybe<Invocation>): Maybe<Invocation> {
  return checked instanceof Promise ? checked.then(next) : next(checked);
}

function foldAliases(aliases: ToolDefinition["inputAliases"], input: JsonObject): SentInput {
  if (!aliases || !Object.keys(aliases).some((alias) => Object.hasOwn(input, alias))) return { input, coercions: NONE };
  const coercions: Coercion[] = [];
  const seen = new Map<string, string>();
  const folded: Record<string, Json> = {};
  for (const [key, value] of Object.entries(input)) {
    const property = Object.hasOwn(aliases, key) ? (aliases[key] ?? key) : key;
    const before = seen.get(property);
    if (before !== undefined) throw new InvalidInput(describeBoth(before, key, property));
    seen.set(property, key);
    folded[property] = value;
    if (property !== key) coercions.push({ path: pointerStep(property), from: key, to: property, rule: "alias" });
  }
  return { input: Object.freeze(folded), coercions };
}

/** Names the alias first, regardless of order. */
function describeBoth(one: string, other: string, property: string): string {
  return one === property ? `params must not have both '${other}' and '${one}'` : `params must not have both '${one}' and '${other}'`;
}

/** If coercion does not help, the message describes the original input. */
function afterCoercion(building: BuildInput, sent: SentInput, problems: readonly SchemaProblem[]): Maybe<Invocation> {
  const coerced = coerce(building.reader.typed(), sent.input);
  if (coerced.coercions.length === 0) throw new InvalidInput(problemText(problems, sent.input));
  const input = copyInput(coerced.value);
  return whenChecked(building.reader.validate(input), (checked) => {
    if (!checked.ok) throw new InvalidInput(problemText(problems, sent.input));
    return finish(building, { input, coercions: [...sent.coercions, ...coerced.coercions] }, checked.value);
  });
}

/** A schema may transform its input; that counts as one coercion. */
function finish(building: BuildInput, sent: SentInput, output: unknown): Invocation {
  const { definition, ctx } = building;
  if (sameJson(sent.input, output)) return invoke(definition, ctx, sent);
  const input = copyInput(output);
  return invoke(definition, ctx, { input, coercions: [...sent.coercions, transformed(sent.input, input)] });
}

function invoke(definition: ToolDefinition, ctx: CallContext, { input, coercions }: SentInput): Invocation {
  if (definition.check) runCheck(definition.check, input);
  return bindInvocation(definition, ctx, { input, coercions });
}

function runCheck(check: NonNullable<ToolDefinition["check"]>, input: JsonObject): void {
  let fault: unknown;
  try {
    fault = check(input);
  } catch (error) {
    throw new InvalidInput(messageOf(error), "invalid_tool_params", { cause: error });
  }
  if (fault === undefined || fault === null || fault === "") return;
  throw new InvalidInput(typeof fault === "string" ? fault : "the tool's own check gave no answer");
}

/** Keeps only root properties that differ, so that unchanged long texts are not recorded again. */
function transformed(before: JsonObject, after: JsonObject): Coercion {
  const differs = (key: string): boolean => !(Object.hasOwn(before, key) && Object.hasOwn(after, key) && sameJson(before[key], after[key]));
  const only = (value: JsonObject): JsonObject => Object.fromEntries(Object.entries(value).filter(([key]) => differs(key)));
  return { path: "", from: only(before), to: only(after), rule: "schema" };
}
