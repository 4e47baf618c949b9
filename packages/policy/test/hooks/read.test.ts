import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readHooks } from "../../src/hooks/read.ts";
import { formatProblem } from "../../src/settings/problem.ts";
import type { LayerHooks } from "../../src/settings/read-settings.ts";
import { readSettings } from "../../src/settings/read-settings.ts";

const parts = {
  functions: ["guard"],
  compileRule: (text: string) =>
    text === "Shell(rm *)"
      ? { test: () => true }
      : ({ fault: { type: "rule_syntax", message: "a rule must end with ')'", hint: "write it whole" } } as const),
};

/** The hooks of a settings file with this text. */
function layerOf(text: string, scope: LayerHooks["scope"] = "user"): LayerHooks {
  const { hooks, problems } = readSettings("settings.json", text);
  assert.deepEqual(problems, []);
  return { ...(hooks?.value ?? assert.fail("the text has no hooks")), scope, file: "settings.json" };
}

function read(text: string): ReturnType<typeof readHooks> {
  return readHooks(layerOf(text), parts);
}

function readOf(hooks: unknown): ReturnType<typeof readHooks> {
  return read(JSON.stringify({ hooks }));
}

/** One hook of one event. */
function readOne(event: string, hook: object, group: object = {}): ReturnType<typeof readHooks> {
  return readOf({ [event]: [{ ...group, hooks: [hook] }] });
}

const command = { type: "command", command: "./check.sh" };

test("the contract's example is one hook with everything at its default", () => {
  const { entries, problems } = readOne("PreToolUse", { ...command, timeout: 20 }, { matcher: "Bash|Write" });
  assert.deepEqual(problems, []);
  const [{ matches, ...entry } = assert.fail("no hook"), ...others] = entries;
  assert.deepEqual(others, []);
  assert.deepEqual(entry, {
    event: "pre_tool_use",
    name: "./check.sh",
    source: "user",
    body: { type: "command", command: "./check.sh" },
    timeoutMs: 20_000,
    onFailure: "block",
    async: false,
    definition: entry.definition,
  });
  assert.deepEqual(
    ["Bash", "Write", "Bas", "BashX", "bash"].map((name) => matches?.(name)),
    [true, true, false, false, false],
  );
});

test("both spellings of an event are merged in the order of the file", () => {
  const group = (name: string): object[] => [{ hooks: [{ ...command, name }] }];
  const { entries } = readOf({ PreToolUse: group("a"), Stop: group("s"), pre_tool_use: group("b") });
  assert.deepEqual(
    entries.map(({ event, name }) => `${event} ${name}`),
    ["pre_tool_use a", "stop s", "pre_tool_use b"],
  );
});

