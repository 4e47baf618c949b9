import { RULE_KINDS, type RuleKind, type ToolGroup } from "./kinds.ts";
import type { RuleTool, RuleTools } from "./rule.ts";

/** A group with the kind of what may stand in parentheses after it. */
export type NamedGroup = ToolGroup & { readonly kind: RuleKind };

const GROUPS: readonly NamedGroup[] = RULE_KINDS.flatMap((kind) => kind.groups.map((group) => ({ ...group, kind })));

/** The group of a name, whatever its case. */
export function findGroup(name: string): NamedGroup | undefined {
  const folded = name.toLowerCase();
  return GROUPS.find((group) => [group.name, ...(group.aliases ?? [])].some((known) => known.toLowerCase() === folded));
}

/** The group that a tool of ours belongs to. */
export function groupOfTool(tool: string): NamedGroup | undefined {
  return GROUPS.find(({ tools }) => tools.includes(tool));
}

/** Whether a group means this tool. */
export function isInGroup(
  { tools, covers }: ToolGroup,
  name: string,
  about: { readonly kind: string; readonly tool: RuleTool | undefined },
): boolean {
  return !isRuntimeTool(name) && (tools.includes(name) || covers(about.kind, about.tool));
}

/** The runtime's own: they ask a person themselves, so no rule allows them, and only a deny of their very name stops them. */
const RUNTIME_TOOLS: ReadonlySet<string> = new Set(["resolve", "ask", "enter_plan_mode"]);

/** One of the runtime's own tools that only a deny by exact name may speak of. */
export function isRuntimeTool(name: string): boolean {
  return RUNTIME_TOOLS.has(name.toLowerCase());
}

/** What is known of a tool; the shell tool reads its command in every setting. */
export function getRuleTool(tools: RuleTools, name: string): RuleTool | undefined {
  return tools.get(name) ?? (name === "shell" ? SHELL_TOOL : undefined);
}

const SHELL_TOOL: RuleTool = { kind: "execute", commandArg: "command", aliases: { cmd: "command" } };

/** The hint for a name that no tool has, here or in any agent we know. */
export function toolNameHint(): string {
  const names = GROUPS.map((group) => group.name);
  return `list the tools with: assent tools; a group is ${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
