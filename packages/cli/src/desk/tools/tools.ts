import { resolve } from "node:path";
import type { LoadedAgents } from "@assent/agent";
import type { Registry, Tool } from "@assent/core";
import { createPathLookup, loadSettings, type Settings } from "@assent/policy";
import type { LoadedTools } from "@assent/tools";
import { nearestSpelling } from "../../command-line/nearest-spelling.ts";
import type { Context } from "../../command-line/spec.ts";
import { loadAgentDefinitions } from "../../compose/agent-definitions.ts";
import { loadTools } from "../../compose/custom-tools.ts";
import { readPlace } from "../../compose/place.ts";
import { policyPlaces } from "../../compose/policy.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { builtInTools, createToolRegistry } from "../../compose/tool-registry.ts";
import { CommandError } from "../../io/failure.ts";
import { fieldsText, printJson } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { oneLine } from "../../io/visible-text.ts";
import { stateDirectory } from "../../store/location.ts";
import { workspaceTrust } from "../trust/workspace-trust.ts";

export async function showTools(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const ports = hostPortsFor(context, await stateDirectory(context));
  const { workspace } = readPlace(context, "tools");
  const { trusted } = await workspaceTrust(context, { workspace });
  const tools = options.list("tool").map((file) => resolve(io.cwd, file));
  const settings = (): Settings => loadSettings(policyPlaces(context, { workspace, trusted }));
  const custom = await loadTools(context, { ports, workspace, trusted, tools, settings });
  const { agents, problems } = await loadAgentDefinitions(context, { workspace, trusted });
  const usable = agents.filter((agent) => agent.usable);
  const fixed = builtInTools(context, { ports, workspace, look: createPathLookup({ workspace }), agents: usable });
  const registry = createToolRegistry([...fixed, ...custom.tools.map(({ tool }) => tool)]);
  const [name] = operands;
  const files = new Map(custom.tools.map(({ tool, source }) => [tool.name, source.file]));
  const formOf = (tool: Tool): ToolForm => form(context, tool, files.get(tool.name));
  if (name === undefined) await list(context, registry, { failed: custom.failed, problems, formOf });
  else await show(context, toolNamed(registry, name), formOf);
  return 0;
}

type ToolListing = Pick<LoadedTools, "failed"> & Pick<LoadedAgents, "problems"> & { readonly formOf: (tool: Tool) => ToolForm };

const SOMETIMES: Readonly<Record<string, string>> = {
  ask: "when a person can answer: here, through a host, or later with --on-ask park",
  resolve: "when a previewed change waits, or a tool can preview one",
};

async function list(context: Context, registry: Registry, { failed, problems, formOf }: ToolListing): Promise<void> {
  const { io, options } = context;
  const isAll = options.flag("all");
  const shown = isAll ? registry.list() : registry.visible();
  const tools = shown.map(formOf);
  if (options.flag("json")) return printJson(io, { tools, failed, agentErrors: problems });
  const columns = ["name", "kind", "source", { shrinks: "description" }];
  const rows = tools.map((tool) => [tool.name, tool.kind, tool.source, tool.description.split("\n")[0] ?? ""]);
  await io.stdout.write(textTable(columns, rows, io.stdout.columns()));
  if (!isAll) await io.stdout.write(`\nAlso offered at times (see assent tools NAME):\n${sometimesLines(registry)}`);
  const { failureText } = await import("@assent/tools");
  const left = [...failed.map(failureText), ...problems.map(({ file, line, message }) => `${file}:${line}: ${message}`)];
  if (left.length > 0) await io.stdout.write(`\nFailed\n${left.map((text) => `  ${oneLine(text)}\n`).join("")}`);
}

function sometimesLines(registry: Registry): string {
  const there = Object.entries(SOMETIMES).filter(([name]) => registry.get(name)?.hidden);
  return there.map(([name, when]) => `  ${name.padEnd(8)} ${when}\n`).join("");
}

async function show({ io, options }: Context, tool: Tool, formOf: ToolListing["formOf"]): Promise<void> {
  const { inputSchema } = tool;
  const shown = formOf(tool);
  if (options.flag("json")) return printJson(io, { ...shown, inputSchema });
  const { name, kind, title, description, source } = shown;
  const fields = [
    ["tool", name],
    ["kind", kind],
    ["source", source],
    ["title", title],
    ...(tool.hidden ? ([["offered", SOMETIMES[name] ?? "only when it is named"]] as const) : []),
    ["description", description.trim()],
    ["input", JSON.stringify(inputSchema, null, 2)],
  ] as const;
  await io.stdout.write(fieldsText(fields, io.stdout.columns()));
}

type ToolForm = Pick<Tool, "name" | "kind" | "title" | "description"> & { readonly source: string };

function form({ overrides }: Context, { name, kind, title, description }: Tool, file: string | undefined): ToolForm {
  const isOwn = overrides.tools?.some((tool) => tool.name === name) === true;
  return { name, kind, title, description, source: file ?? (isOwn ? "custom" : "built-in") };
}

function toolNamed(registry: Registry, name: string): Tool {
  const tool = registry.get(name);
  if (tool) return tool;
  const near = nearestSpelling(
    name,
    registry.visible().map((one) => one.name),
  );
  const message = `There is no tool '${name}'.${near === undefined ? "" : ` Did you mean '${near}'?`}`;
  throw new CommandError("tool_not_registered", 4, { message, hint: "assent tools" });
}
