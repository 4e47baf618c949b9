import type { McpServerSet, ServerConnection } from "@assent/mcp";
import { oneLine } from "../../io/visible-text.ts";

/** The output of `/mcp`: the state of every server, or the result of starting one again. */
export async function serversText(set: McpServerSet, [action, name]: readonly string[]): Promise<string> {
  if (action === "restart") {
    const server = set.servers.find(({ configured }) => configured.name === name);
    if (!server) return `There is no MCP server '${oneLine(name ?? "")}'. /mcp lists them.`;
    await server.start();
    return describe(set, server);
  }
  return `${set.servers.map((server) => describe(set, server)).join("\n")}\n/mcp restart NAME starts a failed server again.`;
}

function describe(set: McpServerSet, server: ServerConnection): string {
  const { name } = server.configured;
  const state = server.state();
  const own = set.tools().filter((tool) => tool.name.startsWith(`mcp__${name}__`));
  const disabled = set.disabledTools(name).map(({ tool, reason }) => `  disabled: ${oneLine(tool)}: ${oneLine(reason)}`);
  if (state.state === "failed") return [`${name}  not available`, `  ${oneLine(state.reason)}`, `  ${oneLine(state.advice)}`].join("\n");
  const tools = state.state === "ready" ? `, ${own.length === 1 ? "1 tool" : `${own.length} tools`}` : "";
  const prompts = server.lists().prompts.map((prompt) => {
    const usage = (prompt.arguments ?? []).map((one) => (one.required ? one.name.toUpperCase() : `[${one.name.toUpperCase()}]`)).join(" ");
    return `  /mcp__${name}__${oneLine(prompt.name)} ${usage}`.trimEnd();
  });
  return [`${name}  ${state.state}${tools}`, ...prompts, ...disabled].join("\n");
}
