import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { PathLookup } from "../../paths/lookup.ts";
import { isInside } from "../../paths/resolve.ts";
import type { Hazard } from "../plan/plan.ts";
import type { CommandPlace } from "./look-at.ts";

/** Hazards of running git here. Its repository must be inside the workspace, with its data in a directory next to its files, because its settings may name programs. */
export function repositoryHazards(place: CommandPlace): readonly Hazard[] {
  try {
    for (let top = realDirectory(place); ; top = dirname(top)) {
      const data = top === "/" ? "/.git" : `${top}/.git`;
      const there = lstatSync(data, { throwIfNoEntry: false });
      if (there) return topHazards(top, place) ?? dataHazards(data, there, place);
      if (isBare(top)) return [{ id: "runs_program", text: `${top} is a bare repository, whose settings may come from anywhere` }];
      if (top === "/") return [];
    }
  } catch {
    return [{ id: "path_unresolved", text: "Assent can't find the repository around the working directory" }];
  }
}

function realDirectory({ cwd, workspace }: CommandPlace): string {
  return cwd === workspace ? cwd : realpathSync.native(cwd);
}

function topHazards(top: string, { workspace, look }: CommandPlace): readonly Hazard[] | undefined {
  if (isInside(workspace, top) || look(top, "/").inside) return undefined;
  return [{ id: "outside_workspace", text: `The repository ${top} is outside the workspace` }];
}

function dataHazards(data: string, there: Stats, { look }: CommandPlace): readonly Hazard[] {
  if (there.isSymbolicLink() && !look(data, "/").inside) return [{ id: "outside_workspace", text: `${data} leads outside the workspace` }];
  if (!(there.isSymbolicLink() ? statSync(data) : there).isDirectory())
    return [{ id: "outside_workspace", text: `${data} is a file, so the repository's data is elsewhere` }];
  const leads = [...commonDirectory(data), ...alternates(data)].find((path) => !look(path, "/").inside);
  if (leads !== undefined) return [{ id: "outside_workspace", text: `The repository's data is in ${leads}, outside the workspace` }];
  const link = outerLink(data, look);
  return link === undefined ? [] : [{ id: "outside_workspace", text: `${link} leads outside the workspace` }];
}

function commonDirectory(data: string): readonly string[] {
  const common = `${data}/commondir`;
  if (!lstatSync(common, { throwIfNoEntry: false })) return [];
  return [resolve(realpathSync.native(data), readFileSync(common, "utf8").trim())];
}

/** Directories of objects that git shows as the repository's own. */
function alternates(data: string): readonly string[] {
  const file = `${data}/objects/info/alternates`;
  if (!lstatSync(file, { throwIfNoEntry: false })) return [];
  const paths = readFileSync(file, "utf8").split("\n");
  return paths.filter((line) => line !== "" && !line.startsWith("#")).map((line) => resolve(realpathSync.native(`${data}/objects`), line));
}

/** Directories whose files git quotes in results and errors. */
const QUOTED = ["", "/info", "/objects", "/objects/info", "/refs", "/refs/heads", "/logs", "/rebase-merge", "/rebase-apply", "/sequencer"];

/** Git would show the content of the link's target. */
function outerLink(data: string, look: PathLookup): string | undefined {
  for (const directory of QUOTED) {
    const path = `${data}${directory}`;
    if (!lstatSync(path, { throwIfNoEntry: false })) continue;
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const link = `${path}/${entry.name}`;
      if (entry.isSymbolicLink() && !look(link, "/").inside) return link;
    }
  }
  return undefined;
}

/** Git treats a directory that looks like its data as a repository. */
function isBare(directory: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => lstatSync(`${directory}/${name}`, { throwIfNoEntry: false }) !== undefined);
}
