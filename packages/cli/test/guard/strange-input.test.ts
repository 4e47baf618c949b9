import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { AGENT_NAMES, AGENTS, type AgentName } from "@assent/guard";
import { place, type Ran } from "../support/assent.ts";

/** The plain call of every row is allowed, so a wrong reading would show as an allowed call. */
const ALLOW = ["Shell(touch *)", "Edit", "Search", "mcp__fs__write"];
const at = place();
mkdirSync(join(at.root, ".config/assent"), { recursive: true });
writeFileSync(join(at.root, ".config/assent/settings.json"), JSON.stringify({ permissions: { allow: ALLOW } }), { mode: 0o600 });
after(() => at[Symbol.dispose]());

const NAMES: Readonly<Record<AgentName, { readonly shell: string; readonly edit: string; readonly search: string }>> = {
  claude: { shell: "Bash", edit: "Edit", search: "Grep" },
  codex: { shell: "Bash", edit: "apply_patch", search: "search_files" },
  gemini: { shell: "run_shell_command", edit: "replace", search: "grep_search" },
  qwen: { shell: "run_shell_command", edit: "edit", search: "grep_search" },
  opencode: { shell: "bash", edit: "edit", search: "grep" },
};

type Event = { readonly tool?: unknown; readonly input?: unknown; readonly more?: object };

/** An event before a call in the agent's own form. A field that is given as undefined is missing. */
function event(agent: AgentName, { tool = NAMES[agent].shell, input, more = {} }: Event): string {
  if (agent === "opencode")
    return JSON.stringify({ event: "tool.execute.before", session: "S", cwd: at.workspace, tool, args: input, call: "t1", ...more });
  const name = agent === "gemini" ? "BeforeTool" : "PreToolUse";
  const call = { tool_name: tool, tool_input: input, tool_use_id: "t1" };
  return JSON.stringify({ session_id: "S", cwd: at.workspace, hook_event_name: name, ...call, ...more });
}

const PLAIN = { command: "touch ran" };
const plain = (agent: AgentName): string => event(agent, { input: PLAIN });
const shell =
  (input: unknown) =>
  (agent: AgentName): string =>
    event(agent, { input });
const without = (agent: AgentName, ...names: readonly string[]): object =>
  Object.fromEntries(Object.entries(JSON.parse(plain(agent))).filter(([name]) => !names.includes(name)));
const LEDGER = join(at.store, "ledger.db");

type Form = readonly [sentence: string, make: (agent: AgentName) => string | Uint8Array];

