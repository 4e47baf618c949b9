import { isAbsolute, relative, resolve } from "node:path";
import { compileGlob, type Glob, type Request, type Unit, type Verdict } from "@assent/core";
import { pathOf, shellOf } from "../facts/units.ts";
import { foldPath } from "../paths/fold.ts";
import { isInside } from "../paths/resolve.ts";
import type { PathFact } from "../paths/scope.ts";
import type { Broad } from "../shell/walk/seen-command.ts";
import type { RuleTest } from "./rule.ts";

/** A glob over a declared path, and the values which that argument has in a request. */
export type PathGlob = { readonly glob: Glob; readonly valuesOf: (request: Request) => readonly unknown[]; readonly workspace: string };

/** Looks beyond the text of a declared path: an allow must hold for both spellings of it, a deny or ask for either, absolute or seen from the workspace. */
export function readPathGlob({ glob, valuesOf, workspace }: PathGlob, verdict: Verdict): RuleTest["test"] {
  const exact = compileGlob(glob.text, { caseSensitive: true });
  return (request, unit) => {
    const looking = { unit, values: valuesOf(request), request, workspace };
    if (verdict === "allow") return allows(exact, looking) ? "yes" : "no";
    const path = pathOf(unit);
    if (path) return isMeant(path, looking) ? denies(glob, path, workspace) : "no";
    return deniesText(glob, looking);
  };
}

type Looking = { readonly unit: Unit; readonly values: readonly unknown[]; readonly request: Request; readonly workspace: string };

/** A path that came from another argument is not this glob's business. A command's own path argument (where it runs) is looked at by its analysis. */
function allows(exact: Glob, looking: Looking): boolean {
  const path = pathOf(looking.unit);
  if (!path) return shellOf(looking.unit) !== undefined && looking.values.every((value) => shortest(value, looking).some(exact.matches));
  if (!isMeant(path, looking)) return true;
  return [path.lexical, path.real].every((spelling) => spelling !== null && forms(spelling, looking.workspace).some(exact.matches));
}

/** Where no path was looked at, its shortest form is all there is. */
function deniesText({ matches }: Glob, looking: Looking): Broad {
  const texts = looking.values.flatMap((value) => shortest(value, looking));
  if (texts.some((text) => matches(text) || matches(foldPath(text)))) return "yes";
  return texts.length > 0 && !shellOf(looking.unit) ? "doubt" : "no";
}

function shortest(value: unknown, { request, workspace }: Looking): readonly string[] {
  return typeof value === "string" ? forms(resolve(request.cwd, value), workspace) : [];
}

function denies({ matches }: Glob, { lexical, real }: PathFact, workspace: string): Broad {
  const spellings = real === null ? [lexical] : [lexical, real];
  if (spellings.some((spelling) => forms(spelling, workspace).some((form) => matches(form) || matches(foldPath(form))))) return "yes";
  return real === null ? "doubt" : "no";
}

function isMeant({ absolute }: PathFact, { values, request }: Looking): boolean {
  return values.some((value) => typeof value === "string" && resolve(request.cwd, value) === absolute);
}

/** As an absolute path, and seen from the workspace where it lies in it. */
function forms(path: string, workspace: string): readonly string[] {
  if (!isAbsolute(path) || path === workspace || !isInside(workspace, path)) return [path];
  return [path, relative(workspace, path)];
}
