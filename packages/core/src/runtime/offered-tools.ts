import type { SessionState } from "../model/fold.ts";
import type { Registry } from "../registry.ts";
import type { Tool } from "../tool-definition.ts";
import type { Dispatcher } from "./dispatcher.ts";

/** What `listOfferedTools` depends on. */
export type OfferedToolsContext = {
  readonly session: { readonly state: Pick<SessionState, "proposals" | "planning"> };
  readonly dispatcher: Pick<Dispatcher, "denies">;
  /** A person may answer questions, now or later. */
  readonly canAsk?: boolean;
};

/** Lists the tools for a model: the visible ones, and `ask` and `resolve` if they can be used, without those that a rule denies. */
export function listOfferedTools(registry: Registry, { session, dispatcher, canAsk = false }: OfferedToolsContext): readonly Tool[] {
  const findTool = (name: string): Tool | undefined => {
    const tool = registry.get(name);
    return tool && !dispatcher.denies(tool) ? tool : undefined;
  };
  const shown = withoutDenied(registry.visible(), dispatcher);
  const ask = canAsk ? findTool("ask") : undefined;
  const visible = ask && !shown.includes(ask) ? withTool(shown, ask) : shown;
  const resolve = findTool("resolve");
  if (!resolve || visible.includes(resolve)) return visible;
  const { proposals, planning } = session.state;
  const needed = proposals.size > 0 || planning !== null || visible.some(({ definition }) => definition.preview);
  return needed ? withTool(visible, resolve) : visible;
}

const WITHOUT_DENIED = new WeakMap<readonly Tool[], Map<string, readonly Tool[]>>();

/** Returns the same array each time, so that caches keyed by it work. */
function withoutDenied(tools: readonly Tool[], dispatcher: OfferedToolsContext["dispatcher"]): readonly Tool[] {
  const denied = tools.filter((tool) => dispatcher.denies(tool)).map(({ name }) => name);
  if (denied.length === 0) return tools;
  const known = WITHOUT_DENIED.get(tools) ?? new Map<string, readonly Tool[]>();
  const key = denied.join(" ");
  const list = known.get(key) ?? Object.freeze(tools.filter(({ name }) => !denied.includes(name)));
  WITHOUT_DENIED.set(tools, known.set(key, list));
  return list;
}

const WITH_TOOL = new WeakMap<readonly Tool[], WeakMap<Tool, readonly Tool[]>>();

function withTool(tools: readonly Tool[], more: Tool): readonly Tool[] {
  const known = WITH_TOOL.get(tools) ?? new WeakMap<Tool, readonly Tool[]>();
  const list = known.get(more) ?? Object.freeze([...tools, more]);
  WITH_TOOL.set(tools, known.set(more, list));
  return list;
}
