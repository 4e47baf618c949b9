import { compileGlob, type Glob, parsePattern, type Verdict } from "@assent/core";
import { isApplyName, mayCover, sourceOfApply, toolsByForeignName } from "@assent/core/parts";
import { catchPatternError, isFault, type RuleFault } from "./fault.ts";
import { RULE_KINDS, type RuleKind } from "./kinds.ts";
import { isMcpPattern, readMcpPattern } from "./mcp-name.ts";
import { isGlob } from "./path-glob.ts";
import type { Rule, RuleTool, RuleTools } from "./rule.ts";
import { findGroup, getRuleTool, groupOfTool, isInGroup, isRuntimeTool, type NamedGroup, toolNameHint } from "./tool-groups.ts";

export type ToolPart = {
  /** Canonical name: a group's, or the glob in lower case. */
  readonly record: string;
  readonly concerns: Rule["concerns"];
  readonly known: readonly string[];
  readonly group?: NamedGroup;
  /** A full name that no tool has. */
  readonly unknown?: string;
  /** `none`: nothing may follow in parentheses. */
  readonly specifiers: "none" | "declared" | "group";
};

type NamingContext = { readonly verdict: Verdict; readonly tools: RuleTools };

export function readToolPart(
  text: string,
  { verdict, tools }: NamingContext,
  asGroup: (group: NamedGroup) => boolean = () => true,
): ToolPart | RuleFault {
  const group = findGroup(text);
  if (group && asGroup(group)) return groupPart(text, group, { verdict, tools });
  if (isMcpPattern(text)) return mcpPart(text, verdict, tools);
  const pattern = catchPatternError(() => parsePattern(text));
  if (isFault(pattern)) return pattern;
  if (!isGlob(text) && isRuntimeTool(text)) return runtimePart(text, verdict);
  const { matches } = pattern.tool;
  const part = namedPart({ text: pattern.tool.text, matches }, verdict, tools);
  if (isGlob(text) || isApplyOfKnown(text, tools)) return part;
  return withForeign(part, text, verdict, foreignPart(text, { verdict, tools }, asGroup));
}

/** A tool with exactly this name comes first; deny and ask also cover the name's meaning in other agents. */
function withForeign(part: ToolPart, text: string, verdict: Verdict, foreign: ForeignPart): ToolPart | RuleFault {
  if (part.known.length === 0) return foreign ?? { ...part, unknown: text };
  return foreign && !isFault(foreign) && verdict !== "allow" ? combineParts(part, foreign) : part;
}

type ForeignPart = ToolPart | RuleFault | undefined;

/** The tools that another agent's name means. Undefined: no known agent has it. */
function foreignPart(text: string, naming: NamingContext, asGroup: (group: NamedGroup) => boolean): ForeignPart {
  const meant = toolsByForeignName(text);
  if (!meant) return undefined;
  const { verdict, tools } = naming;
  const [first, ...more] = meant.same;
  if (first !== undefined && isRuntimeTool(first)) return runtimePart(first, verdict);
  const group = first === undefined || more.length > 0 ? undefined : groupOfTool(first);
  if (group?.tools.length === 1 && asGroup(group)) return groupPart(text, group, { verdict, tools });
  const covered = verdict === "allow" ? meant.same : [...meant.same, ...(meant.near ?? [])];
  const part = namedPart({ text: covered.join(",") || text, matches: (name) => covered.includes(name) }, verdict, tools);
  return verdict === "allow" && part.known.length === 0 ? { ...part, unknown: text } : part;
}

function combineParts(part: ToolPart, foreign: ToolPart): ToolPart {
  if (foreign.known.every((name) => part.known.includes(name))) return part;
  return {
    ...part,
    concerns: (name, kind) => part.concerns(name, kind) || foreign.concerns(name, kind),
    known: [...new Set([...part.known, ...foreign.known])],
  };
}

function isApplyOfKnown(text: string, tools: RuleTools): boolean {
  const source = sourceOfApply(text).toLowerCase();
  return isApplyName(text) && tools.names().some((name) => name.toLowerCase() === source);
}

/** What may follow in parentheses, by what the tools declare. */
export function specifierKinds({ known, group, specifiers }: ToolPart, tools: RuleTools): readonly RuleKind[] {
  if (specifiers === "none") return [];
  if (group) return [group.kind];
  return [...new Set(known.flatMap((name) => declaredKinds(getRuleTool(tools, name))))];
}

export function unknownToolFault(name: string): RuleFault {
  return { type: "rule_unknown_tool", message: `there is no tool named '${name}'`, hint: toolNameHint(), column: 1 };
}

/** The tools of a group, and a tool of another kind that has exactly this name. */
function groupPart(text: string, group: NamedGroup, { verdict, tools }: NamingContext): ToolPart {
  const own = text.toLowerCase();
  const isDescribed = (tool: RuleTool | undefined): boolean =>
    verdict !== "allow" && (tool?.pathUses?.some((use) => group.uses?.includes(use)) ?? false);
  const concerns: Rule["concerns"] = (name, kind) => {
    const tool = getRuleTool(tools, name);
    return isInGroup(group, name, { kind, tool }) || isDescribed(tool) || (name.toLowerCase() === own && !isRuntimeTool(name));
  };
  const known = tools.names().filter((name) => concerns(name, tools.get(name)?.kind ?? ""));
  return { record: group.name, concerns, known, group, specifiers: "group" };
}

function mcpPart(text: string, verdict: Verdict, tools: RuleTools): ToolPart | RuleFault {
  const read = readMcpPattern(text, verdict);
  if (isFault(read)) return read;
  const glob = catchPatternError(() => compileGlob(read.glob));
  return isFault(glob) ? glob : { ...namedPart(glob, verdict, tools), specifiers: "none" };
}

function namedPart({ text, matches }: Pick<Glob, "text" | "matches">, verdict: Verdict, tools: RuleTools): ToolPart {
  const concerns: Rule["concerns"] = (name) => matches(name) && !isRuntimeTool(name) && mayCover(text, verdict, name);
  const known = tools.names().filter((name) => concerns(name, ""));
  return { record: text.toLowerCase(), concerns, known, specifiers: text === "*" ? "none" : "declared" };
}

function runtimePart(text: string, verdict: Verdict): ToolPart | RuleFault {
  const record = text.toLowerCase();
  if (verdict === "deny") return { record, concerns: (name) => name.toLowerCase() === record, known: [record], specifiers: "none" };
  return {
    type: "rule_unknown_tool",
    message: `'${text}' asks the person itself, so ${verdict} rules do not apply to it`,
    hint: "Remove the rule, or deny the tool by its name.",
    column: 1,
  };
}

function declaredKinds(tool: RuleTool | undefined): readonly RuleKind[] {
  return tool ? RULE_KINDS.filter(({ declaredBy }) => declaredBy?.(tool)) : [];
}
