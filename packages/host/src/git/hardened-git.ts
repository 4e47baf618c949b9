import { existsSync, lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { ProcessEnd, Processes, ProcessSpec } from "@assent/core";
import { createGitOverrides, filterNames, type GitContext, GitRefusal, type GitSetting } from "./overrides.ts";

/** A git command that runs without review, and what is needed to inspect its repository. */
export type GitRun = Pick<ProcessSpec, "file" | "args" | "cwd" | "env"> & {
  readonly processes: Pick<Processes, "run">;
  /** Directories where the repository may keep its data if its `.git` is a file. */
  readonly data?: readonly string[];
};

/** Arguments with which git runs no program of the repository. Call it right before the run. Rejects with `GitRefusal` if there are none. */
export async function hardenGit(run: GitRun, signal: AbortSignal): Promise<readonly string[]> {
  const { before, command, after } = splitCommand(run.args);
  const { leadsOutside } = findRepository(run.cwd, { data: run.data ?? [] });
  const look: GitInspection = { ...run, signal, options: formatOptions([], { fetches: false, leadsOutside }), leadsOutside };
  const top = await refuseForeignData(look);
  const settings = await readSettings(look);
  if (command === "config") return ["--no-pager", ...run.args]; // it runs nothing, and would list our overrides as configuration
  if (settings.some(({ key }) => key === "core.worktree") && top === undefined)
    throw new GitRefusal("the repository keeps its files in another directory (core.worktree)");
  const revisions = command === "blame" ? settings.find((setting) => isForeign(setting, "blame.ignorerevsfile", leadsOutside)) : undefined;
  if (revisions) throw new GitRefusal(`the repository names a file outside of it (${revisions.key} = ${revisions.value})`); // it cannot be overridden
  const inside = REACHES_SUBMODULES.includes(command) ? await submoduleSettings(look, run.cwd) : [];
  if (command === "add") await refuseFiltered(look, settings, after);
  const options = formatOptions([...settings, ...inside], { fetches: command === "fetch", leadsOutside });
  return [...options, ...before, ...command.split(" ").filter((word) => word !== ""), ...(ADDED_OPTIONS[command] ?? []), ...after];
}

function isForeign({ scope, key, value }: GitSetting, wanted: string, leadsOutside: (path: string) => boolean): boolean {
  return key === wanted && scope !== "global" && scope !== "system" && leadsOutside(value);
}

const NO_DIFF_PROGRAMS = ["--no-ext-diff", "--no-textconv"];

/** Options that keep a command from running programs or entering submodules. */
const ADDED_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  diff: [...NO_DIFF_PROGRAMS, "--ignore-submodules=dirty"],
  log: NO_DIFF_PROGRAMS,
  show: NO_DIFF_PROGRAMS,
  "stash list": NO_DIFF_PROGRAMS,
  "reflog show": NO_DIFF_PROGRAMS,
  blame: ["--no-textconv"],
  status: ["--ignore-submodules=dirty"],
  fetch: ["--no-recurse-submodules"],
};

/** Commands that enter submodules and have no option against it. */
const REACHES_SUBMODULES: readonly string[] = ["add", "describe"];

