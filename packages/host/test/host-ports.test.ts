import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createHostPorts, sessionOutputDirectory } from "../src/index.ts";
import { scratch } from "./scratch.ts";

test("making the ports touches nothing; full output goes below the state directory", async (t) => {
  const stateDirectory = join(scratch(t), "state");
  const ports = createHostPorts({ stateDirectory });
  assert.ok(!existsSync(stateDirectory));
  const file = await ports.files.spill("s_1", "c1");
  const { path } = await file.end();
  assert.ok(path.startsWith(join(stateDirectory, "output", "s_1", "c1-")));
  assert.equal(sessionOutputDirectory(ports.outputDirectory, "s_1"), join(stateDirectory, "output", "s_1"));
});
