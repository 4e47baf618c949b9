import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { DIALECTS, USAGE } from "../../packages/agent/test/wire/dialects.ts";
import { modelServer } from "../../packages/agent/test/wire/model-server.ts";
import { type Place, place, until } from "../../packages/cli/test/support/assent.ts";

/** A client that is not installed here; its command line and its lines are written down as it sends them. */

type Line = { readonly [key: string]: unknown } & { readonly type?: string; readonly subtype?: string };
type Host = {
  /** Answers `can_use_tool`; absent: as a host without the callback does. */
  readonly canUseTool?: (request: Line) => object;
  readonly hooks?: object;
  /** More of `initialize`. */
  readonly joining?: object;
  readonly hook?: (request: Line) => object;
  readonly flags?: readonly string[];
  /** Another model than the script. */
  readonly model?: string;
  readonly env?: Record<string, string>;
  /** What the model of each agent says. */
  readonly agents?: object;
  readonly prompts?: readonly string[];
  /** Done when the first prompt has its result. */
  readonly between?: (ask: (request: object) => Promise<Line>) => Promise<void>;
  readonly running?: (ask: (request: object) => Promise<Line>) => Promise<void>;
};
type Ended = { readonly lines: readonly Line[]; readonly code: number | null };

/** Starts it as that client does: no subcommand, values in one word, the first prompt right behind the first request. */
async function run(at: Place, turns: readonly object[], host: Host = {}): Promise<Ended> {
  const script = at.write("script.json", JSON.stringify({ turns, ...(host.agents && { agents: host.agents }) }));
  const argv = [
    ...["--output-format", "stream-json", "--verbose", "--input-format", "stream-json", `--model=${host.model ?? `script:${script}`}`],
    ...(host.canUseTool ? ["--permission-prompt-tool=stdio"] : []),
    ...(host.flags ?? []),
  ];
  const child = at.start(argv, { env: host.env ?? {} });
  child.stderr?.resume();
  const lines: Line[] = [];
  const { ask, hear } = controls(child, host);
  const [first = "Go.", ...others] = host.prompts ?? [];
  void ask({ subtype: "initialize", ...(host.hooks && { hooks: host.hooks }), systemPrompt: [""], ...host.joining });
  say(child, prompt(first));
  const running = host.running?.(ask);
  let awaited = 1 + others.length;
  assert.ok(child.stdout);
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line: Line = JSON.parse(text);
    lines.push(line);
    hear(line);
    if (line.type !== "result") return;
    awaited -= 1;
    if (awaited === 0) child.stdin?.end();
    else void (host.between?.(ask) ?? Promise.resolve()).then(() => say(child, prompt(others.shift() ?? "")));
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  await running;
  return { lines, code };
}

function prompt(text: string): object {
  return { type: "user", session_id: "", message: { role: "user", content: [{ type: "text", text }] }, parent_tool_use_id: null };
}

function say(child: ChildProcess, line: object): void {
  child.stdin?.write(`${JSON.stringify(line)}\n`);
}

/** Requests of both sides: ours with short random ids, theirs answered as the client does. */
function controls(child: ChildProcess, host: Host): { ask: (request: object) => Promise<Line>; hear: (line: Line) => void } {
  const open = new Map<unknown, (response: Line) => void>();
  const answer = (id: unknown, response: object): void =>
    say(child, { type: "control_response", response: { request_id: id, ...response } });
  const requested = (id: unknown, request: Line): void => {
    const callback = { can_use_tool: host.canUseTool, hook_callback: host.hook }[String(request.subtype)];
    const extra = request.subtype === "can_use_tool" ? { toolUseID: request["tool_use_id"] } : {};
    if (callback) answer(id, { subtype: "success", response: { ...callback(request), ...extra } });
    else answer(id, { subtype: "error", error: "canUseTool callback is not provided." });
  };
  return {
    ask: (request) =>
      new Promise((resolve) => {
        const id = Math.random().toString(36).substring(2, 15);
        open.set(id, resolve);
        say(child, { request_id: id, type: "control_request", request });
      }),
    hear(line) {
      if (line.type === "control_request") requested(line["request_id"], line["request"] as Line);
      if (line.type === "control_response") open.get((line["response"] as Line)["request_id"])?.(line["response"] as Line);
    },
  };
}

