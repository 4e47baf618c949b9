import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createRegistry } from "@assent/core";
import { manualClock } from "@assent/core/testing";
import { nodeDigest } from "@assent/host";
import type { SettingsProblem } from "../src/settings/problem.ts";
import { createWorkspacePolicy } from "../src/workspace-policy.ts";
import { scratch } from "./scratch.ts";
import { bench } from "./workspace-bench.ts";

test("after a broken reload the last good hooks stay, and the error is reported", (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "workspace"));
  const userFile = join(root, "settings.json");
  const write = (hooks: object): void => writeFileSync(userFile, JSON.stringify({ hooks }), { mode: 0o600 });
  const running = (command: string): object => ({ Stop: [{ hooks: [{ type: "command", command }] }] });
  const session = { allow: [], ask: [], deny: [] };
  const told: SettingsProblem[] = [];
  write(running("old"));
  const { source, hooks } = createWorkspacePolicy({
    places: { workspace: join(root, "workspace"), home: root, userFile, teamFile: join(root, "none"), session, trusted: false },
    stateDirectory: join(root, "state"),
    digest: nodeDigest,
    tools: () => createRegistry(),
    follow: { clock: manualClock(), warn: (problem) => told.push(problem), changed: () => undefined },
  });
  t.after(source.close);
  const names = (): readonly string[] => hooks().map(({ name }) => name);
  assert.deepEqual(names(), ["old"]);
  write({ Nope: [] });
  source.refresh();
  assert.deepEqual([names(), told.map(({ type, file }) => [type, file])], [["old"], [["settings_unknown_key", userFile]]]);
  write(running("new"));
  source.refresh();
  assert.deepEqual(names(), ["new"]);
});

const SETTINGS = {
  additionalDirectories: ["/opt/more"],
  permissions: { sensitive: ["secrets/**"], protect: ["infra/**"], allow: ["Edit(infra/**)", "Shell(npm test)"] },
};

