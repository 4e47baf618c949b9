import { basename } from "node:path";
import type { ConfiguredServer } from "@assent/mcp";
import { isServerName, normalizeServerName } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { findServersHere, selectServers } from "../desk/mcp/configured.ts";
import { warnOfProblems } from "../desk/policy/problem-text.ts";
import { CommandError, usageError } from "../io/failure.ts";

/** The servers behind the gateway: the named ones, all configured ones, or a single program after `--`. */
export async function findServedServers(context: Context): Promise<readonly ConfiguredServer[]> {
  const { operands, options, io } = context;
  const dashes = operands.indexOf("--");
  const names = dashes === -1 ? operands : operands.slice(0, dashes);
  const [command, ...args] = dashes === -1 ? [] : operands.slice(dashes + 1);
  if (dashes !== -1 && (names.length > 0 || command === undefined))
    throw usageError("mcp serve", "give names of configured servers, or -- and a program, not both.");
  const found = await findServersHere(context, "mcp serve");
  const { servers, problems, settings } = found;
  if (command !== undefined) {
    const name = normalizeServerName(options.text("name") ?? programName(command, args));
    if (!isServerName(name))
      throw usageError(
        "mcp serve",
        "give the server a name for rules with --name: 1 to 32 letters, digits, hyphens and single underscores.",
      );
    const server = { type: "stdio", command, args, env: definedVariables(io.env), cwd: io.cwd } as const;
    return [{ name, server, file: "the command line", trusted: settings["mcp.trusted"].includes(name), isOwn: true, isLiteral: true }];
  }
  await warnOfProblems(io, problems);
  const chosen = names.length === 0 ? servers : names.flatMap((name) => [...selectServers(found, name)]);
  const usable = [...new Set(chosen)].filter(({ server }) => server.disabled !== true);
  if (usable.length > 0) return usable;
  const hint = "To add one: assent mcp add NAME -- PROGRAM. To serve one without configuration: assent mcp serve -- PROGRAM";
  throw new CommandError("mcp_server_not_found", 4, { message: "No MCP server is configured here.", hint });
}

/** The client chose the variables of the program when it started Assent, so the program gets all of them. */
function definedVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

const LAUNCHERS: readonly string[] = ["npx", "bunx", "pnpx", "uvx", "node", "bun", "deno", "python", "python3"];

/** A name for rules: the program, or what a launcher starts, without scope, version and extension. */
function programName(command: string, args: readonly string[]): string {
  const isLauncher = LAUNCHERS.includes(basename(command));
  const word = (isLauncher ? args.find((arg) => !arg.startsWith("-")) : undefined) ?? command;
  return basename(word)
    .replace(/(?<=.)@.*$/, "")
    .replace(/\.(?:[cm]?[jt]s|py)$/, "");
}
