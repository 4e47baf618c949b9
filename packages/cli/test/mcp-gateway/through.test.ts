import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { Client, type JSONRPCMessage } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { liveProcesses } from "../../../../test/support/processes.ts";
import { published, until } from "../../../mcp/test/server-bench.ts";
import { type Place, place } from "../support/assent.ts";
import { callsIn, connectGateway, HOSTILE, serving, waitForApproval, waitForApprovals } from "../support/gateway.ts";

const ECHO = { name: "echo", arguments: { text: "hello" } };
const EVERYTHING = published("everything");
assert.ok(EVERYTHING.type === "stdio");
const { command: PROGRAM, args: ARGS } = EVERYTHING;

function configure(at: Place, settings: object): void {
  const file = join(at.root, ".config/assent/settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(settings));
}

/** The server without the gateway, for a client that can do what Assent does for every client. */
async function connectDirectly(): Promise<Client> {
  const client = new Client({ name: "tester", version: "1" }, { capabilities: { roots: {}, elicitation: { form: {}, url: {} } } });
  await client.connect(new StdioClientTransport({ command: PROGRAM, args: [...ARGS], stderr: "ignore" }));
  return client;
}

/** The watches that this process has for a directory. */
function watchesOf(directory: string): readonly string[] {
  const node = ` ino:${statSync(directory).ino.toString(16)} `;
  const open = readdirSync("/proc/self/fdinfo").map((descriptor) => join("/proc/self/fdinfo", descriptor));
  const lines = open.flatMap((file) => (existsSync(file) ? readFileSync(file, "utf8").split("\n") : []));
  return lines.filter((line) => line.startsWith("inotify ") && line.includes(node));
}

function isListChange(message: JSONRPCMessage): boolean {
  return "method" in message && message.method === "notifications/tools/list_changed";
}

describe("what passes through the gateway", () => {
  const CALLS = [
    ["text", "echo", { message: "hi" }],
    ["an image", "get-tiny-image", {}],
    ["structured content", "get-structured-content", { location: "Chicago" }],
    ["links to resources", "get-resource-links", { count: 2 }],
    ["annotated content", "get-annotated-message", { messageType: "error", includeImage: true }],
    ["an embedded resource", "get-resource-reference", { resourceType: "Text", resourceId: 1 }],
  ] as const;
  test("definitions, results, resources, prompts and completions are those of the server", async () => {
    using at = place();
    const direct = await connectDirectly();
    const { client, end } = await connectGateway(at, ["--allow", "mcp__e", "--name", "e", "--", PROGRAM, ...ARGS]);
    assert.deepEqual(await client.listTools(), await direct.listTools());
    for (const [words, name, input] of CALLS)
      assert.deepEqual(await client.callTool({ name, arguments: input }), await direct.callTool({ name, arguments: input }), words);
    const withoutTimes = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/\d+:\d+:\d+[^"]*/g, ""));
    const { resources } = await direct.listResources();
    assert.deepEqual((await client.listResources()).resources, resources);
    assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, (await direct.listResourceTemplates()).resourceTemplates);
    const [{ uri } = { uri: "" }] = resources;
    assert.deepEqual(withoutTimes(await client.readResource({ uri })), withoutTimes(await direct.readResource({ uri })));
    const { prompts } = await direct.listPrompts();
    assert.deepEqual((await client.listPrompts()).prompts, prompts);
    const [plain = { name: "" }] = prompts.filter((prompt) => (prompt.arguments ?? []).length === 0);
    assert.deepEqual(await client.getPrompt({ name: plain.name }), await direct.getPrompt({ name: plain.name }));
    await direct.close();
    assert.equal(await end(), 0);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("a rule denies reading a resource, and a prompt", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, ["--deny", "mcp__e__*", "--name", "e", "--", PROGRAM, ...ARGS]);
    const [{ uri } = { uri: "" }] = (await client.listResources()).resources;
    await assert.rejects(client.readResource({ uri }), /denied|rule/i);
    await assert.rejects(client.getPrompt({ name: "simple-prompt" }), /denied|rule/i);
    await end();
  });

  for (const era of ["legacy", "modern"] as const)
    test(`a resource and a prompt that a rule asks about reach a client of the ${era} protocol when a person approves`, async () => {
      using at = place();
      const args = ["--ask", "mcp__e__resources-read", "--ask", "mcp__e__prompts-get", "--name", "e", "--", PROGRAM, ...ARGS];
      const { client, end } = await connectGateway(at, args, { era });
      const [{ uri } = { uri: "" }] = (await client.listResources()).resources;
      const resource = client.readResource({ uri });
      await at.here(["approve", await waitForApproval(at)]);
      assert.equal((await resource).contents[0]?.uri, uri);
      const prompt = client.getPrompt({ name: "simple-prompt" });
      await at.here(["approve", await waitForApproval(at)]);
      assert.equal((await prompt).messages.length, 1);
      await end();
      assert.equal((await at.here(["verify"])).code, 0);
    });

  test("a client of the newer protocol that settings name is asked about a resource between two requests", async () => {
    using at = place();
    configure(at, { answersFrom: ["elicitation:tester"] });
    const asked: string[] = [];
    const elicit = (message: string): { action: "accept"; content: { answer: string } } => {
      asked.push(message);
      return { action: "accept", content: { answer: "Approve" } };
    };
    const args = ["--ask", "mcp__e__resources-read", "--name", "e", "--", PROGRAM, ...ARGS];
    const { client, end } = await connectGateway(at, args, { era: "modern", elicit });
    const [{ uri } = { uri: "" }] = (await client.listResources()).resources;
    assert.equal((await client.readResource({ uri })).contents[0]?.uri, uri);
    assert.match(asked.join(), /wants to call mcp__e__resources-read/);
    await end();
  });

  test("a denial of a tool with an output schema is a valid result", async () => {
    using at = place();
    for (const era of ["legacy", "modern"] as const) {
      const { client, end } = await connectGateway(at, ["--deny", "mcp__e", "--name", "e", "--", PROGRAM, ...ARGS], { era });
      await client.listTools(); // the client validates results against the listed schemas
      const denied = await client.callTool({ name: "get-structured-content", arguments: { location: "Chicago" } });
      assert.equal(denied.isError, true);
      await end();
    }
  });

  test("every notice of progress reaches the client, also if the server sends them together with the result", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "steps")]);
    const heard: unknown[] = [];
    await client.callTool(ECHO, { onprogress: (progress) => void heard.push(progress) });
    assert.deepEqual(heard, [
      { progress: 1, total: 3 },
      { progress: 2, total: 3 },
      { progress: 3, total: 3 },
    ]);
    await end();
  });

  test("a result of 10 MB arrives whole", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "huge")]);
    const { content } = await client.callTool(ECHO);
    assert.deepEqual(content, [{ type: "text", text: "x".repeat(10 * 1024 * 1024) }]);
    await end();
  });

  test("a tool that is called like the reading of resources or prompts, in any case, is disabled alone", async () => {
    using at = place();
    const { client, end, stderr } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "reserved")]);
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ["echo"],
    );
    assert.deepEqual((await client.callTool(ECHO)).content, [{ type: "text", text: "hello" }]);
    assert.match(stderr(), /resources-read .*disabled: Rules use this name[\s\S]*Prompts-Get .*disabled: Rules use this name/);
    await end();
  });

  test("a changed list of tools is announced", async () => {
    using at = place();
    const { client, end, messages } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "changing")]);
    await client.callTool(ECHO);
    await until(() => messages.some(isListChange));
    const { tools } = await client.listTools({}, { cacheMode: "refresh" });
    assert.match(tools[0]?.description ?? "", /deletes your files/);
    await end();
  });

  test("a tool that changes while its call waits is not run with the approval of the old one", async () => {
    using at = place();
    const { client, end, messages } = await connectGateway(at, serving(at, "changing"));
    const held = client.callTool(ECHO);
    const approval = await waitForApproval(at);
    const changing = client.callTool({ ...ECHO, arguments: { text: "change it" } });
    const [other = ""] = (await waitForApprovals(at, 2)).filter((id) => id !== approval);
    await at.here(["approve", other]);
    await changing;
    await until(() => messages.some(isListChange));
    await at.here(["approve", approval]);
    const refused = await held;
    assert.equal(refused.isError, true);
    assert.match(JSON.stringify(refused.content), /changed/);
    await end();
    assert.deepEqual(callsIn(at), ["echo"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("the form of a server is shown at the client", async () => {
    using at = place();
    const elicit = (): { action: "accept"; content: { version: number } } => ({ action: "accept", content: { version: 3 } });
    const { client, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "form")], { elicit });
    const { content } = await client.callTool(ECHO);
    assert.match(JSON.stringify(content), /\\"version\\":3/);
    await end();
  });

  test("tools of several servers have a prefix", async () => {
    using at = place();
    const server = (behavior: string): object => ({ command: process.execPath, args: [HOSTILE, behavior, at.root] });
    configure(at, { mcpServers: { a: server("plain"), b: server("plain"), c: { ...server("plain"), disabled: true } } });
    const { client, end } = await connectGateway(at, ["--allow", "mcp__a"]);
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ["a__echo", "b__echo"],
    );
    const { content } = await client.callTool({ ...ECHO, name: "a__echo" });
    assert.deepEqual(content, [{ type: "text", text: "hello" }]);
    await assert.rejects(client.callTool(ECHO), /Unknown tool/);
    await end();
  });
});

