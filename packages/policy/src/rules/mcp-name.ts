import type { Verdict } from "@assent/core";
import { type RuleFault, syntaxFault } from "./fault.ts";
import { isGlob } from "./path-glob.ts";

/** True for a valid server name: no `__`, and no `_` at its ends. */
export function isServerName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,32}$/.test(name) && !name.includes("__") && !name.startsWith("_") && !name.endsWith("_");
}

/** The part of tool names that a server's name becomes: characters that tool names cannot have turn into `_`. */
export function normalizeServerName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9-]+/g, "_").replaceAll(/^_+|_+$/g, "");
}

/** True for `mcp__…`. */
export function isMcpPattern(text: string): boolean {
  return /^mcp__/i.test(text);
}

/** The tool-name glob of an MCP pattern: `mcp__server` is every tool of that server. */
export function readMcpPattern(text: string, verdict: Verdict): { readonly glob: string } | RuleFault {
  const [server = "", ...tool] = text.slice("mcp__".length).split("__");
  if (server === "" || (tool.length > 0 && tool.join("__") === "")) {
    return syntaxFault(`'${text}' is missing the server or the tool`, "Write mcp__server for all tools of a server, or mcp__server__tool.");
  }
  if (verdict === "allow" && isGlob(server)) {
    return syntaxFault(
      `'${text}' would allow the tools of every server: a star for the server works only in deny and ask rules`,
      "Name the server: mcp__server__*",
    );
  }
  return { glob: tool.length === 0 ? `${text}__*` : text };
}
