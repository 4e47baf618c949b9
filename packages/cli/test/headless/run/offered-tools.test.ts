import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { DIALECTS } from "../../../../agent/test/wire/dialects.ts";
import { type ModelServer, modelServer, type Received } from "../../../../agent/test/wire/model-server.ts";
import { type Place, place } from "../../support/assent.ts";

const chat = DIALECTS["chat completions"];

/** The names of the tools in a provider request. */
function offered({ text }: Received | undefined = { text: "{}", url: "", headers: {}, body: {} }): readonly string[] {
  const { tools = [] }: { tools?: readonly { readonly function: { readonly name: string } }[] } = JSON.parse(text);
  return tools.map((tool) => tool.function.name);
}

function writeSettings(at: Place, permissions: object): void {
  const directory = join(at.workspace, ".assent");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "settings.json"), JSON.stringify({ permissions }));
}

describe("a tool that a rule denies as a whole is not offered to the model", () => {
  let server: ModelServer;
  before(async () => {
    server = await modelServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.received.length = 0;
    server.replies.length = 0;
  });
  const go = async (at: Place, more: readonly string[] = []): Promise<readonly ReturnType<typeof JSON.parse>[]> => {
    const argv = ["run", "go", "--model", chat.id, "--output-format", "stream-json", ...more];
    const { code, stdout, stderr } = await at.here(argv, { env: { ...chat.environment(server.origin) } });
    assert.equal(code, 0, stdout + stderr);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  };
  const call = (name: string, input: object): readonly string[] =>
    chat.frames({ calls: [{ id: "call_1", name, input: JSON.stringify(input) }] });
  const done = { frames: chat.frames({ text: ["done"] }) };

  const ROWS: readonly (readonly [rule: string, hidden: readonly string[]])[] = [
    ["shell", ["shell"]],
    ["Bash", ["shell"]],
    ["Shell(*)", ["shell"]],
    ["Shell(rm *)", []],
    ["shell:command=rm *", []],
    ["todo", ["todo"]],
    ["enter_plan_mode", ["enter_plan_mode"]],
    ["resolve", ["resolve"]],
    ["task_*", ["task_list", "task_output", "task_send", "task_stop"]],
  ];
  for (const by of ["flag", "project settings"])
    for (const [rule, hidden] of by === "flag" ? ROWS : ROWS.slice(0, 1))
      test(`deny ${rule} by ${by} hides ${hidden.join(", ") || "nothing"}`, async () => {
        using at = place();
        server.replies.push(done);
        await go(at);
        const all = offered(server.received[0]);
        for (const name of hidden) assert.ok(all.includes(name), `${name} in ${all.join(", ")}`);
        server.replies.push(done);
        if (by !== "flag") writeSettings(at, { deny: [rule] });
        const [init] = (await go(at, by === "flag" ? ["--deny", rule] : [])).filter(({ subtype }) => subtype === "init");
        const rest = all.filter((name) => !hidden.includes(name));
        assert.deepEqual(offered(server.received[1]), rest);
        assert.deepEqual(init.tools, rest);
      });

  test("a call of it is denied all the same", async () => {
    using at = place();
    server.replies.push({ frames: call("shell", { command: "echo hi" }) }, done);
    const lines = await go(at, ["--deny", "shell"]);
    assert.deepEqual(
      server.received.map((request) => offered(request).includes("shell")),
      [false, false],
    );
    assert.match(server.received[1]?.text ?? "", /den(y|ied)/);
    assert.deepEqual(
      lines.at(-1).permission_denials.map(({ tool_name: tool }: { tool_name: string }) => tool),
      ["shell"],
    );
  });

  test("a rule that is written during a run counts from the next request on, and so does its removal", async () => {
    using at = place();
    const writing = (permissions: object, frames: readonly string[]): { readonly frames: readonly string[] } => ({
      get frames() {
        writeSettings(at, permissions);
        return frames;
      },
    });
    server.replies.push(writing({ deny: ["shell"] }, call("list", {})), writing({}, call("list", {})), done);
    await go(at);
    assert.deepEqual(
      server.received.map((request) => offered(request).includes("shell")),
      [true, false, true],
    );
  });
});
