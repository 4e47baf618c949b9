import type { PathChange } from "@assent/core";

/** Files that programs run by themselves, and which program does. */
const RUNNERS: readonly (readonly [pattern: RegExp, runs: string])[] = [
  [/(?:^|\/)\.git\/(?:.*\/)?hooks\/(?!.*\.sample$)/, "git runs it"],
  [
    /(?:^|\/)hooks\/(?:(?:pre|post|prepare)-[a-z-]+|commit-msg|applypatch-msg|update|reference-transaction)$/,
    "git runs it, if hooks are kept there",
  ],
  [/(?:^|\/)\.(?:husky|githooks)\//, "git runs it, if hooks are kept there"],
  [/(?:^|\/)\.git\/(?:.*\/)?config(?:\.worktree)?$/, "git reads programs to run from it"],
  [/(?:^|\/)(?:\.gitattributes|\.git\/(?:.*\/)?info\/attributes)$/, "git reads from it which filters to run"],
  [/(?:^|\/)\.git\/(?:.*\/)?(?:git-rebase-todo|sequencer\/todo)$/, "git runs commands in it when it continues"],
  [/(?:^|\/)(?:\.git|\.git\/(?:.*\/)?(?:commondir|gitdir))$/, "git reads from it which repository this is"],
  [/(?:^|\/)\.envrc$/, "direnv runs it in every shell"],
  [/(?:^|\/)\.(?:bashrc|bash_profile|profile|zshrc|zprofile|zshenv)$/, "every shell runs it"],
  [/(?:^|\/)\.vscode\/(?:tasks|settings|launch)\.json$/, "the editor may run what it says"],
  [/(?:^|\/)\.github\/workflows\//, "GitHub runs it after a push"],
  [/(?:^|\/)(?:\.gitlab-ci\.yml|Jenkinsfile|\.pre-commit-config\.yaml|lefthook\.ya?ml)$/, "other programs run what it says"],
  [/(?:^|\/)\.(?:npmrc|yarnrc(?:\.yml)?|pnpmfile\.cjs)$/, "package managers read it"],
  [/(?:^|\/)conftest\.py$/, "pytest runs it"],
  [/(?:^|\/)\.mcp\.json$/, "agents start the programs that it names"],
  [/(?:^|\/)\.assent\//, "Assent reads it"],
];

/** Why a changed file later runs by itself or steers other programs; undefined if it does not. `isControl` knows files by name and by the user's settings. */
export function describeSelfStart(path: string, change: PathChange | undefined, isControl: (path: string) => boolean): string | undefined {
  if (/(?:^|\/)package\.json$/.test(path)) return changesScripts(change) ? "npm runs its scripts" : undefined;
  const known = RUNNERS.find(([pattern]) => pattern.test(path))?.[1];
  if (known !== undefined || change?.after === "directory") return known;
  return !IN_GIT.test(path) && isControl(path) ? "it is a control file, which steers agents or other programs" : undefined;
}

/** Files of a repository, most of which only git changes. */
export const IN_GIT: RegExp = /(?:^|\/)\.git\//;

/** An unreadable file counts as changed scripts. */
function changesScripts(change: PathChange | undefined): boolean {
  if (!change) return true;
  const scripts = (content: PathChange["after"]): string => {
    if (!(content instanceof Uint8Array)) return "";
    try {
      const { scripts: found = {}, bin = null } = JSON.parse(Buffer.from(content).toString("utf8"));
      return JSON.stringify([found, bin]);
    } catch {
      return "unreadable";
    }
  };
  const [before, after] = [scripts(change.before), scripts(change.after)];
  return after !== "" && (before !== after || after === "unreadable") && after !== "[{},null]";
}
