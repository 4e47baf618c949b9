import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createRegistry, type Kind } from "@assent/core";
import { createHostPorts } from "@assent/host";
import { builtinTools, TOOL_LISTINGS, type ToolListing } from "@assent/tools";
import { createRuleTools, findGroup } from "../packages/policy/src/rules/tool-groups.ts";

const ROOT = join(import.meta.dirname, "..");
const COMMAND = "ASSENT_WRITE=1 npx node --conditions=@assent/source --test test/tool-names.test.ts";

type ToolTest = (tool: ToolListing) => boolean;

const isOf =
  (...kinds: readonly Kind[]): ToolTest =>
  ({ kind }) =>
    kinds.includes(kind);
const isResolve: ToolTest = ({ name }) => name === "resolve";

const plain = (names: readonly string[]): string => names.join(", ");
const asCode = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
const asSentence = (names: readonly string[]): string => asCode(names).replace(/, (?=[^,]*$)/, " and ");

/** A list of built-in tools in a file that cannot be derived: where it is (the part between `before` and `after`), and which tools it has. */
type WrittenList = {
  readonly sentence: string;
  readonly file: string;
  readonly before: string;
  readonly after: string;
  readonly isMeant: ToolTest;
  readonly write: (names: readonly string[]) => string;
};

const RULES = { file: "docs/rules.md", write: asSentence };
const SECURITY = { file: "SECURITY.md", before: "| ", write: asCode };

const LISTS: readonly WrittenList[] = [
  {
    sentence: "docs/rules.md says what Read covers",
    ...RULES,
    before: "built-in tools `Read` covers ",
    after: ", `Edit` covers",
    isMeant: isOf("read", "search"),
  },
  { sentence: "docs/rules.md says what Edit covers", ...RULES, before: "`Edit` covers ", after: ". `assent tools`", isMeant: isOf("edit") },
  {
    sentence: "the explorer has every tool that reads or searches",
    file: "packages/agent/src/agents/built-in/explorer.md",
    before: "tools: [",
    after: ", todo]",
    isMeant: isOf("read", "search"),
    write: plain,
  },
  {
    sentence: "SECURITY.md lists the tools that read",
    ...SECURITY,
    after: " | allowed inside the workspace",
    isMeant: isOf("read", "search"),
  },
  {
    sentence: "SECURITY.md lists the tools that affect only the session",
    ...SECURITY,
    after: " | allowed: they affect only the session",
    isMeant: isOf("think"),
  },
  {
    sentence: "SECURITY.md lists the tools that run commands",
    ...SECURITY,
    after: " | asks, unless every command",
    isMeant: isOf("execute"),
  },
  {
    sentence: "SECURITY.md lists the tools that change files",
    ...SECURITY,
    after: " | asks. If the change is",
    isMeant: isOf("edit", "delete", "move"),
  },
  {
    sentence: "SECURITY.md lists the other tools that ask",
    ...SECURITY,
    after: " | asks |",
    isMeant: (tool) => isOf("fetch", "other")(tool) && !isResolve(tool),
  },
  { sentence: "SECURITY.md says what becomes of resolve", ...SECURITY, after: " | applying a file change", isMeant: isResolve },
];

for (const { sentence, file, before, after, isMeant, write } of LISTS)
  test(sentence, () => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const end = text.indexOf(after);
    const start = text.lastIndexOf(before, end) + before.length;
    assert.ok(end !== -1 && start >= before.length, `${file} has no list between "${before}" and "${after}": change this row to match it.`);
    const wanted = write(TOOL_LISTINGS.filter(isMeant).map(({ name }) => name));
    if (process.env["ASSENT_WRITE"] === "1") writeFileSync(join(ROOT, file), text.slice(0, start) + wanted + text.slice(end));
    else assert.equal(text.slice(start, end).replace(/\s+/g, " "), wanted, `Write the list in ${file}: ${COMMAND}`);
  });

test("rules named Read and Edit cover every tool that reads, searches or edits", () => {
  const registry = createRegistry();
  for (const tool of builtinTools({ workspace: "/", ...createHostPorts({ stateDirectory: "/nonexistent" }), environment: {} }))
    registry.add(tool);
  const tools = createRuleTools(registry);
  for (const { name, kind } of TOOL_LISTINGS.filter(isOf("read", "search", "edit", "delete", "move"))) {
    const group = findGroup(kind === "read" || kind === "search" ? "Read" : "Edit");
    assert.ok(group?.covers(kind, tools.get(name)), `Declare the locations of '${name}': rules about paths match these.`);
  }
});
