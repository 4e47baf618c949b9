import { dirname, relative } from "node:path";
import { type GrantRule, isObject, type Request, type Rules, type Unit } from "@assent/core";
import { getHostFact, getPathFact, getShellUnit } from "../facts/units.ts";
import type { PathFact } from "../paths/lookup.ts";
import { isInside } from "../paths/resolve.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";
import { interpreterKind, isOpaque, PROGRAMS } from "../shell/programs/table.ts";
import { isFault, type RuleFault, syntaxFault } from "./fault.ts";
import { isMcpPattern } from "./mcp-name.ts";
import { parseRule } from "./parse.ts";
import { escapeGlob } from "./path-glob.ts";
import type { Rule, RuleOptions, ScriptBinding } from "./rule.ts";
import { findGroup, getRuleTool, groupOfTool, isRuntimeTool } from "./tool-groups.ts";

const MAX_CACHED = 1_000;

/**
 * Remembered answers as rules, read as narrowly as an allow. One bound to a script is written as `{"rule": "Shell(npm test)", "bind": {"script":
 * "sha256:…"}}`. A grant never covers anything hazardous or sensitive.
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
  };
}

function parseGrant(text: string, options: OfferOptions): GrantRule {
  const rule = readGrant(text, options);
  if (isFault(rule)) throw new Error(`${rule.message}; ${rule.hint}`);
  return {
    text,
    covers: (request, unit) => grantCovers(rule, request, unit),
  };
}

/** What an offer depends on. */
export type OfferOptions = RuleOptions & {
  /** True for parts that need no rule. */
  readonly allowed?: (request: Request, unit: Unit) => boolean;
};

/**
 * The narrowest rules that "always" would store, one per part that is not allowed yet. Empty if nothing may be remembered: a hazard, shell syntax, or
 * inline code.
 */
export function offerRules(request: Request, options: OfferOptions): readonly string[] {
  if (isRuntimeTool(request.tool) || request.units.some(runsInlineCode)) return [];
  const offered: Rule[] = [];
  for (const unit of request.units) {
    if (options.allowed?.(request, unit) || offered.some((rule) => grantCovers(rule, request, unit))) continue;
    const text = offerRule(request, unit, options);
    const rule = text === undefined ? undefined : readGrant(text, options);
    if (!rule || isFault(rule) || !grantCovers(rule, request, unit)) return [];
    offered.push(rule);
  }
  return offered.map(({ at }) => at.text);
}

/** A wider choice for an edit: its directory. Undefined if there is none. */
export function offerWiderRule(request: Request, options: OfferOptions): string | undefined {
  const [unit, ...more] = request.units;
  const path = unit && getPathFact(unit);
  if (!path || more.length > 0 || offerRules(request, options).length === 0) return undefined;
  const directory = dirname(path.lexical);
  if (directory === options.roots.workspace || !isInside(options.roots.workspace, directory)) return undefined;
  const name = ruleNameFor(request, options);
  return name === undefined ? undefined : `${name}(${formatRulePath(directory, options)}/**)`;
}

/** A tool that has the name of a group but no unit of its kind gets no offer: the rule would cover the whole group. */
function offerRule(request: Request, unit: Unit, options: OfferOptions): string | undefined {
  if (isMcpPattern(request.tool)) return request.tool;
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

function quoteWord(word: string): string {
  return /^[A-Za-z0-9_./:=@+,%^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const INLINE_CODE = /^(?:-[A-Za-z]*[cerEp]|--(?:eval|print|command|execute)(?:=.*)?|eval|-)$/s;

/** True for commands such as `python3 -c …`, whose next code is unknown. */
function runsInlineCode(unit: Unit): boolean {
  const [program = "", ...args] = getShellUnit(unit)?.words ?? [];
  const kind = interpreterKind(program);
  return kind !== undefined && kind !== "file" && args.some((word) => INLINE_CODE.test(word));
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
  return isFault(read) ? read : { ...read, at: { text } };
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
  if (!isObject(bind) || typeof bind["script"] !== "string") return syntaxFault("bind needs the digest of the script", BOUND_RULE_HINT);
  return { rule: value["rule"], bind: { script: bind["script"] } };
}

const BOUND_RULE_HINT = 'Write {"rule": "Shell(npm test)", "bind": {"script": "sha256:…"}}';

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (_noJson) {
    return undefined;
  }
}
