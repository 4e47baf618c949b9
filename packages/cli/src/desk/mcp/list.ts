import { createRedactor } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { warnOfProblems } from "../policy/problem-text.ts";
import { describeServer, findServersHere } from "./configured.ts";

/** `assent mcp list`. Models may run it, so variables and headers are left out. */
export async function listServers(context: Context): Promise<number> {
  const { io, options } = context;
  const { servers, problems, settings } = await findServersHere(context, "mcp list");
  const redact = createRedactor(settings["redaction.patterns"]);
  if (options.flag("json")) {
    const shown = servers.map(({ name, file, trusted, server }) => ({
      name,
      file,
      trusted,
      disabled: server.disabled === true,
      type: server.type,
      server: redact(describeServer(server)),
    }));
    await printJson(io, { servers: shown, problems });
    return 0;
  }
  await warnOfProblems(io, problems);
  if (servers.length === 0) {
    await io.stdout.write("No MCP servers are configured here. To add one: assent mcp add NAME -- PROGRAM ARGUMENTS\n");
    return 0;
  }
  const columns = ["name", "type", "trusted", { shrinks: "server" }, { shrinks: "file" }];
  const rows = servers.map((one) => [
    one.name,
    one.server.disabled ? "disabled" : one.server.type,
    one.trusted ? "yes" : "no",
    redact(describeServer(one.server)),
    one.file,
  ]);
  await io.stdout.write(textTable(columns, rows, io.stdout.columns()));
  return 0;
}
