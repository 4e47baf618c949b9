import { compileGlob } from "@assent/core";
import { PROGRAM_VARIABLES, SECRET_VARIABLES, SHELL_VARIABLES } from "@assent/core/parts";

/** Variables that a project's `secretEnv` cannot hide, because programs would then use other files, settings or servers. */
const STEERING_NAMES = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM*"],
  ...["TMP", "TEMP", "TMPDIR", "HOSTNAME", "XDG_*"],
  ...["*_PATH", "*_HOME", "*_DIR", "*_ROOT", "*_CONFIG", "*_CONFIG_*", "*CONFIG", "*_PROXY", "*_HOST"],
  ...["*_PROFILE", "*_CONTEXT", "*_REGION"],
  ...["*_OPTS", "*_OPTIONS", "*FLAGS", "*_REGISTRY", "*_INDEX_URL", "CI", "EDITOR", "VISUAL", "PAGER", "UMASK"],
  ...["GIT_*", "SSH_*", "GPG_*", "SSL_*", "CURL_*", "NODE_*", "NPM_*", "YARN_*", "PNPM_*", "PYTHON*", "PIP_*", "UV_*", "VIRTUAL_ENV"],
  ...["CARGO_*", "RUST*", "GO*", "JAVA_*", "MAVEN_*", "GRADLE_*", "RUBY*", "GEM_*", "BUNDLE_*", "PERL*", "COMPOSER_*"],
  ...["DOCKER_*", "CONTAINER*", "PODMAN_*", "KUBE*", "HELM_*", "TF_*", "ANSIBLE_*", "VAULT_*"],
  ...["AWS_*", "AZURE_*", "GOOGLE_*", "CLOUDSDK_*", "GH_*"],
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
  const passed = selectNames(environment, [...SHELL_VARIABLES, ...SECRET_VARIABLES, ...secretEnv], false);
  const kept =
    projectSecretEnv.length === 0
      ? passed
      : { ...selectNames(passed, projectSecretEnv, false), ...selectNames(passed, STEERING_NAMES, true) };
  return kept["PATH"] ? kept : { ...kept, PATH: SYSTEM_PATH };
}

/** Variables whose name matches one of the globs, or none of them, ignoring case. */
function selectNames(
  environment: Readonly<Record<string, string | undefined>>,
  globs: readonly string[],
  matching: boolean,
): Readonly<Record<string, string>> {
  const compiled = globs.map((glob) => compileGlob(glob));
  const chosen: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && compiled.some(({ matches }) => matches(name)) === matching) chosen[name] = value;
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

const REFUSED_NAMES: readonly string[] = [...PROGRAM_VARIABLES, "RIPGREP_CONFIG_PATH", "PATH", "TERM", "NO_COLOR"];

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
  const wanted = selectNames(Object.fromEntries(present.filter(([name]) => names.includes(name))), REFUSED_NAMES, false);
  const fixed = present.filter(([name]) => PASSED_NAMES.includes(name) || name.startsWith("LC_"));
  return { ...createCommandEnvironment({ ...wanted, ...Object.fromEntries(fixed) }, secrets), PATH: path.join(":"), ...ADDED_VARIABLES };
}
