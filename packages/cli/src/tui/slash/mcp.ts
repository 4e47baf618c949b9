import type { McpServerSet, ServerConnection } from "@assent/mcp";
import { describeCounts } from "../../desk/mcp/configured.ts";
import { oneLine } from "../../io/visible-text.ts";

/** The output of `/mcp`: the state of every server, or the result of starting one again. */
export async function serversText(set: McpServerSet, [action, name]: readonly string[]): Promise<string> {
  if (action === "restart") {
    const server = set.servers.find(({ configured }) => configured.name === name);
    if (!server) return `There is no MCP server '${oneLine(name ?? "")}'. /mcp lists them.`;
    await server.restart();
    return await describe(set, server);
  }
  const described = await Promise.all(set.servers.map((server) => describe(set, server)));
  return `${described.join("\n")}\n/mcp restart NAME starts a server again.`;
}

async function describe(set: McpServerSet, server: ServerConnection): Promise<string> {
  const { promptCommand } = await import("@assent/mcp");
  const { name } = server.configured;
  const state = server.state();
  const own = set.tools().filter((tool) => tool.name.startsWith(`mcp__${name}__`));
  const disabled = set.disabledTools(name).map(({ tool, reason }) => `  disabled: ${oneLine(tool)}: ${oneLine(reason)}`);
  if (state.state === "failed") return [`${name}  not available`, `  ${oneLine(state.reason)}`, `  ${oneLine(state.advice)}`].join("\n");
  const { prompts: offered, resources } = server.lists();
  const counts = state.state === "ready" ? `, ${describeCounts([own, "tool"], [resources, "resource"])}` : "";
  const prompts = offered.map((prompt) => {
    const usage = (prompt.arguments ?? []).map((one) => (one.required ? one.name.toUpperCase() : `[${one.name.toUpperCase()}]`)).join(" ");
    return `  ${promptCommand(name, prompt.name)} ${oneLine(usage)}`.trimEnd();
  });
  return [`${name}  ${state.state}${counts}`, ...prompts, ...disabled].join("\n");
}
