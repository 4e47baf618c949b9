import type { HookEntry } from "@assent/core/parts";

/** What is wrong with a hook whose program belongs to a workspace that nobody trusts, with what to do. */
export const UNTRUSTED_HOOK_REASON =
  "it runs something from this workspace, which is not trusted; run assent trust, or use a program elsewhere by its absolute path (ASSENT_PROJECT_DIR tells it the directory)";

/**
 * Whether a hook's text leads into the workspace: by a variable with its path, or by a program, or what a usual interpreter is given, whose path begins in the working
 * directory. It is looked for in the text, so it cannot be complete: `sh guard.sh` starts a file of the workspace, too.
 */
export function refersToWorkspace({ body }: Pick<HookEntry, "body">): boolean {
  if (body.type !== "command") return false;
  const { command, args = [], env = {} } = body;
  const texts = [[command, ...args].join(" "), ...Object.values(env)];
  return texts.some((text) => VARIABLE.test(text) || PROGRAM.test(text));
}

const VARIABLE = /\$\{?(?:ASSENT|CLAUDE)_PROJECT_DIR\b/;
const INTERPRETERS = "sh|bash|dash|zsh|ksh|exec|env|source|\\.|sudo|nohup|time|node|bun|deno|python3?|ruby|perl";
/** `scripts/x`, `./x`, `.assent/x`, where a command begins, or behind an interpreter with its options. */
const PROGRAM = new RegExp(
  `(?:^|[;&|]\\s|\\$\\(|[\`\\n]|(?:^|[\\s/])(?:${INTERPRETERS})(?:\\s+-\\S+)*\\s)\\s*(?:\\w+=\\S*\\s+)*["']?[\\w.@-]+/`,
);
