import { type Digest, defineTool, type Schemas, type Tool, type ToolResult } from "@assent/core";
import type { Result } from "@modelcontextprotocol/client";
import type { ClientInFront } from "../connect/connect.ts";
import type { ServerConnection } from "../servers/server.ts";
import { qualifyToolName, READING_NAMES } from "../tools/names.ts";

/** The name for rules of reading resources or prompts. */
export function readingName(server: string, what: keyof typeof READING_NAMES, digest: Digest): string {
  return qualifyToolName(server, READING_NAMES[what], digest);
}

/** What the tools need. */
export type ReadingParts = { readonly schemas: Schemas; readonly digest: Digest; readonly received: ClientInFront["received"] };

/** Tools that read resources and prompts of a server. They are allowed unless a rule says otherwise. */
export function makeReadingTools(server: ServerConnection, { schemas, digest, received }: ReadingParts): readonly Tool[] {
  const { name } = server.configured;
  const make = (
    what: "resource" | "prompt",
    title: string,
    input: object,
    read: (input: ReadInput, signal: AbortSignal) => Promise<Result>,
  ) =>
    defineTool(
      {
        name: readingName(name, what, digest),
        title,
        description: title,
        kind: "read",
        input: { type: "object", ...input },
        origin: server.identity,
        safe: () => true,
        permission: () => "allow",
        maxOutputChars: Number.POSITIVE_INFINITY,
        confirm: () => ({ type: "mcp", serverName: name, toolName: what, toolDisplayName: title }),
        run: async (given, { callId, signal }): Promise<ToolResult> => {
          const result = await read(given as ReadInput, signal);
          const content = JSON.stringify(result);
          received(callId, result, content);
          return { content };
        },
      },
      { schemas },
    );
  return [
    make("resource", `Read a resource of ${name}`, { properties: { uri: { type: "string" } }, required: ["uri"] }, ({ uri = "" }, signal) =>
      server.use((client) => client.readResource({ uri }, { signal })),
    ),
    make("prompt", `Get a prompt of ${name}`, PROMPT, ({ name: prompt = "", arguments: given }, signal) =>
      server.use((client) => client.getPrompt({ name: prompt, ...(given && { arguments: given }) }, { signal })),
    ),
  ];
}

const PROMPT = {
  properties: { name: { type: "string" }, arguments: { type: "object", additionalProperties: { type: "string" } } },
  required: ["name"],
};

type ReadInput = { readonly uri?: string; readonly name?: string; readonly arguments?: Record<string, string> };
