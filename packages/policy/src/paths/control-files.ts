import { foldPath } from "./fold.ts";
import { isInside, resolvePath } from "./resolve.ts";

/** Tests a path in the folded spelling in which denies compare. */
export type PathTest = (folded: string) => boolean;

/** At any depth, by name. */
export const CONTROL_NAMES: ReadonlySet<string> = new Set([
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

export const CONTROL_NAME_STARTS: readonly string[] = [".yarnrc"];

/** At any depth, with everything in them. */
export const CONTROL_TREES: readonly string[] = [
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

export const CRONTABS: readonly string[] = [
  "/etc/crontab",
  "/etc/anacrontab",
  ...["d", "hourly", "daily", "weekly", "monthly"].map((name) => `/etc/cron.${name}`),
  "/var/spool/cron",
  "/var/cron",
];

/** The control files as seen from a home directory; `protect` are those that settings add. */
export function createControlFileTest(home: string, protect: readonly PathTest[] = []): PathTest {
  const fixed = [...controlPathsInHome(home), ...CRONTABS];
  return (folded) =>
    isControlName(folded) || fixed.some((place) => isInside(place, folded)) || protect.some((isProtected) => isProtected(folded));
}

/** By both spellings of the home. */
export function controlPathsInHome(home: string): readonly string[] {
  const { lexical, real } = resolvePath(home, "/");
  const homes = new Set([lexical, real ?? lexical].map((one) => (one === "/" ? "" : one)));
  return [...homes].flatMap((one) => IN_HOME.map((name) => foldPath(`${one}/${name}`)));
}

/** True for a control file by its name alone, at any depth. */
export function isControlName(folded: string): boolean {
  const name = folded.slice(folded.lastIndexOf("/") + 1);
  if (CONTROL_NAMES.has(name) || CONTROL_NAME_STARTS.some((start) => name.startsWith(start))) return true;
  const within = `${folded}/`;
  return CONTROL_TREES.some((tree) => within.includes(`/${tree}/`));
}
