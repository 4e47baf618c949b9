import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HookBody } from "@assent/core/parts";
import { refersToWorkspace } from "../../src/hooks/workspace-program.ts";

const TEXTS: readonly [command: string, leads: boolean][] = [
  ['"$ASSENT_PROJECT_DIR"/.assent/guard.sh', true],
  [["$", "{CLAUDE_PROJECT_DIR}/hooks/x.sh"].join(""), true],
  ["sh -c 'cd \"$CLAUDE_PROJECT_DIR\" && npm test'", true],
  ["git -C $ASSENT_PROJECT_DIR status", true],
  [".assent/guard.sh", true],
  ["sh .assent/guard.sh", true],
  ["bash '.claude/hooks/x.sh'", true],
  ["./check.sh", true],
  ["node ../check.js", true],
  ["X=1 ./check.sh", true],
  ["env -i X=1 hooks/check", true],
  ["/usr/bin/env node hooks/check.js", true],
  ["out=$(scripts/check.sh)", true],
  ["scripts/check.sh --all", true],
  ["/usr/bin/true && ./check.sh", true],
  ["/home/me/hooks/check.sh", false],
  ["~/hooks/check.sh", false],
  ["$HOME/hooks/check.sh", false],
  ["check --all", false],
  ["jq -e '.tool_input.command' > /dev/null", false],
  ["X=/opt/x check", false],
  ["sh /opt/x .assent/y", false],
  [`echo '{"file_path":".assent/settings.json"}'`, false],
  [`jq -e '.tool_input.file_path | test("src/|lib/")'`, false],
  ["grep -qE 'src/|lib/' && exit 2", false],
  ["echo $ASSENT_PROJECT_DIRECTORY", false],
];

describe("a hook leads into the workspace", () => {
  for (const [command, leads] of TEXTS) {
    test(`${leads ? "by" : "not by"} the text ${command}`, () =>
      assert.equal(refersToWorkspace({ body: { type: "command", command } }), leads));
  }

  const BODIES: readonly [sentence: string, body: HookBody, leads: boolean][] = [
    ["by a word for its program", { type: "command", command: "bash", args: ["-c", '"$ASSENT_PROJECT_DIR"/x'] }, true],
    ["by a script for its program", { type: "command", command: "sh", args: [".assent/x"] }, true],
    ["not by a path that it is given", { type: "command", command: "/opt/x", args: ["src/x"] }, false],
    ["by a program that is started without a shell", { type: "command", command: "hooks/x", args: [] }, true],
    ["by a variable of its own", { type: "command", command: "$CHECK", env: { CHECK: ".assent/x" } }, true],
    ["not by a function of this process", { type: "function", function: ".assent/x" }, false],
  ];
  for (const [sentence, body, leads] of BODIES) test(sentence, () => assert.equal(refersToWorkspace({ body }), leads));
});
