import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ClaudeSurroundings, claudeSurelyAsks, type ForeignCall } from "@assent/guard";

const CALL: ForeignCall = { session: "S", cwd: "/w", tool: "Bash", input: { command: "touch x" }, callId: "t1", mode: "default" };

type Seen = Partial<ClaudeSurroundings> & { readonly files?: Readonly<Record<string, string>>; readonly words?: readonly string[] };

function asks(call: Partial<ForeignCall>, { files = {}, words = ["claude", "--model", "m"], ...others }: Seen = {}): Promise<boolean> {
  return claudeSurelyAsks(
    { ...CALL, ...call },
    {
      home: "/home/me",
      env: {},
      read: (path) => files[path] ?? null,
      list: () => [],
      startedWith: () => words,
      transcript: () => Promise.resolve('{"id":"t1"}'),
      ...others,
    },
  );
}

const allowing = (...allow: readonly string[]): string => JSON.stringify({ permissions: { allow } });
const hooked = (event: string): string => JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: "command", command: "yes" }] }] } });
const USER = "/home/me/.claude/settings.json";
const command = (text: string): Partial<ForeignCall> => ({ input: { command: text } });
const write = (path: string): Partial<ForeignCall> => ({ tool: "Write", input: { file_path: path, content: "x" } });

describe("Claude Code certainly shows its dialog", () => {
  const rows: readonly [sentence: string, call: Partial<ForeignCall>, seen?: Seen][] = [
    ["for a command that changes files", {}],
    ["for a subcommand that changes something", command("git push origin main")],
    ["for a change after cd", command("cd sub && npm install")],
    ["for a new file in the directory", write("/w/src/a.ts")],
    ["next to an allow rule for another command", {}, { files: { [USER]: allowing("Bash(npm test:*)", "Read", "WebFetch") } }],
    ["next to a sandbox that is off", {}, { files: { [USER]: '{"sandbox":{"enabled":false}}' } }],
  ];
  for (const [sentence, call, seen] of rows) test(sentence, async () => assert.equal(await asks(call, seen), true));
});

describe("Claude Code may not show its dialog", () => {
  const rows: readonly [sentence: string, call: Partial<ForeignCall>, seen?: Seen][] = [
    ["in another mode", { mode: "acceptEdits" }],
    ["in an unknown mode", { mode: undefined as never }],
    ["for a subagent", { subagent: "helper" }],
    ["for a reader", command("git status")],
    ["for a reader with a change behind it", command("echo x > y")],
    ["for a program that is not known to ask", command("frobnicate --all")],
    ["for a program with a path", command("./touch x")],
    ["for a variable before the command", command("A=1 touch x")],
    ["for a function with a known name", command("touch() { true; }; touch x")],
    ["for the version of a program", command("make")],
    ["for a file outside the directory", write("/elsewhere/a.ts")],
    ["for a hidden file", write("/w/.claude/plans/a.md")],
    ["for a relative path", write("a.ts")],
    ["for a tool of a server", { tool: "mcp__x__y", input: {} }],
    ["with an allow rule of the user", {}, { files: { [USER]: allowing("Bash(touch:*)") } }],
    ["with an allow rule for all commands", {}, { files: { [USER]: allowing("Bash") } }],
    ["with a star before the program", {}, { files: { [USER]: allowing("Bash(*)") } }],
    ["with an allow rule for a later command", command("touch x && npm test"), { files: { [USER]: allowing("Bash(npm test)") } }],
    ["with an allow rule that cannot be read", {}, { files: { [USER]: allowing("B*sh") } }],
    ["with an allow rule for any edit", write("/w/a.ts"), { files: { [USER]: allowing("Edit(docs/**)") } }],
    ["with an allow rule of the project", {}, { files: { "/w/.claude/settings.json": allowing("Bash(touch x)") } }],
    ["with a local allow rule", {}, { files: { "/w/.claude/settings.local.json": allowing("Bash(touch x)") } }],
    [
      "with an allow rule of the project's root",
      {},
      { env: { CLAUDE_PROJECT_DIR: "/root" }, files: { "/root/.claude/settings.json": allowing("Bash(touch x)") } },
    ],
    ["with a managed allow rule", {}, { files: { "/etc/claude-code/managed-settings.json": allowing("Bash(touch x)") } }],
    [
      "with one of several managed files",
      {},
      {
        list: (path) => (path.startsWith("/etc") ? ["a.json"] : []),
        files: { "/etc/claude-code/managed-settings.d/a.json": allowing("Bash(touch x)") },
      },
    ],
    ["with a sandbox that replaces the dialog", {}, { files: { [USER]: '{"sandbox":{"enabled":true}}' } }],
    ["with another hook before calls", {}, { files: { "/w/.claude/settings.json": hooked("PreToolUse") } }],
    ["with another hook beside the dialog", {}, { files: { "/w/.claude/settings.json": hooked("PermissionRequest") } }],
    ["with a plugin", {}, { files: { [USER]: '{"enabledPlugins":{"x@y":true}}' } }],
    ["with tools allowed by an older version", {}, { files: { "/home/me/.claude.json": '{"projects":{"/w":{"allowedTools":["Bash"]}}}' } }],
    ["with settings that are not JSON", {}, { files: { [USER]: "{" } }],
    [
      "with settings that cannot be read",
      {},
      {
        read: () => {
          throw new Error("EACCES");
        },
      },
    ],
    ["when it was started with allowed tools", {}, { words: ["claude", "--allowedTools", "Bash"] }],
    ["when it was started with other settings", {}, { words: ["claude", "--settings={}"] }],
    ["when its command line cannot be seen", {}, { startedWith: () => undefined }],
    ["after a command or skill that allows tools", {}, { transcript: async () => '{"id":"t1","type":"command_permissions"}' }],
    ["while the transcript is not written", {}, { transcript: async () => undefined }],
  ];
  for (const [sentence, call, seen] of rows) test(sentence, async () => assert.equal(await asks(call, seen), false));
});
