import { isObject, type Json } from "../json/json.ts";
import { stepKey } from "../json/pointer.ts";
import { cutText } from "../text/cut-text.ts";
/** Thrown for an input that cannot become an invocation. */
export class InvalidInput extends Error {
  readonly type: "invalid_tool_params" | "input_too_large";
  constructor(message: string, type: "invalid_tool_params" | "input_too_large" = "invalid_tool_params", options?: ErrorOptions) {
    super(message, options);
    this.name = "InvalidInput";
    this.type = type;
  }
}

type Problem = { readonly pointer: string; readonly text: string };

const MOST = 10;
const LONGEST_ECHO = 80;
const LONGEST_TEXT = 1_000;
const LONG_QUOTE = new RegExp(`(["'\`])((?:(?!\\1).){${LONGEST_ECHO + 1},})\\1`, "gs");

/** The message for an invalid input: the first ten violations, without long values. */
export function problemText(problems: readonly Problem[], input: Json): string {
  const shown = problems
    .slice(0, MOST)
    .map(({ pointer, text }) => `params${cutText(pointer, LONGEST_TEXT)} ${withoutValue(text, valueAt(input, pointer))}`);
  const rest = problems.length - shown.length;
  return `${shown.join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`.toWellFormed();
}

function withoutValue(text: string, value: unknown): string {
  const plain =
    typeof value === "string" && value.length > LONGEST_ECHO ? text.replaceAll(value, () => cutText(value, LONGEST_ECHO)) : text;
  const quoted = plain.replace(LONG_QUOTE, (_, quote: string, inner: string) => `${quote}${cutText(inner, LONGEST_ECHO)}${quote}`);
  return cutText(quoted, LONGEST_TEXT);
}

function valueAt(input: unknown, pointer: string): unknown {
  let value = input;
  for (const step of pointer.split("/").slice(1)) {
    const key = stepKey(step);
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}