function results(lines: readonly Line[]): readonly unknown[] {
  return lines.flatMap((line) => (line.type === "result" ? [line.subtype] : []));
}

const shell = (command: string, id = "c1"): object => ({ tool: "shell", id, input: { command } });
const once = (outcome: string): readonly object[] => [
  { calls: [shell("touch shown.txt")] },
  { expect: { result: { call: "c1", outcome } }, say: "Done." },
];

describe("a prompt", () => {
  test("is answered, and every line has what that client reads", async () => {
    using at = place();
    const { lines, code } = await run(at, [{ say: "Hello." }], { flags: ["--include-partial-messages"] });
    assert.equal(code, 0);
    assert.deepEqual(results(lines), ["success"]);
    const shown = lines.filter(({ type }) => !type?.startsWith("control_"));
    for (const line of shown) {
      assert.ok(typeof line["uuid"] === "string" && typeof line["session_id"] === "string", JSON.stringify(line));
      assert.ok(line["parent_tool_use_id"] === null, JSON.stringify(line));
    }
    const streamed = lines.filter(({ type }) => type === "stream_event").map((line) => (line["event"] as Line).type);
    assert.deepEqual([streamed[0], streamed.at(-1)], ["message_start", "message_stop"]);
  });

  test("the answer to the first request has the lists that client offers to its host", async () => {
    using at = place();
    const { lines } = await run(at, [{ say: "Hello." }]);
    const responses = lines.flatMap(({ type, response }) => (type === "control_response" ? [(response as Line)["response"] as Line] : []));
    for (const list of ["commands", "models", "agents"]) assert.ok(Array.isArray(responses[0]?.[list]), list);
  });

  test("an error has its texts in a list: that client joins them", async () => {
    using at = place();
    const { lines, code } = await run(at, [{ error: { status: 401, message: "no key" } }]);
    assert.equal(code, 1);
    const result = lines.at(-1);
    assert.equal(result?.["is_error"], true);
    assert.ok(Array.isArray(result["errors"]) && result["errors"].some((text) => String(text).includes("no key")));
  });
});

describe("canUseTool", () => {
  const rows: readonly (readonly [sentence: string, answer: object, outcome: string, made: readonly string[]])[] = [
    ["allow", { behavior: "allow", updatedInput: { command: "touch shown.txt" } }, "succeeded", ["shown.txt"]],
    ["allow without an input", { behavior: "allow" }, "succeeded", ["shown.txt"]],
    ["allow with an edit", { behavior: "allow", updatedInput: { command: "touch edited.txt" } }, "succeeded", ["edited.txt"]],
    [
      "allow with rules it wants kept, which are not",
      { behavior: "allow", updatedPermissions: [{ type: "addRules" }] },
      "succeeded",
      ["shown.txt"],
    ],
    ["deny", { behavior: "deny", message: "no" }, "rejected", []],
  ];
  for (const [sentence, answer, outcome, made] of rows) {
    test(sentence, async () => {
      using at = place();
      const { lines, code } = await run(at, once(outcome), { canUseTool: () => answer });
      assert.deepEqual([results(lines), code], [["success"], 0]);
      assert.deepEqual(
        ["shown.txt", "edited.txt"].filter((name) => existsSync(at.path(name))),
        made,
      );
    });
  }

  test("a host without it answers with an error, and nothing runs", async () => {
    using at = place();
    const { lines, code } = await run(at, once("denied"));
    assert.deepEqual([results(lines), code], [["success"], 0]);
    assert.equal(existsSync(at.path("shown.txt")), false);
    const denials = lines.at(-1)?.["permission_denials"] as readonly Line[];
    assert.deepEqual(
      denials.map((denial) => [denial["tool_name"], denial["tool_use_id"], denial["tool_input"]]),
      [["Bash", "c1", { command: "touch shown.txt" }]],
    );
  });
});

