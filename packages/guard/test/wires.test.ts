import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AGENT_NAMES, AGENTS, type AgentName, type GuardEvent, type GuardVerdict } from "@assent/guard";

const claude = (event: string, more: object = {}): string =>
  JSON.stringify({
    session_id: "S",
    cwd: "/w",
    hook_event_name: event,
    tool_name: "Bash",
    tool_input: { command: "ls" },
    tool_use_id: "t1",
    ...more,
  });
const opencode = (event: string, more: object = {}): string =>
  JSON.stringify({ event, session: "S", cwd: "/w", tool: "bash", args: { command: "ls" }, call: "t1", ...more });
const BEFORE: Readonly<Record<AgentName, string>> = {
  claude: claude("PreToolUse"),
  codex: claude("PreToolUse"),
  qwen: claude("PreToolUse"),
  gemini: claude("BeforeTool"),
  opencode: opencode("tool.execute.before"),
};

/** Whether a fault in the event denies a call. */
const CLAUDE_EVENTS = [
  ["PreToolUse", true],
  ["PermissionRequest", true],
  ["Surprise", true],
  ["PostToolUse", false],
  ["PermissionDenied", false],
  ["Stop", false],
  ["SessionEnd", false],
] as const;
const FAULTS: Readonly<Record<AgentName, readonly (readonly [event: string, decides: boolean])[]>> = {
  claude: CLAUDE_EVENTS,
  codex: CLAUDE_EVENTS,
  qwen: CLAUDE_EVENTS,
  gemini: [
    ["BeforeTool", true],
    ["AfterTool", false],
    ["SessionEnd", false],
  ],
  opencode: [
    ["tool.execute.before", true],
    ["tool.execute.after", false],
    ["session.deleted", false],
  ],
};

describe("the event before a call", () => {
  for (const name of AGENT_NAMES) {
    test(`${AGENTS[name].title}: is to be decided`, () => {
      const event = AGENTS[name].read(BEFORE[name]);
      assert.equal(event.kind, "decide");
      assert.ok("call" in event);
      assert.deepEqual([event.call.session, event.call.cwd, event.call.input], ["S", "/w", { command: "ls" }]);
    });
    for (const missing of ["session_id", "session", "cwd", "tool_name", "tool"]) {
      const fields = JSON.parse(BEFORE[name]);
      if (!(missing in fields)) continue;
      test(`${AGENTS[name].title}: without ${missing} it is an error`, () => {
        delete fields[missing];
        assert.throws(() => AGENTS[name].read(JSON.stringify(fields)), {
          name: "GuardInputError",
          message: `The hook's input has no ${missing}.`,
        });
      });
    }
    test(`${AGENTS[name].title}: only an event that decides nothing may lack fields without a denial`, () => {
      for (const [event, decides] of FAULTS[name])
        assert.throws(
          () => AGENTS[name].read(JSON.stringify({ event, hook_event_name: event })),
          { name: "GuardInputError", decides },
          event,
        );
    });
    for (const more of [{ cwd: "." }, { tool_input: "rm -rf x", args: "rm -rf x" }, { tool_input: ["rm"], args: ["rm"] }])
      test(`${AGENTS[name].title}: ${JSON.stringify(more)} is an error`, () =>
        assert.throws(() => AGENTS[name].read(JSON.stringify({ ...JSON.parse(BEFORE[name]), ...more })), { name: "GuardInputError" }));
    for (const event of ["Surprise", "pretooluse", "PreToolUse ", "constructor", "__proto__"])
      test(`${AGENTS[name].title}: the unknown event ${event} is an error`, () =>
        assert.throws(() => AGENTS[name].read(JSON.stringify({ ...JSON.parse(BEFORE[name]), event, hook_event_name: event })), {
          name: "GuardInputError",
          message: `Assent does not know the event "${event}".`,
        }));
    for (const nonsense of ["", "nonsense", "[]", "null", "{}"])
      test(`${AGENTS[name].title}: ${nonsense || "nothing"} is an error`, () =>
        assert.throws(() => AGENTS[name].read(nonsense), { name: "GuardInputError" }));
  }
});

