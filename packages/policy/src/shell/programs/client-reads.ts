import { type CommandEffects, effectsByTable, type ReadModel, type ReadTable } from "./reads.ts";

/** The effects of a program that asks a server, by the table of its subcommand of one or two words. Without a `client`, the repository tells it which server. Anything else may be a plugin. */
export function clientReads(rows: Readonly<Record<string, ReadTable>>, client?: CommandEffects["client"]): ReadModel {
  const tables = new Map(Object.entries(rows));
  return (args) => {
    const [first = "", second = ""] = args;
    const pair = tables.get(`${first} ${second}`);
    const table = pair ?? tables.get(first);
    if (!table) return undefined;
    const effects = effectsByTable(args.slice(pair ? 2 : 1), table);
    return client ? { ...effects, client } : { ...effects, repository: true };
  };
}
