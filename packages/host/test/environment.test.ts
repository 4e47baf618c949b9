import assert from "node:assert/strict";
import { test } from "node:test";
import { commandEnvironment } from "../src/environment.ts";

const HIDDEN = [
  ...["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH", "PROMPT_COMMAND"],
  ...["LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "ASSENT_STORE", "ASSENT_X", "BASH_FUNC_git%%"],
  ...["OPENAI_API_KEY", "openai_api_key", "GITHUB_TOKEN", "MY_SECRET", "PGPASSWORD", "DB_PASSWORD_FILE", "AWS_SECRET_ACCESS_KEY", "TOKEN"],
];
const PASSED = ["PATH", "HOME", "LANG", "TERM", "EDITOR", "ENVIRONMENT", "TOKENIZER", "OLD_LD_PRELOAD", "SECRETARY", "NODE_OPTIONS", "X"];

for (const name of HIDDEN) test(`6.2: ${name} never reaches a command`, () => assert.deepEqual(commandEnvironment({ [name]: "v" }), {}));
for (const name of PASSED)
  test(`6.2: ${name} reaches an approved command`, () => assert.deepEqual(commandEnvironment({ [name]: "v" }), { [name]: "v" }));

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
    assert.deepEqual(commandEnvironment({ [name]: "v" }, [glob]), hidden ? {} : { [name]: "v" });
  });
}

test("a variable without a value is left out", () => assert.deepEqual(commandEnvironment({ A: undefined, B: "" }), { B: "" }));
