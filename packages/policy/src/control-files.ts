import type { Guard, Kind, Request } from "@assent/core";
import { foldPath } from "./fold-path.ts";
import { homeDirectory, isInside, resolvePath } from "./resolve-path.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import { type TouchedPath, touchedPaths } from "./touched-paths.ts";
import { pathOf, shellOf } from "./unit-data.ts";

/** At any depth, by name. */
const NAMES: ReadonlySet<string> = new Set([
  ".gitattributes",
  ".gitmodules",
  ".npmrc",
  ".pnpmfile.cjs",
  ".mcp.json",
  ".envrc",
  "agents.md",
  "claude.md",
  "gemini.md",
  "qwen.md",
  ".cursorrules",
]);

const NAME_STARTS = [".yarnrc"];

/** At any depth, with everything in them. */
const TREES = [
  ".git",
  ".idea",
  ".devcontainer",
  ".github/workflows",
  ".husky",
  ".claude",
  ".gemini",
  ".qwen",
  ".cursor",
  ".codex",
  ...["settings", "tasks", "launch", "extensions"].map((name) => `.vscode/${name}.json`),
];

/** Directories that are put somewhere with some of these in them. */
const HOLDERS: readonly string[] = [".github", ".vscode"];

/** In the home directory. */
const IN_HOME = [
  ".bashrc",
  ".bash_profile",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".config/fish",
  ".ssh",
  ".gitconfig",
  ".config/git",
  ".config/autostart",
];

const CRONTABS = [
  "/etc/crontab",
  "/etc/anacrontab",
  ...["d", "hourly", "daily", "weekly", "monthly"].map((name) => `/etc/cron.${name}`),
  "/var/spool/cron",
  "/var/cron",
];

/** Tells of a path in folded spelling whether writing it steers agents, or runs code later. */
export type ControlFiles = (folded: string) => boolean;

/** The control files as seen from a home directory; `protect` are those that settings add. */
export function controlFiles(home: string, protect: readonly ControlFiles[] = []): ControlFiles {
  const fixed = [...homePlaces(home), ...CRONTABS];
  return (folded) =>
    isControlName(folded) || fixed.some((place) => isInside(place, folded)) || protect.some((isProtected) => isProtected(folded));
}

/** Where to look for control files besides their names. */
export type ControlPlaces = { readonly workspace?: string; readonly home?: string; readonly protect?: readonly ControlFiles[] };

/** Asks before a control file is written, in every mode: by a file tool, or by what a shell line is seen to write. */
export function controlFileGuard({ workspace, home: given, protect = [] }: ControlPlaces): Guard {
  const home = homeDirectory(given);
  const isControl = controlFiles(home, protect);
  const known = knownPlaces(workspace, home);
  const isMeant = (touched: TouchedPath): boolean => isControlTouch(touched, isControl) || holdsControl(touched, known);
  const touched = (shell: ShellUnit): string | undefined =>
    (shell.touched ?? touchedPaths(shell, { home })).find((one) => one.use === "write" && isMeant(one))?.path;
  return {
    id: "control-file",
    check: (request, unit) => {
      const [path, shell] = [pathOf(unit), shellOf(unit)];
      if (path) return path.control && !isReading(request) ? asking(path.lexical) : NOTHING;
      const written = shell && touched(shell);
      return written === undefined ? NOTHING : asking(written);
    },
  };
}

/** True for a request that changes nothing, by what its tool declares. */
export function isReading({ kind }: Pick<Request, "kind">): boolean {
  return READING.includes(kind);
}

const READING: readonly Kind[] = ["read", "search", "fetch"];
const NOTHING = { verdict: "none" } as const;

function asking(path: string): { readonly verdict: "ask"; readonly note: string } {
  return { verdict: "ask", note: `control file: ${path}` };
}

function isControlTouch({ places, open }: TouchedPath, isControl: ControlFiles): boolean {
  return places.some((place) => isControl(open ? `${place}/${open.start || "x"}` : place));
}

/** Who removes, replaces or fills a directory reaches what lies below it. */
function holdsControl({ places, reach, fate, open }: TouchedPath, known: readonly string[]): boolean {
  if (open) return false;
  if (fate === "replaced" && places.some((place) => HOLDERS.some((name) => place.endsWith(`/${name}`)))) return true;
  return (reach !== "self" || fate === "replaced") && known.some((one) => places.some((place) => isInside(place, one)));
}

/** Control files at places that are known without looking. */
function knownPlaces(workspace: string | undefined, home: string): readonly string[] {
  return [...(workspace === undefined ? [] : [foldPath(`${workspace}/.git`)]), ...homePlaces(home), ...CRONTABS];
}

/** By both spellings of the home. */
function homePlaces(home: string): readonly string[] {
  const { lexical, real } = resolvePath(home, "/");
  const homes = new Set([lexical, real ?? lexical].map((one) => (one === "/" ? "" : one)));
  return [...homes].flatMap((one) => IN_HOME.map((name) => foldPath(`${one}/${name}`)));
}

function isControlName(folded: string): boolean {
  const name = folded.slice(folded.lastIndexOf("/") + 1);
  if (NAMES.has(name) || NAME_STARTS.some((start) => name.startsWith(start))) return true;
  const within = `${folded}/`;
  return TREES.some((tree) => within.includes(`/${tree}/`));
}
