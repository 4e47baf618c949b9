import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Kind } from "@assent/core";
import * as policy from "../src/index.ts";
import { pathFacts } from "../src/path-facts.ts";
import { scratch } from "./scratch.ts";

test("the package exports exactly these names", () => {
  assert.deepEqual(Object.keys(policy).sort(), [
    "WorkspaceNotFoundError",
    "findWorkspace",
    "isInside",
    "isSensitive",
    "ownFilesGuards",
    "pathFacts",
    "pathScope",
    "resolvePath",
  ]);
});

const ask = (workspace: string, kind: Kind, paths: readonly string[] | undefined) =>
  pathFacts({ workspace })({ tool: "t", kind, input: { command: "ls" }, cwd: workspace, locations: paths?.map((path) => ({ path })) });

test("each path is a unit, and the request is inside only if every path is", async (t) => {
  const root = scratch(t);
  const both = await ask(root, "edit", ["a", "/etc/x"]);
  assert.deepEqual(
    both.units.map(({ subject }) => subject),
    [join(root, "a"), "/etc/x"],
  );
  assert.deepEqual([both.insideWorkspace, (await ask(root, "edit", ["a", "b"])).insideWorkspace], [false, true]);
});

test("PT3: people are shown where a path really leads", async (t) => {
  const root = scratch(t);
  symlinkSync("/etc", join(root, "link"));
  const { view } = await ask(root, "edit", ["link/x"]);
  assert.deepEqual(view, { paths: [{ lexical: join(root, "link/x"), real: "/etc/x", inside: false, sensitive: false }] });
});

for (const [name, locations] of [
  ["none", []],
  ["unknown ones", undefined],
] as const) {
  test(`a request with ${name} is one unit, known to be nowhere`, async () => {
    assert.deepEqual(await ask("/w", "execute", locations), { units: [{ subject: "ls" }], binds: {} });
  });
}

test("PT14: a parent swapped for a link after judging changes what a writing request is bound to", async (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "dir"));
  const before = await ask(root, "edit", ["dir/new/x"]);
  mkdirSync(join(root, "dir/new"));
  assert.deepEqual((await ask(root, "edit", ["dir/new/x"])).binds, before.binds);
  symlinkSync("/tmp", join(root, "dir/other"));
  assert.notDeepEqual((await ask(root, "edit", ["dir/other/x"])).binds, before.binds);
  const linked = await ask(root, "edit", ["dir/other/x"]);
  unlinkSync(join(root, "dir/other"));
  symlinkSync("/etc", join(root, "dir/other"));
  assert.notDeepEqual((await ask(root, "edit", ["dir/other/x"])).binds, linked.binds);
  assert.deepEqual((await ask(root, "read", ["dir/other/x"])).binds, {});
});
