import assert from "node:assert/strict";
import { test } from "node:test";
import { projectSettingsFile, settingsLocations } from "@assent/policy";
import { settingsFiles } from "../../../src/desk/approvals/changed-since.ts";

for (const env of [{ HOME: "/home/ada" }, { HOME: "/home/ada", XDG_CONFIG_HOME: "/etc/ada" }]) {
  test(`approve looks at the settings files that policies are read from: ${JSON.stringify(env)}`, () => {
    const { userFile, teamFile } = settingsLocations(env);
    assert.deepEqual(settingsFiles({ workspace: "/work" }, env), [userFile, teamFile, projectSettingsFile("/work")]);
  });
}

test("of a session with --policy only that file counts", () => {
  assert.deepEqual(settingsFiles({ workspace: "/work", options: { policy: "/p.json" } }, {}), ["/p.json"]);
});
