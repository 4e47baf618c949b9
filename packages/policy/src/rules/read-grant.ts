import { isObject, type Request, type Unit } from "@assent/core";
import { pathOf } from "../facts/units.ts";
import { isFault, type RuleFault, syntaxFault } from "./fault.ts";
import { parseRule } from "./parse.ts";
import type { Bind, Rule, RuleOptions } from "./rule.ts";

/** Reads a grant's text as an allow rule. */
export function readGrant(text: string, options: RuleOptions): Rule | RuleFault {
  const written = text.trimStart().startsWith("{") ? readBound(text) : { rule: text };
  if (isFault(written)) return written;
  const { rule, bind } = written;
  const read = parseRule({ verdict: "allow", at: { text: rule }, ...(bind && { bind }) }, options);
  return isFault(read) ? read : { ...read, at: { text } };
}

/** Whether a remembered answer speaks for a part of a request. What is sensitive is asked about every time. */
export function coversUnit(rule: Rule, request: Request, unit: Unit): boolean {
  return rule.concerns(request.tool, request.kind) && rule.test(request, unit) === "yes" && pathOf(unit)?.sensitive !== true;
}

type Bound = { readonly rule: string; readonly bind?: Bind };

function readBound(text: string): Bound | RuleFault {
  const value = parsed(text);
  if (!isObject(value) || typeof value["rule"] !== "string") return syntaxFault("a grant in braces is a rule object", BOUND);
  const bind = value["bind"];
  if (bind === undefined) return { rule: value["rule"] };
  if (!isObject(bind) || typeof bind["script"] !== "string") return syntaxFault("a rule is bound to a script by its digest", BOUND);
  return { rule: value["rule"], bind: { script: bind["script"] } };
}

const BOUND = 'write {"rule": "Shell(npm test)", "bind": {"script": "sha256:…"}}';

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (_noJson) {
    return undefined;
  }
}
