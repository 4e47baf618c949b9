import { isObject, type Registry, type Tool } from "@assent/core";
import type { RuleTool, RuleTools } from "./rule.ts";

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
  const { inputAliases, locations } = definition;
  const properties = isObject(inputSchema) && isObject(inputSchema["properties"]) ? Object.keys(inputSchema["properties"]) : [];
  const isClosed = isObject(inputSchema) && inputSchema["additionalProperties"] === false;
  return {
    kind,
    ...(isClosed && { args: [...properties, ...Object.keys(inputAliases ?? {})] }),
    ...(inputAliases && { aliases: inputAliases }),
    ...(kind === "execute" && properties.includes("command") && { commandArg: "command" }),
    ...(locations && { pathArgs: PATH_ARGUMENTS.filter((name) => properties.includes(name)) }),
    ...(kind === "fetch" && properties.includes("url") && { urlArg: "url" }),
  };
}
