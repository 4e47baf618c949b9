import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { markOf } from "../loop/history/marks.ts";
import type { Expectation, ExpectedResult, ExpectedText } from "./script.ts";

export type SeenRequest = {
  readonly options: LanguageModelV4CallOptions;
  readonly fresh: readonly LanguageModelV4Message[];
  readonly model: string;
};

/** Returns what differs from the expectation; undefined if nothing does. */
export function findMismatch(expected: Expectation, seen: SeenRequest): string | undefined {
  const { options, model } = seen;
  return (
    wrongChoice(expected, options) ??
    firstOf([...(expected.result ? [expected.result] : []), ...(expected.results ?? [])], (result) =>
      wrongResult(result, options.prompt),
    ) ??
    wrongTexts("reminders", expected.reminders, textsOf(seen, ["reminder"])) ??
    wrongTexts("notices", expected.notices, textsOf(seen, ["notice", "schedule"])) ??
    wrongTools(expected, options) ??
    (expected.model !== undefined && expected.model !== model ? differs("model", expected.model, model) : undefined)
  );
}

function firstOf<T>(list: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of list) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function differs(key: string, expected: unknown, actual: unknown): string {
  return `${key}: expected ${show(expected)}, actual ${show(actual)}`;
}

function show(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function wrongChoice({ toolChoice }: Expectation, options: LanguageModelV4CallOptions): string | undefined {
  if (toolChoice === undefined) return undefined;
  const actual = forced(options);
  return actual === toolChoice ? undefined : differs("toolChoice", toolChoice ?? "nothing forced", actual ?? "nothing forced");
}

/** The forced tool. If it cannot be named, it is the only one offered. */
function forced({ toolChoice, tools }: LanguageModelV4CallOptions): string | null {
  if (!toolChoice || toolChoice.type === "auto") return null;
  if (toolChoice.type === "tool") return toolChoice.toolName;
  const [only] = tools ?? [];
  return toolChoice.type === "required" && only && tools?.length === 1 ? only.name : toolChoice.type;
}

function wrongResult(expected: ExpectedResult, prompt: readonly LanguageModelV4Message[]): string | undefined {
  const found = newestResult(expected.call, prompt);
  if (!found) return `result: expected one of call ${expected.call}, actual none`;
  const key = `result of ${expected.call}`;
  if (expected.outcome !== undefined && expected.outcome !== found.outcome)
    return differs(`${key}, outcome`, expected.outcome, found.outcome);
  if (expected.type !== undefined && expected.type !== found.type) return differs(`${key}, type`, expected.type, found.type);
  return wrongText(expected, found.text) === undefined ? undefined : differs(key, expectedWords(expected), found.text);
}

type FoundResult = { readonly text: string; readonly outcome: string | null; readonly type: string | null };

function newestResult(call: string, prompt: readonly LanguageModelV4Message[]): FoundResult | undefined {
  for (let at = prompt.length - 1; at >= 0; at -= 1) {
    const message = prompt[at];
    if (message?.role !== "tool") continue;
    for (const part of message.content.toReversed()) {
      if (part.type !== "tool-result" || part.toolCallId !== call) continue;
      const mark = markOf(part);
      return { text: outputText(part.output), outcome: mark.outcome ?? null, type: mark.type ?? null };
    }
  }
  return undefined;
}

function outputText(output: { readonly type: string; readonly value?: unknown; readonly reason?: unknown }): string {
  if (typeof output.value === "string") return output.value;
  return JSON.stringify(output.value ?? output.reason ?? null);
}

function list(words: string | readonly string[] | undefined): readonly string[] {
  if (words === undefined) return [];
  return typeof words === "string" ? [words] : words;
}

function wrongText({ contains, notContains }: ExpectedText, text: string): string | undefined {
  return list(contains).find((word) => !text.includes(word)) ?? list(notContains).find((word) => text.includes(word));
}

function expectedWords({ contains, notContains }: ExpectedText): string {
  const words = list(contains).map((word) => `'${word}'`);
  const absent = list(notContains).map((word) => `no '${word}'`);
  return [...words, ...absent].join(" and ");
}

function textsOf({ fresh }: SeenRequest, origins: readonly string[]): readonly string[] {
  return fresh.flatMap((message) => {
    if (message.role !== "user" || !origins.includes(markOf(message).origin ?? "")) return [];
    return [message.content.map((part) => (part.type === "text" ? part.text : "")).join("")];
  });
}

function wrongTexts(key: string, expected: readonly ExpectedText[] | undefined, texts: readonly string[]): string | undefined {
  if (!expected) return undefined;
  if (expected.length === 0) return texts.length === 0 ? undefined : differs(key, "none", texts);
  const missing = expected.find((one) => !texts.some((text) => wrongText(one, text) === undefined));
  return missing && differs(key, expectedWords(missing), texts);
}

function wrongTools({ tools }: Expectation, options: LanguageModelV4CallOptions): string | undefined {
  const offered = (options.tools ?? []).map(({ name }) => name);
  const missing = tools?.has?.find((name) => !offered.includes(name));
  if (missing !== undefined) return differs("tools", `${missing} offered`, offered);
  const present = tools?.hasNot?.find((name) => offered.includes(name));
  return present === undefined ? undefined : differs("tools", `${present} not offered`, offered);
}
