import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const directory = fileURLToPath(new URL("../examples", import.meta.url));
const examples = readdirSync(directory).filter((name) => name.endsWith(".ts"));

test("there are examples", () => assert.ok(examples.length >= 4));

for (const name of examples) {
  test(`examples/${name} runs, and prints what is promised`, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--conditions=@assent/source", `${directory}/${name}`], {
      encoding: "utf8",
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, ASSENT_STORE: undefined },
    });
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    const promised = `${directory}/${name.replace(/\.ts$/, ".out")}`;
    if (existsSync(promised)) assert.equal(stdout, readFileSync(promised, "utf8"));
    else assert.match(stdout, /pass [1-9]\d*\n.*fail 0/, "an example without a promised output is a test file");
  });

  test(`examples/${name} has fewer than 60 lines`, () => {
    assert.ok(readFileSync(`${directory}/${name}`, "utf8").split("\n").length <= 60);
  });
}
