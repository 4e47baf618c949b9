import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { DIALECTS } from "../../packages/agent/test/wire/dialects.ts";
import { modelServer } from "../../packages/agent/test/wire/model-server.ts";
import { BIN, type Place, place } from "../../packages/cli/test/support/assent.ts";
import { LONG } from "../support/long.ts";

/** The client itself, where somebody has installed it: it is too large to be a dependency. `claude.test.ts` has its wire, written down. */

const PACKAGE = "@anthropic-ai/claude-agent-sdk";
const VERSION = "0.3.325";

type Message = { readonly [key: string]: unknown } & { readonly type: string; readonly subtype?: string };
type Sdk = { readonly query: (given: { prompt: string; options: object }) => AsyncIterable<Message> };

/** The folder below which the package is installed. */
const FOLDER = process.env["ASSENT_CLAUDE_SDK"] ?? "";

function missing(): string | false {
  const file = join(FOLDER, "node_modules", PACKAGE, "package.json");
  const how = `npm install --prefix DIR ${PACKAGE}@${VERSION}, then set ASSENT_CLAUDE_SDK=DIR`;
  if (FOLDER === "" || !existsSync(file)) return `${PACKAGE} is not installed (${how})`;
  const { version } = JSON.parse(readFileSync(file, "utf8"));
  return version === VERSION ? false : `${PACKAGE} is ${version}, not ${VERSION} (${how})`;
}

async function drive(at: Place, turns: readonly object[], options: object): Promise<readonly Message[]> {
  const entry = createRequire(pathToFileURL(join(FOLDER, "x.js"))).resolve(PACKAGE);
  const sdk: Sdk = await import(pathToFileURL(entry).href);
  const script = at.write("script.json", JSON.stringify({ turns }));
  const env = { ...at.env, PATH: `${dirname(process.execPath)}${delimiter}${at.env["PATH"]}` };
  const given = { pathToClaudeCodeExecutable: BIN, cwd: at.workspace, env, model: `script:${script}`, ...options };
  const messages: Message[] = [];
  for await (const message of sdk.query({ prompt: "Go.", options: given })) messages.push(message);
  return messages;
}

const once = (outcome: string): readonly object[] => [
  { calls: [{ tool: "shell", id: "c1", input: { command: "touch shown.txt" } }] },
  { expect: { result: { call: "c1", outcome } }, say: "Done." },
];

function ending(messages: readonly Message[]): unknown {
  return messages.at(-1)?.subtype;
}

if (LONG || FOLDER !== "")
  describe(`${PACKAGE} ${VERSION}`, () => {
    const reason = missing();
    if (reason !== false) {
      test("drives assent", { skip: reason }, () => undefined);
      return;
    }
    test("canUseTool is asked by that client's names, and its suggestions are remembered when they come back", async () => {
      using at = place();
      const asked: unknown[] = [];
      const twice = [
        { calls: [{ tool: "shell", id: "c1", input: { command: "touch shown.txt" } }] },
        { calls: [{ tool: "shell", id: "c2", input: { command: "touch shown.txt" } }] },
        { expect: { result: { call: "c2", outcome: "succeeded" } }, say: "Done." },
      ];
      const messages = await drive(at, twice, {
        async canUseTool(name: string, input: object, { suggestions }: { readonly suggestions: unknown }) {
          asked.push([name, input]);
          return { behavior: "allow", updatedInput: input, updatedPermissions: suggestions };
        },
      });
      assert.deepEqual([ending(messages), asked], ["success", [["Bash", { command: "touch shown.txt" }]]]);
      assert.equal(messages.at(-1)?.["total_cost_usd"], 0);
    });

    test("a hook is asked by the same name, and its deny holds", async () => {
      using at = place();
      const asked: unknown[] = [];
      const deny = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no" } };
      const hook = async (input: Message): Promise<object> => {
        asked.push(input["tool_name"]);
        return deny;
      };
      const options = { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] }, permissionMode: "bypassPermissions" };
      const messages = await drive(at, once("denied"), { ...options, allowDangerouslySkipPermissions: true });
      assert.deepEqual([ending(messages), asked, existsSync(at.path("shown.txt"))], ["success", ["Bash"], false]);
      assert.equal(messages[0]?.["permissionMode"], "bypassPermissions");
    });

    const rows: readonly (readonly [options: object, outcome: string])[] = [
      [{ allowedTools: ["Bash(touch shown.txt)"] }, "succeeded"],
      [{ permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, disallowedTools: ["Bash"] }, "denied"],
      [{ permissionMode: "dontAsk" }, "denied"],
      [{ permissionMode: "plan" }, "denied"],
    ];
    for (const [options, outcome] of rows)
      test(`${JSON.stringify(options)}: a command that writes is ${outcome}`, async () => {
        using at = place();
        assert.equal(ending(await drive(at, once(outcome), options)), "success");
        assert.equal(existsSync(at.path("shown.txt")), outcome === "succeeded");
      });

    test("a disallowed name that no agent has refuses the run", async () => {
      using at = place();
      await assert.rejects(drive(at, [{ say: "Hello." }], { disallowedTools: ["Gerp"] }));
      assert.deepEqual((await at.hereJson(["sessions"])).value, []);
    });

    test("what it cannot have is said on the stream", async () => {
      using at = place();
      const messages = await drive(at, [{ say: "Hello." }], {
        effort: "low",
        outputFormat: { type: "json_schema", schema: {} },
        title: "x",
      });
      const told = messages.flatMap((message) => (message.subtype === "warning" ? [String(message["message"])] : []));
      for (const name of ["--effort", "--json-schema", "initialize.title"])
        assert.ok(
          told.some((text) => text.includes(name)),
          told.join("\n"),
        );
    });

    const OURS = "You are a careful software engineer";
    const prompts: readonly (readonly [systemPrompt: unknown, has: readonly string[], hasNot: readonly string[]])[] = [
      ["You are a release bot.", ["You are a release bot."], [OURS]],
      [{ type: "preset", preset: "claude_code", append: "Speak Latin." }, [OURS, "Speak Latin."], []],
    ];
    for (const [systemPrompt, has, hasNot] of prompts)
      test(`the model is sent the system prompt ${JSON.stringify(systemPrompt)}`, async () => {
        using at = place();
        const server = await modelServer();
        try {
          const { id, environment, frames } = DIALECTS.messages;
          server.replies.push({ frames: frames({ text: ["Hello."] }) });
          Object.assign(at.env, environment(server.origin));
          assert.equal(ending(await drive(at, [], { model: id, systemPrompt })), "success");
          const sent = JSON.stringify(server.received[0]?.body["system"]);
          for (const text of has) assert.ok(sent.includes(text), sent);
          for (const text of hasNot) assert.ok(!sent.includes(text), sent);
        } finally {
          await server.close();
        }
      });
  });
