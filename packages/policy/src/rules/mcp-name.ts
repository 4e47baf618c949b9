import type { Digest, Verdict } from "@assent/core";
import { type RuleFault, syntaxFault } from "./fault.ts";

const LONGEST_NAME = 64;
const KEPT_LENGTH = 55;

/** True for a valid server name: no `__`, and no `_` at its ends. */
export function isServerName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,32}$/.test(name) && !name.includes("__") && !name.startsWith("_") && !name.endsWith("_");
}

/** The name of an MCP tool. A long name is cut and made unique by a digest. */
export function mcpToolName(server: string, tool: string, digest: Digest): string {
  const full = `mcp__${server}__${tool}`;
  const mapped = full.replaceAll(/[^A-Za-z0-9_-]/gu, "_");
  return mapped.length <= LONGEST_NAME ? mapped : `${mapped.slice(0, KEPT_LENGTH)}_${digest.sha256(full).slice(0, 8)}`;
}

/** True for `mcp__…`. */
export function isMcpPattern(text: string): boolean {
  return /^mcp__/i.test(text);
}

/** The tool-name glob of an MCP pattern: `mcp__server` is every tool of that server. */
export function readMcpPattern(text: string, verdict: Verdict): { readonly glob: string } | RuleFault {
  const [server = "", ...tool] = text.slice("mcp__".length).split("__");
  if (server === "" || (tool.length > 0 && tool.join("__") === "")) {
    return syntaxFault(`'${text}' is missing the server or the tool`, "write mcp__server for all tools of a server, or mcp__server__tool");
  }
  if (verdict === "allow" && /[*?[\\]/.test(server)) {
    return syntaxFault(
      `'${text}' would allow the tools of every server: a star for the server works only in deny and ask rules`,
      "name the server: mcp__server__*",
    );
  }
  return { glob: tool.length === 0 ? `${text}__*` : text };
}
