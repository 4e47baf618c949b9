import { createRegistry, type Registry, type Schemas, type Tool, ToolDefinitionError } from "@assent/core";
import { GateUsageError } from "./gate-error.ts";

/** The tools of a gate. Adding a tool under a known name replaces it, so that a program can wrap its tools again for every request. */
export type GateTools = Registry & { readonly put: (tools: readonly Tool[]) => void };

/** Creates the tools of a gate; `changed` is called after each change. */
export function createGateTools(schemas: Schemas, changed: () => void): GateTools {
  let current = createRegistry({ schemas });
  const put = (tools: readonly Tool[]): void => {
    const names = new Set<string>();
    for (const { name } of tools) {
      if (names.has(name)) throw new GateUsageError("bad_tool", `Two of these tools have the name '${name}'. Give each tool its own name.`);
      names.add(name);
    }
    const next = createRegistry({ schemas });
    for (const tool of current.list()) if (!names.has(tool.name)) next.add(tool);
    for (const tool of tools) addTool(next, tool);
    const before = current;
    current = next;
    try {
      changed();
    } catch (error) {
      current = before;
      throw error;
    }
  };
  return {
    put,
    add: (tool) => put([tool]),
    alias: (name, canonical) => current.alias(name, canonical),
    get: (name) => current.get(name),
    list: () => current.list(),
    visible: () => current.visible(),
    suggest: (name) => current.suggest(name),
  };
}

function addTool(registry: Registry, tool: Tool): void {
  try {
    registry.add(tool);
  } catch (error) {
    if (error instanceof ToolDefinitionError) throw new GateUsageError("bad_tool", error.message, { cause: error });
    throw error;
  }
}