describe("disallowedTools", () => {
  const rows: readonly (readonly [disallowed: string, tool: string, input: object, outcome: string])[] = [
    ["Grep", "search", { pattern: "a" }, "denied"],
    ["Bash", "shell", { command: "true" }, "denied"],
    ["LS,Glob", "glob", { pattern: "*" }, "denied"],
    ["WebSearch,mcp__tracker__*", "glob", { pattern: "*" }, "succeeded"],
  ];
  for (const [disallowed, tool, input, outcome] of rows) {
    test(`${disallowed}: ${tool} ${JSON.stringify(input)} is ${outcome}`, async () => {
      using at = place();
      const turns = [{ calls: [{ tool, id: "c1", input }] }, { expect: { result: { call: "c1", outcome } }, say: "Done." }];
      const flags = ["--permission-mode=bypassPermissions", `--disallowedTools=${disallowed}`];
      const { lines, code } = await run(at, turns, { flags });
      assert.deepEqual([results(lines), code], [["success"], 0]);
    });
  }

  const refused: readonly (readonly [sentence: string, flags: readonly string[]])[] = [
    ["a name that no agent has", ["--disallowedTools=Gerp"]],
    ["a glob that no tool matches", ["--disallowedTools=Web*"]],
    ["a rule that swallows the next one, for lack of a parenthesis", ["--disallowedTools=Bash(echo '('),Write(a.txt)"]],
    ["a name without its rule's end", ["--disallowedTools=Bash(rm,Write"]],
    ["no name at all", ["--disallowedTools"]],
  ];
  for (const [sentence, flags] of refused) {
    test(`${sentence} refuses the run`, async () => {
      using at = place();
      const { lines, code } = await run(at, [{ say: "Hello." }], { flags });
      assert.deepEqual([lines, code], [[], 2]);
    });
  }
});

