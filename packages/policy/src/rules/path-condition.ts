import { isAbsolute, relative, resolve } from "node:path";
import { compileGlob, type Glob, type Request, type Verdict } from "@assent/core";
import { foldPath } from "../fold-path.ts";
import type { PathFact } from "../path-scope.ts";
import { isInside } from "../resolve-path.ts";
import type { Broad } from "../shell/seen-command.ts";
import { pathOf } from "../unit-data.ts";
import type { RuleTest } from "./rule.ts";

/** A glob over a declared path, and the values which that argument has in a request. */
export type PathGlob = { readonly glob: Glob; readonly valuesOf: (request: Request) => readonly unknown[]; readonly workspace: string };

/** Looks beyond the text of a declared path: an allow must hold for both spellings of it, a deny or ask for either, absolute or seen from the workspace. */
export function readPathGlob({ glob, valuesOf, workspace }: PathGlob, verdict: Verdict): RuleTest["test"] {
  const exact = compileGlob(glob.text, { caseSensitive: true });
  return (request, unit) => {
    const path = pathOf(unit);
    const values = valuesOf(request);
    if (verdict === "allow") return allows(exact, { path, values, request, workspace }) ? "yes" : "no";
    return path && isMeant(path, values, request) ? denies(glob, path, workspace) : "no";
  };
}

type Looking = {
  readonly path: PathFact | undefined;
  readonly values: readonly unknown[];
  readonly request: Request;
  readonly workspace: string;
};

/** A path that came from another argument is not this glob's business; where no path was looked at, the text itself must be in its shortest form. */
function allows(exact: Glob, { path, values, request, workspace }: Looking): boolean {
  if (!path) return values.every((value) => typeof value === "string" && forms(resolve(request.cwd, value), workspace).some(exact.matches));
  if (!isMeant(path, values, request)) return true;
  return [path.lexical, path.real].every((spelling) => spelling !== null && forms(spelling, workspace).some(exact.matches));
}

function denies({ matches }: Glob, { lexical, real }: PathFact, workspace: string): Broad {
  const spellings = real === null ? [lexical] : [lexical, real];
  if (spellings.some((spelling) => forms(spelling, workspace).some((form) => matches(form) || matches(foldPath(form))))) return "yes";
  return real === null ? "doubt" : "no";
}

function isMeant({ absolute }: PathFact, values: readonly unknown[], { cwd }: Request): boolean {
  return values.some((value) => typeof value === "string" && resolve(cwd, value) === absolute);
}

/** As an absolute path, and seen from the workspace where it lies in it. */
function forms(path: string, workspace: string): readonly string[] {
  if (!isAbsolute(path) || path === workspace || !isInside(workspace, path)) return [path];
  return [path, relative(workspace, path)];
}
