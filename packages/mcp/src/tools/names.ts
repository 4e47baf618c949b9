import type { Digest } from "@assent/core";

const LONGEST_NAME = 64;
const DIGEST_LENGTH = 8;

/** The name under which the model calls a tool of a server. Names that are too long end with a digest of the whole name. */
export function qualifyToolName(server: string, tool: string, digest: Digest): string {
  const name = `mcp__${server}__${tool.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`;
  if (name.length <= LONGEST_NAME) return name;
  return `${name.slice(0, LONGEST_NAME - DIGEST_LENGTH - 1)}_${digest.sha256(tool).slice(0, DIGEST_LENGTH)}`;
}

/** A tool that is not offered, and why. */
export type DisabledTool = { readonly tool: string; readonly reason: string };

/** Names by what they become; names that become the same are all left out, because a call could mean either. */
export function assignNames(
  server: string,
  tools: readonly string[],
  digest: Digest,
): { readonly names: ReadonlyMap<string, string>; readonly disabled: readonly DisabledTool[] } {
  const claims = Map.groupBy(tools, (tool) => qualifyToolName(server, tool, digest).toLowerCase());
  const names = new Map<string, string>();
  const disabled: DisabledTool[] = [];
  for (const claimed of claims.values()) {
    const [tool = "", ...others] = claimed;
    const name = qualifyToolName(server, tool, digest);
    if (others.length === 0) names.set(tool, name);
    else {
      const all = [...new Set(claimed)].map((one) => `"${one}"`);
      const reason =
        all.length === 1
          ? `The server lists it ${claimed.length} times.`
          : `${all.join(" and ")} would all be called ${name}. Disable all but one with "disabledTools".`;
      disabled.push(...[...new Set(claimed)].map((one) => ({ tool: one, reason })));
    }
  }
  return { names, disabled };
}

/** What requests for resources and prompts are called in rules: tools of the server with these names. */
export const READING_NAMES = { resource: "resources-read", prompt: "prompts-get" } as const;
