import type { McpServerTransport } from "@assent/policy";

/** A server with all variables replaced, or what is missing. */
export type ExpandedServer = { readonly server: McpServerTransport } | { readonly missing: readonly MissingVariable[] };

/** A variable that is not set, and the key that mentions it. */
export type MissingVariable = { readonly key: string; readonly variable: string };

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** A variable that a text mentions, and the default that the text has for it. */
export type MentionedVariable = { readonly variable: string; readonly fallback: string };

/** All variables that a server's texts mention. */
export function mentionedVariables(server: McpServerTransport): readonly MentionedVariable[] {
  const texts =
    server.type === "stdio"
      ? [server.command, ...server.args, ...Object.values(server.env), server.cwd ?? ""]
      : [server.url, ...Object.values(server.headers)];
  return texts.flatMap((text) => Array.from(text.matchAll(VARIABLE), ([, variable = "", fallback = ""]) => ({ variable, fallback })));
}

/** Replaces `${VAR}` and `${VAR:-default}`. A default also counts for an empty variable. Everything else stays as it is. */
export function expandServer(server: McpServerTransport, environment: Environment): ExpandedServer {
  const missing: MissingVariable[] = [];
  const expand = (text: string, key: string): string =>
    text.replaceAll(VARIABLE, (_whole, variable: string, fallback: string | undefined) => {
      const value = environment[variable];
      if (value === undefined && fallback === undefined) missing.push({ key, variable });
      return (fallback === undefined ? value : value || fallback) ?? "";
    });
  const expandAll = (texts: Readonly<Record<string, string>>, key: string): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, expand(text, `${key}.${name}`)]));
  const expanded: McpServerTransport =
    server.type === "stdio"
      ? {
          type: "stdio",
          command: expand(server.command, "command"),
          args: server.args.map((arg, index) => expand(arg, `args[${index}]`)),
          env: expandAll(server.env, "env"),
          ...(server.cwd !== undefined && { cwd: expand(server.cwd, "cwd") }),
        }
      : { type: server.type, url: expand(server.url, "url"), headers: expandAll(server.headers, "headers") };
  return missing.length > 0 ? { missing } : { server: expanded };
}
