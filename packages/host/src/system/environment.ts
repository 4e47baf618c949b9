import { compileGlob } from "@assent/core";

/** Variables that change what a shell or the loader runs, exported functions included. */
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

/** Secrets by name pattern. */
const SECRET_NAMES = [
  ...["*_API_KEY", "*_TOKEN", "*_SECRET", "*PASSWORD*", "API_KEY", "TOKEN", "SECRET"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_OPENAI_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "OPENAI_KEY"],
];

/** Variables that a project's `secretEnv` cannot hide, because programs would then use other files, settings or servers. */
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

/** Used if the environment has no `PATH`; bash's default may include the current directory. */
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Name globs of further secret variables. */
export type SecretNames = {
  /** From the user, the team or the embedding program. */
  readonly secretEnv?: readonly string[] | undefined;
  /** From the project; it cannot hide variables that steer programs. */
  readonly projectSecretEnv?: readonly string[] | undefined;
};

/** The environment of an approved command: the user's, without secrets and shell redirections, always with a `PATH`. */
export function createCommandEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { secretEnv = [], projectSecretEnv = [] }: SecretNames = {},
): Readonly<Record<string, string>> {
  const passed = excludeNames(environment, [...NEVER_PASSED, ...SECRET_NAMES, ...secretEnv]);
  const kept =
    projectSecretEnv.length === 0 ? passed : { ...excludeNames(passed, projectSecretEnv), ...includeNames(passed, STEERING_NAMES) };
  return kept["PATH"] ? kept : { ...kept, PATH: SYSTEM_PATH };
}

/** Variables that no glob matches, ignoring case. */
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

/** What a command allowed by a rule gets of the user's environment. */
export type ScrubOptions = SecretNames & {
  readonly path: readonly string[];
  /** Further variables that settings pass on, unless they could redirect a program. */
  readonly names?: readonly string[];
};

const PASSED_NAMES: readonly string[] = ["HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"];

/** Variables that make a program load or run something. */
const REFUSED_NAMES: readonly string[] = [
  ...["NODE_OPTIONS", "NODE_PATH", "PYTHON*", "PERL5*", "RUBY*", "GIT_*", "NPM_CONFIG_*", "PAGER", "EDITOR", "VISUAL", "LESS*"],
  ...["RIPGREP_CONFIG_PATH", "PATH", "TERM", "NO_COLOR"],
];

/** Keeps programs from prompting, paging and coloring, and git from writing. */
const ADDED_VARIABLES = {
  TERM: "dumb",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  NO_COLOR: "1",
} as const;

/** The environment of a command allowed by a rule: a few user variables and a fixed search path. */
export function scrubEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { path, names = [], ...secrets }: ScrubOptions,
): Readonly<Record<string, string>> {
  const present = Object.entries(environment);
  const asked = excludeNames(Object.fromEntries(present.filter(([name]) => names.includes(name))), REFUSED_NAMES);
  const fixed = present.filter(([name]) => PASSED_NAMES.includes(name) || name.startsWith("LC_"));
  return { ...createCommandEnvironment({ ...asked, ...Object.fromEntries(fixed) }, secrets), PATH: path.join(":"), ...ADDED_VARIABLES };
}
