import { messageOf } from "@assent/core";
import type { Prompt, PromptMessage, ReadResourceResult } from "@modelcontextprotocol/client";
import type { ServerConnection } from "../servers/server.ts";

const LONGEST_RESOURCE = 100_000;
const MENTION = /(?<=^|\s)@([A-Za-z0-9_-]+):(\S+)/g;

/** The name by which a person uses a prompt of a server: `/mcp__server__prompt`. */
export function promptCommand(server: string, prompt: string): string {
  return `/mcp__${server}__${prompt.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`;
}

/**
 * Replaces `/mcp__server__prompt ARGUMENTS` with the prompt of the server, and adds the content of every resource that is mentioned as `@server:uri`. Rejects with a sentence
 * if a server does not return one; then nothing is sent.
 */
export async function expandPrompt(text: string, servers: readonly ServerConnection[], signal: AbortSignal): Promise<string> {
  const said = text.startsWith("/mcp__") ? await fetchPrompt(text, servers, signal) : text;
  const mentions = new Map<string, Promise<string>>();
  for (const [whole, name, uri = ""] of said.matchAll(MENTION)) {
    const server = servers.find(({ configured }) => configured.name === name);
    if (server && !mentions.has(whole)) mentions.set(whole, readResource(server, uri, signal));
  }
  return [said, ...(await Promise.all(mentions.values()))].join("\n\n");
}

async function readResource(server: ServerConnection, uri: string, signal: AbortSignal): Promise<string> {
  const { name } = server.configured;
  const { contents } = await server
    .use((client) => client.readResource({ uri }, { signal }))
    .catch((error: unknown) => {
      throw new Error(`The resource ${uri} of the MCP server ${name} could not be read: ${messageOf(error)}`, { cause: error });
    });
  return contents.map((content) => `Resource ${content.uri} of the MCP server ${name}:\n${textOf(content)}`).join("\n\n");
}

function textOf(content: ReadResourceResult["contents"][number]): string {
  if (!("text" in content)) return `(${content.mimeType ?? "binary data"}, which cannot be shown as text)`;
  const { text } = content;
  return text.length > LONGEST_RESOURCE ? `${text.slice(0, LONGEST_RESOURCE)}\n(cut: ${text.length} characters)` : text;
}

async function fetchPrompt(line: string, servers: readonly ServerConnection[], signal: AbortSignal): Promise<string> {
  const [command = "", ...words] = splitWords(line);
  const [found, other] = servers
    .flatMap((server) => server.lists().prompts.map((prompt) => ({ server, prompt })))
    .filter(({ server, prompt }) => promptCommand(server.configured.name, prompt.name) === command);
  if (other) throw new Error(`${command} could mean "${found?.prompt.name}" or "${other.prompt.name}", so it cannot be used.`);
  if (!found) throw new Error(`No MCP server offers ${command}. /mcp lists the prompts of the servers.`);
  const { server, prompt } = found;
  const given = { name: prompt.name, arguments: readArguments(prompt, words, command) };
  const { messages } = await server
    .use((client) => client.getPrompt(given, { signal }))
    .catch((error: unknown) => {
      throw new Error(`The MCP server ${server.configured.name} refuses ${command}: ${messageOf(error)}`, { cause: error });
    });
  return messages.map(messageText).join("\n\n");
}

/** `name=value`, or values in the order of the prompt's arguments. */
function readArguments({ arguments: declared = [] }: Prompt, words: readonly string[], command: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const word of words) {
    const [, named] = /^([^=]+)=/.exec(word) ?? [];
    const isNamed = named !== undefined && declared.some(({ name }) => name === named);
    const name = isNamed ? named : declared.find((one) => !(one.name in values))?.name;
    if (name === undefined)
      throw new Error(`${command} takes ${declared.length} arguments: ${declared.map((one) => one.name).join(", ")}.`);
    values[name] = isNamed ? word.slice(named.length + 1) : word;
  }
  const missing = declared.find(({ name, required }) => required && !(name in values));
  if (missing) throw new Error(`${command} needs the argument ${missing.name}${missing.description ? ` (${missing.description})` : ""}.`);
  return values;
}

/** Words, or texts in double quotes. */
function splitWords(line: string): readonly string[] {
  return [...line.matchAll(/((?:[^\s"]|"[^"]*")+)/g)].map(([word]) => word.replaceAll('"', ""));
}

function messageText({ role, content }: PromptMessage): string {
  const text =
    content.type === "text"
      ? content.text
      : content.type === "resource" && "text" in content.resource
        ? `Resource ${content.resource.uri}:\n${content.resource.text}`
        : `(${content.type})`;
  return role === "assistant" ? `You said before: ${text}` : text;
}
