import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { contentText, makeChecker } from "@assent/core";
import { governed } from "../governed.ts";

const { checker } = makeChecker({ label: "user permissions", scope: "user", allow: ["shell:command=touch*"], deny: ["shell:command=rm*"] });

test("a command that a rule allows is not run without a plan of what it runs", async (t) => {
  const { call, root } = await governed(t, [], { mode: "default", checkers: [checker] });
  const report = await call("shell", { command: "touch made" });
  assert.ok(report.outcome !== "waiting");
  assert.deepEqual([report.outcome, report.type], ["failed", "shell_plan_missing"]);
  assert.match(
    contentText(report.result.content),
    /^Error: The command was not run: a rule allows it, but nothing analyzed what it runs\./,
  );
  assert.ok(!readdirSync(root).includes("made"));
});

const rows: readonly (readonly [command: string, ended: string])[] = [
  ["touch made; touch more", "denied denied_unattended"],
  ["touch $(id)", "denied denied_unattended"],
  ["touch a | rm b", "denied denied_by_rule"],
  ["bash -c 'rm b'", "denied denied_by_rule"],
];
for (const [command, ended] of rows) {
  test(`without the policy package, ${JSON.stringify(command)} ends ${ended}`, async (t) => {
    const { call } = await governed(t, [], { mode: "default", checkers: [checker] });
    const report = await call("shell", { command });
    assert.equal(`${report.outcome} ${report.type}`, ended);
  });
}

test("a mode that allows everything runs the text, as the person who chose it wants", async (t) => {
  const { call, root } = await governed(t);
  assert.equal((await call("shell", { command: "touch made" })).outcome, "succeeded");
  assert.ok(readdirSync(root).includes("made"));
});
