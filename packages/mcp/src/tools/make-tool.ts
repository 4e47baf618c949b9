import { type Annotations, defineTool, messageOf, type Schemas, type Tool, type ToolDefinition, type ToolResult } from "@assent/core";
import type { ElicitResult, Tool as RemoteTool } from "@modelcontextprotocol/client";
import type { ClientInFront } from "../connect/connect.ts";
import type { ServerConnection } from "../servers/server.ts";
import { createElicitor } from "./elicit.ts";
import type { DisabledTool } from "./names.ts";
import { findPathArguments, locateArguments } from "./path-arguments.ts";
import { toToolResult } from "./result.ts";

/** The limit of a call if the server's configuration has none. */
const CALL_MS = 600_000;

/** Compiling a longer schema would hold up everything else for seconds. */
const LONGEST_SCHEMA = 100_000;
/** Every request to the model has the descriptions. */
const LONGEST_DESCRIPTION = 100_000;
const LONGEST_TITLE = 100;

/** Makes a tool of Assent from a tool of a server, or says why it cannot be used. */
export function makeTool(name: string, remote: RemoteTool, parts: ToolParts): Tool | DisabledTool {
  try {
    const size = JSON.stringify(remote.inputSchema).length;
    if (size > LONGEST_SCHEMA) throw new Error(`its input schema has ${size} characters; at most ${LONGEST_SCHEMA} are compiled.`);
    const described = remote.description?.length ?? 0;
    if (described > LONGEST_DESCRIPTION)
      throw new Error(`its description has ${described} characters; at most ${LONGEST_DESCRIPTION} are sent.`);
    return defineTool(describeTool(name, remote, parts), { schemas: parts.schemas });
  } catch (error) {
    return { tool: remote.name, reason: messageOf(error).replace(/^Tool '[^']*': /, "") };
  }
}

type Input = Readonly<Record<string, unknown>>;

/** What a tool needs. With a client in front, the server's questions go there, and results are not cut. */
export type ToolParts = { readonly connection: ServerConnection; readonly schemas: Schemas; readonly inFront?: ClientInFront | undefined };

function describeTool(name: string, remote: RemoteTool, { connection, schemas, inFront }: ToolParts): ToolDefinition {
  const { configured, identity } = connection;
  const { name: server, trusted } = configured;
  const titles = [remote.title, remote.annotations?.title, remote.name];
  const title = shorten(titles.find((text) => text !== undefined && text.trim() !== "") ?? remote.name);
  const paths = findPathArguments(remote, configured.server, configured.isOwn);
  const changesFiles = Object.values(paths ?? {}).some((use) => use !== "read");
  const annotations = trusted ? { ...readAnnotations(remote), ...(changesFiles && { readOnlyHint: false }) } : {};
  const isSafe = annotations.readOnlyHint === true;
  return {
    name,
    title,
    description: remote.description?.trim() || title,
    kind: "other",
    input: remote.inputSchema,
    origin: JSON.stringify([identity, remote.outputSchema ?? null]),
    annotations,
    ...(paths && { pathArguments: paths, locations: (input) => locateArguments(input as Input, paths, connection.directories) }),
    ...(isSafe && { safe: () => true }),
    isOutputMarkdown: false,
    canUpdateOutput: true,
    timeoutMs: configured.server.timeout ?? CALL_MS,
    confirm: () => ({ type: "mcp", serverName: server, toolName: shorten(remote.name), toolDisplayName: title }),
    fails: () => failure(connection.obstacle(remote)),
    ...(inFront && { maxOutputChars: Number.POSITIVE_INFINITY }),
    run: async (input, { signal, update, gate, callId }) => {
      const elicit = createElicitor({ server, gate, schemas });
      const sent = await connection.call({
        id: callId,
        tool: remote,
        input: input as Input,
        signal,
        elicit: async (request) =>
          inFront?.capabilities.elicitation
            ? ((await inFront.request("elicitation/create", request, callId)) as ElicitResult)
            : await elicit(request),
        progress: (told) => {
          const { progress, total, message } = told;
          if (inFront) inFront.progress(callId, told);
          else
            update({ type: "tool_progress", progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) });
        },
      });
      const result = toToolResult(sent);
      inFront?.received(callId, sent, result.content);
      return result;
    },
  };
}

function shorten(title: string): string {
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1)}…` : title;
}

function failure(obstacle: string | undefined): ToolResult | undefined {
  return obstacle === undefined ? undefined : { content: obstacle, error: { message: obstacle, type: "mcp_server_unavailable" } };
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

/** Hints that contradict each other count as the worse one. */
function readAnnotations({ annotations = {} }: RemoteTool): Annotations {
  const hints = Object.fromEntries(HINTS.flatMap((hint) => (typeof annotations[hint] === "boolean" ? [[hint, annotations[hint]]] : [])));
  return hints["readOnlyHint"] && hints["destructiveHint"] ? { ...hints, readOnlyHint: false } : hints;
}
