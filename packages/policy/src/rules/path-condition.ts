import { isAbsolute, relative, resolve } from "node:path";
import { compileGlob, type Glob, type Request, type Unit, type Verdict } from "@assent/core";
import { getPathFact, getShellUnit } from "../facts/units.ts";
import { foldPath } from "../paths/fold.ts";
import type { PathFact } from "../paths/lookup.ts";
import { isInside } from "../paths/resolve.ts";
import type { MatchAnswer } from "../shell/walk/seen-command.ts";
import type { RuleTest } from "./rule.ts";

/** A glob over a path argument, and that argument's values in a request. */
export type PathCondition = {
  readonly glob: Glob;
  /** The argument. */
  readonly name: string;
  readonly valuesOf: (request: Request) => readonly unknown[];
  readonly workspace: string;
};

/** Tests a path argument: an allow needs both spellings, a deny or ask either. */
export function readPathCondition({ glob, name, valuesOf, workspace }: PathCondition, verdict: Verdict): RuleTest["test"] {
  const exact = compileGlob(glob.text, { caseSensitive: true });
  return (request, unit) => {
    const looking = { unit, name, values: valuesOf(request), request, workspace };
    if (verdict === "allow") return allowsPath(exact, looking) ? "yes" : "no";
    const path = getPathFact(unit);
    if (path) return isArgumentPath(path, looking) ? deniesPath(glob, path, workspace) : "no";
    return deniesText(glob, looking);
  };
}

type PathConditionContext = {
  readonly unit: Unit;
  readonly name: string;
  readonly values: readonly unknown[];
  readonly request: Request;
  readonly workspace: string;
};

/** A path of another argument is ignored. A command's working directory is checked by its analysis. */
function allowsPath(exact: Glob, looking: PathConditionContext): boolean {
  const path = getPathFact(looking.unit);
  if (!path)
    return getShellUnit(looking.unit) !== undefined && looking.values.every((value) => shortestForms(value, looking).some(exact.matches));
  if (!isArgumentPath(path, looking)) return true;
  return [path.lexical, path.real].every((spelling) => spelling !== null && pathForms(spelling, looking.workspace).some(exact.matches));
}

function deniesText({ matches }: Glob, looking: PathConditionContext): MatchAnswer {
  const texts = looking.values.flatMap((value) => shortestForms(value, looking));
  if (texts.some((text) => matches(text) || matches(foldPath(text)))) return "yes";
  return texts.length > 0 && !getShellUnit(looking.unit) ? "doubt" : "no";
}

function shortestForms(value: unknown, { request, workspace }: PathConditionContext): readonly string[] {
  return typeof value === "string" ? pathForms(resolve(request.cwd, value), workspace) : [];
}

function deniesPath({ matches }: Glob, { lexical, real }: PathFact, workspace: string): MatchAnswer {
  const spellings = real === null ? [lexical] : [lexical, real];
  if (spellings.some((spelling) => pathForms(spelling, workspace).some((form) => matches(form) || matches(foldPath(form))))) return "yes";
  return real === null ? "doubt" : "no";
}

function isArgumentPath({ absolute, argument }: PathFact, { name, values, request }: PathConditionContext): boolean {
  if (argument !== undefined) return argument === name;
  return values.some((value) => typeof value === "string" && resolve(request.cwd, value) === absolute);
}

function pathForms(path: string, workspace: string): readonly string[] {
  if (!isAbsolute(path) || path === workspace || !isInside(workspace, path)) return [path];
  return [path, relative(workspace, path)];
}
