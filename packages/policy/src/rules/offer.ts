import { dirname, relative } from "node:path";
import type { Request, Unit } from "@assent/core";
import { hostOf, pathOf, shellOf } from "../facts/units.ts";
import { isInside } from "../paths/resolve.ts";
import type { PathFact } from "../paths/scope.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";
import { isOpaque } from "../shell/programs/opaque-programs.ts";
import { isFault } from "./fault.ts";
import { literalGlob } from "./literal-glob.ts";
import { isMcpPattern } from "./mcp-name.ts";
import { coversUnit, readGrant } from "./read-grant.ts";
import type { Rule, RuleOptions } from "./rule.ts";
import { groupNamed, groupOf, isOwnTool, shapeOf } from "./tool-groups.ts";

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
