import { type CommandModel, type CommandTable, modelByTable } from "./command-table.ts";
import { COREUTILS, SAYING } from "./tables/coreutils.ts";
import { FILES } from "./tables/files.ts";
import { FIND } from "./tables/find.ts";
import { GIT } from "./tables/git.ts";
import { SEARCH } from "./tables/search.ts";
import { TEXT } from "./tables/text.ts";
import { ASKED, NPM } from "./tables/versions.ts";

const TABLES: Readonly<Record<string, CommandTable>> = { ...COREUTILS, ...FILES, ...SEARCH, ...TEXT };

const MODELS: ReadonlyMap<string, CommandModel> = new Map<string, CommandModel>([
  ...Object.entries({ ...SAYING, find: FIND, git: GIT, npm: NPM }),
  ...Object.entries(TABLES).map(([name, table]) => [name, (args: readonly string[]) => modelByTable(args, table)] as const),
]);

/** Every program with some uses that are known to only read. */
export const MODELLED_PROGRAMS: ReadonlySet<string> = new Set([...MODELS.keys(), ...ASKED.keys()]);

/** The model of a program by its bare name; undefined: nobody described what its words do. */
export function modelOf(name: string): CommandModel | undefined {
  return MODELS.get(name);
}