const FORMS: readonly Form[] = [
  // malformed
  ["no input", () => ""],
  ["an input that is cut off", (agent) => plain(agent).slice(0, -1)],
  ["two events", (agent) => plain(agent) + plain(agent)],
  ["an event and a NUL", (agent) => `${plain(agent)}\0`],
  ["an event after a comment", (agent) => `// x\n${plain(agent)}`],
  ["a list of events", (agent) => `[${plain(agent)}]`],
  ["an event as a text", (agent) => JSON.stringify(plain(agent))],
  ["UTF-16", (agent) => Buffer.from(plain(agent), "utf16le")],
  ["a byte that is not UTF-8", (agent) => Buffer.from(plain(agent).replace("ran", "ran\u00ff"), "latin1")],
  // giant
  ["more than 16 MiB", (agent) => event(agent, { input: PLAIN, more: { x: "x".repeat(17 * 1024 * 1024) } })],
  ["a command of a megabyte", shell({ command: `touch ${"x".repeat(1_000_000)}` })],
  ["an input of 10,000 fields", shell({ ...PLAIN, ...Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`f${index}`, 1])) })],
  [
    "20,000 levels",
    (agent) => event(agent, { input: { ...PLAIN, x: 0 } }).replace('"x":0', `"x":${"[".repeat(20_000)}${"]".repeat(20_000)}`),
  ],
  // characters
  ["half a character in a command", shell({ command: "touch ran\ud800" })],
  ["a NUL in a command", shell({ command: "touch ran\0; rm ran" })],
  ["a line separator in a command", shell({ command: "touch ran\u2028rm ran" })],
  ["a carriage return in a command", shell({ command: "touch ran\rrm ran" })],
  ["a wide semicolon in a command", shell({ command: "touch ran\uff1b rm ran" })],
  ["a space that does not break in a command", shell({ command: "touch\u00a0ran" })],
  ["text from right to left in a command", shell({ command: "touch \u202eran" })],
  ["a tool with a letter of another alphabet", (agent) => event(agent, { tool: NAMES[agent].shell.replace(/s/, "\u0455"), input: PLAIN })],
  ["a tool with a NUL", (agent) => event(agent, { tool: `${NAMES[agent].shell}\0`, input: PLAIN })],
  ["half a character in the directory", (agent) => event(agent, { input: PLAIN, more: { cwd: `${at.workspace}/\ud800` } })],
  ["a NUL in the directory", (agent) => event(agent, { input: PLAIN, more: { cwd: `${at.workspace}/\0` } })],
  // other forms of the event, as an older or newer version or another agent could send
  ["no session", (agent) => JSON.stringify(without(agent, "session_id", "session"))],
  ["no directory", (agent) => JSON.stringify(without(agent, "cwd"))],
  ["no tool", (agent) => JSON.stringify(without(agent, "tool_name", "tool"))],
  ["no event name", (agent) => JSON.stringify(without(agent, "hook_event_name", "event"))],
  ["a session that is a number", (agent) => event(agent, { input: PLAIN, more: { session_id: 5, session: 5 } })],
  ["a relative directory", (agent) => event(agent, { input: PLAIN, more: { cwd: "." } })],
  ["a directory as a URL", (agent) => event(agent, { input: PLAIN, more: { cwd: `file://${at.workspace}` } })],
  ["a list of directories", (agent) => event(agent, { input: PLAIN, more: { cwd: [at.workspace] } })],
  ["a tool that is an object", (agent) => event(agent, { tool: { name: NAMES[agent].shell }, input: PLAIN })],
  ["a list of event names", (agent) => event(agent, { input: PLAIN, more: { hook_event_name: ["PreToolUse"], event: ["x"] } })],
  ["a newer event name", (agent) => event(agent, { input: PLAIN, more: { hook_event_name: "PreToolUseV2", event: "tool.before" } })],
  ["the event of another agent", (agent) => plain(agent === "gemini" ? "claude" : "gemini")],
  ["an event inside another", (agent) => JSON.stringify({ version: 2, event: JSON.parse(plain(agent)) })],
  [
    "fields with other names",
    (agent) =>
      JSON.stringify({ eventName: "PreToolUse", sessionId: "S", cwd: at.workspace, toolName: NAMES[agent].shell, toolInput: PLAIN }),
  ],
  [
    "a list of calls",
    (agent) =>
      JSON.stringify({
        ...without(agent, "tool_name", "tool", "tool_input", "args"),
        tool_calls: [{ name: NAMES[agent].shell, input: PLAIN }],
      }),
  ],
  ["no input of the call", (agent) => event(agent, {})],
  ["an input of the call with another name", (agent) => event(agent, { tool: "mcp__fs__write", more: { parameters: { path: LEDGER } } })],
  ["null as the input of the call", (agent) => event(agent, { tool: "mcp__fs__write", input: null })],
  ["a text as the input of the call", shell(JSON.stringify(PLAIN))],
  ["a list as the input of the call", shell([PLAIN])],
  // other forms of the call
  ["a command that is an object", shell({ command: { line: "touch ran" } })],
  ["a list of words that are not all texts", shell({ command: ["touch", { run: "rm ran" }] })],
  ["a list in a list of words", shell({ command: ["touch", ["ran", "x"]] })],
  ["several commands", shell({ commands: ["touch ran", "rm ran"] })],
  ["a command and several", shell({ ...PLAIN, commands: ["rm ran"] })],
  ["a command under two names", shell({ ...PLAIN, cmd: "rm ran" })],
  ["a field that switches a sandbox off", shell({ ...PLAIN, dangerouslyDisableSandbox: true })],
  ["a directory of the command that is a number", shell({ ...PLAIN, cwd: 5 })],
  ["a list of directories of the command", shell({ ...PLAIN, cwd: ["/etc"] })],
  ["a directory of the command under two names", shell({ ...PLAIN, cwd: ".", workdir: "/etc" })],
  ["a command in __proto__", (agent) => plain(agent).replace('{"command"', '{"__proto__":{"command"').replace('ran"}', 'ran"}}')],
  ["another directory in __proto__", (agent) => plain(agent).replace('ran"}', 'ran","__proto__":{"cwd":"/etc"}}')],
  ["a list of files to edit", (agent) => event(agent, { tool: NAMES[agent].edit, input: { file_path: ["a", LEDGER], old_string: "a" } })],
  ["no file to edit", (agent) => event(agent, { tool: NAMES[agent].edit, input: { old_string: "a", new_string: "b" } })],
  ["more files to edit", (agent) => event(agent, { tool: NAMES[agent].edit, input: { file_path: "a", old_string: "a", paths: [LEDGER] } })],
  [
    "a list of directories to search",
    (agent) => event(agent, { tool: NAMES[agent].search, input: { pattern: "x", path: [".", at.store] } }),
  ],
];

const ask = (agent: AgentName, input: string | Uint8Array): Promise<Ran> => at.here(["hook", agent, "--on-ask", "deny"], { input });

async function claims(): Promise<number> {
  const { stdout } = await at.here(["log", "--type", "call.claimed", "--json"]);
  return stdout.split("\n").filter(Boolean).length;
}

for (const agent of AGENT_NAMES)
  describe(`${AGENTS[agent].title} does not run an allowed call that comes as`, () => {
    for (const [sentence, make] of FORMS)
      test(sentence, async () => {
        const { code, stdout, stderr } = await ask(agent, make(agent));
        assert.equal(code, 2, stdout);
        assert.match(stdout + stderr, /denied|requires approval|own files|must not contain/);
      });

    test("nothing strange: it runs, and no other form was claimed", async () => {
      const before = await claims();
      const { code, stderr } = await ask(agent, plain(agent));
      assert.deepEqual([code, await claims(), before], [0, before + 1, AGENT_NAMES.indexOf(agent)], stderr);
    });
  });

test("Codex gives a command as a list of words", async () => {
  for (const command of [
    ["touch", "ran"],
    ["bash", "-lc", "touch ran"],
  ])
    assert.equal((await ask("codex", event("codex", { tool: "shell", input: { command } }))).code, 0);
});
