import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TOOL_LISTINGS, type ToolListing } from "@assent/tools";

const ROOT = join(import.meta.dirname, "..");
const looks = ({ kind }: ToolListing): boolean => kind === "read" || kind === "search";
const changes = ({ kind }: ToolListing): boolean => kind === "edit";

/**
 * The lists of built-in tools that cannot be derived from `TOOL_LISTINGS`: documents, and files of packages that may not import the tools.
 * Each row says where the names are and which tools the list has.
 */
const LISTS: readonly (readonly [sentence: string, file: string, names: RegExp, isMeant: (tool: ToolListing) => boolean])[] = [
  ["rules named Read cover every tool that looks", "packages/policy/src/rules/kinds.ts", /name: "Read",\s+tools: \[(.*)\]/, looks],
  [
    "rules named Edit cover every tool that changes files",
    "packages/policy/src/rules/kinds.ts",
    /aliases: \["Write"\],\s+tools: \[(.*)\]/,
    changes,
  ],
  ["docs/rules.md says what Read covers", "docs/rules.md", /built-in tools `Read` covers (.*), `Edit` covers/, looks],
  ["docs/rules.md says what Edit covers", "docs/rules.md", /`Edit` covers (.*?)\./, changes],
  ["the explorer has every tool that looks", "packages/agent/src/agents/built-in/explorer.md", /^tools: \[(.*), todo\]/m, looks],
];

for (const [sentence, file, names, isMeant] of LISTS)
  test(sentence, () => {
    const list = names.exec(readFileSync(join(ROOT, file), "utf8"))?.[1];
    assert.ok(list !== undefined, `${file} has no list that matches ${names}: change the pattern to where the list is now.`);
    const found = [...list.matchAll(/(\w+)/g)].map(([, name]) => name).filter((name) => name !== "and");
    const meant = TOOL_LISTINGS.filter(isMeant).map(({ name }) => name);
    assert.ok(meant.length > 0);
    assert.deepEqual(found.sort(), meant.sort(), `${file} names the built-in tools one by one: add the new one there.`);
  });
