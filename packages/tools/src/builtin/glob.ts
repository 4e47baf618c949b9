import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import { defineTool, errorCode, type RunContext, type Tool, type ToolResult } from "@assent/core";
import type { PathLookup } from "@assent/policy";
import { failure, fileFailure, isResult } from "../failure.ts";
import { type Hides, hiddenFileFilter, hiddenText } from "../files/hidden-files.ts";
import { pathFault, placeField } from "../files/path-input.ts";
import { type ReadablePlace, readablePlaces } from "../files/readable-place.ts";
import { displayPath, oneLine } from "../files/shown-path.ts";
import { walkFiles } from "../files/walk.ts";
import { type InputOf, object, optional, string } from "../schema/fields.ts";
import { pathFilter } from "../search/files.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const MOST_PATHS = 1000;
const TIMEOUT_MS = 30_000;
const LANES = 64;

const FIELDS = {
  pattern: string({ description: "Which files, such as *.ts or src/**/*.ts.", minLength: 1, maxLength: 4096 }),
  path: optional(placeField("The directory to look in. Default: the working directory.")),
};

type GlobInput = InputOf<typeof FIELDS>;

/** What the glob tool needs. */
export type GlobDeps = { readonly workspace: string; readonly scope: PathLookup; readonly hides?: Hides };

export const GLOB: ToolListing = { name: "glob", title: "Glob", kind: "search", subject: "pattern" };

/** Finds files by path, newest first. Asks in the same cases as `read`. */
export function globTool(deps: GlobDeps): Tool {
  const places = readablePlaces(deps);
  return defineTool({
    ...listedFields(GLOB),
    input: object(FIELDS),
    isOutputMarkdown: false,
    maxOutputLines: MOST_PATHS + 2,
    check: ({ path = "." }) => pathFault(path, "path"),
    describe: ({ pattern, path = "." }, { cwd }) => `Find ${JSON.stringify(pattern)} in ${displayPath(deps.workspace, resolve(cwd, path))}`,
    locations: ({ path = "." }) => [{ path }],
    permission: (input, { cwd }) => places.judge({ input, path: input.path ?? ".", cwd }),
    run: (input, ctx) => {
      const place = places.open({ input, path: input.path ?? ".", cwd: ctx.cwd });
      return isResult(place) ? place : runGlob({ ...deps, place }, input, ctx);
    },
  });
}

type GlobParts = GlobDeps & { readonly place: ReadablePlace };

async function runGlob(
  { workspace, hides, place: { path: root, shown } }: GlobParts,
  input: GlobInput,
  ctx: RunContext,
): Promise<ToolResult> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const signal = AbortSignal.any([ctx.signal, timeout]);
    const hidden = hiddenFileFilter(hides);
    const meant = await findPaths(root, input.pattern, { signal, top: workspace });
    const found = await newestFirst(meant.filter(hidden.shows), signal);
    return makeResult(
      found.map((path) => oneLine(displayPath(workspace, path))),
      hidden.count(),
    );
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (timeout.aborted)
      return failure("glob_execution_error", `glob did not finish within ${TIMEOUT_MS / 1000} s. Choose a smaller directory.`);
    return globFailure(error, shown);
  }
}

async function findPaths(
  root: string,
  pattern: string,
  walk: { readonly signal: AbortSignal; readonly top: string },
): Promise<readonly string[]> {
  const start = root.endsWith("/") ? root : `${root}/`;
  const isMeant = pathFilter(pattern.startsWith(start) ? `./${pattern.slice(start.length)}` : pattern);
  const found: string[] = [];
  for await (const path of walkFiles(root, { ...walk, hidden: true })) {
    if (isMeant(path.slice(start.length).split("/"))) found.push(path);
  }
  return found;
}

/** Skips files that are gone by now. */
async function newestFirst(paths: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
  const dated: { readonly path: string; readonly time: number }[] = [];
  for (let from = 0; from < paths.length; from += LANES) {
    signal.throwIfAborted();
    const stats = await Promise.all(paths.slice(from, from + LANES).map((path) => lstat(path).catch(() => undefined)));
    for (const [index, one] of stats.entries()) if (one) dated.push({ path: paths[from + index] ?? "", time: one.mtimeMs });
  }
  return dated.sort((a, b) => b.time - a.time).map(({ path }) => path);
}

function makeResult(paths: readonly string[], hidden: number): ToolResult {
  const without = hidden > 0 ? [`[${hiddenText(hidden)}]`] : [];
  if (paths.length === 0) return { content: ["No files found.", ...without].join("\n") };
  const left = paths.length - MOST_PATHS;
  const more = [...(left > 0 ? [`[${left} more files]`] : []), ...without];
  return { content: [...paths.slice(0, MOST_PATHS), ...more].join("\n"), display: `${paths.length} files found` };
}

function globFailure(error: unknown, shown: string): ToolResult {
  const code = errorCode(error);
  if (code === "ENOENT") return failure("search_path_not_found", `${shown} does not exist.`);
  if (code === "ENOTDIR") return failure("search_path_not_a_directory", `${shown} is not a directory.`);
  return fileFailure(error, { shown, otherwise: "glob_execution_error" });
}
