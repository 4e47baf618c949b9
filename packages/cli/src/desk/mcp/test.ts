import type { McpServerSet, ServerConnection } from "@assent/mcp";
import type { Context } from "../../command-line/spec.ts";
import { openServerSet } from "../../compose/mcp/session-servers.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { printJson } from "../../io/output.ts";
import { oneLine, visible } from "../../io/visible-text.ts";
import { stateDirectory } from "../../store/location.ts";
import { warnOfProblems } from "../policy/problem-text.ts";
import { describeCounts, findServersHere, selectServers } from "./configured.ts";

export async function testServers(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const found = await findServersHere(context, "mcp test");
  const { problems, workspace, settings } = found;
  const chosen = selectServers(found, operands[0]);
  const ports = hostPortsFor(context, await stateDirectory(context));
  if (!options.flag("json")) await warnOfProblems(io, problems);
  if (chosen.length === 0 && !options.flag("json")) await io.stdout.write("No MCP servers are configured here.\n");
  const set = await openServerSet(context, { servers: chosen, ports, workspace, settings: () => settings });
  try {
    const reports = await Promise.all(set.servers.map((server) => reportOn(set, server)));
    if (options.flag("json")) await printJson(io, { servers: reports, problems });
    else for (const report of reports) await io.stdout.write(reportText(report));
    return problems.length > 0 || reports.some(({ state, disabledTools }) => state === "failed" || disabledTools.length > 0) ? 1 : 0;
  } finally {
    await set.close();
  }
}

type ServerReport = {
  readonly name: string;
  readonly state: string;
  readonly reason?: string;
  readonly advice?: string;
  readonly tools: readonly { readonly name: string; readonly title: string }[];
  readonly disabledTools: ReturnType<McpServerSet["disabledTools"]>;
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
};

/** The first failure counts; a retry would hide it. */
async function reportOn(set: McpServerSet, server: ServerConnection): Promise<ServerReport> {
  const { name } = server.configured;
  await server.start();
  const state = server.state();
  const { prompts, resources } = server.lists();
  const own = set.tools().filter((tool) => tool.name.startsWith(`mcp__${name}__`));
  return {
    name,
    state: state.state,
    ...(state.state === "failed" && { reason: state.reason, advice: state.advice }),
    tools: own.map((tool) => ({ name: tool.name, title: tool.title })),
    disabledTools: set.disabledTools(name),
    prompts: prompts.map((prompt) => prompt.name),
    resources: resources.map(({ uri }) => uri),
  };
}

function reportText({ name, state, reason, advice, tools, disabledTools, prompts, resources }: ServerReport): string {
  if (state === "failed") return `${name}: not available\n  ${visible(`${reason}\n${advice}`).replaceAll("\n", "\n  ")}\n`;
  if (state !== "ready") return `${name}: ${state}\n`;
  const longest = Math.max(...tools.map((tool) => tool.name.length));
  const lines = [
    `${name}: ready, ${describeCounts([tools, "tool"], [prompts, "prompt"], [resources, "resource"])}`,
    ...tools.map((tool) => `  ${tool.name.padEnd(longest)}  ${oneLine(tool.title)}`),
    ...disabledTools.map(({ tool, reason: why }) => `  disabled: ${oneLine(tool)}: ${oneLine(why)}`),
  ];
  return `${lines.join("\n")}\n`;
}