describe("the tools of an agent that the host brings", () => {
  const agent = (more: object): object => ({ agents: { helper: { description: "Helps.", prompt: "You help.", ...more } } });
  const turns = [
    { calls: [{ tool: "agent", id: "c1", input: { agent: "helper", description: "help", prompt: "Help.", run_in_background: false } }] },
    { expect: { result: { call: "c1", outcome: "succeeded" } }, say: "Done." },
  ];
  const offered = (tools: object): object => ({ helper: { turns: [{ expect: { tools }, say: "Helped." }] } });
  const flags = ["--permission-mode=bypassPermissions"];
  const rows: readonly (readonly [more: object, tools: object])[] = [
    [{ disallowedTools: ["Bash"] }, { has: ["read", "search"], hasNot: ["shell"] }],
    [{ disallowedTools: ["Edit", "Write", "WebSearch"] }, { has: ["read"], hasNot: ["edit", "write", "ast_edit"] }],
    [{ tools: ["Read", "Grep"] }, { has: ["read", "search"], hasNot: ["shell", "write", "list"] }],
    [{ disallowedTools: ["resolve"] }, { has: ["read", "write"], hasNot: ["resolve"] }],
  ];
  for (const [more, tools] of rows) {
    test(`${JSON.stringify(more)} offers ${JSON.stringify(tools)}`, async () => {
      using at = place();
      const { lines, code } = await run(at, turns, { flags, joining: agent(more), agents: offered(tools) });
      assert.deepEqual([results(lines), code], [["success"], 0], JSON.stringify(lines.at(-1)));
    });
  }

  for (const disallowed of ["Bsh", "Bash(rm *)", "Web*"]) {
    test(`a disallowed name that no agent has, '${disallowed}', refuses the run: the model is not asked`, async () => {
      using at = place();
      const { lines, code } = await run(at, [{ say: "Hello." }], { joining: agent({ disallowedTools: [disallowed] }) });
      assert.deepEqual([results(lines), code], [["error_during_execution"], 1]);
      assert.match(JSON.stringify(lines.at(-1)), /"error":\{"type":"rule_unknown_tool"/);
      assert.ok(!lines.some(({ type }) => type === "assistant"));
    });
  }

  test("hooks that cannot be taken refuse the run: what they guard is not left open", async () => {
    using at = place();
    const hooks = { PreToolUse: [{ matcher: "Bash" }] };
    const { lines, code } = await run(at, once("denied"), { hooks, flags });
    assert.deepEqual([results(lines), code, existsSync(at.path("shown.txt"))], [["error_during_execution"], 1, false]);
  });
});

describe("permission modes", () => {
  const rows: readonly (readonly [flag: string, outcome: string])[] = [
    ["--permission-mode=bypassPermissions", "succeeded"],
    ["--permission-mode=acceptEdits", "denied"],
    ["--permission-mode=dontAsk", "denied"],
    ["--permission-mode=plan", "denied"],
    ["--permission-mode=default", "denied"],
  ];
  for (const [flag, outcome] of rows) {
    test(`${flag}: a shell command that writes is ${outcome}`, async () => {
      using at = place();
      const { lines, code } = await run(at, once(outcome), { flags: [flag] });
      assert.deepEqual([results(lines), code], [["success"], 0]);
      assert.equal(lines[0]?.["permissionMode"], flag.split("=")[1], "in that client's word");
      assert.equal(existsSync(at.path("shown.txt")), outcome === "succeeded");
    });
  }

  const twice = [
    { calls: [shell("touch one.txt", "c1")] },
    { calls: [shell("touch two.txt", "c2")] },
    { expect: { results: [{ call: "c2", outcome: "denied" }] }, say: "Done." },
  ];
  const setMode = (mode: string): object => ({ updatedPermissions: [{ type: "setMode", mode, destination: "session" }] });
  const unasked: readonly (readonly [sentence: string, flags: readonly string[], more: object, asked: number])[] = [
    ["from the start", ["--permission-mode=dontAsk"], {}, 0],
    ["with the first yes", [], setMode("dontAsk"), 1],
  ];
  for (const [sentence, flags, more, count] of unasked) {
    test(`dontAsk ${sentence}: canUseTool is not asked from then on`, async () => {
      using at = place();
      let asked = 0;
      const canUseTool = (): object => {
        asked += 1;
        return { behavior: "allow", ...more };
      };
      const { lines, code } = await run(at, twice, { flags, canUseTool });
      assert.deepEqual([results(lines), code, asked, existsSync(at.path("two.txt"))], [["success"], 0, count, false]);
    });
  }

  test("set_permission_mode takes that client's words, and set_model none for the default", async () => {
    using at = place();
    const turns = [
      { say: "One." },
      { calls: [shell("touch shown.txt")] },
      { expect: { result: { call: "c1", outcome: "succeeded" } }, say: "Two." },
    ];
    const answers: unknown[] = [];
    const { lines } = await run(at, turns, {
      prompts: ["first", "second"],
      async between(ask) {
        for (const request of [
          { subtype: "set_permission_mode", mode: "bypassPermissions" },
          { subtype: "set_model" },
          { subtype: "mcp_status" },
        ])
          answers.push(await ask(request));
      },
    });
    assert.deepEqual(results(lines), ["success", "success"]);
    assert.deepEqual(
      answers.slice(0, 2).map((answer) => (answer as Line).subtype),
      ["success", "success"],
    );
    assert.deepEqual((answers[0] as Line)["response"], { mode: "bypassPermissions" });
  });
});

describe("hooks", () => {
  const hooks = { PreToolUse: [{ matcher: "Bash", hookCallbackIds: ["hook_0"], timeout: 5 }] };
  const decided = (permissionDecision: string): object => ({ hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision } });

  test("a hook is asked with that client's names, and its deny holds", async () => {
    using at = place();
    const asked: unknown[] = [];
    const { lines, code } = await run(at, once("denied"), {
      hooks,
      flags: ["--permission-mode=bypassPermissions"],
      hook(request) {
        const input = request["input"] as Line;
        asked.push([request["callback_id"], request["tool_use_id"], input["hook_event_name"], input["tool_name"], input["tool_input"]]);
        return decided("deny");
      },
    });
    assert.deepEqual([results(lines), code], [["success"], 0]);
    assert.deepEqual(asked, [["hook_0", "c1", "PreToolUse", "Bash", { command: "touch shown.txt" }]]);
    assert.equal(existsSync(at.path("shown.txt")), false);
  });

  test("a hook's allow lifts the default ask", async () => {
    using at = place();
    const { lines } = await run(at, once("succeeded"), { hooks, hook: () => decided("allow") });
    assert.deepEqual(results(lines), ["success"]);
    assert.ok(existsSync(at.path("shown.txt")));
  });
});

