import assert from "node:assert/strict";
import { test } from "node:test";
import { createCommandEnvironment, scrubEnvironment } from "../../src/system/environment.ts";

const HIDDEN = [
  ...["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH", "PROMPT_COMMAND"],
  ...["LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "ASSENT_STORE", "ASSENT_X", "BASH_FUNC_git%%"],
  ...["OPENAI_API_KEY", "openai_api_key", "GITHUB_TOKEN", "MY_SECRET", "PGPASSWORD", "DB_PASSWORD_FILE", "AWS_SECRET_ACCESS_KEY", "TOKEN"],
];
const PASSED = ["PATH", "HOME", "LANG", "TERM", "EDITOR", "ENVIRONMENT", "TOKENIZER", "OLD_LD_PRELOAD", "SECRETARY", "NODE_OPTIONS", "X"];

/** What every command gets where the environment has none. */
const PATH = "/usr/local/bin:/usr/bin:/bin";

for (const name of HIDDEN)
  test(`${name} never reaches a command`, () => assert.deepEqual(createCommandEnvironment({ [name]: "v" }), { PATH }));
for (const name of PASSED)
  test(`${name} reaches an approved command`, () => assert.deepEqual(createCommandEnvironment({ [name]: "v" }), { PATH, [name]: "v" }));

const GLOBS: readonly (readonly [glob: string, name: string, hidden: boolean])[] = [
  ["VAULT_*", "VAULT_ADDR", true],
  ["VAULT_*", "OLD_VAULT_ADDR", false],
  ["*_CERT_*", "MY_CERT_PATH", true],
  ["vault", "VAULT", true],
  ["A*A", "A", false],
  ["A*A", "AA", true],
  ["A*B*C", "AxBxBC", true],
  ["A*B*C", "AxCxB", false],
  ["X.*", "XY", false],
];
for (const [glob, name, hidden] of GLOBS) {
  test(`secretEnv ${glob} ${hidden ? "hides" : "passes"} ${name}`, () => {
    assert.deepEqual(createCommandEnvironment({ [name]: "v" }, { secretEnv: [glob] }), hidden ? { PATH } : { PATH, [name]: "v" });
  });
}

const STEERING = [
  ...["PATH", "HOME", "USER", "SHELL", "LANG", "LC_ALL", "TMPDIR", "XDG_CONFIG_HOME", "https_proxy", "SSL_CERT_FILE", "GIT_CONFIG_GLOBAL"],
  ...[
    "npm_config_ignore_scripts",
    "NPM_CONFIG_REGISTRY",
    "DOCKER_HOST",
    "KUBECONFIG",
    "AWS_PROFILE",
    "GOPROXY",
    "NODE_OPTIONS",
    "PIP_INDEX_URL",
  ],
];
for (const glob of ["*", "*O*", "[name]"]) {
  for (const name of STEERING) {
    const projectSecretEnv = [glob === "[name]" ? name : glob];
    test(`a project's secretEnv ${projectSecretEnv} does not hide ${name}`, () =>
      assert.equal(createCommandEnvironment({ [name]: "v" }, { projectSecretEnv })[name], "v"));
  }
}
for (const name of ["DATABASE_URL", "DEPLOY_X", "X"]) {
  test(`a project's secretEnv hides ${name}`, () =>
    assert.deepEqual(createCommandEnvironment({ [name]: "v" }, { projectSecretEnv: [name] }), { PATH }));
}
for (const [sentence, environment] of [
  ["hidden by the user's own list", { PATH: "/x" }],
  ["empty", { PATH: "" }],
  ["absent", {}],
] as const) {
  test(`a PATH that is ${sentence} is the system's`, () =>
    assert.deepEqual(createCommandEnvironment(environment, { secretEnv: ["P*"] }), { PATH }));
}

test("a variable without a value is left out", () => assert.deepEqual(createCommandEnvironment({ A: undefined, B: "" }), { PATH, B: "" }));

const ADDED = {
  PATH: "/usr/bin:/bin",
  TERM: "dumb",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  NO_COLOR: "1",
};
const path = ["/usr/bin", "/bin"];

test("what a rule allowed gets these names and no other", () => {
  const own = { HOME: "/h", USER: "u", LOGNAME: "u", LANG: "C", LC_ALL: "C", LC_CTYPE: "x", TZ: "UTC", TMPDIR: "/t" };
  const other = {
    TERM: "xterm",
    PATH: ".:/evil",
    EDITOR: "vi",
    GIT_PAGER: "./x",
    RIPGREP_CONFIG_PATH: "./rc",
    GIT_CONFIG_GLOBAL: "./g",
    A: "1",
  };
  const never = { LD_PRELOAD: "x", BASH_ENV: "x", NODE_OPTIONS: "--require ./x", LC_API_KEY: "k", ASSENT_STORE: "s", LESSOPEN: "|x" };
  assert.deepEqual(scrubEnvironment({ ...own, ...other, ...never }, { path }), { ...own, ...ADDED });
  assert.deepEqual(scrubEnvironment({}, { path }), ADDED);
});

const ASKED: readonly (readonly [name: string, passed: boolean])[] = [
  ...["CI", "JAVA_HOME", "XDG_CONFIG_HOME", "MAKEFLAGS"].map((name) => [name, true] as const),
  ...["NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PERL5LIB", "RUBYOPT", "GIT_DIR", "GIT_SSH_COMMAND"].map((name) => [name, false] as const),
  ...["npm_config_registry", "NPM_CONFIG_X", "PAGER", "EDITOR", "VISUAL", "LESSOPEN", "LESS"].map((name) => [name, false] as const),
  ...["RIPGREP_CONFIG_PATH", "__proto__", "LD_PRELOAD", "BASH_ENV", "IFS", "ASSENT_X", "MY_TOKEN", "BASH_FUNC_x%%"].map(
    (name) => [name, false] as const,
  ),
];
for (const [name, passed] of ASKED) {
  test(`${name}, named by settings, ${passed ? "is passed on" : "is refused"}`, () => {
    assert.deepEqual(scrubEnvironment({ [name]: "v" }, { path, names: [name] }), passed ? { [name]: "v", ...ADDED } : ADDED);
  });
}

test("what is added cannot be named away, and a further secret is hidden", () => {
  const environment = { PATH: "/evil", TERM: "xterm", NO_COLOR: "", GIT_TERMINAL_PROMPT: "1", VAULT: "v", ABSENT: undefined };
  const names = [...Object.keys(environment), "MISSING"];
  assert.deepEqual(scrubEnvironment(environment, { path, names, secretEnv: ["VAU*"] }), ADDED);
});