type EventRow = readonly [sentence: string, agent: AgentName, text: string, expected: object];

const EVENTS: readonly EventRow[] = [
  [
    "the result of a call",
    "claude",
    claude("PostToolUse", { tool_response: { stdout: "ok" } }),
    { kind: "report", outcome: "applied", text: '{"stdout":"ok"}' },
  ],
  ["a failed call", "claude", claude("PostToolUseFailure", { error: "exit 1" }), { kind: "report", outcome: "failed", text: "exit 1" }],
  [
    "a call that the dialog refused",
    "claude",
    claude("PermissionDenied", { reason: "no" }),
    { kind: "report", outcome: "not_applied", text: "no" },
  ],
  [
    "the result of Gemini CLI",
    "gemini",
    claude("AfterTool", { tool_response: { llmContent: "done" } }),
    { kind: "report", outcome: "applied", text: "done" },
  ],
  [
    "a failure of Gemini CLI",
    "gemini",
    claude("AfterTool", { tool_response: { llmContent: "", error: "no" } }),
    { kind: "report", outcome: "failed", text: "no" },
  ],
  [
    "the result of opencode",
    "opencode",
    opencode("tool.execute.after", { output: "ok" }),
    { kind: "report", outcome: "applied", text: "ok" },
  ],
  ["the end of a session", "qwen", claude("SessionEnd"), { kind: "session-end", session: "S" }],
  ["the end of a turn", "claude", claude("Stop"), { kind: "turn-end", session: "S" }],
];

for (const [sentence, agent, text, expected] of EVENTS)
  test(sentence, () => assert.partialDeepStrictEqual(AGENTS[agent].read(text), expected));

test("a long result is cut in the middle, and says so", () => {
  const event = AGENTS.claude.read(claude("PostToolUse", { tool_response: "x".repeat(100_000) }));
  assert.ok(event.kind === "report" && event.text.length < 17_000 && event.text.includes("84000 characters left out"));
});

type AnswerRow = readonly [agent: AgentName, verdict: GuardVerdict["verdict"], stdout: RegExp, exit: number];

const ANSWERS: readonly AnswerRow[] = [
  ["claude", "allow", /"permissionDecision":"allow"/, 0],
  ["claude", "dialog", /"permissionDecision":"ask"/, 0],
  ["qwen", "allow", /^\{"decision":"allow"\}\n$/, 0],
  ["qwen", "dialog", /"permissionDecision":"ask"/, 0],
  ["codex", "allow", /^$/, 0],
  ["codex", "dialog", /^$/, 0],
  ["gemini", "allow", /^\{"decision":"allow"\}\n$/, 0],
  ["opencode", "allow", /^$/, 0],
];

describe("answers", () => {
  const before: GuardEvent = { kind: "decide", call: { session: "S", cwd: "/w", tool: "Bash", input: {} } };
  for (const [agent, verdict, stdout, exit] of ANSWERS) {
    test(`${AGENTS[agent].title}: ${verdict}`, () => {
      const output = AGENTS[agent].write({ verdict } as GuardVerdict, before);
      assert.match(output.stdout, stdout);
      assert.deepEqual([output.stderr, output.exit], ["", exit]);
    });
  }
  for (const agent of AGENT_NAMES)
    test(`${AGENTS[agent].title}: a deny is exit code 2 and its reason`, () => {
      const output = AGENTS[agent].write({ verdict: "deny", reason: 'a "no"' }, before);
      assert.deepEqual([output, output.exit], [AGENTS[agent].deny('a "no"'), 2]);
      if (agent !== "qwen") return assert.deepEqual([output.stdout, output.stderr], ["", 'a "no"\n']);
      const { decision, hookSpecificOutput } = JSON.parse(output.stdout); // the wrapper moves it to stderr
      assert.deepEqual(
        [decision, hookSpecificOutput.permissionDecision, hookSpecificOutput.permissionDecisionReason],
        ["deny", "deny", 'a "no"'],
      );
    });
});
