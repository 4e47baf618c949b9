import { isObject } from "@assent/core";
import type { ClientCommand, ClientServer } from "./client-server.ts";
import { scanToml, type TomlItem, tomlText } from "./toml.ts";

const TABLE = "mcp_servers";

/** The servers in Codex's configuration. */
export function codexServers(text: string): readonly ClientServer[] {
  const items = scanToml(text);
  const names = [...new Set(items.flatMap(({ path: [table, name] }) => (table === TABLE && name !== undefined ? [name] : [])))];
  const inline = items.find(({ path, isTable }) => path.length === 1 && path[0] === TABLE && !isTable);
  const named = isObject(inline?.value) ? Object.keys(inline.value) : [];
  return [...names, ...named].map((name) => readServer(text, items, name));
}

function readServer(text: string, items: readonly TomlItem[], name: string): ClientServer {
  const own = items.filter(({ path }) => path[0] === TABLE && path[1] === name);
  const [first] = own;
  const last = own.at(-1);
  const block = items.slice(first ? items.indexOf(first) : 0, last ? items.indexOf(last) + 1 : 0);
  const isPlain = first?.isTable === true && first.path.length === 2 && block.length === own.length;
  const start = first?.start ?? 0;
  const end = isPlain ? (last?.end ?? 0) : start;
  const why = `write it as one table [${TABLE}.${/^[\w-]+$/.test(name) ? name : tomlText(name)}], with its other tables right after it`;
  const values = Object.fromEntries(own.flatMap(({ path, isTable, value }) => (isTable ? [] : [[path.slice(2).join("."), value]])));
  const moved = own.map((item) => ({ ...item, start: item.start - start, end: item.end - start }));
  return {
    ...{ name, group: "", start, end },
    target: isPlain ? readTarget(values) : { type: "unknown", reason: why },
    withCommand: (command) => writeBlock(text.slice(start, end), moved, command),
  };
}

/** A table of texts, written as one value or as a table of its own. */
function tableOf(values: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, string>> | undefined {
  const inline = values[key];
  const inner = Object.entries(values).flatMap(([name, value]) =>
    name.startsWith(`${key}.`) ? [[name.slice(key.length + 1), value]] : [],
  );
  const table: Record<string, unknown> = { ...(isObject(inline) ? inline : {}), ...Object.fromEntries(inner) };
  const isReadable = (inline === undefined || isObject(inline)) && Object.values(table).every((value) => typeof value === "string");
  return isReadable ? (table as Record<string, string>) : undefined; // every value was checked
}

function readTarget(values: Readonly<Record<string, unknown>>): ClientServer["target"] {
  const { command, args = [], url, bearer_token_env_var: token } = values;
  const env = tableOf(values, "env");
  if (typeof command === "string" && Array.isArray(args) && args.every((one) => typeof one === "string") && env)
    return { type: "program", command, args, env };
  const [headers, named] = [tableOf(values, "http_headers"), tableOf(values, "env_http_headers")];
  if (typeof url !== "string" || !headers || !named)
    return { type: "unknown", reason: "it has neither a program nor an address that Assent understands" };
  const fromVariables = Object.entries(named).map(([header, variable]) => [header, `\${${variable}}`]);
  const bearer = typeof token === "string" ? { Authorization: `Bearer \${${token}}` } : {};
  return { type: "http", url, headers: { ...headers, ...Object.fromEntries(fromVariables), ...bearer } };
}

/** Keys of a server with an address, which a program does not have. */
const REMOTE = ["url", "bearer_token_env_var", "http_headers", "env_http_headers"];

function writeBlock(block: string, items: readonly TomlItem[], { command, args, variables = [] }: ClientCommand): string {
  const [header] = items;
  const keyOf = ({ path }: TomlItem): string => path[2] ?? "";
  const replaced = [...REMOTE, "command", "args", ...(variables.length > 0 ? ["env_vars"] : [])];
  const lines = [
    `command = ${tomlText(command)}`,
    `args = [${args.map(tomlText).join(", ")}]`,
    ...(variables.length > 0 ? [`env_vars = [${variables.map(tomlText).join(", ")}]`] : []),
  ];
  const kept = items.toReversed().reduce((text, item) => {
    if (item === header || !replaced.includes(keyOf(item))) return text;
    return `${text.slice(0, item.start)}${text.slice(item.end)}`;
  }, block);
  const after = header?.end ?? 0;
  return `${block.slice(0, after)}${lines.join("\n")}\n${kept.slice(after)}`;
}
