import { callRows } from "./calls.ts";
import { durableRows } from "./durable.ts";
import { gateRows } from "./gate.ts";
import { judgingRows } from "./judging.ts";
import { largeRows } from "./large.ts";
import { printRows, type Row } from "./measure.ts";
import { startupRows } from "./startup.ts";
import { turnRows } from "./turns.ts";

const parts: Readonly<Record<string, () => Promise<readonly Row[]> | readonly Row[]>> = {
  calls: callRows,
  turns: turnRows,
  durable: durableRows,
  gate: gateRows,
  judging: judgingRows,
  startup: startupRows,
  large: largeRows,
  mcp: async () => (await import("./mcp.ts")).mcpRows(), // starts programs
  gateway: async () => (await import("./gateway.ts")).gatewayRows(), // starts programs
  postgres: async () => (await import("./postgres.ts")).postgresRows(), // needs the servers of the tests
  containment: async () => (await import("./containment.ts")).containmentRows(), // needs bubblewrap
  terminal: async () => (await import("./terminal.ts")).terminalRows(), // loads a native module
  inbox: async () => (await import("./inbox.ts")).inboxRows(), // needs Chromium
  "ast-edit": async () => (await import("./ast-edit.ts")).astEditRows(), // its engine is an optional package
};

const json = process.argv.includes("--json");
const wanted = process.argv.slice(2).filter((argument) => argument !== "--json");
const unknown = wanted.filter((name) => !(name in parts));
if (unknown.length > 0) {
  process.stderr.write(`bench: there is no part '${unknown[0]}'. Parts: ${Object.keys(parts).join(", ")}.\n`);
  process.exit(2);
}

const rows: Row[] = [];
const failed: string[] = [];
for (const [name, measure] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  if (!json) process.stderr.write(`measuring ${name} …\n`);
  try {
    rows.push(...(await measure()));
  } catch (error) {
    failed.push(name);
    process.stderr.write(`bench: part '${name}' failed: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
process.stdout.write(json ? `${JSON.stringify(rows, null, 2)}\n` : `${printRows(rows)}\n`);
process.exitCode = failed.length === 0 && rows.every((row) => row.ok) ? 0 : 1;
