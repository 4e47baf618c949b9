import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { defineTool, errorCode, type Processes, type RunContext, type Tool, type ToolResult } from "@assent/core";
import { findProgram, isSensitive, type PathFact, type PathLookup, programPlaces } from "@assent/policy";
import { failure, fileFailure, isResult } from "../failure.ts";
import { type HiddenFiles, type Hides, hiddenFileFilter } from "../files/hidden-files.ts";
import { pathFault, placeField } from "../files/path-input.ts";
import { type ReadablePlace, readablePlaces } from "../files/readable-place.ts";
import { displayPath, oneLine } from "../files/shown-path.ts";
import { walkFiles } from "../files/walk.ts";
import { boolean, type InputOf, integer, object, oneOf, optional, string } from "../schema/fields.ts";
import { searchBuiltIn } from "../search/built-in.ts";
import { groupPaths, pathFilter } from "../search/files.ts";
import type { FoundFile, Search, SearchEngine } from "../search/lines.ts";
import { PatternError } from "../search/pattern-cursor.ts";
import { searchResult } from "../search/result.ts";
import { searchByRipgrep } from "../search/ripgrep.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const TIMEOUT_MS = 30_000;

const FIELDS = {
  pattern: string({ description: "The regular expression to search for, in Rust's notation.", minLength: 1, maxLength: 4096 }),
  path: optional(placeField("The file or directory to search. Default: the working directory.")),
  glob: optional(string({ description: "Which files to search, such as *.ts or src/**.", minLength: 1, maxLength: 4096 })),
  output_mode: optional(oneOf({ description: "What to return for matches. Default files.", values: ["content", "files", "count"] })),
  context: optional(integer({ description: "Lines of context around each match in content mode. Default 0.", minimum: 0, maximum: 50 })),
  ignore_case: optional(boolean({ description: "Ignore case. Default false." })),
  multiline: optional(boolean({ description: "Let a match span several lines. Default false." })),
  head_limit: optional(integer({ description: "Maximum number of results. Default 250.", minimum: 1, maximum: 10_000 })),
};

type SearchInput = InputOf<typeof FIELDS>;

/** What the search tool needs. */
export type SearchDeps = {
  readonly workspace: string;
  readonly scope: PathLookup;
  readonly processes: Processes;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Directories to look up programs in; if empty, the system's and those of the user's `PATH`. */
  readonly shellPath?: () => readonly string[];
  readonly timeoutMs?: number;
  readonly hides?: Hides;
};

export const SEARCH: ToolListing = { name: "search", title: "Search", kind: "search", subject: "pattern" };

/** Searches files with ripgrep if it is installed, otherwise with its own engine. Asks in the same cases as `read`. */
export function searchTool(deps: SearchDeps): Tool {
  const places = readablePlaces(deps);
  return defineTool({
    ...listedFields(SEARCH),
    input: object(FIELDS),
    isOutputMarkdown: false,
    check: ({ pattern, path = "." }) =>
      pathFault(path, "path") ?? (pattern.includes("\0") ? "params/pattern must not contain a NUL character" : undefined),
    describe: ({ pattern, path = "." }, { cwd }) =>
      `Search ${displayPath(deps.workspace, resolve(cwd, path))} for ${JSON.stringify(pattern)}`,
    locations: ({ path = "." }) => [{ path }],
    permission: (input, { cwd }) => places.judge({ input, path: input.path ?? ".", cwd }),
    run: (input, ctx) => {
      const place = places.open({ input, path: input.path ?? ".", cwd: ctx.cwd });
      return isResult(place) ? place : runSearch({ ...deps, place }, input, ctx);
    },
  });
}

type SearchParts = SearchDeps & { readonly place: ReadablePlace };

async function runSearch(deps: SearchParts, input: SearchInput, ctx: RunContext): Promise<ToolResult> {
  const { workspace, scope, place, timeoutMs = TIMEOUT_MS } = deps;
  const { path: root, shown, fact } = place;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([ctx.signal, timeout]);
  try {
    const stats = await stat(root);
    if (stats.isFile() && fact.sensitive)
      return failure(
        "permission_denied",
        `${shown} probably contains secrets, judging by its name or location. search does not show such files.`,
      );
    const hidden = hiddenFileFilter(deps.hides);
    const paths = chooseFiles(root, stats, { glob: input.glob, signal, top: workspace, hidden });
    if (!paths) return failure("search_path_not_a_directory", `${shown} is neither a file nor a directory.`);
    const search = readSearch(input);
    const found = chooseEngine(deps)(search, groupPaths(paths), signal);
    const isShown = (file: FoundFile): boolean => mayShow(file, scope(file.path, ctx.cwd));
    return await searchResult(found, { search, isShown, name: (path) => oneLine(displayPath(workspace, path)), hidden: hidden.count });
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (timeout.aborted)
      return failure(
        "grep_execution_error",
        `The search did not finish within ${timeoutMs / 1000} s. Choose fewer files, or a simpler pattern.`,
      );
    return searchFailure(error, shown);
  }
}

/** Drops a file whose path leads elsewhere by now, and hard links to sensitive files. */
function mayShow({ path, linked }: FoundFile, { sensitive, real, isProtected }: PathFact): boolean {
  return !sensitive && real === path && !(linked && isProtected(linked));
}

type FileChoice = { readonly glob: string | undefined; readonly signal: AbortSignal; readonly top: string; readonly hidden: HiddenFiles };

/** Hidden files are not searched, so a result cannot reveal whether they match. Undefined if the path is neither file nor directory. */
function chooseFiles(root: string, stats: Stats, { glob, signal, top, hidden }: FileChoice): AsyncIterable<string> | undefined {
  const isMeant = glob === undefined ? () => true : pathFilter(glob);
  if (stats.isFile()) return filterPaths([root], (path) => isMeant([path.slice(path.lastIndexOf("/") + 1)]) && hidden.shows(path));
  if (!stats.isDirectory()) return undefined;
  const start = root.endsWith("/") ? root.length : root.length + 1;
  const isOpen = (path: string): boolean => !isSensitive(path) && isMeant(path.slice(start).split("/")) && hidden.shows(path);
  return filterPaths(walkFiles(root, { signal, top }), isOpen);
}

async function* filterPaths(paths: AsyncIterable<string> | Iterable<string>, isMeant: (path: string) => boolean): AsyncGenerator<string> {
  for await (const path of paths) if (isMeant(path)) yield path;
}

/** Never uses a program from the workspace, which the model could have written. */
function chooseEngine({ workspace, processes, environment, shellPath }: SearchDeps): SearchEngine {
  const program = findProgram("rg", programPlaces(shellPath?.() ?? [], { workspace, userPath: environment["PATH"] }));
  return program ? searchByRipgrep(program.file, processes) : searchBuiltIn;
}

function readSearch(input: SearchInput): Search {
  const {
    pattern,
    ignore_case: ignoreCase = false,
    multiline = false,
    context = 0,
    head_limit: keep = 250,
    output_mode: wanted = "files",
  } = input;
  return { pattern, ignoreCase, multiline, context: wanted === "content" ? context : 0, wanted, keep };
}

function searchFailure(error: unknown, shown: string): ToolResult {
  if (error instanceof PatternError) {
    const message = `params/pattern must be a regular expression: ${error.message}`;
    return {
      content: `Error: Invalid parameters provided. Reason: ${message}`,
      display: message,
      error: { type: "invalid_tool_params", message },
    };
  }
  const code = errorCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return failure("search_path_not_found", `${shown} does not exist.`);
  return fileFailure(error, { shown, otherwise: "grep_execution_error" });
}
