import { dirname, relative } from "node:path";
import { type GrantRule, isObject, type Request, type Rules, type Unit } from "@assent/core";
import { hostOf, pathOf, shellOf } from "../facts/units.ts";
import { isInside } from "../paths/resolve.ts";
import type { PathFact } from "../paths/scope.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";
import { isOpaque } from "../shell/programs/table.ts";
import { isFault, type RuleFault, syntaxFault } from "./fault.ts";
import { isMcpPattern } from "./mcp-name.ts";
import { parseRule } from "./parse.ts";
import { literalGlob } from "./path-glob.ts";
import type { Bind, Rule, RuleOptions } from "./rule.ts";
import { groupNamed, groupOf, isOwnTool, shapeOf } from "./tool-groups.ts";

/** Texts whose reading is kept. */
const MOST_KEPT = 1_000;

/**
 * Remembered answers in the notation of rules, read as narrowly as an allow. One that is bound to a script's text is written as a settings file has it:
 * `{"rule": "Shell(npm test)", "bind": {"script": "sha256:…"}}`. A grant never covers anything hazardous or sensitive.
 */
export function grantRules(options: OfferOptions): Rules {
  const kept = new Map<string, GrantRule>();
  return {
    parse: (text) => {
      const before = kept.get(text);
      if (before) return before;
      const grant = grantOf(text, options);
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(text, grant);
      return grant;
    },
    offer: (request) => offerRules(request, options),
  };
}

function grantOf(text: string, options: OfferOptions): GrantRule {
  const rule = readGrant(text, options);
  if (isFault(rule)) throw new Error(`${rule.message}; ${rule.hint}`);
  return {
    text,
    covers: (request, unit) => coversUnit(rule, request, unit),
  };
}

/** What an offer depends on besides the request. */
export type OfferOptions = RuleOptions & {
  /** Parts that are allowed already need no rule of their own. */
  readonly allowed?: (request: Request, unit: Unit) => boolean;
};

/**
 * The narrowest rules that an "always" for this request would store: one for each part that nobody allows yet. Empty where nothing may be remembered: something
 * about it is hazardous, only a shell could read it, or it carries its own code.
 */
export function offerRules(request: Request, options: OfferOptions): readonly string[] {
  if (isOwnTool(request.tool) || request.units.some(runsInlineCode)) return [];
  const offered: Rule[] = [];
  for (const unit of request.units) {
    if (options.allowed?.(request, unit) || offered.some((rule) => coversUnit(rule, request, unit))) continue;
    const text = ruleFor(request, unit, options);
    const rule = text === undefined ? undefined : readGrant(text, options);
    if (!rule || isFault(rule) || !coversUnit(rule, request, unit)) return [];
    offered.push(rule);
  }
  return offered.map(({ at }) => at.text);
}

/** The second choice for an edit: its directory instead of the one file. Undefined where there is none. */
export function widerRule(request: Request, options: OfferOptions): string | undefined {
  const [unit, ...more] = request.units;
  const path = unit && pathOf(unit);
  if (!path || more.length > 0 || offerRules(request, options).length === 0) return undefined;
  const directory = dirname(path.lexical);
  if (directory === options.roots.workspace || !isInside(options.roots.workspace, directory)) return undefined;
  const name = nameFor(request, options);
  return name === undefined ? undefined : `${name}(${pathText(directory, options)}/**)`;
}

/** A tool whose name is that of a group is never remembered by it: nobody looked at what this call is about. */
function ruleFor(request: Request, unit: Unit, options: OfferOptions): string | undefined {
  if (isMcpPattern(request.tool)) return request.tool;
  const byInput = groupOf(request.tool)?.kind.offer;
  if (byInput) return byInput(request);
  const shell = shellOf(unit);
  const path = pathOf(unit);
  const host = hostOf(unit)?.host;
  const name = nameFor(request, options);
  if (shell) return name && commandRule(name, shell);
  if (path) return name && pathRule(name, path, options);
  if (host) return name && `${name}(=${host})`;
  return groupNamed(request.tool) ? undefined : literalGlob(request.tool);
}

/** The group's name for tools of ours and for fetches; any other tool is remembered by its own. */
function nameFor({ tool, kind }: Request, { tools }: OfferOptions): string | undefined {
  if (kind === "fetch") return "WebFetch";
  return groupOf(tool)?.name ?? (shapeOf(tools, tool) && literalGlob(tool));
}

/** Programs whose second word says what they do. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(["git", "npm", "pnpm", "yarn"]);

/** A command that only reads is remembered by its name: its table keeps every use of it harmless. Any other by all its words. */
function commandRule(name: string, { words, command, script }: ShellUnit): string | undefined {
  const [program] = words;
  if (program === undefined || !command || words.some((word) => /[\p{Cc}]/u.test(word))) return undefined;
  const named = command.class === "read" && !isOpaque(words.slice(0, 1)) ? words.slice(0, WITH_SUBCOMMANDS.has(program) ? 2 : 1) : words;
  const rule = `${name}(${named.map(quoted).join(" ")})`;
  return script ? JSON.stringify({ rule, bind: { script: script.digest } }) : rule;
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@+,%^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const INTERPRETER = /(?:^|\/)(?:(?:ba|da|a|z|k|fi)?sh|pwsh|python[0-9.]*|node|deno|bun|ruby|perl|php|lua[0-9.]*|Rscript|osascript|tclsh)$/;
const INLINE_CODE = /^(?:-[A-Za-z]*[cerEp]|--(?:eval|print|command|execute)(?:=.*)?|eval|-)$/s;

/** `python3 -c …`: nobody can say what the next text of this shape does. */
function runsInlineCode(unit: Unit): boolean {
  const [program = "", ...args] = shellOf(unit)?.words ?? [];
  return INTERPRETER.test(program) && args.some((word) => INLINE_CODE.test(word));
}

function pathRule(name: string, { lexical, sensitive }: PathFact, options: OfferOptions): string | undefined {
  return sensitive ? undefined : `${name}(${pathText(lexical, options)})`;
}

/** From the workspace where it lies in it, else absolute. */
function pathText(path: string, { roots }: OfferOptions): string {
  const inside = path !== roots.workspace && isInside(roots.workspace, path);
  const written = inside ? `${relative(roots.workspace, path)}` : `/${path.replace(/^\/+/, "")}`;
  return `/${literalGlob(written).replaceAll("{", "\\{")}`;
}

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
