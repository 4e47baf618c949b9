import { compileGlob, MODES, type Mode, type Registry, type Tool, ToolError } from "@assent/core";
import { toolsByForeignName } from "@assent/core/parts";

/** The tools an agent is given: names and globs of registered ones, ready declarations, or both. Undefined: all that are registered. */
export type GivenTools = readonly (string | Tool)[] | undefined;

/** What narrows them. */
export type ToolChoice = { readonly registry: Registry; readonly given: GivenTools; readonly disallowed?: readonly string[] };

/**
 * The tools an agent is built with. A declaration takes the place of a registered tool of its name; a name that stands twice otherwise is an error.
 * `resolve` comes with whatever can be previewed, because it is how a preview ends, unless it is disallowed by name: then a person settles previews.
 */
export function selectAgentTools({ registry, given, disallowed = [] }: ToolChoice): readonly Tool[] {
  const known = registry.list();
  const chosen = given === undefined ? known.filter(({ name }) => name !== "agent") : chooseFrom(known, given);
  const removed = disallowed.map(removes);
  const left = chosen.filter(({ name }) => !removed.some((isRemoved) => isRemoved(name)));
  const resolve = disallowed.some((name) => name.toLowerCase() === "resolve") ? undefined : registry.get("resolve");
  return resolve && !left.includes(resolve) && left.some(({ definition }) => definition.preview) ? [...left, resolve] : left;
}

function chooseFrom(known: readonly Tool[], given: readonly (string | Tool)[]): readonly Tool[] {
  const inline = given.filter((one) => typeof one !== "string");
  const names = given.filter((one) => typeof one === "string");
  refuseTwice([...names, ...inline.map(({ name }) => name)].filter((name, at) => at < names.length || !names.includes(name)));
  const own = new Map(inline.map((tool) => [tool.name, tool]));
  const chosen = new Map<string, Tool>();
  for (const one of given) {
    if (typeof one !== "string") chosen.set(one.name, one);
    else for (const tool of namedBy(one, known)) chosen.set(tool.name, own.get(tool.name) ?? tool);
  }
  return [...chosen.values()];
}

/** A name that no tool here has may be another agent's name for one of ours. */
function namedBy(pattern: string, known: readonly Tool[]): readonly Tool[] {
  const glob = compileGlob(pattern, { caseSensitive: true });
  const found = known.filter(({ name }) => glob.matches(name));
  const foreign = found.length === 0 ? toolsByForeignName(pattern)?.same : undefined;
  return foreign ? known.filter(({ name }) => foreign.includes(name)) : found;
}

/** Removes tools that match the name, tools that other agents mean by it, and similar ones. */
function removes(pattern: string): (tool: string) => boolean {
  const glob = compileGlob(pattern);
  const { same = [], near = [] } = toolsByForeignName(pattern) ?? {};
  return (tool) => glob.matches(tool) || same.includes(tool) || near.includes(tool);
}

function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new ToolError(`tool "${twice}" is named twice`, "agent_init_failed");
}

/** Names in a definition that no tool has, here or in any agent we know, and globs that match no tool here. MCP tools are not reported. */
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

/** The stricter of two modes. */
export function stricterMode(one: string, other: string): string {
  return FROM_STRICT_TO_LOOSE.indexOf(one) <= FROM_STRICT_TO_LOOSE.indexOf(other) ? one : other;
}

/** The stricter of what a definition and the session say; only `auto-edit` may stand in a definition while the session is in `default`. */
export function resolveMode(defined: Mode | null, session: string): string {
  if (defined === null) return session;
  return defined === "auto-edit" && session === "default" ? defined : stricterMode(defined, session);
}
