import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject, Kind, RequestFacts } from "@assent/core";
import { policyFacts } from "../src/facts.ts";
import { pathScope } from "../src/path-scope.ts";
import { scratch } from "./scratch.ts";

const facts = (workspace: string) => policyFacts({ workspace, look: pathScope({ workspace }) });

const ask = (workspace: string, kind: Kind, paths: readonly string[] | undefined) =>
  facts(workspace)({ tool: "t", kind, input: {}, cwd: workspace, locations: paths?.map((path) => ({ path })) });

const shell = async (look: ReturnType<typeof facts>, workspace: string, input: { command: string; cwd?: string }): Promise<RequestFacts> =>
  await look({ tool: "shell", kind: "execute", input, cwd: workspace, locations: undefined });

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
  assert.deepEqual(view, { paths: [{ lexical: join(root, "link/x"), real: "/etc/x", inside: false, sensitive: false, control: false }] });
});

for (const [name, locations] of [
  ["none", []],
  ["unknown ones", undefined],
] as const) {
  test(`a request with ${name} is one unit, known to be nowhere`, async () => {
    assert.deepEqual(await ask("/w", "other", locations), { units: [{ subject: "t" }], binds: {} });
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

test("each simple command of a shell line is a unit, and the plan that is judged is the plan that runs", async (t) => {
  const root = scratch(t);
  const { units, safe, plan, planDigest } = await shell(facts(root), root, { command: "ls && pwd | cat" });
  assert.deepEqual(
    units.map(({ subject }) => subject),
    ["ls", "pwd", "cat"],
  );
  assert.equal(safe, true);
  assert.ok(plan !== undefined && planDigest?.startsWith("sha256:"));
});

test("what is shown of a shell line is the plan that was judged, whenever somebody looks at it", async (t) => {
  const root = scratch(t);
  const found = await shell(facts(root), root, { command: "ls $X; pwd" });
  writeFileSync(join(root, "late"), "");
  const { plan, hazards } = found.view as { plan: JsonObject; hazards: readonly JsonObject[] };
  assert.deepEqual([plan["digest"], plan["shape"], plan["cwd"]], [found.planDigest, "text", root]);
  assert.deepEqual(plan["commands"], [
    { argv: ["ls", "$X"], path: [";[0]"], cwd: root },
    { argv: ["pwd"], path: [";[1]"], cwd: root },
  ]);
  assert.deepEqual(
    hazards.map(({ id }) => id),
    ["expansion"],
  );
  assert.deepEqual(found.view, found.view);
});

test("5.4: a working directory outside the workspace is a hazard; one inside is where the line runs", async (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "src"));
  assert.equal((await shell(facts(root), root, { command: "ls", cwd: "/etc" })).safe, false);
  assert.equal((await shell(facts(root), root, { command: "ls", cwd: "src" })).safe, true);
  assert.match(JSON.stringify((await shell(facts(root), root, { command: "ls", cwd: "src" })).view), /\/src"/);
});

test("S27: a script that changed since it was last looked at is shown with both digests", async (t) => {
  const root = scratch(t);
  const look = facts(root);
  const scripts = async (): Promise<Record<string, string>[]> =>
    JSON.parse(JSON.stringify((await shell(look, root, { command: "sh build.sh" })).view)).scripts;
  writeFileSync(join(root, "build.sh"), "echo one");
  const [first] = await scripts();
  assert.equal(first?.["before"], undefined);
  writeFileSync(join(root, "build.sh"), "echo two");
  const [second] = await scripts();
  assert.equal(second?.["before"], first?.["digest"]);
  assert.notEqual(second?.["digest"], first?.["digest"]);
});

test("a fetch is one unit with its host", async () => {
  const found = await facts("/w")({ tool: "fetch", kind: "fetch", input: { url: "https://Example.test./x" }, cwd: "/w", locations: [] });
  assert.deepEqual([found.units[0]?.subject, found.view], ["example.test", { host: "example.test" }]);
});

const SIZES: readonly (readonly [sentence: string, there: number, input: JsonObject, planFile: boolean])[] = [
  ["a whole text of 256 KiB", 0, { content: "x".repeat(256 * 1024) }, true],
  ["a whole text above that", 0, { content: "x".repeat(256 * 1024 + 1) }, false],
  ["a short text in place of a long one", 300 * 1024, { content: "x" }, true],
  ["an edit that may make it too long", 256 * 1024 - 4, { old_string: "a", new_string: "bbbb" }, false],
  ["a small edit", 1024, { old_string: "a", new_string: "bbbb" }, true],
];
for (const [sentence, there, input, planFile] of SIZES) {
  test(`plan-mode 3: ${sentence} is ${planFile ? "" : "not "}a write of the plan`, async (t) => {
    const workspace = scratch(t);
    const plan = join(workspace, "plan.md");
    writeFileSync(plan, "a".repeat(there));
    const gather = policyFacts({ workspace, look: pathScope({ workspace, planFile: () => plan }) });
    const found = await gather({ tool: "write", kind: "edit", input, cwd: workspace, locations: [{ path: "plan.md" }] });
    assert.equal(found.planFile === true, planFile);
    const two = await gather({ tool: "write", kind: "edit", input, cwd: workspace, locations: [{ path: "plan.md" }, { path: "other" }] });
    assert.equal(two.planFile, undefined, "every location must be the plan");
  });
}