const GLOBAL_OPTIONS: readonly string[] = ["--no-pager", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--version"];

type GitWords = { readonly before: readonly string[]; readonly command: string; readonly after: readonly string[] };

function splitCommand(args: readonly string[]): GitWords {
  const at = args.findIndex((word) => !word.startsWith("-"));
  const before = at === -1 ? args : args.slice(0, at);
  const strange = before.find((word) => !GLOBAL_OPTIONS.includes(word));
  if (strange !== undefined) throw new GitRefusal(`git's option ${strange} is not known to be harmless`);
  const [first = "", second = "", ...rest] = at === -1 ? [] : args.slice(at);
  const both = `${first} ${second}`;
  if (at === -1) return { before, command: "", after: [] };
  return both in ADDED_OPTIONS ? { before, command: both, after: rest } : { before, command: first, after: args.slice(at + 1) };
}

function formatOptions(settings: readonly GitSetting[], circumstances: GitContext): readonly string[] {
  return [...createGitOverrides(settings, circumstances).flatMap(([key, value]) => ["-c", `${key}=${value}`]), "--no-pager"];
}

type GitInspection = Omit<GitRun, "args"> &
  Pick<GitContext, "leadsOutside"> & { readonly signal: AbortSignal; readonly options: readonly string[] };

/** The nearest parent with a `.git`. Paths in a submodule's configuration may lead anywhere in the outer repository. */
function findRepository(
  cwd: string,
  { within = cwd, data }: { readonly within?: string; readonly data: readonly string[] },
): Pick<GitContext, "leadsOutside"> {
  const top = findTop(cwd);
  const bounds = [findTop(within), ...data].map(resolveReal);
  const isWithin = (path: string): boolean => bounds.some((one) => isBelow(one, resolveReal(resolve(top, path))));
  return { leadsOutside: (path) => path.startsWith("~") || path.startsWith("%(") || !isWithin(path) };
}

/** If `.git` is a file, checks that git finds the data where it may be and the files around `.git`. Returns their directory; undefined if `.git` is a directory. */
async function refuseForeignData(look: GitInspection): Promise<string | undefined> {
  const top = findTop(look.cwd);
  if (!lstatSync(join(top, ".git"), { throwIfNoEntry: false })?.isFile()) return undefined;
  const { output } = await inspectGit(look, ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"]);
  const [files = "", ...data] = output.trimEnd().split("\n");
  if (resolveReal(files) !== resolveReal(top)) throw new GitRefusal("the repository keeps its files in another directory (core.worktree)");
  const foreign = data.find((directory) => !look.data?.some((one) => resolveReal(directory) === resolveReal(one)));
  if (foreign !== undefined) throw new GitRefusal(`the repository keeps its data in ${foreign}`);
  return top;
}

function findTop(directory: string): string {
  const parent = dirname(directory);
  return existsSync(join(directory, ".git")) || parent === directory ? directory : findTop(parent);
}

function isBelow(top: string, path: string): boolean {
  return path === top || path.startsWith(`${top}/`);
}

function resolveReal(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path === dirname(path) ? path : join(resolveReal(dirname(path)), basename(path));
  }
}

const INSPECT_MS = 30_000;

async function inspectGit(
  { processes, file, cwd, env, options, signal }: GitInspection,
  args: readonly string[],
  onOutput?: ProcessSpec["onOutput"],
): Promise<ProcessEnd> {
  const spec = { file, args: [...options, ...args], cwd, env, timeoutMs: INSPECT_MS };
  const end = await processes.run(onOutput ? { ...spec, onOutput } : spec, signal);
  if (end.ended !== "exit" || end.exitCode !== 0)
    throw new GitRefusal(`git ${args[0]} could not inspect the repository: ${end.output.trim()}`);
  return end;
}

async function readSettings(look: GitInspection): Promise<readonly GitSetting[]> {
  const { output, dropped } = await inspectGit(look, ["config", "--list", "-z", "--show-scope", "--show-origin"]);
  const words = output.split("\0").slice(0, -1);
  if (dropped > 0 || words.length % 3 !== 0) throw new GitRefusal("git's configuration could not be read completely");
  return words.flatMap((scope, i) => (i % 3 === 0 ? readSetting(look, scope, [words[i + 1] ?? "", words[i + 2] ?? ""]) : []));
}

/** An included file outside the repository could leak its content. */
function readSetting({ leadsOutside }: GitInspection, scope: string, [origin, line]: readonly [string, string]): GitSetting {
  const file = origin.startsWith("file:") ? origin.slice("file:".length) : undefined;
  if (file !== undefined && (scope === "local" || scope === "worktree") && leadsOutside(file))
    throw new GitRefusal(`the repository's configuration includes a file outside of it (${file})`);
  return parseSetting(scope, line);
}

function parseSetting(scope: string, line: string): GitSetting {
  const end = line.indexOf("\n");
  return end === -1 ? { scope, key: line, value: "" } : { scope, key: line.slice(0, end), value: line.slice(end + 1) };
}

const MAX_SUBMODULES = 200;

async function submoduleSettings(look: GitInspection, top: string): Promise<readonly GitSetting[]> {
  const found: GitSetting[] = [];
  const open = [top];
  for (let count = 0; open.length > 0; count++) {
    if (count > MAX_SUBMODULES) throw new GitRefusal(`there are more than ${MAX_SUBMODULES} submodules`);
    const cwd = open.pop() ?? top;
    if (cwd !== top) found.push(...(await readSettings({ ...look, cwd, ...findRepository(cwd, { within: top, data: look.data ?? [] }) })));
    open.push(...(await populatedLinks({ ...look, cwd })));
  }
  return found;
}

/** Mode 160000 is a submodule. */
async function populatedLinks(look: GitInspection): Promise<readonly string[]> {
  const links: string[] = [];
  let rest = "";
  await inspectGit(look, ["ls-files", "--stage", "-z", "--", ":/"], (chunk) => {
    const entries = (rest + chunk).split("\0");
    rest = entries.pop() ?? "";
    for (const entry of entries) if (entry.startsWith("160000 ")) links.push(entry.slice(entry.indexOf("\t") + 1));
  });
  if (links.some((link) => link.includes("\uFFFD"))) throw new GitRefusal("a submodule has a name that cannot be read");
  return [...new Set(links)].map((link) => join(look.cwd, link)).filter((link) => existsSync(join(link, ".git")));
}

/** Without its filter, a file would be added with the wrong content. */
async function refuseFiltered(look: GitInspection, settings: readonly GitSetting[], words: readonly string[]): Promise<void> {
  const operands = findOperands(words);
  for (const name of filterNames(settings)) {
    const specs = (operands.length > 0 ? operands : [":/"]).map((operand) => filterPathspec(name, operand));
    const { output } = await inspectGit(look, ["ls-files", "-z", "--cached", "--others", "--", ...specs]);
    const [file] = output.split("\0");
    if (file)
      throw new GitRefusal(
        `${file} would have to pass the filter ${name}, and Assent does not run filter programs for commands that no person approved`,
      );
  }
}

function findOperands(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  const [free, last] = end === -1 ? [words, []] : [words.slice(0, end), words.slice(end + 1)];
  return [...free.filter((word) => !word.startsWith("-")), ...last];
}

function filterPathspec(name: string, operand: string): string {
  if (!/^[\w.-]+$/.test(name)) throw new GitRefusal("git's configuration has a filter with an unusual name");
  if (operand === ":/") return `:(top,attr:filter=${name})`;
  if (operand.startsWith(":")) throw new GitRefusal(`${operand} is not a plain path`);
  return `:(attr:filter=${name})${operand}`;
}
