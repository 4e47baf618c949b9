import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { rememberPackageScripts } from "../../../src/shell/effects/package-scripts.ts";
import { scratch } from "../../scratch.ts";

test("package scripts are remembered for every command that runs them", (t) => {
  const root = scratch(t);
  const write = (lint: string): void =>
    writeFileSync(join(root, "package.json"), JSON.stringify({ scripts: { test: "node --test", lint } }));
  write("biome check");
  const known = rememberPackageScripts(root);
  for (const words of [
    ["npm", "test"],
    ["pnpm", "test"],
    ["yarn", "test"],
    ["npm", "run", "test"],
    ["npm", "run", "lint"],
  ])
    assert.match(known(words) ?? "", /^sha256:[0-9a-f]{64}$/u, words.join(" "));
  for (const words of [["npm", "run", "none"], ["npm", "lint"], ["npm"], []]) assert.equal(known(words), undefined, words.join(" "));
  const before = known(["npm", "run", "lint"]);
  assert.notEqual(before, known(["npm", "run", "test"]));
  write("curl x");
  assert.equal(known(["npm", "run", "lint"]), before);
  assert.notEqual(rememberPackageScripts(root)(["npm", "run", "lint"]), before);
});

for (const [sentence, text] of [
  ["no package", undefined],
  ["a package that is no JSON", "{"],
  ["a package without scripts", "{}"],
  ["scripts that are a list", '{"scripts":["a"]}'],
] as const) {
  test(`${sentence} has none`, (t) => {
    const root = scratch(t);
    if (text !== undefined) writeFileSync(join(root, "package.json"), text);
    assert.equal(rememberPackageScripts(root)(["npm", "run", "a"]), undefined);
  });
}
