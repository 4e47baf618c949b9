import { pathScope } from "@assent/policy";
import { callPorts } from "../call-runtime.ts";
import type { Context } from "../command-spec.ts";
import { printJson } from "../output.ts";
import { stateDirectory } from "../store-location.ts";
import { textTable } from "../text-table.ts";
import { toolRegistry } from "../tool-registry.ts";

/** Lists the tools that can be called. */
export async function run(context: Context): Promise<number> {
  const { io, options, overrides } = context;
  const ports = callPorts(context, await stateDirectory(context));
  const registry = toolRegistry(context, { ports, workspace: io.cwd, look: pathScope({ workspace: io.cwd }) });
  const own = new Set(overrides.tools?.map(({ name }) => name));
  const shown = options.flag("all") ? registry.list() : registry.visible();
  const tools = shown.map(({ name, kind, title, description }) => ({
    name,
    kind,
    title,
    description,
    source: own.has(name) ? "custom" : "built-in",
  }));
  if (options.flag("json")) {
    await printJson(io, { tools, failed: [], agentErrors: [] });
    return 0;
  }
  const columns = [{ name: "name" }, { name: "kind" }, { name: "source" }, { name: "description", shrinks: true }];
  const rows = tools.map((tool) => [tool.name, tool.kind, tool.source, tool.description.split("\n")[0] ?? ""]);
  await io.stdout.write(textTable(columns, rows, io.stdout.columns()));
  return 0;
}
