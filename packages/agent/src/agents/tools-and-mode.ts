import { compileGlob, MODES, type Mode, type Registry, type Tool, ToolError } from "@assent/core";
import { toolsByForeignName } from "@assent/core/parts";

/** Names and globs of registered tools, declared tools, or both. Undefined: all registered tools. */
export type ToolSelection = readonly (string | Tool)[] | undefined;

export type AgentToolOptions = { readonly registry: Registry; readonly selection: ToolSelection; readonly disallowed?: readonly string[] };

/**
 * Selects the tools of an agent. A declared tool replaces the registered tool of its name; any other repeated name is an error. `resolve`
 * is added if a tool can preview, unless it is disallowed by name: then a person settles previews.
 */
export function selectAgentTools({ registry, selection, disallowed = [] }: AgentToolOptions): readonly Tool[] {
  const known = registry.list();
  const chosen = selection === undefined ? known.filter(({ name }) => name !== "agent") : chooseFrom(known, selection);
  const removed = disallowed.map(matchRemoved);
  const left = chosen.filter(({ name }) => !removed.some((isRemoved) => isRemoved(name)));
  const resolve = disallowed.some((name) => name.toLowerCase() === "resolve") ? undefined : registry.get("resolve");
  return resolve && !left.includes(resolve) && left.some(({ definition }) => definition.preview) ? [...left, resolve] : left;
}

function chooseFrom(known: readonly Tool[], given: readonly (string | Tool)[]): readonly Tool[] {
  const inline = given.filter((one) => typeof one !== "string");
  const names = given.filter((one) => typeof one === "string");
  refuseDuplicates([...names, ...inline.map(({ name }) => name)].filter((name, at) => at < names.length || !names.includes(name)));
  const own = new Map(inline.map((tool) => [tool.name, tool]));
  const chosen = new Map<string, Tool>();
  for (const one of given) {
    if (typeof one !== "string") chosen.set(one.name, one);
    else for (const tool of namedBy(one, known)) chosen.set(tool.name, own.get(tool.name) ?? tool);
  }
  return [...chosen.values()];
}

/** A name that is not registered may be another product's name for one of our tools. */
function namedBy(pattern: string, known: readonly Tool[]): readonly Tool[] {
  const glob = compileGlob(pattern, { caseSensitive: true });
  const found = known.filter(({ name }) => glob.matches(name));
  const foreign = found.length === 0 ? toolsByForeignName(pattern)?.same : undefined;
  return foreign ? known.filter(({ name }) => foreign.includes(name)) : found;
}

/** Matches tools by name, by other products' names for them, and similar tools. */
function matchRemoved(pattern: string): (tool: string) => boolean {
  const glob = compileGlob(pattern);
  const { same = [], near = [] } = toolsByForeignName(pattern) ?? {};
  return (tool) => glob.matches(tool) || same.includes(tool) || near.includes(tool);
}

function refuseDuplicates(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new ToolError(`tool "${twice}" is named twice`, "agent_init_failed");
}

/** Finds names that no tool has, here or in a product we know, and globs that match nothing. MCP tools are not reported. */
export function findUnknownTools(given: readonly string[], registry: Registry): readonly string[] {
  const known = registry.list();
  const isKnown = (name: string): boolean => {
    if (name.startsWith("mcp__")) return true;
    if (!/[*?[]/.test(name)) return registry.get(name) !== undefined || toolsByForeignName(name) !== undefined;
    const glob = compileGlob(name);
    return known.some((tool) => glob.matches(tool.name));
  };
  return given.filter((name) => !isKnown(name));
}

const FROM_STRICT_TO_LOOSE: readonly string[] = ["plan", ...MODES.filter((mode) => mode !== "plan")];

/** Returns the stricter of two modes. */
export function stricterMode(one: string, other: string): string {
  return FROM_STRICT_TO_LOOSE.indexOf(one) <= FROM_STRICT_TO_LOOSE.indexOf(other) ? one : other;
}

/** Returns the stricter of the definition's and the session's mode. Exception: `auto-edit` in a `default` session. */
export function resolveMode(defined: Mode | null, session: string): string {
  if (defined === null) return session;
  return defined === "auto-edit" && session === "default" ? defined : stricterMode(defined, session);
}
