import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { PathScope } from "../path-scope.ts";
import type { Hazard } from "./plan.ts";

/** Where a command runs. */
type Place = { readonly cwd: string; readonly look: PathScope };

/**
 * What speaks against running git here: it works on the nearest repository upward, whose settings may name programs. That repository must be the workspace's own,
 * with its data in a directory beside its files.
 */
export function repositoryHazards({ cwd, look }: Place): readonly Hazard[] {
  const { real } = look(".", cwd);
  if (real === null) return [{ id: "path_unresolved", text: "the working directory cannot be resolved" }];
  try {
    for (let top = real; ; top = dirname(top)) {
      const data = `${top === "/" ? "" : top}/.git`;
      const there = lstatSync(data, { throwIfNoEntry: false });
      if (there) return dataHazards(data, look);
      if (isBare(top)) return [{ id: "runs_program", text: `${top} is a bare repository, whose settings may come from anywhere` }];
      if (top === "/") return [];
    }
  } catch {
    return [{ id: "path_unresolved", text: "the repository around the working directory cannot be found out" }];
  }
}

function dataHazards(data: string, look: PathScope): readonly Hazard[] {
  const { inside, real } = look(data, "/");
  if (!inside || real === null) return [{ id: "outside_workspace", text: `the repository ${dirname(data)} is not inside the workspace` }];
  if (!statSync(real).isDirectory()) return [{ id: "outside_workspace", text: `${data} is a file: the repository's data is elsewhere` }];
  const common = `${real}/commondir`;
  if (!lstatSync(common, { throwIfNoEntry: false })) return [];
  const leads = resolve(real, readFileSync(common, "utf8").trim());
  return look(leads, "/").inside ? [] : [{ id: "outside_workspace", text: `the repository's data is in ${leads}` }];
}

/** git takes a directory that looks like its data for a repository of its own. */
function isBare(directory: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => lstatSync(`${directory}/${name}`, { throwIfNoEntry: false }) !== undefined);
}
