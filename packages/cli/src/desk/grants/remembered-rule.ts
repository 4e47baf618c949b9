import { isObject } from "@assent/core";

/** A rule for a settings file, and the script it is bound to. */
export type RememberedRule = { readonly rule: string; readonly bind?: { readonly script: string } };

/** A rule, or a JSON object with a rule and a binding. */
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

export function settingsValue({ rule, bind }: RememberedRule): string | Required<RememberedRule> {
  return bind ? { rule, bind } : rule;
}
