import type { Digest, Verdict } from "@assent/core";
import { type RuleFault, syntaxFault } from "./fault.ts";

const LONGEST_NAME = 64;
const KEPT_LENGTH = 55;

/** A server's configured name: no `__`, which ends it, and no `_` at its edges, which would make `a_` + `x` and `a` + `_x` one name. */
export function isServerName(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,32}$/.test(name) && !name.includes("__") && !name.startsWith("_") && !name.endsWith("_");
}

/** The name under which a tool of an outside server is offered and judged. A name that is too long is cut and told apart by a digest of the whole. */
export function mcpToolName(server: string, tool: string, digest: Digest): string {
  const full = `mcp__${server}__${tool}`;
  const mapped = full.replaceAll(/[^A-Za-z0-9_-]/gu, "_");
  return mapped.length <= LONGEST_NAME ? mapped : `${mapped.slice(0, KEPT_LENGTH)}_${digest.sha256(full).slice(0, 8)}`;
}

/** True for a rule's tool part that speaks of outside servers. */
export function isMcpPattern(text: string): boolean {
  return /^mcp__/i.test(text);
}

/** The glob over tool names that an MCP pattern means: `mcp__server` is every tool of that server. */
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