describe("one vocabulary", () => {
  test("canUseTool, hooks, calls, tools and denials have that client's names", async () => {
    using at = place();
    const names: unknown[] = [];
    const { lines } = await run(at, once("rejected"), {
      flags: ["--include-partial-messages"],
      hooks: { PreToolUse: [{ hookCallbackIds: ["hook_0"] }] },
      hook(request) {
        names.push((request["input"] as Line)["tool_name"]);
        return {};
      },
      canUseTool(request) {
        names.push(request["tool_name"]);
        assert.equal(request["tool"], "shell");
        assert.equal(typeof request["decision_reason"], "string");
        return { behavior: "deny", message: "no" };
      },
    });
    assert.deepEqual(names, ["Bash", "Bash"]);
    const tools = JSON.stringify(lines[0]?.["tools"]);
    assert.ok(tools.includes('"Bash"') && !tools.includes('"shell"'), tools);
    const shown = lines.filter(({ type }) => type === "assistant" || type === "stream_event" || type === "result");
    const used = [...JSON.stringify(shown).matchAll(/"(?:tool_)?name":"(\w+)"/g)].map(([, name]) => name);
    assert.deepEqual(new Set(used), new Set(["Bash"]));
    assert.equal(
      lines.filter(({ subtype }) => subtype === "decision").every((line) => line["tool_name"] === "Bash"),
      true,
    );
  });
});

