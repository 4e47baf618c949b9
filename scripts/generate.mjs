// Writes every generated list: docs/api, the pinned commands and their table in docs/commands.md, and the readings of rules and settings. Review the difference.
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");

/** Tests that write their expected text when ASSENT_WRITE is set. They still fail if something else is wrong. */
const WRITERS = [
  "packages/cli/test/command-line/parse.test.ts",
  "packages/policy/test/rules/rule-readings.test.ts",
  "packages/policy/test/settings/settings-readings.test.ts",
  "packages/policy/test/shell/judged-lines.test.ts",
];

function run(args) {
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit", env: { ...process.env, ASSENT_WRITE: "1" } });
  return status === 0;
}

const wrote = [
  run([join("scripts", "api-reference.mjs")]),
  run(["--conditions=@assent/source", "--test", "--test-reporter=dot", ...WRITERS]),
];
process.exitCode = wrote.every(Boolean) ? 0 : 1;
