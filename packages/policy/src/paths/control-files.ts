import { foldPath } from "./fold.ts";
import { isInside, resolvePath } from "./resolve.ts";

/** Tests a path in folded spelling. */
export type PathTest = (folded: string) => boolean;

export const CONTROL_NAMES: ReadonlySet<string> = new Set([
  ".gitattributes",
  ".gitmodules",
  ".npmrc",
  ".pnpmfile.cjs",
  ".mcp.json",
  "opencode.json",
  "opencode.jsonc",
  ".envrc",
  "agents.md",
  "claude.md",
  "gemini.md",
  "qwen.md",
  ".cursorrules",
  ".windsurfrules",
  ".aider.conf.yml",
  ".pre-commit-config.yaml",
  ...["yml", "yaml", "toml", "json"].flatMap((kind) =>
    ["lefthook", ".lefthook", "lefthook-local", ".lefthook-local"].map((name) => `${name}.${kind}`),
  ),
]);

export const CONTROL_NAME_STARTS: readonly string[] = [".yarnrc"];

/** Control directories and files, at any depth. */
export const CONTROL_TREES: readonly string[] = [
  ".git",
  ".idea",
  ".devcontainer",
  ".github/workflows",
  ".github/copilot-instructions.md",
  ".husky",
  ".claude",
  ".gemini",
  ".qwen",
  ".cursor",
  ".codex",
  ".opencode",
  ".windsurf",
  ".clinerules",
  ...["settings", "tasks", "launch", "extensions", "mcp"].map((name) => `.vscode/${name}.json`),
];

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
  ".claude.json",
  ".config/opencode",
];

/** Crontabs, and the managed settings of agents. */
export const SYSTEM_FILES: readonly string[] = [
  "/etc/crontab",
  "/etc/anacrontab",
  ...["d", "hourly", "daily", "weekly", "monthly"].map((name) => `/etc/cron.${name}`),
  "/var/spool/cron",
  "/var/cron",
  ...["claude-code", "codex", "gemini-cli", "qwen-code", "opencode"].map((name) => `/etc/${name}`),
  "/library/application support/claudecode",
];

export function createControlFileTest(home: string, protect: readonly PathTest[] = []): PathTest {
  const fixed = [...controlPathsInHome(home), ...SYSTEM_FILES];
  return (folded) =>
    isControlName(folded) || fixed.some((place) => isInside(place, folded)) || protect.some((isProtected) => isProtected(folded));
}

/** Control files in the home directory, in both spellings of it. */
export function controlPathsInHome(home: string): readonly string[] {
  const { lexical, real } = resolvePath(home, "/");
  const homes = new Set([lexical, real ?? lexical].map((one) => (one === "/" ? "" : one)));
  return [...homes].flatMap((one) => IN_HOME.map((name) => foldPath(`${one}/${name}`)));
}

/** True for a control file by its name alone. */
export function isControlName(folded: string): boolean {
  const name = folded.slice(folded.lastIndexOf("/") + 1);
  if (CONTROL_NAMES.has(name) || CONTROL_NAME_STARTS.some((start) => name.startsWith(start))) return true;
  const within = `${folded}/`;
  return CONTROL_TREES.some((tree) => within.includes(`/${tree}/`));
}