describe("suggestions", () => {
  const twice = [
    { calls: [shell("touch one.txt", "c1")] },
    { calls: [shell("touch one.txt", "c2")] },
    { expect: { results: [{ call: "c2", outcome: "succeeded" }] }, say: "Done." },
  ];

  test("have that client's form; handed back, they are remembered", async () => {
    using at = place();
    const asked: Line[] = [];
    const { lines, code } = await run(at, twice, {
      canUseTool(request) {
        asked.push(request);
        return { behavior: "allow", updatedPermissions: request["permission_suggestions"] };
      },
    });
    assert.deepEqual([results(lines), code, asked.length], [["success"], 0, 1]);
    const rules = [{ toolName: "Bash", ruleContent: "touch one.txt" }];
    assert.deepEqual(asked[0]?.["permission_suggestions"], [{ type: "addRules", rules, behavior: "allow", destination: "session" }]);
    const grants = (await at.hereJson(["grants", "--all"])).value;
    assert.deepEqual(
      grants.map(({ scope, rule }: { scope: string; rule: string }) => [scope, rule]),
      [["session", "Bash(touch one.txt)"]],
    );
  });

  const ignored = (lines: readonly Line[]): number => lines.filter((line) => line["code"] === "option_not_honored").length;

  test("a mode that comes with a yes counts from then on", async () => {
    using at = place();
    const updatedPermissions = [{ type: "setMode", mode: "bypassPermissions", destination: "session" }];
    let asked = 0;
    const { lines } = await run(at, twice, {
      canUseTool() {
        asked += 1;
        return { behavior: "allow", updatedPermissions };
      },
    });
    assert.deepEqual([results(lines), asked, ignored(lines)], [["success"], 1, 0]);
    const changed = lines.find(({ subtype }) => subtype === "mode_changed");
    assert.deepEqual([changed?.["from"], changed?.["to"]], ["default", "bypassPermissions"]);
  });

  test("what cannot be kept is said on the stream, and the yes counts once", async () => {
    using at = place();
    const updatedPermissions = [{ type: "addDirectories", directories: ["/"], destination: "session" }];
    const { lines } = await run(at, twice, { canUseTool: () => ({ behavior: "allow", updatedPermissions }) });
    assert.deepEqual([results(lines), ignored(lines)], [["success"], 2]);
  });

  const bash = [{ toolName: "Bash", ruleContent: "touch *" }];
  const narrowing: readonly (readonly [sentence: string, updatedPermissions: unknown])[] = [
    ["would deny by a rule", [{ type: "addRules", rules: bash, behavior: "deny", destination: "session" }]],
    ["would add a rule of an unknown behavior", [{ type: "addRules", rules: bash, behavior: "Deny", destination: "session" }]],
    ["would add a rule without a behavior", [{ type: "addRules", rules: bash, destination: "session" }]],
    ["has updates that are no list", { type: "addRules", rules: bash, behavior: "deny", destination: "session" }],
    ["has an update that is no object", ["deny"]],
  ];
  for (const [sentence, updatedPermissions] of narrowing) {
    test(`a yes that ${sentence} does not count: nothing runs`, async () => {
      using at = place();
      const { lines } = await run(at, once("denied"), { canUseTool: () => ({ behavior: "allow", updatedPermissions }) });
      assert.deepEqual([results(lines), existsSync(at.path("shown.txt"))], [["success"], false]);
      assert.ok(lines.some((line) => line["code"] === "bad_answer"));
    });
  }

  test("of several modes that come with a yes the last one counts", async () => {
    using at = place();
    const updatedPermissions = ["bypassPermissions", "default"].map((mode) => ({ type: "setMode", mode, destination: "session" }));
    let asked = 0;
    const { lines } = await run(at, twice, {
      canUseTool() {
        asked += 1;
        return { behavior: "allow", updatedPermissions };
      },
    });
    assert.deepEqual([results(lines), asked], [["success"], 2]);
  });
});