test("a direct program, its environment, a function, an if and an async hook", () => {
  const { entries, problems } = readOf({
    PostToolUse: [
      {
        matcher: "*",
        hooks: [
          {
            type: "command",
            command: "prettier",
            args: ["--check", ""],
            env: { A: "" },
            passEnv: ["GITHUB_TOKEN"],
            async: true,
            if: "Shell(rm *)",
          },
          { type: "function", function: "guard", onFailure: "block" },
        ],
      },
    ],
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    entries.map(({ body, name, async, onFailure, matches, test: rule }) => ({
      body,
      name,
      async,
      onFailure,
      all: !matches,
      if: rule !== undefined,
    })),
    [
      {
        body: { type: "command", command: "prettier", args: ["--check", ""], env: { A: "" }, passEnv: ["GITHUB_TOKEN"] },
        name: "prettier",
        async: true,
        onFailure: "warn",
        all: true,
        if: true,
      },
      { body: { type: "function", function: "guard" }, name: "guard", async: false, onFailure: "block", all: true, if: false },
    ],
  );
});

const TIMEOUTS: readonly (readonly [given: number | undefined, ms: number])[] = [
  [undefined, 60_000],
  [0, 60_000],
  [-5, 60_000],
  [0.2, 200],
  [3600, 3_600_000],
];
for (const [given, ms] of TIMEOUTS) {
  test(`a timeout of ${given} seconds is ${ms} ms, for every type`, () => {
    for (const hook of [command, { type: "function", function: "guard" }])
      assert.equal(readOne("PreToolUse", { ...hook, ...(given !== undefined && { timeout: given }) }).entries[0]?.timeoutMs, ms);
  });
}

const DEFAULTS: readonly (readonly [event: string, onFailure: string])[] = [
  ["PreToolUse", "block"],
  ["PermissionRequest", "block"],
  ["tool_response_transform", "block"],
  ["UserPromptSubmit", "block"],
  ["SubagentStart", "block"],
  ["PreCompact", "block"],
  ["PostToolUse", "warn"],
  ["Stop", "warn"],
  ["SessionStart", "warn"],
  ["Notification", "warn"],
];
for (const [event, onFailure] of DEFAULTS) {
  test(`a failure on ${event} is to ${onFailure} unless the hook says otherwise`, () => {
    assert.equal(readOne(event, command).entries[0]?.onFailure, onFailure);
  });
}

test("definitions do not depend on the hook's name or the event's spelling", () => {
  const all = [
    readOne("PreToolUse", command),
    readOne("pre_tool_use", { ...command, name: "other", timeout: 0 }, { matcher: "*" }),
    readOne("PreToolUse", { ...command, onFailure: "block", timeout: 60, async: false }, { matcher: "" }),
  ];
  assert.equal(new Set(all.map(({ entries }) => entries[0]?.definition)).size, 1);
});

test("definitions differ in every field but the name", () => {
  const all = [
    readOne("PostToolUse", command),
    readOne("PostToolUseFailure", command),
    readOne("PostToolUse", command, { matcher: "Bash" }),
    readOne("PostToolUse", { ...command, command: "./other.sh" }),
    readOne("PostToolUse", { ...command, args: [] }),
    readOne("PostToolUse", { ...command, timeout: 1 }),
    readOne("PostToolUse", { ...command, onFailure: "block" }),
    readOne("PostToolUse", { ...command, async: true }),
    readOne("PostToolUse", { ...command, env: { A: "1" } }),
    readOne("PostToolUse", { ...command, passEnv: ["A"] }),
    readOne("PostToolUse", { ...command, if: "Shell(rm *)" }),
    readOne("PostToolUse", { type: "function", function: "guard" }),
  ];
  assert.equal(new Set(all.map(({ entries }) => entries[0]?.definition)).size, all.length);
});

/** What is wrong, where: always the whole configuration is refused. */
const ERRORS: readonly (readonly [name: string, hooks: unknown, key: string, type?: string])[] = [
  ["an unknown event", { PreToolUsed: [] }, "hooks.PreToolUsed", "settings_unknown_key"],
  ["an event named like a property of all objects", { toString: [] }, "hooks.toString", "settings_unknown_key"],
  ["an event that is not a list", { PreToolUse: {} }, "hooks.PreToolUse"],
  ["a group that is not an object", { PreToolUse: ["x"] }, "hooks.PreToolUse[0]"],
  ["a group without hooks", { PreToolUse: [{}] }, "hooks.PreToolUse[0].hooks"],
  ["an unknown field of a group", { PreToolUse: [{ match: "x", hooks: [] }] }, "hooks.PreToolUse[0].match", "settings_unknown_key"],
  ["a matcher that is not a string", { PreToolUse: [{ matcher: 1, hooks: [] }] }, "hooks.PreToolUse[0].matcher"],
  ["a broken regular expression", { PreToolUse: [{ matcher: "(", hooks: [command] }] }, "hooks.PreToolUse[0].matcher"],
  [
    "an expression that is whole only inside brackets",
    { PreToolUse: [{ matcher: "a)|(b", hooks: [command] }] },
    "hooks.PreToolUse[0].matcher",
  ],
  ["a hook that is not an object", { Stop: [{ hooks: ["x"] }] }, "hooks.Stop[0].hooks[0]"],
  ["a hook without a type", { Stop: [{ hooks: [{ command: "x" }] }] }, "hooks.Stop[0].hooks[0].type"],
  ...["prompt", "http", "agent", "mcp_tool", "script"].map(
    (type) => [`the type ${type}`, { Stop: [{ hooks: [{ ...command, type }] }] }, "hooks.Stop[0].hooks[0].type"] as const,
  ),
  ["a command without its text", { Stop: [{ hooks: [{ type: "command" }] }] }, "hooks.Stop[0].hooks[0]"],
  ["a blank command", { Stop: [{ hooks: [{ type: "command", command: " " }] }] }, "hooks.Stop[0].hooks[0].command"],
  ["a command with a NUL", { Stop: [{ hooks: [{ type: "command", command: "a\0b" }] }] }, "hooks.Stop[0].hooks[0].command"],
  ["args that are no list", { Stop: [{ hooks: [{ ...command, args: "x" }] }] }, "hooks.Stop[0].hooks[0].args"],
  ["args with a number", { Stop: [{ hooks: [{ ...command, args: [1] }] }] }, "hooks.Stop[0].hooks[0].args"],
  ["env that is a list", { Stop: [{ hooks: [{ ...command, env: ["A"] }] }] }, "hooks.Stop[0].hooks[0].env"],
  ["env with a number", { Stop: [{ hooks: [{ ...command, env: { A: 1 } }] }] }, "hooks.Stop[0].hooks[0].env"],
  ["env with an invalid name", { Stop: [{ hooks: [{ ...command, env: { "A=B": "" } }] }] }, "hooks.Stop[0].hooks[0].env"],
  ["passEnv with an invalid name", { Stop: [{ hooks: [{ ...command, passEnv: [""] }] }] }, "hooks.Stop[0].hooks[0].passEnv"],
  ["a function without its name", { Stop: [{ hooks: [{ type: "function" }] }] }, "hooks.Stop[0].hooks[0]"],
  ["an unknown function", { Stop: [{ hooks: [{ type: "function", function: "gard" }] }] }, "hooks.Stop[0].hooks[0].function"],
  [
    "a function with a command's field",
    { Stop: [{ hooks: [{ type: "function", function: "guard", args: [] }] }] },
    "hooks.Stop[0].hooks[0].args",
    "settings_unknown_key",
  ],
  [
    "a command with a function's field",
    { Stop: [{ hooks: [{ ...command, function: "guard" }] }] },
    "hooks.Stop[0].hooks[0].function",
    "settings_unknown_key",
  ],
  ["an unknown field", { Stop: [{ hooks: [{ ...command, tmeout: 1 }] }] }, "hooks.Stop[0].hooks[0].tmeout", "settings_unknown_key"],
  ["a timeout that is a text", { Stop: [{ hooks: [{ ...command, timeout: "20" }] }] }, "hooks.Stop[0].hooks[0].timeout"],
  ["a timeout above 3600", { Stop: [{ hooks: [{ ...command, timeout: 3600.1 }] }] }, "hooks.Stop[0].hooks[0].timeout"],
  ["an unknown onFailure", { Stop: [{ hooks: [{ ...command, onFailure: "ignore" }] }] }, "hooks.Stop[0].hooks[0].onFailure"],
  ["a blank name", { Stop: [{ hooks: [{ ...command, name: "" }] }] }, "hooks.Stop[0].hooks[0].name"],
  ["async that is a text", { Stop: [{ hooks: [{ ...command, async: "yes" }] }] }, "hooks.Stop[0].hooks[0].async"],
  ...["PreToolUse", "PermissionRequest", "tool_response_transform", "UserPromptSubmit", "SubagentStart", "PreCompact"].map(
    (event) =>
      [
        `warn on ${event}, which fails closed`,
        { [event]: [{ hooks: [{ ...command, onFailure: "warn" }] }] },
        `hooks.${event}[0].hooks[0].onFailure`,
      ] as const,
  ),
  ...["SessionStart", "turn_start", "Notification"].map(
    (event) =>
      [
        `block on ${event}, where nothing can be blocked`,
        { [event]: [{ hooks: [{ ...command, onFailure: "block" }] }] },
        `hooks.${event}[0].hooks[0].onFailure`,
      ] as const,
  ),
  ...[
    "PreToolUse",
    "PermissionRequest",
    "tool_response_transform",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
  ].map(
    (event) => [`async on ${event}`, { [event]: [{ hooks: [{ ...command, async: true }] }] }, `hooks.${event}[0].hooks[0].async`] as const,
  ),
  [
    "block in a hook that nobody waits for",
    { PostToolUse: [{ hooks: [{ ...command, async: true, onFailure: "block" }] }] },
    "hooks.PostToolUse[0].hooks[0].onFailure",
  ],
  ["a broken if", { PreToolUse: [{ hooks: [{ ...command, if: "Shell(rm" }] }] }, "hooks.PreToolUse[0].hooks[0].if", "rule_syntax"],
  ["an if on an event without a call", { Stop: [{ hooks: [{ ...command, if: "Shell(rm *)" }] }] }, "hooks.Stop[0].hooks[0].if"],
];

describe("a configuration error refuses, with its key, and the hook is not among the hooks", () => {
  for (const [name, hooks, key, type = "settings_type"] of ERRORS) {
    test(name, () => {
      const { entries, problems } = readOf(hooks);
      assert.deepEqual(
        problems.map((problem) => [problem.key, problem.type, problem.effect]),
        [[key, type, "refuse"]],
      );
      if (!key.endsWith("matcher")) assert.deepEqual(entries, []);
    });
  }

  test("every error is reported with file, line and column, an unknown name at the name itself", () => {
    const { problems } = read(`{
  "hooks": {
    "PreToolUse": [
      { "matcher": "(", "hooks": [{ "type": "http" }] },
      { "hooks": [ { "command": "x" } ] },
      { "hooks": [ { "type": "command", "command": "x", "timout": 5 } ] },
      { "hooks": [ { "type": "command", "command": "x", "function": "f" } ] },
    ],
    "Stopp": [],
  },
}`);
    assert.deepEqual(problems.map(formatProblem), [
      "settings.json:4:20: hooks.PreToolUse[0].matcher is not a valid regular expression: Invalid regular expression: /(/: Unterminated group",
      "settings.json:4:45: hooks.PreToolUse[0].hooks[0].type must be command or function",
      "settings.json:5:20: hooks.PreToolUse[1].hooks[0].type must be command or function",
      "settings.json:6:57: hooks.PreToolUse[2].hooks[0].timout is not a known field; did you mean timeout?",
      "settings.json:7:57: hooks.PreToolUse[3].hooks[0].function does not apply to this type of hook",
      "settings.json:9:5: hooks.Stopp is not a known event; did you mean Stop?",
    ]);
  });
});

test("a matcher where there is nothing to match on is a warning, and the hook runs for all", () => {
  const { entries, problems } = readOne("Stop", command, { matcher: "Bash" });
  assert.deepEqual(
    problems.map(({ key, effect }) => [key, effect]),
    [["hooks.Stop[0].matcher", "warning"]],
  );
  assert.deepEqual(
    entries.map(({ matches }) => matches),
    [undefined],
  );
});

test("a name is cut: a whole script as a command must not drown a message", () => {
  assert.equal(readOne("Stop", { type: "command", command: "x".repeat(5_000) }).entries[0]?.name.length, 200);
});
