import { extname } from "node:path";
import { isSdkMcpServer } from "./mcp-server.ts";
import type { QueryOptions } from "./query-options.ts";

export function commandLine(options: QueryOptions): { readonly command: string; readonly args: readonly string[] } {
  const { executable = "assent" } = options;
  const args = [
    ...(options.resume === undefined ? ["run"] : ["resume", options.resume]),
    "--input-format=stream-json",
    "--output-format=stream-json",
    ...values(options),
    ...(options.includePartialMessages ? ["--include-partial-messages"] : []),
    ...(options.args ?? []),
  ];
  const isScript = [".js", ".mjs"].includes(extname(executable));
  return isScript ? { command: process.execPath, args: [executable, ...args] } : { command: executable, args };
}

/** Servers that Assent starts. Those of this program join with the first request. */
function configuredServers({ mcpServers }: QueryOptions): string | undefined {
  const others = Object.entries(mcpServers ?? {}).filter(([, server]) => !isSdkMcpServer(server));
  return others.length === 0 ? undefined : JSON.stringify({ mcpServers: Object.fromEntries(others) });
}

/** Uses `--name=value`, so that a value may start with a dash. */
function values(options: QueryOptions): readonly string[] {
  const given: readonly (readonly [flag: string, value: string | number | undefined | readonly string[]])[] = [
    ["model", options.model],
    ["mode", options.mode],
    ["on-ask", options.onAsk],
    ["max-turns", options.maxTurns],
    ["max-tool-calls", options.maxToolCalls],
    ["max-time", options.maxTimeMs === undefined ? undefined : `${options.maxTimeMs}ms`],
    ["workspace", options.workspace],
    ["add-dir", options.addDirs],
    ["tool", options.tools],
    ["mcp-config", configuredServers(options)],
    ["allow", options.allow],
    ["ask", options.ask],
    ["deny", options.deny],
    ["policy", options.policy],
    ["store", options.store],
  ];
  return given.flatMap(([flag, value]) => [value ?? []].flat().map((each) => `--${flag}=${each}`));
}
