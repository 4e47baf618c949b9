import { isObject } from "@assent/core";
import { oneLine } from "../../io/visible-text.ts";

export type RememberedRule = { readonly rule: string; readonly bind?: { readonly script: string } };

/** A rule, or a JSON object with a rule and a binding. */
export function rememberedRule(text: string): RememberedRule {
  if (!text.trimStart().startsWith("{")) return { rule: text };
  const value = parsed(text);
  if (!isObject(value) || typeof value["rule"] !== "string") return { rule: text };
  const { rule, bind } = value;
  return isObject(bind) && typeof bind["script"] === "string" ? { rule, bind: { script: bind["script"] } } : { rule };
}

/** A rule as people see it. The digest of a tool's definition says nothing to them. */
export function ruleWords(text: string): string {
  const value = text.trimStart().startsWith("{") ? parsed(text) : undefined;
  if (!isObject(value) || !isObject(value["bind"]) || typeof value["bind"]["tool"] !== "string") return oneLine(text);
  return `${oneLine(String(value["rule"]))} (until the server changes this tool)`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (_noObject) {
    return undefined;
  }
}

export function settingsValue({ rule, bind }: RememberedRule): string | Required<RememberedRule> {
  return bind ? { rule, bind } : rule;
}
