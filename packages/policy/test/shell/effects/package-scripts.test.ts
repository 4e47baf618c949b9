import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findPackageScript, rememberPackageScripts } from "../../../src/shell/effects/package-scripts.ts";
import { scratch } from "../../scratch.ts";
import { type Files, sampleWorkspace } from "../sample-workspace.ts";

const PACKAGE: Files = {
  "package.json": JSON.stringify({ scripts: { pretest: "lint", test: "node --test", build: "tsc", prebuild: "rm -r dist" } }),
};

test("the text contains the script and its pre and post scripts", (t) => {
  const place = sampleWorkspace(t, PACKAGE);
  const directory = place.workspace;
  assert.deepEqual(findPackageScript(["npm", "test"], place), {
    text: 'pretest: "lint"\ntest: "node --test"\nposttest: ""\n.npmrc: empty',
    directory,
  });
  assert.deepEqual(findPackageScript(["npm", "run", "build"], place), {
    text: 'prebuild: "rm -r dist"\nbuild: "tsc"\npostbuild: ""\n.npmrc: empty',
    directory,
  });
  for (const program of ["pnpm", "yarn"])
    assert.deepEqual(findPackageScript([program, "test"], place), findPackageScript(["npm", "test"], place));
});

test("other commands have no package script", (t) => {
  const place = sampleWorkspace(t, PACKAGE);
  const others = [
    ["npm"],
    ["npm", "t"],
    ["npm", "test", "--", "x"],
    ["npm", "run"],
    ["npm", "run", "build", "x"],
    ["npm", "run", "-s"],
    ["yarn", "build"],
    ["node", "test"],
    ["npm", "run-script", "x"],
    [],
  ];
  for (const words of others) assert.equal(findPackageScript(words, place), undefined, words.join(" "));
});

test("every change of the scripts or of .npmrc changes the text, which does not show .npmrc", (t) => {
  const changes: readonly Files[] = [
    PACKAGE,
    { "package.json": JSON.stringify({ scripts: { pretest: "lint", test: "node --test", posttest: "x" } }) },
    { "package.json": JSON.stringify({ scripts: { test: "node --test" } }) },
    { "package.json": JSON.stringify({ scripts: { test: ["node"] } }) },
    { "package.json": "{ not json" },
    { "package.json": "{ not json either" },
    { ...PACKAGE, ".npmrc": "script-shell=./x\n" },
    { ...PACKAGE, ".npmrc": "//registry/:_authToken=secret\n" },
    {},
  ];
  const texts = changes.map((files) => findPackageScript(["npm", "test"], sampleWorkspace(t, files))?.text ?? "");
  assert.equal(new Set(texts).size, changes.length);
  assert.ok(!texts.join().includes("secret"));
});

test("an empty .npmrc counts as missing, and other package keys do not count", (t) => {
  const before = findPackageScript(["npm", "test"], sampleWorkspace(t, PACKAGE))?.text;
  const scripts = { pretest: "lint", test: "node --test", other: "x" };
  assert.equal(
    findPackageScript(["npm", "test"], sampleWorkspace(t, { "package.json": JSON.stringify({ name: "y", scripts }), ".npmrc": "" }))?.text,
    before,
  );
});

test("the nearest package inside the workspace counts", (t) => {
  const place = sampleWorkspace(t, { ...PACKAGE, "lib/package.json": '{"scripts":{"test":"inner"}}', "lib/a/b/c": "x", "src/x": "x" });
  const testOf = (cwd: string, workspace = place.workspace): string | undefined =>
    findPackageScript(["npm", "test"], { cwd: join(place.workspace, cwd), workspace })?.text.split("\n")[1];
  assert.equal(testOf("lib/a/b"), 'test: "inner"');
  assert.equal(testOf("src"), 'test: "node --test"');
  assert.equal(testOf("src", join(place.workspace, "src")), 'test: ""');
});

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
  ["a package.json that is not JSON", "{"],
  ["a package without scripts", "{}"],
  ["scripts that are a list", '{"scripts":["a"]}'],
] as const) {
  test(`${sentence} has none`, (t) => {
    const root = scratch(t);
    if (text !== undefined) writeFileSync(join(root, "package.json"), text);
    assert.equal(rememberPackageScripts(root)(["npm", "run", "a"]), undefined);
  });
}
