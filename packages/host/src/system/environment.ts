import { compileGlob } from "@assent/core";

/** Names that change what a shell or the loader runs, whoever set them. Exported shell functions are among them: they could stand for the command that was shown. */
const NEVER_PASSED = [
  "BASH_ENV",
  "ENV",
  "SHELLOPTS",
  "BASHOPTS",
  "IFS",
  "CDPATH",
  "PROMPT_COMMAND",
  "LD_*",
  "DYLD_*",
  "ASSENT_*",
  "BASH_FUNC_*",
];

/** Names of secrets. A provider's key whose name does not say so is listed by name. */
const SECRET_NAMES = [
  ...["*_API_KEY", "*_TOKEN", "*_SECRET", "*PASSWORD*", "API_KEY", "TOKEN", "SECRET"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_OPENAI_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "OPENAI_KEY"],
];

/**
 * Variables that a project's `secretEnv` cannot take away: without them a program runs other files, uses other settings or reaches another server than the user
 * chose. A project could otherwise hide `PATH`, `NPM_CONFIG_IGNORE_SCRIPTS` or `DOCKER_HOST`.
 */
const STEERING_NAMES = [
  ...[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM*",
    "TMP",
    "TEMP",
    "TMPDIR",
    "HOSTNAME",
    "XDG_*",
  ],
  ...[
    "*_PATH",
    "*_HOME",
    "*_DIR",
    "*_ROOT",
    "*_CONFIG",
    "*_CONFIG_*",
    "*CONFIG",
    "*_PROXY",
    "*_HOST",
    "*_PROFILE",
    "*_CONTEXT",
    "*_REGION",
  ],
  ...["*_OPTS", "*_OPTIONS", "*FLAGS", "*_REGISTRY", "*_INDEX_URL", "CI", "EDITOR", "VISUAL", "PAGER", "UMASK"],
  ...["GIT_*", "SSH_*", "GPG_*", "SSL_*", "CURL_*", "NODE_*", "NPM_*", "YARN_*", "PNPM_*", "PYTHON*", "PIP_*", "UV_*", "VIRTUAL_ENV"],
  ...["CARGO_*", "RUST*", "GO*", "JAVA_*", "MAVEN_*", "GRADLE_*", "RUBY*", "GEM_*", "BUNDLE_*", "PERL*", "COMPOSER_*"],
  ...[
    "DOCKER_*",
    "CONTAINER*",
    "PODMAN_*",
    "KUBE*",
    "HELM_*",
    "TF_*",
    "ANSIBLE_*",
    "VAULT_*",
    "AWS_*",
    "AZURE_*",
    "GOOGLE_*",
    "CLOUDSDK_*",
    "GH_*",
  ],
];

/** Where programs are looked up if the environment has no `PATH`. Bash would otherwise use a built-in list that may contain the current directory. */
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Name globs of further variables that hold secrets, by the settings they come from. */
export type SecretNames = {
  /** From the user, the team, or the embedding program: no exceptions. */
  readonly secretEnv?: readonly string[] | undefined;
  /** From the project: it cannot hide variables that steer programs. */
  readonly projectSecretEnv?: readonly string[] | undefined;
};

/** The user's environment as an approved command gets it: without secrets, without what redirects a shell, and always with a `PATH`. */
export function createCommandEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { secretEnv = [], projectSecretEnv = [] }: SecretNames = {},
): Readonly<Record<string, string>> {
  const passed = excludeNames(environment, [...NEVER_PASSED, ...SECRET_NAMES, ...secretEnv]);
  const kept =
    projectSecretEnv.length === 0 ? passed : { ...excludeNames(passed, projectSecretEnv), ...includeNames(passed, STEERING_NAMES) };
  return kept["PATH"] ? kept : { ...kept, PATH: SYSTEM_PATH };
}

/** The variables that have a value and whose name no glob covers. Case does not count: some programs do not look at it. */
function excludeNames(
  environment: Readonly<Record<string, string | undefined>>,
  globs: readonly string[],
): Readonly<Record<string, string>> {
  return filterNames(environment, globs, false);
}

function includeNames(environment: Readonly<Record<string, string>>, globs: readonly string[]): Readonly<Record<string, string>> {
  return filterNames(environment, globs, true);
}

function filterNames(
  environment: Readonly<Record<string, string | undefined>>,
  globs: readonly string[],
  covered: boolean,
): Readonly<Record<string, string>> {
  const compiled = globs.map((glob) => compileGlob(glob));
  const chosen: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && compiled.some(({ matches }) => matches(name)) === covered) chosen[name] = value;
  }
  return chosen;
}

/** What a command that nobody looked at may have of the user's environment. */
export type ScrubOptions = SecretNames & {
  /** Absolute directories, in order. */
  readonly path: readonly string[];
  /** Further names that settings pass on; those that could redirect a program are left out all the same. */
  readonly names?: readonly string[];
};

const PASSED_NAMES: readonly string[] = ["HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"];

/** Names that make a program load or run something, beside those that never reach any command. */
const REFUSED_NAMES: readonly string[] = [
  ...["NODE_OPTIONS", "NODE_PATH", "PYTHON*", "PERL5*", "RUBY*", "GIT_*", "NPM_CONFIG_*", "PAGER", "EDITOR", "VISUAL", "LESS*"],
  ...["RIPGREP_CONFIG_PATH", "PATH", "TERM", "NO_COLOR"],
];

/** What keeps programs from asking, paging and colouring, and git from writing where it only reads. */
const ADDED_VARIABLES = {
  TERM: "dumb",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  NO_COLOR: "1",
} as const;

/** The environment of a command that a rule allowed: a few names of the user's, a fixed search path, and what was added. Nothing else. */
export function scrubEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { path, names = [], ...secrets }: ScrubOptions,
): Readonly<Record<string, string>> {
  const present = Object.entries(environment);
  const asked = excludeNames(Object.fromEntries(present.filter(([name]) => names.includes(name))), REFUSED_NAMES);
  const fixed = present.filter(([name]) => PASSED_NAMES.includes(name) || name.startsWith("LC_"));
  return { ...createCommandEnvironment({ ...asked, ...Object.fromEntries(fixed) }, secrets), PATH: path.join(":"), ...ADDED_VARIABLES };
}
