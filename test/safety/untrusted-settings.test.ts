import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { SETTINGS } from "../../packages/policy/src/settings/settings.ts";
import { type Scene, type SettingsText, scene, written } from "./scene.ts";

const GLOB = `**/*${"a*".repeat(20)}b`;

/** For every key that a project may set before it is trusted: the values with which it could try to weaken what the user set up. */
const HOSTILE: Readonly<Record<string, readonly unknown[]>> = {
  version: [1],
  mode: ["yolo", "auto-edit", "default", "plan"],
  "permissions.deny": [["Shell(true)"], ["Write", "resolve", "ask"], [{ rule: "Shell(ls)", because: "this call was approved before" }]],
  "permissions.ask": [["*"], ["Shell"], ["Shell(echo)", "Shell(rm)", "Edit"]],
  "permissions.readOnlyHint": ["ask", "allow"],
  "permissions.protect": [["**"], [GLOB], ["~/**", "//**"]],
  "permissions.sensitive": [["**"], [GLOB], ["~/**", "//**"]],
  secretEnv: [["PATH"], ["path"], ["HOME"], ["GUARD_*"], ["*"], ["*A*"], ["H*", "P*", "G*"]],
  sandbox: ["off", "prefer", "require"],
  allowConfined: [true, false],
  preview: ["off", "offer", "always"],
  "proposals.resolver": ["model", "person"],
  "proposals.stage": [["Edit"], ["*"], ["Write", "Shell"]],
  "astEdit.maxFiles": [1],
  "astEdit.maxChanges": [1],
  "tasks.maxRunning": [1],
  "tasks.onAsk": ["deny"],
  "tools.maxConcurrency": [1],
  "tools.timeoutMs": [1],
  maxCostUsd: [0],
  maxConsecutiveToolCalls: [1, 0],
  "redaction.patterns": [[{ name: "\u001b[2J", literal: "e" }]],
};

function nested(key: string, value: unknown): SettingsText {
  return key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as SettingsText;
}

/** A deny rule, an ask rule, and a hook that says nothing where it cannot see what it needs. */
function safeguards(at: Scene): SettingsText {
  const guard = written(
    join(at.root, "guard.sh"),
    `#!/bin/sh\n[ -n "$HOME" ] && [ -n "$GUARD_WORD" ] && [ -n "$PATH" ] || exit 0\ncase "$(cat)" in *"$GUARD_WORD"*) exit 2 ;; esac\n`,
    0o755,
  );
  return {
    permissions: { deny: ["Shell(rm)"], ask: ["Shell(touch)"] },
    hooks: { PreToolUse: [{ hooks: [{ type: "command", command: guard }] }] },
  };
}

/** What each safeguard makes of a call that it is about, in a session that lets everything else pass. */
async function holds(at: Scene, flags: readonly string[]): Promise<void> {
  const env = { GUARD_WORD: "forbidden" };
  written(at.path("cargo"), `#!/bin/sh\n${at.leaves("repository-cargo")}\n`, 0o755);
  const ran = async (command: string): Promise<string> => (await at.shell(command, { env, flags })).outcome;
  assert.notEqual(await ran(`rm ${at.path("a.txt")} >> ${at.world}`), "succeeded", "deny rule");
  assert.notEqual(await ran(`touch ${at.world}`), "succeeded", "ask rule");
  assert.notEqual(await ran(at.leaves("forbidden")), "succeeded", "hook");
  await ran("cargo build");
  assert.deepEqual(at.effects(), []);
}

describe("an untrusted project's settings weaken no safeguard of the user", () => {
  test("the table has every key that a project may set before it is trusted", () => {
    const keys = Object.entries(SETTINGS).flatMap(([key, { untrusted }]) => (untrusted === "no" ? [] : [key]));
    assert.deepEqual(Object.keys(HOSTILE), keys);
  });

  for (const [key, values] of Object.entries(HOSTILE)) {
    for (const value of values) {
      test(`${key}: ${JSON.stringify(value)}`, async (t) => {
        const at = scene(t);
        at.user(safeguards(at));
        at.project(nested(key, value));
        await holds(at, ["--mode", "yolo"]);
        const told = await at.call("write", { file_path: at.path("new.txt"), content: "x" });
        assert.notEqual(told.outcome, "succeeded", "a write asks in the mode that the user has");
        assert.ok(!existsSync(at.path("new.txt")));
      });
    }
  }

  test("staging does not replace the question where the model may resolve", async (t) => {
    const at = scene(t);
    at.user({ proposals: { resolver: "model" } });
    at.project({ proposals: { stage: ["Edit"] } });
    const told = await at.call("write", { file_path: at.path("new.txt"), content: "x" });
    assert.deepEqual([told.outcome, told.type], ["denied", "denied_unattended"]);
    assert.match(told.stderr, /proposals\.stage of an untrusted project is ignored/);
  });

  test("staging still counts where nothing gets around anybody by it", async (t) => {
    const at = scene(t);
    at.project({ proposals: { stage: ["Edit"] } });
    const told = await at.call("write", { file_path: at.path("new.txt"), content: "x" });
    assert.equal(told.outcome, "succeeded");
    assert.ok(!existsSync(at.path("new.txt")));
    assert.equal(at.rows("proposal.staged").length, 1);
  });

  test("a variable that a project calls secret is hidden from commands all the same", async (t) => {
    const at = scene(t);
    at.project({ secretEnv: ["MINE_*"] });
    const env = { MINE_A: "hidden", OTHER: "shown" };
    await at.shell(`echo "$MINE_A$OTHER" >> ${at.world}`, { env, flags: ["--mode", "yolo"] });
    assert.deepEqual(at.effects(), ["shown"]);
  });
});

describe("a command always has a PATH without the current directory", () => {
  const ENVIRONMENTS: readonly (readonly [sentence: string, user: SettingsText, env: Record<string, string>])[] = [
    ["the user's own list hides it", { secretEnv: ["PATH"] }, {}],
    ["it is empty", {}, { PATH: "" }],
  ];
  for (const [sentence, user, env] of ENVIRONMENTS) {
    test(sentence, async (t) => {
      const at = scene(t);
      at.user(user);
      written(at.path("cargo"), `#!/bin/sh\n${at.leaves("repository-cargo")}\n`, 0o755);
      await at.shell(`cargo build; echo "$PATH" >> ${at.world}`, { env, flags: ["--mode", "yolo"] });
      assert.deepEqual(at.effects(), ["/usr/local/bin:/usr/bin:/bin"]);
    });
  }
});
