import { isObject } from "@assent/core";

/** A rule as a settings file has it: its text, and the script it is bound to. */
export type RememberedRule = { readonly rule: string; readonly bind?: { readonly script: string } };

/** Reads the text of a remembered answer: a rule, or an object of a rule and what it is bound to. A text that is neither stands for itself. */
export function rememberedRule(text: string): RememberedRule {
  if (!text.trimStart().startsWith("{")) return { rule: text };
  const value = parsed(text);
  if (!isObject(value) || typeof value["rule"] !== "string") return { rule: text };
  const { rule, bind } = value;
  return isObject(bind) && typeof bind["script"] === "string" ? { rule, bind: { script: bind["script"] } } : { rule };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (_noObject) {
    return undefined;
  }
}

/** How the rule is written in a settings file: as short as it can be. */
export function settingsValue({ rule, bind }: RememberedRule): string | Required<RememberedRule> {
  return bind ? { rule, bind } : rule;
}