describe("one workspace's settings reach all that judges in it", () => {
  const rows: readonly (readonly [sentence: string, tool: "read" | "write", path: string, said: string])[] = [
    ["a file of the workspace, in a mode that edits", "write", "src/a", "allow mode"],
    ["a directory that settings add is inside, too", "write", "/opt/more/a", "allow mode"],
    ["any other is outside", "write", "/opt/other/a", "ask default"],
    ["files protected by settings ask even if a rule allows them", "write", "infra/a", "ask guard safeguard:control-file"],
    ["and may be read", "read", "infra/a", "allow readonly_hint"],
    ["a settings file is closed", "write", "../h/.config/assent/settings.json", "deny guard safeguard:own-files"],
    ["and so is the place of the record", "read", "../h/state/assent/ledger", "deny guard safeguard:own-files"],
    ["but for the outputs of the session", "read", "../h/state/assent/out/1", "allow readonly_hint"],
  ];
  for (const [sentence, tool, file_path, said] of rows) {
    test(sentence, async (t) => {
      const outputs: string[] = [];
      const { judge, root } = bench(t, SETTINGS, { readable: () => outputs, flags: { mode: "auto-edit" } });
      outputs.push(join(root, "h/state/assent/out"));
      assert.equal(await judge(tool, { file_path, ...(tool === "write" && { content: "" }) }), said);
    });
  }

  test("a file that settings call sensitive is one to everybody", async (t) => {
    const { assess, rules } = bench(t, SETTINGS);
    for (const [file_path, sensitive] of [
      ["secrets/a", true],
      ["other/a", false],
    ] as const) {
      const { facts, request } = await assess("write", { file_path, content: "" });
      assert.match(JSON.stringify(facts.view), new RegExp(`"sensitive":${sensitive}`, "u"));
      const [unit] = request.units;
      assert.ok(unit);
      assert.equal(rules.parse("Edit").covers(request, unit), !sensitive);
    }
  });

  test("the session's plan is known, as it is named then", async (t) => {
    let plan: string | undefined;
    const { assess, workspace } = bench(t, {}, { planFile: () => plan });
    const isPlan = async (): Promise<boolean> => (await assess("write", { file_path: "plan.md", content: "" })).facts.planFile === true;
    assert.equal(await isPlan(), false);
    plan = join(workspace, "plan.md");
    assert.equal(await isPlan(), true);
  });

  test("what only reads needs not to be remembered, and no rule is offered for a script that an earlier command may change", async (t) => {
    const { assess, rules } = bench(t, SETTINGS);
    const offered = async (command: string): Promise<readonly string[]> =>
      rules.offer((await assess("shell", { command })).request).map((text) => JSON.parse(text).rule);
    assert.deepEqual(await offered("ls && npm run build && ls"), ["Shell(npm run build)"]);
    assert.deepEqual(await offered("npm test && npm run build"), []);
  });

  test("where a hint of reading counts for nothing, what only reads is remembered like all else", async (t) => {
    const { assess, rules } = bench(t, { permissions: { ...SETTINGS.permissions, readOnlyHint: "ask" } });
    const { request } = await assess("shell", { command: "npm test && ls" });
    assert.deepEqual(rules.offer(request), ["Shell(ls)"]);
  });

  test("tools learn which files the current rules hide", (t) => {
    const { told, workspace } = bench(t, { permissions: { deny: ["Read(private/**)"] } }, { files: ["private/a"] });
    assert.deepEqual([told.hides(join(workspace, "private/a")), told.hides(join(workspace, "a"))], [true, false]);
  });

  test("settings are not known while the tools are made, and are when they are used", (t) => {
    const seen: (() => unknown)[] = [];
    const { source } = bench(t, SETTINGS, {
      tools: (_look, settings) => {
        assert.throws(settings, /Settings are not loaded yet/u);
        seen.push(settings);
        return createRegistry();
      },
    });
    assert.equal(seen[0]?.(), source.settings());
  });

  test("the programs of a line are found where settings say", async (t) => {
    const place = scratch(t);
    writeFileSync(join(place, "ls"), "#!/bin/sh\n", { mode: 0o755 });
    const [usual, none, other] = await Promise.all(
      [{}, { shell: { path: [] } }, { shell: { path: [place] } }].map(
        async (settings) => (await bench(t, settings).assess("shell", { command: "ls" })).facts.plan,
      ),
    );
    assert.equal(JSON.stringify(usual).includes(place), false);
    assert.match(JSON.stringify(none), /"program":\{/u);
    assert.equal(JSON.stringify(other).includes(join(place, "ls")), true);
  });

  test("the condition of a hook is a rule, and its paths are those the tool tells", async (t) => {
    const hook = { type: "command", command: "x", if: "Edit(src/**)" };
    const { hooks, workspace } = bench(t, { hooks: { PreToolUse: [{ hooks: [hook] }] } });
    const [entry] = hooks();
    const holds = async (tool: string, file_path: string): Promise<unknown> =>
      await entry?.test?.({ tool, kind: "edit", input: { file_path, content: "" }, cwd: workspace });
    assert.deepEqual([await holds("write", "src/a"), await holds("write", "lib/a")], [true, false]);
  });

  test("a command in it is read by the tool's kind, whatever the event calls it", async (t) => {
    const hook = { type: "command", command: "x", if: "Shell(rm *)" };
    const { hooks, workspace } = bench(t, { hooks: { PreToolUse: [{ hooks: [hook] }] } });
    const [entry] = hooks();
    const holds = async (tool: string, command: string): Promise<unknown> =>
      await entry?.test?.({ tool, kind: "execute", input: { command }, cwd: workspace });
    assert.deepEqual(
      [await holds("shell", "ls && rm -r x"), await holds("shell", "ls 'rm x'"), await holds("deploy", "rm x")],
      [true, false, false],
    );
  });
});
