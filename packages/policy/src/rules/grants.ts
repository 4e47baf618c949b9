import { dirname, relative } from "node:path";
import { type GrantRule, isObject, type Request, type Rules, type Unit, type WiderRules } from "@assent/core";
import { getHostFact, getPathFact, getShellUnit } from "../facts/units.ts";
import type { PathFact } from "../paths/lookup.ts";
import { isInside } from "../paths/resolve.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";
import { isOpaque, PROGRAMS } from "../shell/programs/table.ts";
import { isFault, type RuleFault, syntaxFault } from "./fault.ts";
import { isMcpPattern } from "./mcp-name.ts";
import { parseRule } from "./parse.ts";
import { escapeGlob } from "./path-glob.ts";
import { offeredPrefix, runsInlineCode } from "./prefixes.ts";
import type { Rule, RuleOptions, ScriptBinding } from "./rule.ts";
import { quoteWord } from "./shell.ts";
import { findGroup, getRuleTool, groupOfTool, isRuntimeTool } from "./tool-groups.ts";

const MAX_CACHED = 1_000;

/**
 * Remembered answers as rules, read as narrowly as an allow. One bound to a script is written as `{"rule": "Shell(npm test)", "bind": {"script":
 * "sha256:…"}}`, and one bound to the definition of an MCP tool with `"bind": {"tool": "…"}`. A grant never covers anything hazardous or sensitive.
 */
export function createGrantRules(options: OfferOptions): Rules {
  const kept = new Map<string, GrantRule>();
  return {
    parse: (text) => {
      const before = kept.get(text);
      if (before) return before;
      const grant = parseGrant(text, options);
      if (kept.size >= MAX_CACHED) kept.clear();
      kept.set(text, grant);
      return grant;
    },
    offer: (request) => offerRules(request, options),
    offerWider: (request) => offerWiderRules(request, options),
  };
}

function parseGrant(text: string, options: OfferOptions): GrantRule {
  const rule = readGrant(text, options);
  if (isFault(rule)) throw new Error(`${rule.message}; ${rule.hint}`);
  return {
    text,
    covers: (request, unit) => grantCovers(rule, request, unit),
    ...(rule.risk !== undefined && { risk: rule.risk }),
  };
}

/** What an offer depends on. */
export type OfferOptions = RuleOptions & {
  /** True for parts that need no rule. */
  readonly allowed?: (request: Request, unit: Unit) => boolean;
};

/** The narrowest rules that "always" would store, one per part that is not allowed yet. Empty if nothing may be remembered. */
export function offerRules(request: Request, options: OfferOptions): readonly string[] {
  return (collectOffers(request, options, offerRule) ?? []).map(({ at }) => at.text);
}

/** Wider rules for the same call: a command by its first words, an edit by its directory. Undefined if there are none. */
export function offerWiderRules(request: Request, options: OfferOptions): WiderRules | undefined {
  const risks = new Map<string, string>();
  const offered = collectOffers(request, options, (...about) => {
    const wider = offerWider(...about);
    if (wider) risks.set(wider.rule, wider.risk);
    return wider?.rule ?? offerRule(...about);
  });
  const rules = (offered ?? []).map(({ at }) => at.text);
  const said = rules.flatMap((rule) => (risks.has(rule) ? [rule] : []));
  if (said.length === 0) return undefined;
  return { rules, risk: said.map((rule) => `${rules.length === 1 ? "" : `${rule}: `}${risks.get(rule)}`).join(" ") };
}

type OfferMaker = (request: Request, unit: Unit, options: OfferOptions) => string | undefined;

function collectOffers(request: Request, options: OfferOptions, offer: OfferMaker): readonly Rule[] | undefined {
  if (isRuntimeTool(request.tool) || request.units.some((unit) => runsInlineCode(getShellUnit(unit)?.words ?? []))) return undefined;
  const offered: Rule[] = [];
  for (const unit of request.units) {
    if (options.allowed?.(request, unit) || offered.some((rule) => grantCovers(rule, request, unit))) continue;
    const text = offer(request, unit, options);
    const rule = text === undefined ? undefined : readGrant(text, options);
    if (!rule || isFault(rule) || !grantCovers(rule, request, unit)) return undefined;
    offered.push(rule);
  }
  return offered;
}

function offerWider(request: Request, unit: Unit, options: OfferOptions): { readonly rule: string; readonly risk: string } | undefined {
  const all = isMcpPattern(request.tool) && getPathFact(unit)?.sensitive === false ? offerServerTool(request, "") : undefined;
  if (all !== undefined) return { rule: all, risk: "It covers all files that the server can reach." };
  const name = ruleNameFor(request, options);
  const [words, path] = [getShellUnit(unit)?.words, getPathFact(unit)];
  const lead = words && offeredPrefix(words);
  if (name === undefined || (!lead && !path)) return undefined;
  const directory = path && dirname(path.lexical);
  const isBelow = directory !== undefined && directory !== options.roots.workspace && isInside(options.roots.workspace, directory);
  const inside = isBelow ? `${formatRulePath(directory, options)}/**` : undefined;
  const specifier = lead ? `${lead.map(quoteWord).join(" ")} *` : inside;
  const text = specifier === undefined ? undefined : `${name}(${specifier})`;
  const rule = text === undefined ? undefined : readGrant(text, options);
  if (text === undefined || !rule || isFault(rule) || !grantCovers(rule, request, unit)) return undefined;
  return { rule: text, risk: rule.risk ?? `It covers all files in ${relative(options.roots.workspace, directory ?? "")}, new ones too.` };
}

