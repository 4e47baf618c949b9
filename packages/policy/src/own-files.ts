import type { Guard, Kind, Request } from "@assent/core";
import { foldPath } from "./fold-path.ts";
import { pathOf } from "./path-facts.ts";
import type { PathFact } from "./path-scope.ts";
import { isInside, resolvePath } from "./resolve-path.ts";

/** Where Assent's own files are, besides `.assent` directories. */
export type OwnFiles = {
  /** Ledger, trust, outputs. No tool may touch it, except to read the session's own output. */
  readonly stateDirectory: string;
  /** The user's and the team's settings. */
  readonly settingsFiles: readonly string[];
};

const READING: readonly Kind[] = ["read", "search", "fetch"];

/**
 * Closes Assent's own files to tools, in every mode and by either spelling of a path; a writing call whose path cannot be resolved asks, since nobody can rule such a file out.
 * A shell line is denied when it spells out the state directory. That is a guard-rail, not a proof: it will be read properly by the analysis of shell lines.
 */
export function ownFilesGuards({ stateDirectory, settingsFiles }: OwnFiles): readonly Guard[] {
  const own = { state: spellings(stateDirectory), settings: settingsFiles.flatMap(spellings) };
  return [
    { id: "own-files", check: (request, unit) => (touchesOwn(own, request, pathOf(unit)) ? DENIED : NOTHING) },
    { id: "deny-in-doubt", check: (request, unit) => (inDoubt(request, pathOf(unit)) ? DOUBTFUL : NOTHING) },
  ];
}

const NOTHING = { verdict: "none" } as const;
const DENIED = { verdict: "deny", note: "Assent's own files are closed to tools" } as const;
const DOUBTFUL = { verdict: "ask", note: "path_unresolved: where this path leads cannot be told" } as const;

/** Places in the spelling in which denies compare. */
type Own = { readonly state: readonly string[]; readonly settings: readonly string[] };

function touchesOwn({ state, settings }: Own, request: Request, path: PathFact | undefined): boolean {
  if (!path) return namesState(request, state);
  const places = [path.lexical, path.real ?? path.lexical].map(foldPath);
  if (places.some((place) => state.some((root) => isInside(root, place)))) return !readsOwnOutput(request, path);
  return !READING.includes(request.kind) && places.some((place) => settings.includes(place) || isAssentFile(place));
}

/** A directory that does not exist yet has its real spelling already. */
function spellings(path: string): readonly string[] {
  const { lexical, real } = resolvePath(path, "/");
  return [...new Set([lexical, real ?? lexical])].map(foldPath);
}

function readsOwnOutput(request: Request, path: PathFact): boolean {
  return request.kind === "read" && path.ownOutput;
}

/** `.assent` at any depth: a nested one may become a workspace's own. Plans are for tools to write. */
function isAssentFile(folded: string): boolean {
  const names = folded.split("/");
  return names.some((name, at) => name === ".assent" && !(names[at + 1] === "plans" && names.length > at + 2));
}

function namesState(request: Request, state: readonly string[]): boolean {
  if (request.kind !== "execute") return false;
  const texts = Object.values(request.input).filter((value) => typeof value === "string");
  return texts.some((text) => state.some((root) => foldPath(text).includes(root)));
}

function inDoubt(request: Request, path: PathFact | undefined): boolean {
  return path !== undefined && path.real === null && !READING.includes(request.kind);
}
