import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readRegularFile } from "../../paths/read-regular-file.ts";
import { isInside } from "../../paths/resolve.ts";
import type { Hazard } from "../plan/plan.ts";
import type { CommandPlace } from "./look-at.ts";

export type InspectedRepository = {
  readonly hazards: readonly Hazard[];
  /** Directories with the repository's data, if `.git` is a file that leads to them. */
  readonly data?: readonly string[];
};

/**
 * Looks at the repository around a command. It must be inside the workspace, because its settings may name programs. Its data is in a directory
 * next to its files or, for a linked worktree or a submodule, in the `.git` of the main repository.
 */
export function inspectRepository(place: CommandPlace): InspectedRepository {
  try {
    for (let top = realDirectory(place); ; top = dirname(top)) {
      const data = top === "/" ? "/.git" : `${top}/.git`;
      const there = lstatSync(data, { throwIfNoEntry: false });
      if (there) return topHazards(top, place) ?? (there.isFile() ? inspectFile(data, place) : inspectDirectory(data, there, place));
      if (isBare(top)) return refuse("runs_program", `${top} is a bare repository, whose settings may come from anywhere`);
      if (top === "/") return { hazards: [] };
    }
  } catch {
    return refuse("path_unresolved", "Assent can't find the repository around the working directory");
  }
}

function refuse(id: Hazard["id"], text: string): InspectedRepository {
  return { hazards: [{ id, text }] };
}

function realDirectory({ cwd, workspace }: CommandPlace): string {
  return cwd === workspace ? cwd : realpathSync.native(cwd);
}

function topHazards(top: string, { workspace, look }: CommandPlace): InspectedRepository | undefined {
  if (isInside(workspace, top) || look(top, "/").inside) return undefined;
  return refuse("outside_workspace", `The repository ${top} is outside the workspace`);
}

function inspectDirectory(data: string, there: Stats, { look }: CommandPlace): InspectedRepository {
  const isOwn = (path: string): boolean => look(path, "/").inside;
  if (there.isSymbolicLink() && !isOwn(data)) return refuse("outside_workspace", `${data} leads outside the workspace`);
  if (!(there.isSymbolicLink() ? statSync(data) : there).isDirectory())
    return refuse("outside_workspace", `${data} is no directory, so the repository's data is elsewhere`);
  return { hazards: dataHazards([data], isOwn) };
}

/** A file leads to the data of a linked worktree or a submodule. Outside the workspace, the data must lead back to that file, so that no file can name another repository. */
function inspectFile(file: string, { look }: CommandPlace): InspectedRepository {
  const data = followGitFile(file);
  const [own = "", common = own] = data ?? [];
  const isHere = look(own, "/").inside && own.includes("/.git/");
  if (!data || !(isHere || leadsBack(own, common, file)))
    return refuse("outside_workspace", `${file} is a file, so the repository's data is elsewhere`);
  const isOwn = (path: string): boolean => {
    const { inside, real } = look(path, "/");
    return inside || (!isHere && real !== null && isInside(common, real));
  };
  return { hazards: dataHazards(data, isOwn), data };
}

/** The data directory that a `.git` file names, and the one that it shares with others if that is another. Undefined: it names none. */
export function followGitFile(file: string): readonly string[] | undefined {
  const [, path] = /^gitdir: ([^\n]+)\n?$/.exec(String(readRegularFile(file))) ?? [];
  if (path === undefined) return undefined;
  const own = realpathSync.native(resolve(dirname(file), path));
  return [...new Set([own, ...commonDirectory(own).map((shared) => realpathSync.native(shared))])];
}

function leadsBack(own: string, common: string, file: string): boolean {
  const isLinked = own !== common && dirname(own) === join(common, "worktrees");
  if (isLinked) return isSame(resolve(own, String(readRegularFile(`${own}/gitdir`)).trim()), file);
  const isModule = own === common && /\/\.git\/(?:.+\/)?modules\//.test(own);
  const [path, ...more] = isModule
    ? [...String(readRegularFile(`${own}/config`)).matchAll(/^\s*worktree\s*=\s*([^"#;\\\n]+?)\s*$/gim)]
    : [];
  return path?.[1] !== undefined && more.length === 0 && isSame(resolve(own, path[1]), dirname(file));
}

function isSame(path: string, other: string): boolean {
  return realpathSync.native(path) === realpathSync.native(other);
}

function dataHazards(directories: readonly string[], isOwn: (path: string) => boolean): readonly Hazard[] {
  const leads = directories.flatMap((data) => [...commonDirectory(data), ...alternates(data)]).find((path) => !isOwn(path));
  if (leads !== undefined) return [{ id: "outside_workspace", text: `The repository's data is in ${leads}, outside the workspace` }];
  const link = directories.map((data) => outerLink(data, isOwn)).find((path) => path !== undefined);
  return link === undefined ? [] : [{ id: "outside_workspace", text: `${link} leads outside the workspace` }];
}

function commonDirectory(data: string): readonly string[] {
  const common = `${data}/commondir`;
  if (!lstatSync(common, { throwIfNoEntry: false })) return [];
  return [resolve(realpathSync.native(data), String(readRegularFile(common)).trim())];
}

/** Directories of objects that git shows as the repository's own. */
function alternates(data: string): readonly string[] {
  const file = `${data}/objects/info/alternates`;
  if (!lstatSync(file, { throwIfNoEntry: false })) return [];
  const paths = String(readRegularFile(file)).split("\n");
  return paths.filter((line) => line !== "" && !line.startsWith("#")).map((line) => resolve(realpathSync.native(`${data}/objects`), line));
}

/** Directories whose files git quotes in results and errors. */
const QUOTED = ["", "/info", "/objects", "/objects/info", "/refs", "/refs/heads", "/logs", "/rebase-merge", "/rebase-apply", "/sequencer"];

/** Git would show the content of the link's target. */
function outerLink(data: string, isOwn: (path: string) => boolean): string | undefined {
  for (const directory of QUOTED) {
    const path = `${data}${directory}`;
    if (!lstatSync(path, { throwIfNoEntry: false })) continue;
    const links = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
    const outer = links.map(({ name }) => `${path}/${name}`).find((link) => !isOwn(link));
    if (outer !== undefined) return outer;
  }
  return undefined;
}

/** Git treats a directory that looks like its data as a repository. */
function isBare(directory: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => lstatSync(`${directory}/${name}`, { throwIfNoEntry: false }) !== undefined);
}