describe("options", () => {
  test("allowedTools run without an ask", async () => {
    using at = place();
    const { lines, code } = await run(at, once("succeeded"), { flags: ["--allowedTools=Read,Bash(touch shown.txt)"] });
    assert.deepEqual([results(lines), code], [["success"], 0]);
  });

  test("what has no effect here is said on the stream", async () => {
    using at = place();
    const { lines, code } = await run(at, [{ say: "Hello." }], {
      flags: ["--effort=low", "--mcp-config", '{"mcpServers":{}}', "--no-session-persistence", "--allowedTools=Frob"],
      joining: { jsonSchema: { type: "object" }, skills: [], title: "A title" },
      hooks: { TeammateIdle: [{ hookCallbackIds: ["hook_0"] }] },
    });
    assert.deepEqual([results(lines), code], [["success"], 0]);
    assert.deepEqual(
      lines.flatMap((line) => (line.subtype === "warning" ? [line["message"]] : [])),
      [
        ...["effort", "no-session-persistence"].map((name) => `The option --${name} has no effect here.`),
        "--allow: 'Frob': there is no tool named 'Frob'",
        "initialize.hooks.TeammateIdle: there is no such event here.",
        "initialize.jsonSchema has no effect here.",
        "initialize.title has no effect here.",
      ],
    );
  });

  for (const flag of ["--settings={}", "--tools=Read", "--max-budget-usd=1", "--managed-settings={}"])
    test(`${flag} would narrow the run and cannot: it is refused`, async () => {
      using at = place();
      const { lines, code } = await run(at, [{ say: "Hello." }], { flags: [flag] });
      assert.deepEqual([lines, code], [[], 2]);
    });

  const OURS = "You are a careful software engineer";
  const prompts: readonly (readonly [sentence: string, joining: object, has: readonly string[], hasNot: readonly string[]])[] = [
    ["none: ours", {}, [OURS], []],
    ["a text: instead of ours", { systemPrompt: ["You are a release bot."] }, ["You are a release bot."], [OURS]],
    ["a preset: ours", { systemPrompt: null }, [OURS], []],
    ["a preset with more: behind ours", { systemPrompt: null, appendSystemPrompt: "Speak Latin." }, [OURS, "Speak Latin."], []],
  ];
  for (const [sentence, joining, has, hasNot] of prompts)
    test(`what the model is sent as system prompt, ${sentence}`, async () => {
      using at = place();
      const server = await modelServer();
      try {
        const { id, environment, frames } = DIALECTS.messages;
        server.replies.push({ frames: frames({ text: ["Hello."] }) });
        const { lines, code } = await run(at, [], { model: id, env: { ...environment(server.origin) }, joining });
        assert.deepEqual([results(lines), code], [["success"], 0]);
        const sent = JSON.stringify(server.received[0]?.body["system"]);
        for (const text of has) assert.ok(sent.includes(text), sent);
        for (const text of hasNot) assert.ok(!sent.includes(text), sent);
      } finally {
        await server.close();
      }
    });
});

describe("a result", () => {
  test("has that client's usage and cost; they add up over prompts", async () => {
    using at = place();
    const server = await modelServer();
    try {
      const { environment, frames } = DIALECTS.messages;
      const model = "anthropic:claude-haiku-4-5"; // it has a price
      const priced = (frame: string): string => frame.replace(/"model":"[^"]*"/, '"model":"claude-haiku-4-5"');
      for (const text of ["One.", "Two."]) server.replies.push({ frames: frames({ text: [text] }).map(priced) });
      const { lines } = await run(at, [], { model, env: { ...environment(server.origin) }, prompts: ["first", "second"] });
      const [first, second] = lines.filter(({ type }) => type === "result");
      const uncached = USAGE.inputTokens - USAGE.cachedInputTokens;
      const usage = first?.["usage"] as Line;
      assert.deepEqual(
        [usage["input_tokens"], usage["output_tokens"], usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]],
        [uncached, USAGE.outputTokens, USAGE.cachedInputTokens, 0],
      );
      const [used] = Object.values({ ...(second?.["modelUsage"] as Record<string, Line>) });
      assert.deepEqual([used?.["inputTokens"], used?.["outputTokens"]], [2 * uncached, 2 * USAGE.outputTokens]);
      const cost = Number(first?.["total_cost_usd"]);
      assert.ok(cost > 0);
      assert.equal(second?.["total_cost_usd"], 2 * cost);
      assert.equal(used?.["costUSD"], 2 * cost);
    } finally {
      await server.close();
    }
  });

  test("of a model without a known price has a cost of 0, and names the model", async () => {
    using at = place();
    const { lines } = await run(at, [{ say: "Hello." }]);
    const result = lines.at(-1);
    assert.equal(result?.["total_cost_usd"], 0);
    assert.deepEqual(result["unpriced_models"], ["script"]);
  });
});

describe("interrupt", () => {
  test("ends the running call", async () => {
    using at = place();
    const { lines, code } = await run(at, [{ calls: [shell("touch started.txt && sleep 60")] }], {
      flags: ["--permission-mode=bypassPermissions"],
      async running(ask) {
        await until("the command runs", () => existsSync(at.path("started.txt")));
        assert.equal((await ask({ subtype: "interrupt" })).subtype, "success");
      },
    });
    assert.deepEqual([results(lines), code], [["interrupted"], 0]);
  });
});
