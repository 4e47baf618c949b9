import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createRegistry } from "@assent/core";
import { manualClock } from "@assent/core/testing";
import { nodeDigest } from "@assent/host";
import type { Problem } from "../src/settings/problem.ts";
import { workspacePolicy } from "../src/workspace-policy.ts";
import { scratch } from "./scratch.ts";

test("hooks section 1: at a reload with an error the last good hooks stay, and the error is told", (t) => {
  const root = scratch(t);
  mkdirSync(join(root, "workspace"));
  const userFile = join(root, "settings.json");
  const write = (hooks: object): void => writeFileSync(userFile, JSON.stringify({ hooks }), { mode: 0o600 });
  const running = (command: string): object => ({ Stop: [{ hooks: [{ type: "command", command }] }] });
  const session = { allow: [], ask: [], deny: [] };
  const told: Problem[] = [];
  write(running("old"));
  const { source, hooks } = workspacePolicy({
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