/** A tool that has the name of a group but no unit of its kind gets no offer: the rule would cover the whole group. */
function offerRule(request: Request, unit: Unit, options: OfferOptions): string | undefined {
  if (isMcpPattern(request.tool)) return offerServerTool(request, namePaths(request));
  const byInput = groupOfTool(request.tool)?.kind.offer;
  if (byInput) return byInput(request);
  const shell = getShellUnit(unit);
  const path = getPathFact(unit);
  const host = getHostFact(unit)?.host;
  const name = ruleNameFor(request, options);
  if (shell) return name && offerCommandRule(name, shell);
  if (path) return name && offerPathRule(name, path, options);
  if (host) return name && `${name}(=${host})`;
  return findGroup(request.tool) ? undefined : escapeGlob(request.tool);
}

function offerServerTool({ tool, toolDigest }: Request, conditions: string | undefined): string | undefined {
  return conditions === undefined ? undefined : JSON.stringify({ rule: `${tool}${conditions}`, bind: { tool: toolDigest } });
}

/** The paths of a call as conditions, `:path=/x`; undefined if one has characters that a rule reads differently. */
function namePaths({ units, input }: Request): string | undefined {
  const names = new Set(units.flatMap((unit) => getPathFact(unit)?.argument ?? []));
  const conditions = [...names].map((name) => {
    const value = input[name];
    return typeof value === "string" && /^[\p{L}\p{N}_./@+ -]+$/u.test(value) ? `:${name}=${value}` : undefined;
  });
  return conditions.includes(undefined) ? undefined : conditions.join("");
}

/** The group's name for built-in tools and fetches; other tools go by their own. */
function ruleNameFor({ tool, kind }: Request, { tools }: OfferOptions): string | undefined {
  if (kind === "fetch") return "WebFetch";
  return groupOfTool(tool)?.name ?? (getRuleTool(tools, tool) && escapeGlob(tool));
}

/** A read-only command is remembered by name, any other by all its words. */
function offerCommandRule(name: string, { words, command, script }: ShellUnit): string | undefined {
  const [program] = words;
  if (program === undefined || !command || words.some((word) => /[\p{Cc}]/u.test(word))) return undefined;
  const isRead = command.class === "read" && !isOpaque([program]);
  const named = isRead ? words.slice(0, PROGRAMS.get(program)?.match?.subcommands ? 2 : 1) : words;
  const rule = `${name}(${named.map(quoteWord).join(" ")})`;
  return script ? JSON.stringify({ rule, bind: { script: script.digest } }) : rule;
}

function offerPathRule(name: string, { lexical, sensitive }: PathFact, options: OfferOptions): string | undefined {
  return sensitive ? undefined : `${name}(${formatRulePath(lexical, options)})`;
}

function formatRulePath(path: string, { roots }: OfferOptions): string {
  const inside = path !== roots.workspace && isInside(roots.workspace, path);
  const written = inside ? `${relative(roots.workspace, path)}` : `/${path.replace(/^\/+/, "")}`;
  return `/${escapeGlob(written).replaceAll("{", "\\{")}`;
}

export function readGrant(text: string, options: RuleOptions): Rule | RuleFault {
  const written = text.trimStart().startsWith("{") ? readBoundRule(text) : { rule: text };
  if (isFault(written)) return written;
  const { rule, bind } = written;
  const read = parseRule({ verdict: "allow", at: { text: rule }, ...(bind && { bind }) }, options);
  if (isFault(read)) return read;
  const test: Rule["test"] = (request, unit) => (request.toolDigest === bind?.tool ? read.test(request, unit) : "no");
  return { ...read, at: { text }, ...(bind?.tool !== undefined && { test }) };
}

/** True if a grant covers a unit. Sensitive files always ask. */
export function grantCovers(rule: Rule, request: Request, unit: Unit): boolean {
  return rule.concerns(request.tool, request.kind) && rule.test(request, unit) === "yes" && getPathFact(unit)?.sensitive !== true;
}

type BoundRule = { readonly rule: string; readonly bind?: ScriptBinding };

function readBoundRule(text: string): BoundRule | RuleFault {
  const value = parseJson(text);
  if (!isObject(value) || typeof value["rule"] !== "string")
    return syntaxFault("a grant that starts with { must be a rule object", BOUND_RULE_HINT);
  const bind = value["bind"];
  if (bind === undefined) return { rule: value["rule"] };
  if (isObject(bind) && typeof bind["script"] === "string") return { rule: value["rule"], bind: { script: bind["script"] } };
  if (isObject(bind) && typeof bind["tool"] === "string") return { rule: value["rule"], bind: { tool: bind["tool"] } };
  return syntaxFault("bind needs the digest of the script, or of the tool's definition", BOUND_RULE_HINT);
}

const BOUND_RULE_HINT = 'Write {"rule": "Shell(npm test)", "bind": {"script": "sha256:…"}}';

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (_noJson) {
    return undefined;
  }
}
