import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Tool } from "@assent/core";
import { hostPorts } from "@assent/host";
import { builtinTools } from "@assent/tools";

const ROOT = join(import.meta.dirname, "..");
const TOOLS = builtinTools({ workspace: "/", ...hostPorts({ stateDirectory: "/unused" }), environment: {} });
const looks = ({ kind }: Tool): boolean => kind === "read" || kind === "search";
const changes = ({ kind }: Tool): boolean => kind === "edit";

/** Tools whose whole input is their title, or whose result is drawn in place of one. */
const UNTITLED = /^(?:ast_edit|todo|ask|resolve|enter_plan_mode|(?:task|schedule)_\w+)$/;

/** Lists of built-in tools outside of `tools/src/builtin-tools.ts`: where the names stand, and which tools are meant. */
const LISTS: readonly (readonly [sentence: string, file: string, names: RegExp, isMeant: (tool: Tool) => boolean])[] = [
  ["rules named Read know what looks", "packages/policy/src/rules/kinds.ts", /name: "Read",\s+tools: \[(.*)\]/, looks],
  ["rules named Edit know what changes files", "packages/policy/src/rules/kinds.ts", /aliases: \["Write"\],\s+tools: \[(.*)\]/, changes],
  ["docs/rules.md says what Read covers", "docs/rules.md", /built-in tools `Read` covers (.*), `Edit` covers/, looks],
  ["docs/rules.md says what Edit covers", "docs/rules.md", /`Edit` covers (.*?)\./, changes],
  [
    "a title says what a call is about",
    "packages/cli/src/tui/transcript/call-words.ts",
    /MAIN: .*= (\{[^}]*\})/,
    ({ name }) => !UNTITLED.test(name),
  ],
  [
    "what only looks fills no screen",
    "packages/cli/src/tui/transcript/draw-call.ts",
    /QUIET: .*= \[(.*)\]/,
    (tool) => looks(tool) || tool.kind === "fetch",
  ],
  ["the explorer has all that looks", "packages/agent/src/agents/explorer.md", /^tools: \[(.*), todo\]/m, looks],
  [
    "models are told of what to prefer over shell",
    "packages/agent/src/prompts/system.md",
    /over `shell`: (.*)\./,
    (tool) => looks(tool) || changes(tool),
  ],
];

for (const [sentence, file, names, isMeant] of LISTS)
  test(sentence, () => {
    const list = names.exec(readFileSync(join(ROOT, file), "utf8"))?.[1];
    assert.ok(list !== undefined, `${file} has no list where ${names} looks for one: move the pattern with it.`);
    const named = file.endsWith("call-words.ts") ? [...list.matchAll(/(\w+):/g)] : [...list.matchAll(/(\w+)/g)];
    const found = named.map(([, name]) => name).filter((name) => name !== "and");
    const meant = TOOLS.filter(isMeant).map(({ name }) => name);
    assert.ok(meant.length > 0);
    assert.deepEqual(
      found.sort(),
      meant.sort(),
      `${file} names the built-in tools one by one: add the new one there, or say here why it is not meant.`,
    );
  });
