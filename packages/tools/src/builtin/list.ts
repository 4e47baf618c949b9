import type { Dirent } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { defineTool, errorCode, type Tool, type ToolResult } from "@assent/core";
import type { PathLookup } from "@assent/policy";
import { failure, fileFailure, isResult } from "../failure.ts";
import { type Hides, hiddenFileFilter, hiddenText } from "../files/hidden-files.ts";
import { listRealPath, type OpenedDirectory } from "../files/opened-as.ts";
import { pathFault, placeField } from "../files/path-input.ts";
import { type ReadablePlace, readablePlaces } from "../files/readable-place.ts";
import { displayPath, oneLine } from "../files/shown-path.ts";
import { array, type InputOf, object, optional, string } from "../schema/fields.ts";
import { pathFilter } from "../search/files.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const MOST_ENTRIES = 1000;

const FIELDS = {
  path: placeField("The directory to list, absolute or relative to the working directory."),
  ignore: optional(
    array({
      description: "Globs of entries to leave out.",
      items: string({ description: "A glob.", minLength: 1, maxLength: 4096 }),
      maxItems: 100,
    }),
  ),
};

type ListInput = InputOf<typeof FIELDS>;

/** What the list tool needs. */
export type ListDeps = { readonly workspace: string; readonly scope: PathLookup; readonly hides?: Hides };

export const LIST: ToolListing = { name: "list", title: "List", kind: "search", subject: "path" };

/** Lists a directory. Asks in the same cases as `read`. */
export function listTool(deps: ListDeps): Tool {
  const places = readablePlaces(deps);
  return defineTool({
    ...listedFields(LIST),
    input: object(FIELDS),
    isOutputMarkdown: false,
    maxOutputLines: MOST_ENTRIES + 2,
    check: ({ path }) => pathFault(path, "path"),
    describe: ({ path }, { cwd }) => `List ${displayPath(deps.workspace, resolve(cwd, path))}`,
    locations: ({ path }) => [{ path }],
    permission: (input, { cwd }) => places.judge({ input, path: input.path, cwd }),
    run: (input, { cwd }) => {
      const place = places.open({ input, path: input.path, cwd });
      return isResult(place) ? place : runList(place, input, deps.hides);
    },
  });
}

async function runList(place: ReadablePlace, input: ListInput, hides: Hides | undefined): Promise<ToolResult> {
  const { path, shown } = place;
  try {
    return await listRealPath(path, (directory) => listEntries(directory, place, { input, hides }));
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return failure("path_is_not_a_directory", `${shown} is not a directory.`);
    return fileFailure(error, { shown, otherwise: "ls_execution_error" });
  }
}

type ListOptions = { readonly input: ListInput; readonly hides: Hides | undefined };

async function listEntries(
  { entries, at }: OpenedDirectory,
  { path, shown }: ReadablePlace,
  { input, hides }: ListOptions,
): Promise<ToolResult> {
  const ignored = (input.ignore ?? []).map((glob) => pathFilter(glob.replace(/\/$/, "")));
  const hidden = hiddenFileFilter(hides);
  const wanted = entries.filter(({ name }) => !ignored.some((isMeant) => isMeant([name])));
  const kept = wanted.filter(({ name }) => hidden.shows(join(path, name))).sort(compareEntries);
  const lines = await Promise.all(kept.slice(0, MOST_ENTRIES).map((entry) => describeEntry(at, entry)));
  const left = kept.length - lines.length;
  const without = hidden.count() > 0 ? [`[${hiddenText(hidden.count())}]`] : [];
  const content = [...lines, ...(left > 0 ? [`[${left} more entries]`] : []), ...without].join("\n");
  return { content: content || "The directory is empty.", display: `${kept.length} entries in ${shown}` };
}

function compareEntries(a: Dirent, b: Dirent): number {
  if (a.isDirectory() !== b.isDirectory()) return a.isDirectory() ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

async function describeEntry(directory: string, entry: Dirent): Promise<string> {
  const name = oneLine(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  try {
    if (entry.isSymbolicLink()) return `${name} -> ${oneLine(await readlink(join(directory, entry.name)))}`;
    if (!entry.isFile()) return `${name} (not a regular file)`;
    const { size } = await lstat(join(directory, entry.name));
    return `${name} (${size === 1 ? "1 byte" : `${size} bytes`})`;
  } catch {
    return name; // gone or not accessible by now
  }
}
