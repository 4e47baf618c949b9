import { isObject, type Registry, type Tool } from "@assent/core";
import { RULE_KINDS, type RuleKind, type ToolGroup } from "./kinds.ts";
import type { RuleTool, RuleTools } from "./rule.ts";

export type NamedGroup = ToolGroup & { readonly kind: RuleKind };

const GROUPS: readonly NamedGroup[] = RULE_KINDS.flatMap((kind) => kind.groups.map((group) => ({ ...group, kind })));

export function findGroup(name: string): NamedGroup | undefined {
  const folded = name.toLowerCase();
  return GROUPS.find((group) => [group.name, ...(group.aliases ?? [])].some((known) => known.toLowerCase() === folded));
}

export function groupOfTool(tool: string): NamedGroup | undefined {
  return GROUPS.find(({ tools }) => tools.includes(tool));
}

export function isInGroup(
  { tools, covers }: ToolGroup,
  name: string,
  about: { readonly kind: string; readonly tool: RuleTool | undefined },
): boolean {
  return !isRuntimeTool(name) && (tools.includes(name) || covers(about.kind, about.tool));
}

/** These ask the person themselves: no rule allows them, only a deny by name stops them. */
const RUNTIME_TOOLS: ReadonlySet<string> = new Set(["resolve", "ask", "enter_plan_mode"]);

export function isRuntimeTool(name: string): boolean {
  return RUNTIME_TOOLS.has(name.toLowerCase());
}

export function getRuleTool(tools: RuleTools, name: string): RuleTool | undefined {
  return tools.get(name) ?? (name === "shell" ? SHELL_TOOL : undefined);
}

const SHELL_TOOL: RuleTool = { kind: "execute", commandArg: "command", aliases: { cmd: "command" } };

export function toolNameHint(): string {
  const names = GROUPS.map((group) => group.name);
  return `To list the tools, run: assent tools. A group is ${names.slice(0, -1).join(", ")} or ${names.at(-1)}.`;
}

/** The tools of a registry, as rules see them, including later ones. */
export function createRuleTools(registry: Registry): RuleTools {
  return {
    get: (name) => {
      const tool = registry.get(name) ?? registry.list().find((one) => one.name.toLowerCase() === name.toLowerCase());
      return tool && describeTool(tool);
    },
    names: () => registry.list().map(({ name }) => name),
  };
}

const PATH_ARGUMENTS = ["file_path", "path", "paths", "directory"];

function describeTool({ kind, definition, inputSchema }: Tool): RuleTool {
  const { inputAliases, locations, pathArguments } = definition;
  const properties = isObject(inputSchema) && isObject(inputSchema["properties"]) ? Object.keys(inputSchema["properties"]) : [];
  const isClosed = isObject(inputSchema) && inputSchema["additionalProperties"] === false;
  const takesAnything = properties.length === 0 && !isClosed;
  return {
    kind,
    ...(isClosed && { args: [...properties, ...Object.keys(inputAliases ?? {})] }),
    ...(inputAliases && { aliases: inputAliases }),
    ...(kind === "execute" && (properties.includes("command") || takesAnything) && { commandArg: "command" }),
    ...(locations && { pathArgs: pathArguments ? Object.keys(pathArguments) : PATH_ARGUMENTS.filter((name) => properties.includes(name)) }),
    ...(pathArguments && { pathUses: Object.values(pathArguments) }),
    ...(kind === "fetch" && properties.includes("url") && { urlArg: "url" }),
  };
}
