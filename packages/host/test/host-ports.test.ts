import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as host from "../src/index.ts";
import { scratch } from "./scratch.ts";

test("the package exports exactly these names", () => {
  assert.deepEqual(Object.keys(host).sort(), [
    "ansiRuns",
    "commandEnvironment",
    "currentUser",
    "editText",
    "errorCode",
    "hardenedGit",
    "hookRunner",
    "hostFileChanges",
    "hostFiles",
    "hostPlanFiles",
    "hostPorts",
    "hostProcesses",
    "httpFetch",
    "killRunningGroups",
    "makeAnsiScreen",
    "nodeDigest",
    "openRegular",
    "planFileOf",
    "randomIds",
    "scrubbedEnvironment",
    "sessionOutput",
    "systemClock",
    "thisHolder",
  ]);
});

test("making the ports touches nothing; full output goes below the state directory", async (t) => {
  const stateDirectory = join(scratch(t), "state");
  const ports = host.hostPorts({ stateDirectory });
  assert.ok(!existsSync(stateDirectory));
  const file = await ports.files.spill("s_1", "c1");
  const { path } = await file.end();
  assert.ok(path.startsWith(join(stateDirectory, "output", "s_1", "c1-")));
  assert.equal(host.sessionOutput(ports.outputDirectory, "s_1"), join(stateDirectory, "output", "s_1"));
});
