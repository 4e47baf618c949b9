import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createRegistry, defineTool, type Tool } from "@assent/core";
import { z } from "zod";
import { parseAgent } from "../../src/agents/definition.ts";
import { builtInAgentsFolder, findUnknownTools, loadAgents, resolveMode, selectAgentTools } from "../../src/index.ts";

const WHOLE = `---
name: reviewer
description: Reviews a change.
model: anthropic:claude
tools: [read, "ast_*"]
disallowedTools: [ast_edit]
mode: plan
background: true
maxTurns: 7
maxTimeMs: 60000
---
You review.

---
Not front matter.
`;

describe("an agent's file", () => {
  test("says everything in its front matter, and the prompt below it", () => {
    assert.deepEqual(parseAgent(WHOLE), {
      definition: {
        name: "reviewer",
        description: "Reviews a change.",
        model: "anthropic:claude",
        tools: ["read", "ast_*"],
        disallowedTools: ["ast_edit"],
        mode: "plan",
        background: true,
        maxTurns: 7,
        maxTimeMs: 60_000,
        prompt: "You review.\n\n---\nNot front matter.",
      },
      warnings: [],
    });
  });

  test("need say no more than its name and when to use it; line ends and a mark of byte order do not matter", () => {
    const parsed = parseAgent("\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\nHello.\r\n");
    assert.ok("definition" in parsed);
    const { model, tools, disallowedTools, mode, background, maxTurns, maxTimeMs, prompt } = parsed.definition;
    assert.deepEqual(
      [model, tools, disallowedTools, mode, background, maxTurns, maxTimeMs, prompt],
      [null, undefined, [], null, false, 100, undefined, "Hello."],
    );
  });

  const NAMED = "name: a\ndescription: b\n";
  const FAULTS: readonly [sentence: string, text: string, line: number, message: string | RegExp][] = [
    ["a file without front matter", "You review.", 1, "missing front matter"],
    ["front matter that does not end", "---\nname: a\n", 1, "missing front matter"],
    ["front matter that is a list", "---\n- a\n---\n", 2, "front matter must be a mapping"],
    ["front matter that is empty", "---\n---\nx", 2, "front matter must be a mapping"],
    ["YAML that does not parse", `---\n${NAMED}tools: [a\n---\n`, 4, /^Flow sequence(?!.* at line)/],
    ["background must be true or false", `---\n${NAMED}background: "yes"\n---\n`, 4, "background must be true or false"],
    ["fork is reserved", "---\nname: fork\ndescription: b\n---\n", 2, '"fork" is reserved'],
    ["main is reserved", "---\nname: main\ndescription: b\n---\n", 2, '"main" is reserved'],
    ["a prompt that is too long", `---\n${NAMED}---\n${"é".repeat(131_073)}`, 5, "prompt larger than 262144 bytes"],
    ["yolo is not for definitions", `---\n${NAMED}mode: yolo\n---\n`, 4, 'mode "yolo" is not allowed in an agent definition'],
    ["a mode that is none", `---\n${NAMED}mode: careful\n---\n`, 4, "mode must be default, plan or auto-edit"],
    ["a name that is none", "---\nname: Ab\ndescription: b\n---\n", 2, /^name must match/],
    ["no name", "---\ndescription: b\n---\n", 2, "name is missing"],
    ["no description", "---\nname: a\n---\n", 2, "description is missing"],
    ["an empty description", '---\nname: a\ndescription: ""\n---\n', 3, /^description must be/],
    ["a description that is too long", `---\nname: a\ndescription: ${"x".repeat(1025)}\n---\n`, 3, /^description must be/],
    ["tools that are no list", `---\n${NAMED}tools: read\n---\n`, 4, "tools must be a list of names"],
    ["turns below one", `---\n${NAMED}maxTurns: 0\n---\n`, 4, "maxTurns must be an integer from 1 to 1000"],
    ["too little time", `---\n${NAMED}maxTimeMs: 999\n---\n`, 4, "maxTimeMs must be an integer from 1000 to 86400000"],
    ["a field that stands twice", "---\nname: a\nname: b\ndescription: c\n---\n", 3, /unique/],
  ];
  for (const [sentence, text, line, message] of FAULTS) {
    test(`${sentence}: it is left out, with its line`, () => {
      const parsed = parseAgent(text);
      assert.ok("problem" in parsed, JSON.stringify(parsed));
      assert.equal(parsed.problem.line, line, parsed.problem.message);
      if (typeof message === "string") assert.equal(parsed.problem.message, message);
      else assert.match(parsed.problem.message, message);
    });
  }

  test("unknown fields are named in one warning", () => {
    const parsed = parseAgent(`---\n${NAMED}color: red\nicon: x\n---\n`);
    assert.ok("definition" in parsed);
    assert.deepEqual(parsed.warnings, ["unknown fields color, icon"]);
  });
});

