import { commandEnvironment, type SecretNames, withoutNames } from "./environment.ts";

/** What a command that nobody looked at may have of the user's environment. */
export type Scrubbing = SecretNames & {
  /** Absolute directories, in order. */
  readonly path: readonly string[];
  /** Further names that settings pass on; those that could redirect a program are left out all the same. */
  readonly names?: readonly string[];
};

const PASSED: readonly string[] = ["HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"];

/** Names that make a program load or run something, beside those that never reach any command. */
const REFUSED: readonly string[] = [
  ...["NODE_OPTIONS", "NODE_PATH", "PYTHON*", "PERL5*", "RUBY*", "GIT_*", "NPM_CONFIG_*", "PAGER", "EDITOR", "VISUAL", "LESS*"],
  ...["RIPGREP_CONFIG_PATH", "PATH", "TERM", "NO_COLOR"],
];

/** What keeps programs from asking, paging and colouring, and git from writing where it only reads. */
const ADDED = {
  TERM: "dumb",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  NO_COLOR: "1",
} as const;

/** The environment of a command that a rule allowed: a few names of the user's, a fixed search path, and what was added. Nothing else. */
export function scrubbedEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { path, names = [], ...secrets }: Scrubbing,
): Readonly<Record<string, string>> {
  const present = Object.entries(environment);
  const asked = withoutNames(Object.fromEntries(present.filter(([name]) => names.includes(name))), REFUSED);
  const fixed = present.filter(([name]) => PASSED.includes(name) || name.startsWith("LC_"));
  return { ...commandEnvironment({ ...asked, ...Object.fromEntries(fixed) }, secrets), PATH: path.join(":"), ...ADDED };
}
