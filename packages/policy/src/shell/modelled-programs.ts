import { type CommandModel, type CommandTable, modelByTable } from "./command-table.ts";
import { COREUTILS, SAYING } from "./tables/coreutils.ts";
import { FILES } from "./tables/files.ts";
import { FIND } from "./tables/find.ts";
import { GIT } from "./tables/git.ts";
import { SEARCH } from "./tables/search.ts";
import { TEXT } from "./tables/text.ts";
import { NPM } from "./tables/versions.ts";

const TABLES: ReadonlyMap<string, CommandTable> = new Map(Object.entries({ ...COREUTILS, ...FILES, ...SEARCH, ...TEXT }));
const MODELS: ReadonlyMap<string, CommandModel> = new Map(Object.entries({ ...SAYING, find: FIND, git: GIT, npm: NPM }));

/** The model of a program by its bare name; undefined: nobody described what its words do. */
export function modelOf(name: string): CommandModel | undefined {
  const table = TABLES.get(name);
  return table ? (args) => modelByTable(args, table) : MODELS.get(name);
}