function places(): { readonly root: string; readonly put: (path: string, text: string) => void; readonly [Symbol.dispose]: () => void } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-agents-")));
  for (const name of ["w/.assent/agents", "user", "built"]) mkdirSync(join(root, name), { recursive: true });
  return {
    root,
    put: (path, text) => writeFileSync(join(root, path), text),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

const agent = (name: string, description = "d"): string => `---\nname: ${name}\ndescription: ${description}\n---\nP.`;

function load(root: string, trusted: boolean): ReturnType<typeof loadAgents> {
  return loadAgents({
    workspace: join(root, "w"),
    trusted,
    folders: [
      { path: join(root, "w/.assent/agents"), level: "project" },
      { path: join(root, "user"), level: "user" },
      { path: join(root, "built"), level: "built-in" },
      { path: join(root, "nowhere"), level: "user" },
    ],
  });
}

describe("folders of agents", () => {
  test("the first definition of a name wins; an untrusted project overrides no name, and its own agents are only listed", () => {
    using at = places();
    at.put("w/.assent/agents/a.md", agent("shared", "project"));
    at.put("w/.assent/agents/b.md", agent("own", "project"));
    at.put("user/a.md", agent("shared", "user"));
    at.put("built/a.md", agent("shared", "built-in"));
    at.put("built/b.md", agent("plain", "built-in"));
    const shown = (trusted: boolean): unknown =>
      load(at.root, trusted)
        .agents.map(({ name, description, usable }) => `${name} ${description} ${usable}`)
        .sort();
    assert.deepEqual(shown(true), ["own project true", "plain built-in true", "shared project true"]);
    assert.deepEqual(shown(false), ["own project false", "plain built-in true", "shared user true"]);
  });

  test("of two with one name in a folder the first by file name counts, and the other is an error", () => {
    using at = places();
    at.put("user/b.md", agent("x", "second"));
    at.put("user/a.md", agent("x", "first"));
    const { agents, problems } = load(at.root, true);
    assert.deepEqual(
      agents.map(({ description }) => description),
      ["first"],
    );
    assert.deepEqual(problems, [
      { file: join(at.root, "user/b.md"), line: 1, message: `"x" is already defined in ${join(at.root, "user/a.md")}` },
    ]);
  });

  test("a link out of the workspace is left out; one inside it is a file like any other", () => {
    using at = places();
    at.put("outside.md", agent("outside"));
    at.put("w/inside.md", agent("inside"));
    symlinkSync(join(at.root, "outside.md"), join(at.root, "w/.assent/agents/a.md"));
    symlinkSync(join(at.root, "w/inside.md"), join(at.root, "w/.assent/agents/b.md"));
    const { agents, problems } = load(at.root, true);
    assert.deepEqual([agents.map(({ name }) => name), problems.map(({ message }) => message)], [["inside"], ["outside the workspace"]]);
  });

  test("a pipe among them is not waited for, and neither a huge file nor a folder is read", () => {
    using at = places();
    execFileSync("mkfifo", [join(at.root, "user/a.md")]);
    mkdirSync(join(at.root, "user/b.md"));
    at.put("user/c.md", `${agent("c")}${"x".repeat(1_100_000)}`);
    assert.deepEqual(
      load(at.root, true).problems.map(({ message }) => message),
      ["is not a regular file", "is not a regular file", "prompt larger than 262144 bytes"],
    );
  });

  test("those that come with the program can be used, and change nothing", () => {
    const { agents, problems, warnings } = loadAgents({
      folders: [{ path: builtInAgentsFolder(), level: "built-in" }],
      workspace: "/",
      trusted: false,
    });
    assert.deepEqual([problems, warnings], [[], []]);
    assert.deepEqual(
      agents.map(({ name, mode, usable }) => [name, mode, usable]),
      [["explorer", "plan", true]],
    );
    assert.ok(agents[0]?.tools?.every((name) => !["shell", "edit", "write"].includes(name)));
  });
});

const tool = (name: string, description = name): Tool =>
  defineTool({ name, description, kind: "read", input: z.object({}), run: () => "" });

describe("the tools of an agent", () => {
  const registry = createRegistry();
  for (const name of ["read", "edit", "ast_grep", "ast_edit", "agent"]) registry.add(tool(name));
  const inline = [tool("mine"), tool("read", "another")];
  const CASES: readonly [
    sentence: string,
    given: Parameters<typeof selectAgentTools>[0]["selection"],
    disallowed: readonly string[],
    offered: readonly string[],
  ][] = [
    ["no list: all but `agent`", undefined, [], ["read", "edit", "ast_grep", "ast_edit"]],
    ["an empty list: none", [], [], []],
    ["names: those", ["edit", "read"], [], ["edit", "read"]],
    ["a name that no tool has counts for nothing", ["read", "nope"], [], ["read"]],
    ["globs: what they match", ["ast_*"], [], ["ast_grep", "ast_edit"]],
    ["a glob and a name for one tool: once", ["ast_*", "ast_edit"], [], ["ast_grep", "ast_edit"]],
    ["`agent` where it is named", ["agent"], [], ["agent"]],
    ["what is not allowed is taken away at last", ["*"], ["ast_*", "agent"], ["read", "edit"]],
    ["names of other agents: the tools of ours they mean", ["Read", "replace", "WebSearch"], [], ["read", "edit"]],
    ["a name of another agent takes away what it means, and what does something close", ["*"], ["Edit", "Task"], ["read", "ast_grep"]],
    ["declarations alone: exactly those, in their order", inline, [], ["mine", "another"]],
    ["names and declarations: both, a declaration in place of its namesake", ["edit", "read", ...inline], [], ["edit", "another", "mine"]],
  ];
  for (const [sentence, given, disallowed, offered] of CASES) {
    test(sentence, () => {
      assert.deepEqual(
        selectAgentTools({ registry, selection: given, disallowed }).map(({ description }) => description),
        offered,
      );
    });
  }

  for (const [sentence, given] of [
    ["two names", ["read", "read"]],
    ["two declarations", [tool("mine"), tool("mine")]],
  ] as const) {
    test(`a repeated name is an error: ${sentence}`, () => {
      assert.throws(() => selectAgentTools({ registry, selection: given }), { type: "agent_init_failed" });
    });
  }

  test("unknown names and globs without a match are reported; names of MCP tools are not", () => {
    const named = ["read", "nope", "mcp__*", "mcp__tracker", "Bash", "WebSearch", "ast_*", "Web*", "Bash(rm *)"];
    assert.deepEqual(findUnknownTools(named, registry), ["nope", "Web*", "Bash(rm *)"]);
  });
});

describe("the mode of an agent", () => {
  const CASES: readonly [Parameters<typeof resolveMode>[0], string, string][] = [
    [null, "yolo", "yolo"],
    [null, "plan", "plan"],
    ["plan", "yolo", "plan"],
    ["plan", "default", "plan"],
    ["default", "yolo", "default"],
    ["default", "plan", "plan"],
    ["auto-edit", "plan", "plan"],
    ["auto-edit", "default", "auto-edit"],
    ["auto-edit", "yolo", "auto-edit"],
  ];
  for (const [defined, session, mode] of CASES) {
    test(`${defined ?? "nothing"} in a session in ${session} is ${mode}`, () => {
      assert.equal(resolveMode(defined, session), mode);
    });
  }
});
