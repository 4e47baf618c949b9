import { resolve } from "node:path";
import type { Request, Unit, Verdict } from "@assent/core";
import { getPathFact } from "../facts/units.ts";
import { type PathFact, pathUse } from "../paths/lookup.ts";
import { catchPatternError, isFault, type RuleFault, syntaxFault } from "./fault.ts";
import { compilePathGlob, escapeGlob, type PathName, splitPathNames } from "./path-glob.ts";
import type { RuleLimit, RuleRoots, RuleTest } from "./rule.ts";

/** Reads a path specifier: `//abs`, `~/x`, `/x`, `./x`, `a/b`, or a name at any depth. */
export function readPathRule(specifier: string, verdict: Verdict, roots: RuleRoots): RuleTest | RuleFault {
  const compiled = compilePathSpecifier(specifier, verdict, roots);
  if (isFault(compiled)) return compiled;
  const { bases, globs, covers } = compiled;
  const record = { path: bases.map((base) => [...splitPath(base).map(escapeGlob), ...globs].join("/")) };
  if (verdict !== "allow") return { record, test: (_, unit) => deniesPath(covers, unit) };
  return {
    record,
    test: (request, unit) => allowsPath(covers, request, unit),
    whyNot: (unit) => describeMiss(covers, unit),
    samples: samplePaths(bases[0] ?? "/", globs),
  };
}

/** Creates a test that reads a specifier as broadly as a deny does. */
export function createPathTest(specifier: string, roots: RuleRoots): ((path: string) => boolean) | RuleFault {
  const compiled = compilePathSpecifier(specifier, "deny", roots);
  return isFault(compiled) ? compiled : (path) => compiled.covers(splitPathNames(path));
}

function compilePathSpecifier(
  specifier: string,
  verdict: Verdict,
  roots: RuleRoots,
): (PathPlace & { readonly covers: PathMatcher }) | RuleFault {
  const place = readPlace(specifier.trim(), roots, verdict);
  if (isFault(place)) return place;
  const { bases, globs } = place;
  const odd = findUnsupportedPart(globs);
  if (odd) return odd;
  const tests = catchPatternError(
    () => bases.map((base) => compilePathGlob({ base: splitPath(base), globs }, verdict === "allow")),
    specifier,
  );
  if (isFault(tests)) return tests;
  return { ...place, covers: (names) => tests.some((matches) => matches(names)) };
}

/** True if an allow may apply: the path is resolved and has no hazard for this use. */
export function isPathSettled(request: Request, path: PathFact): boolean {
  const { real, hazards, writeHazards } = path;
  return real !== null && (pathUse(request, path) === "read" ? hazards : writeHazards).length === 0;
}

type PathMatcher = (names: readonly PathName[]) => boolean;

/** Needs both spellings. */
function allowsPath(covers: PathMatcher, request: Request, unit: Unit): "yes" | "no" {
  const path = getPathFact(unit);
  if (!path || !isPathSettled(request, path)) return "no";
  const { lexical, real } = spellingsOf(path);
  return covers(lexical) && real !== undefined && covers(real) ? "yes" : "no";
}

/** Why a path that the rule names as written is not allowed. */
function describeMiss(covers: PathMatcher, unit: Unit): RuleLimit | undefined {
  const path = getPathFact(unit);
  if (!path) return undefined;
  const { lexical, real } = spellingsOf(path);
  if (!covers(lexical)) return undefined;
  if (real && !covers(real)) return { why: `it leads to ${path.real}, which the rule does not name`, lasting: false };
  const [hazard] = [...path.hazards, ...path.writeHazards];
  return hazard && { why: hazard.text, lasting: false };
}

/** Two paths that the globs cover, with names that no other rule means. */
function samplePaths(base: string, globs: readonly string[]): readonly string[] {
  if (globs.some((glob) => /[[\]?\\]/.test(glob))) return [];
  return ["assent-sample-a", "assent-sample-b.txt"].map((name) =>
    resolve(base, ...globs.flatMap((glob, i) => (glob === "**" && i < globs.length - 1 ? [] : [glob.replaceAll(/\*+/g, name)]))),
  );
}

/** Needs either spelling. */
function deniesPath(covers: PathMatcher, unit: Unit): "yes" | "no" | "doubt" {
  const path = getPathFact(unit);
  if (!path) return "doubt";
  const { lexical, real } = spellingsOf(path);
  if (covers(lexical) || (real && covers(real))) return "yes";
  return real ? "no" : "doubt";
}

type PathSpellings = { readonly lexical: readonly PathName[]; readonly real: readonly PathName[] | undefined };

/** Paths are split once for all rules. */
const SPELLINGS = new WeakMap<PathFact, PathSpellings>();

function spellingsOf(path: PathFact): PathSpellings {
  let names = SPELLINGS.get(path);
  if (!names) {
    const lexical = splitPathNames(path.lexical);
    names = { lexical, real: path.real === null ? undefined : path.real === path.lexical ? lexical : splitPathNames(path.real) };
    SPELLINGS.set(path, names);
  }
  return names;
}

type PathPlace = { readonly bases: readonly string[]; readonly globs: readonly string[] };

/** A relative path of a deny or ask covers all workspace directories, that of an allow only the workspace. */
function readPlace(
  text: string,
  { settingsRoot, workspace, home, additionalDirectories = [] }: RuleRoots,
  verdict: Verdict,
): PathPlace | RuleFault {
  const everywhere = verdict === "allow" ? [workspace] : [workspace, ...additionalDirectories.map((directory) => resolve(directory))];
  if (text.startsWith("!")) {
    return syntaxFault("path rules have no exceptions: '!' does not exclude anything", "Write \\! for a name that begins with !");
  }
  if (text.startsWith("//")) return { bases: ["/"], globs: splitGlobs(text) };
  if (text === "~" || text.startsWith("~/")) return { bases: [home], globs: splitGlobs(text.slice(1)) };
  if (text.startsWith("~"))
    return syntaxFault("'~' works only for your own home directory", "Write ~/x, or the whole path as //home/name/x");
  if (text.startsWith("/")) return { bases: [settingsRoot], globs: splitGlobs(text) };
  const globs = splitGlobs(text);
  const named = !text.startsWith("./") && text !== "." && globs.length === 1;
  return { bases: everywhere, globs: named ? ["**", ...globs] : globs };
}

function splitPath(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}

function splitGlobs(text: string): readonly string[] {
  return splitPath(text).filter((part) => part !== ".");
}

function findUnsupportedPart(globs: readonly string[]): RuleFault | undefined {
  if (globs.some((part) => part === "..")) {
    return syntaxFault("'..' is not allowed in a path rule", "Write the whole path: //the/whole/path, or ~/path");
  }
  if (globs.some((part) => /(?<!\\)\{[^}]*,/.test(part))) {
    return syntaxFault("{a,b} is not supported in path rules", "Write one rule for each, or \\{ for the character itself.");
  }
  return undefined;
}
