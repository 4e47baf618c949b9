import type { HookEntry } from "@assent/core/parts";

/** Why a hook of an untrusted workspace does not run, and what to do. */
export const UNTRUSTED_HOOK_REASON =
  "it runs something from this workspace, which is not trusted; run assent trust, or use a program elsewhere by its absolute path (ASSENT_PROJECT_DIR tells it the directory)";

/** True if a hook's text names the workspace, by variable or relative path. It is a text search and cannot be complete. */
export function refersToWorkspace({ body }: Pick<HookEntry, "body">): boolean {
  if (body.type !== "command") return false;
  const { command, args = [], env = {} } = body;
  const texts = [[command, ...args].join(" "), ...Object.values(env)];
  return texts.some((text) => VARIABLE.test(text) || PROGRAM.test(text));
}

const VARIABLE = /\$\{?(?:ASSENT|CLAUDE)_PROJECT_DIR\b/;
const INTERPRETERS = "sh|bash|dash|zsh|ksh|exec|env|source|\\.|sudo|nohup|time|node|bun|deno|python3?|ruby|perl";
/** `scripts/x`, `./x`, `.assent/x` at the start of a command or after an interpreter. */
const PROGRAM = new RegExp(
  `(?:^|[;&|]\\s|\\$\\(|[\`\\n]|(?:^|[\\s/])(?:${INTERPRETERS})(?:\\s+-\\S+)*\\s)\\s*(?:\\w+=\\S*\\s+)*["']?[\\w.@-]+/`,
);
