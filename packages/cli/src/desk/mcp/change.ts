import type { Json } from "@assent/core";
import { isServerName, normalizeServerName, settingsLocations, storeSetting } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { readOwnSettings } from "../../compose/own-settings.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { stateDirectory } from "../../store/location.ts";

export async function addServer(context: Context): Promise<number> {
  const { io, operands } = context;
  const [name = "", target = "", ...args] = operands;
  if (!isServerName(name))
    throw usageError("mcp add", `'${name}' is not a name for a server: use 1 to 32 letters, digits, hyphens and single underscores.`);
  const taken = Object.keys(readOwnSettings(io, io.cwd).mcpServers).find(
    (written) => normalizeServerName(written).toLowerCase() === name.toLowerCase(),
  );
  if (taken !== undefined)
    throw usageError("mcp add", `your settings already have a server '${taken}'. Remove it first: assent mcp remove ${taken}`);
  const { userFile } = settingsLocations(io.env);
  const ports = hostPortsFor(context, await stateDirectory(context));
  const server = /^https?:\/\//i.test(target) ? remoteEntry(context, target, args) : localEntry(context, target, args);
  await storeSetting(userFile, ["mcpServers", name], server, ports);
  if (context.options.flag("json")) await printJson(io, { name, file: userFile, server });
  else await io.stdout.write(`Added the MCP server ${name} to ${userFile}. To try it: assent mcp test ${name}\n`);
  return 0;
}

export async function removeServer(context: Context): Promise<number> {
  const { io, operands } = context;
  const [name = ""] = operands;
  const { userFile } = settingsLocations(io.env);
  const file = readOwnSettings(io, io.cwd).mcpServers[name]?.file;
  if (file !== userFile) {
    const message = `${userFile} has no MCP server '${name}'.${file === undefined ? "" : ` It is in ${file}.`}`;
    throw new CommandError("mcp_server_not_found", 4, { message, hint: "assent mcp list" });
  }
  await storeSetting(userFile, ["mcpServers", name], undefined, hostPortsFor(context, await stateDirectory(context)));
  if (context.options.flag("json")) await printJson(io, { name, file: userFile });
  else await io.stdout.write(`Removed the MCP server ${name} from ${userFile}.\n`);
  return 0;
}

function localEntry({ options }: Context, command: string, args: readonly string[]): Json {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(command))
    throw usageError("mcp add", `'${command}' is not a program, and a URL must start with http:// or https://.`);
  if (options.list("header").length > 0 || options.flag("sse"))
    throw usageError("mcp add", `--header and --sse need a URL that starts with http:// or https://, not '${command}'.`);
  const env = Object.fromEntries(options.list("env").map((text) => splitPair(text, "=", "--env NAME=VALUE")));
  return { command, ...(args.length > 0 && { args }), ...(Object.keys(env).length > 0 && { env }), ...trustEntry(options) };
}

function remoteEntry({ options }: Context, url: string, args: readonly string[]): Json {
  if (args.length > 0) throw usageError("mcp add", `a URL takes no arguments, but there is '${args[0]}'.`);
  if (options.list("env").length > 0) throw usageError("mcp add", "--env needs a program, not a URL.");
  const headers = Object.fromEntries(options.list("header").map((text) => splitPair(text, ":", "--header 'NAME: VALUE'")));
  return {
    ...{ type: options.flag("sse") ? "sse" : "http", url },
    ...(Object.keys(headers).length > 0 && { headers }),
    ...trustEntry(options),
  };
}

function trustEntry(options: Context["options"]): { readonly trust?: true } {
  return options.flag("trust") ? { trust: true } : {};
}

function splitPair(text: string, separator: string, form: string): readonly [string, string] {
  const at = text.indexOf(separator);
  if (at < 1) throw usageError("mcp add", `'${text}' must have the form ${form}.`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