describe("a client that does not behave", () => {
  test("gets an error for what is not a message, and can go on", async () => {
    using at = place();
    const { client, write, messages, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "plain")]);
    write("nonsense\n");
    write('{"jsonrpc":"1.0"}\n');
    write("[]\n");
    await until(() => messages.filter((message) => "error" in message).length === 3);
    assert.deepEqual(
      messages.flatMap((message) => ("error" in message ? [message.error.code] : [])),
      [-32700, -32600, -32600],
    );
    assert.deepEqual((await client.callTool(ECHO)).content, [{ type: "text", text: "hello" }]);
    await assert.rejects(client.callTool({ name: "shell", arguments: { command: "true" } }), /Unknown tool/);
    assert.equal((await client.callTool({ name: "echo", arguments: { text: {} } })).isError ?? false, true, "input that does not fit");
    await end();
  });

  test("cancels while a call waits: it stays open and runs once when it is made again", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, serving(at, "plain"));
    const stop = new AbortController();
    const cancelled = client.callTool(ECHO, { signal: stop.signal });
    const approval = await waitForApproval(at);
    stop.abort();
    await assert.rejects(cancelled);
    await at.here(["approve", approval]);
    assert.deepEqual((await client.callTool(ECHO)).content, [{ type: "text", text: "hello" }]);
    assert.deepEqual(callsIn(at), ["echo"]);
    await end();
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("cancels while a call runs: the server is told", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "hang")]);
    const stop = new AbortController();
    const cancelled = client.callTool(ECHO, { signal: stop.signal });
    await until(() => callsIn(at).length === 1);
    stop.abort();
    await assert.rejects(cancelled);
    await until(() => callsIn(at).length === 2);
    assert.deepEqual(callsIn(at), ["echo", "cancelled"]);
    await end();
  });

  test("goes away while a call runs: the call is cancelled, and the server ends", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "hang")]);
    client.callTool(ECHO).catch(() => undefined);
    await until(() => callsIn(at).length === 1);
    const pid = Number(readFileSync(join(at.root, "started"), "utf8"));
    assert.equal(await end(), 0);
    assert.equal(
      liveProcesses().some((process) => process.pid === pid),
      false,
    );
    assert.match((await at.here(["log"])).stdout, /outcome=cancelled/);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("makes the same call twice at once: both wait for one approval, which runs once", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, serving(at, "plain"));
    const first = client.callTool(ECHO);
    const approval = await waitForApproval(at);
    const second = client.callTool(ECHO);
    const other = await client.callTool({ ...ECHO, arguments: { text: {} } });
    assert.equal(other.isError, true, "another call is not blocked");
    await at.here(["approve", approval]);
    for (const { content } of [await first, await second]) assert.deepEqual(content, [{ type: "text", text: "hello" }]);
    await end();
    assert.deepEqual(callsIn(at), ["echo"]);
  });

  test("connects twice: each connection is one session, named after the client, however many calls it makes", async () => {
    using at = place();
    for (const _connection of [1, 2]) {
      const { client, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "plain")]);
      for (const text of ["a", "b", "a"]) await client.callTool({ ...ECHO, arguments: { text } });
      await end();
    }
    const { value } = await at.hereJson(["sessions"]);
    const sessions: readonly { readonly group?: { readonly title: string } }[] = value.sessions ?? value;
    assert.deepEqual(
      sessions.map(({ group }) => group?.title),
      ["tester through the gateway", "tester through the gateway"],
    );
    assert.equal(callsIn(at).length, 6, "an identical call after the end of the first is a new one");
  });

  test("makes several calls: one watch of the store serves them all", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "plain")]);
    const watches: string[] = [];
    for (const text of ["a", "b", "c"]) {
      await client.callTool({ ...ECHO, arguments: { text } });
      watches.push(...watchesOf(at.store));
    }
    await end();
    assert.equal(watches.length, 3);
    assert.equal(new Set(watches).size, 1);
  });

  test("two clients at once have their own sessions and approvals", async () => {
    using at = place();
    const [one, two] = [await connectGateway(at, serving(at, "plain")), await connectGateway(at, serving(at, "plain"), { name: "other" })];
    const calls = [one.client.callTool(ECHO), two.client.callTool(ECHO)];
    for (const id of await waitForApprovals(at, 2)) await at.here(["approve", id]);
    for (const { content } of await Promise.all(calls)) assert.deepEqual(content, [{ type: "text", text: "hello" }]);
    assert.deepEqual(callsIn(at), ["echo", "echo"]);
    await one.end();
    await two.end();
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("names itself like a terminal sequence: people see plain text", async () => {
    using at = place();
    const { client, end } = await connectGateway(at, ["--allow", "mcp__x", ...serving(at, "plain")], { name: "a\u001b[31m\nb" });
    await client.callTool(ECHO);
    await end();
    assert.match((await at.here(["sessions"])).stdout, /a31mb through the gateway|a.31mb through the gateway/);
    assert.equal(existsSync(join(at.root, "calls.log")), true);
  });
});
