import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { published } from "../../../mcp/test/server-bench.ts";
import { startHttpServer } from "../../../mcp/test/servers/http-server.ts";
import { type Place, place } from "../support/assent.ts";

const SERVER = new URL("../../../mcp/test/servers/hostile.mjs", import.meta.url).pathname;

function configure(at: Place, behavior: string, more: object = {}): object {
  return { command: process.execPath, args: [SERVER, behavior, at.root], ...more };
}

function writeSettings(at: Place, settings: object): string {
  const file = join(at.root, ".config/assent/settings.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

const callsIn = (at: Place): readonly string[] =>
  existsSync(join(at.root, "calls.log")) ? readFileSync(join(at.root, "calls.log"), "utf8").trim().split("\n") : [];

const CALL = `
turns:
  - calls: [{ tool: mcp__x__echo, id: c1, input: { text: hello } }]
  - expect: { result: { call: c1, outcome: OUTCOME, contains: "TEXT" } }
    say: Done.
`;

function script(at: Place, outcome: string, text: string): readonly string[] {
  at.write("s.yaml", CALL.replace("OUTCOME", outcome).replace("TEXT", text));
  return ["run", "go", "--model", "script:s.yaml"];
}

describe("a call of an MCP tool in assent run", () => {
  test("runs if a rule allows it, and the record is sound", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "plain") } });
    const ran = await at.here([...script(at, "succeeded", "hello"), "--allow", "mcp__x"]);
    assert.deepEqual([ran.code, ran.stdout], [0, "Done.\n"], ran.stderr);
    assert.deepEqual(callsIn(at), ["echo"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("is denied without a rule and a person, and never reaches the server", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "plain") } });
    const ran = await at.here(script(at, "denied", "mcp__x__echo"));
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(callsIn(at), []);
  });

  test("needs no approval if a trusted server says that it only reads", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "hints") }, mcp: { trusted: ["x"] } });
    const ran = await at.here(script(at, "succeeded", "hello"));
    assert.equal(ran.code, 0, ran.stderr);
  });

  test("waits for an approval and runs once after resume", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "plain") } });
    const parked = await at.here([...script(at, "succeeded", "hello"), "--on-ask", "park"]);
    assert.equal(parked.code, 75, parked.stderr);
    const { value } = await at.hereJson(["approvals"]);
    const [approval] = value.approvals ?? value;
    assert.equal((await at.here(["approve", approval.id])).code, 0);
    const resumed = await at.here(["resume", approval.session ?? approval.sessionId]);
    assert.deepEqual([resumed.code, resumed.stdout], [0, "Done.\n"], resumed.stderr);
    assert.deepEqual(callsIn(at), ["echo"]);
  });

  test("an approval for a tool that the server changed meanwhile does not cover it", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "plain") } });
    await at.here([...script(at, "denied", "changed or removed"), "--on-ask", "park"]);
    const { value } = await at.hereJson(["approvals"]);
    const [approval] = value.approvals ?? value;
    await at.here(["approve", approval.id]);
    writeSettings(at, { mcpServers: { x: configure(at, "other") } });
    const resumed = await at.here(["resume", approval.session ?? approval.sessionId]);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.deepEqual(callsIn(at), []);
  });

  for (const [what, remember] of [
    ["an approval", []],
    ["a remembered answer", ["--remember", "user"]],
  ] as const)
    test(`${what} does not cover a tool whose description the server changed`, async () => {
      using at = place();
      writeSettings(at, { mcpServers: { x: configure(at, "plain") } });
      const again = [...script(at, "succeeded", "hello"), "--on-ask", "park"];
      await at.here(again);
      const { value } = await at.hereJson(["approvals"]);
      const [first] = value.approvals ?? value;
      const resume = ["resume", first.session ?? first.sessionId];
      assert.equal((await at.here(["approve", first.id, ...remember])).code, 0);
      if (remember.length > 0) {
        assert.equal((await at.here(resume)).code, 0);
        assert.equal((await at.here(again)).code, 0, "the remembered answer covers the same tool");
        assert.deepEqual(callsIn(at), ["echo", "echo"]);
      }
      const before = callsIn(at);
      writeFileSync(join(at.root, "description"), "Echoes a text, and deletes your files.");
      const after = await at.here(remember.length > 0 ? again : resume);
      assert.equal(after.code, remember.length > 0 ? 75 : 70, "asked again; the script sees another outcome than it expects");
      assert.deepEqual(callsIn(at), before);
    });

  test("ends when the server's own limit has passed", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "hang", { timeout: 100 }) } });
    const ran = await at.here([...script(at, "timed_out", "did not finish within 0.1 s"), "--allow", "mcp__x"]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(callsIn(at)[0], "echo");
  });

  test("fails with the reason if the server died, and the run continues", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "die") } });
    const ran = await at.here([...script(at, "failed", "may have had an effect"), "--allow", "mcp__x"]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stderr, /The MCP server x is not available\. The program exited with code 7\./);
  });

  test("a result of 10 MB is cut for the model, and the rest is in a file", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "huge") } });
    const ran = await at.here([...script(at, "succeeded", "xxxx"), "--allow", "mcp__x"]);
    assert.equal(ran.code, 0, ran.stderr);
  });

  test("servers that do not start hold up the first request only as long as mcp.startWait says", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "mute") }, mcp: { startWait: 0 } });
    at.write("s.yaml", "turns: [{ expect: { tools: { hasNot: [mcp__x__echo] } }, say: Hi }]");
    const ran = await at.here(["run", "go", "--model", "script:s.yaml"]);
    assert.deepEqual([ran.code, ran.stdout], [0, "Hi\n"], ran.stderr);
  });
});

describe("real servers in assent run", () => {
  test("everything, filesystem and memory do what the model asks", async () => {
    using at = place();
    const own = { env: { MEMORY_FILE_PATH: join(at.root, "memory.json") } };
    writeSettings(at, {
      mcpServers: {
        every: published("everything"),
        files: published("filesystem", at.workspace),
        memory: { ...published("memory"), ...own },
      },
      permissions: { allow: ["mcp__every__get-*", "mcp__files__write_file:path=*.txt", "mcp__memory"] },
    });
    const path = at.path("made.txt");
    const calls = [
      { tool: "mcp__every__get-sum", id: "c1", input: { a: 1, b: 2 } },
      { tool: "mcp__files__write_file", id: "c2", input: { path, content: "made" } },
      { tool: "mcp__memory__create_entities", id: "c3", input: { entities: [{ name: "Ada", entityType: "person", observations: [] }] } },
      { tool: "mcp__every__trigger-long-running-operation", id: "c4", input: { duration: 1, steps: 1 } },
    ];
    at.write("s.yaml", JSON.stringify({ turns: [{ calls }, { say: "Done." }] }));
    const ran = await at.here(["run", "go", "--model", "script:s.yaml", "--output-format", "stream-json"]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /The sum of 1 and 2 is 3/);
    assert.equal(readFileSync(path, "utf8"), "made");
    assert.match(readFileSync(join(at.root, "memory.json"), "utf8"), /Ada/);
    assert.match(ran.stdout, /"tool_use_id":"c4".*"outcome":"denied"/);
    assert.equal((await at.here(["verify"])).code, 0);
  });
});

describe("where servers are configured", () => {
  test(".mcp.json counts once the workspace is trusted", async () => {
    using at = place();
    at.write(".mcp.json", JSON.stringify({ mcpServers: { x: configure(at, "plain") } }));
    const before = await at.here([...script(at, "invalid", "mcp__x__echo"), "--allow", "mcp__x"]);
    assert.equal(before.code, 0, before.stderr);
    assert.match(before.stderr, /is not trusted/);
    assert.equal(existsSync(join(at.root, "started")), false, "the program was not started");
    assert.equal((await at.here(["trust", "--yes"])).code, 0);
    const after = await at.here([...script(at, "succeeded", "hello"), "--allow", "mcp__x"]);
    assert.equal(after.code, 0, after.stderr);
  });

  test("a server of a workspace that is not trusted is named as such", async () => {
    using at = place();
    at.write(".mcp.json", JSON.stringify({ mcpServers: { x: configure(at, "plain") } }));
    const ran = await at.here(["mcp", "test", "x"]);
    assert.equal(ran.code, 4);
    assert.match(
      ran.stderr,
      /'x' of .*\.mcp\.json is not used, because the workspace is not trusted\.\nTo review and trust it: assent trust/,
    );
  });

  test("what a program prints before it exits cannot act on the terminal", async () => {
    using at = place();
    const script = "printf '\\033[2J\\033]0;title\\007bad key\\n' >&2; exit 4";
    await at.here(["mcp", "add", "x", "--", "sh", "-c", script]);
    const { stdout } = await at.here(["mcp", "test", "x"]);
    assert.match(stdout, /ends with "\\x1b\[2J\\x1b\]0;title\\x07bad key"/);
  });

  test("the user's server wins over a project's, and a project cannot make its server trusted", async () => {
    using at = place();
    at.write(".mcp.json", JSON.stringify({ mcpServers: { x: configure(at, "plain"), y: configure(at, "hints", { trust: true }) } }));
    const file = writeSettings(at, { mcpServers: { x: configure(at, "hints", { trust: true }) } });
    await at.here(["trust", "--yes"]);
    const { value } = await at.hereJson(["mcp", "list"]);
    assert.deepEqual(
      value.servers.map(({ name, file: from, trusted }: { name: string; file: string; trusted: boolean }) => [name, from, trusted]),
      [
        ["x", file, true],
        ["y", at.path(".mcp.json"), false],
      ],
    );
  });

  test("--mcp-config names a file or JSON; a missing file is an error that names it", async () => {
    using at = place();
    at.write("more.json", JSON.stringify({ mcpServers: { x: configure(at, "plain") } }));
    for (const given of ["more.json", readFileSync(at.path("more.json"), "utf8")]) {
      const ran = await at.here([...script(at, "succeeded", "hello"), "--allow", "mcp__x", "--mcp-config", given]);
      assert.equal(ran.code, 0, ran.stderr);
    }
    const { stderr } = await at.here([...script(at, "invalid", "mcp__x__echo"), "--mcp-config", "none.json"]);
    assert.match(stderr, /none\.json does not exist/);
  });

  test("add, list, test and remove", async () => {
    using at = place();
    assert.match((await at.here(["mcp", "list"])).stdout, /No MCP servers are configured here/);
    const added = await at.here(["mcp", "add", "x", "--env", "TOKEN=secret-value", "--", process.execPath, SERVER, "bad-schema", at.root]);
    assert.equal(added.code, 0, added.stderr);
    const listed = await at.here(["mcp", "list"]);
    assert.match(listed.stdout, /^x +stdio +no +.*hostile\.mjs bad-schema/m);
    assert.doesNotMatch(`${listed.stdout}${(await at.here(["mcp", "list", "--json"])).stdout}`, /secret-value/);
    const tested = await at.here(["mcp", "test", "x"]);
    assert.equal(tested.code, 1, tested.stderr);
    assert.match(tested.stdout, /^x: ready, 1 tool\n {2}mcp__x__echo {2}echo\n {2}disabled: broken: /);
    assert.equal(statSync(at.store).mode & 0o777, 0o700, "the first command on a machine makes a directory that only the user can read");
    assert.equal((await at.here(["mcp", "test", "y"])).code, 4);
    assert.match((await at.here(["mcp", "add", "x", "y"])).stderr, /already have a server 'x'/);
    assert.equal((await at.here(["mcp", "remove", "x"])).code, 0);
    assert.equal((await at.here(["mcp", "remove", "x"])).code, 4);
  });

  test("--strict-mcp-config leaves out all other servers", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "plain") } });
    const { value } = await at.hereJson(["mcp", "list", "--strict-mcp-config", "--mcp-config", '{"mcpServers": {"y": {"command": "z"}}}']);
    assert.deepEqual(
      value.servers.map(({ name }: { name: string }) => name),
      ["y"],
    );
  });

  test("a stream names the servers first, and a host can ask for their state", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { x: configure(at, "plain") } });
    at.write("s.yaml", "turns: [{ say: Hi }]");
    const ran = await at.here(["run", "go", "--model", "script:s.yaml", "--output-format", "stream-json"]);
    const [init] = ran.stdout.split("\n").map((line) => (line === "" ? {} : JSON.parse(line)));
    assert.deepEqual(init.mcp_servers, [{ name: "x", status: "pending" }]);
  });

  test("a mentioned resource and a prompt of a server reach the model; one that does not exist ends the run", async () => {
    using at = place();
    writeSettings(at, { mcpServers: { every: published("everything") } });
    at.write("s.yaml", "turns: [{ say: Hi }]");
    const say = (text: string): ReturnType<Place["here"]> =>
      at.here(["run", text, "--model", "script:s.yaml", "--output-format", "stream-json"]);
    assert.match((await say("Read @every:demo://resource/dynamic/text/1")).stdout, /"type":"user".*of the MCP server every:/);
    assert.match((await say("/mcp__every__simple-prompt")).stdout, /"type":"user".*This is a simple prompt/);
    const wrong = await say("/mcp__every__none");
    assert.equal(wrong.code, 1);
    assert.match(wrong.stdout, /No MCP server offers \/mcp__every__none/);
  });

  test("login opens the way for a server that wants one, and logout closes it", async (t) => {
    using at = place();
    const { url, revoke } = await startHttpServer(t, { oauth: true });
    await at.here(["mcp", "add", "web", url]);
    const refused = await at.here(["mcp", "test", "web"]);
    assert.match(refused.stdout, /wants you to log in\.\n {2}Run: assent mcp login web/);
    const child = at.start(["mcp", "login", "web"]);
    const { promise: page, resolve } = Promise.withResolvers<string>();
    let said = "";
    child.stderr?.on("data", (chunk) => {
      said += chunk;
      const [link] = /http:\/\/\S+\/authorize\S*/.exec(said) ?? [];
      if (link !== undefined && said.includes("press Enter")) resolve(link);
    });
    await (await fetch(await page)).text();
    const [code] = await once(child, "exit");
    assert.equal(code, 0, said);
    assert.equal((await at.here(["mcp", "test", "web"])).code, 0);
    revoke();
    const revoked = await at.here(["mcp", "test", "web"]);
    assert.match(revoked.stdout, /wants you to log in/);
    assert.match(revoked.stderr, /^assent: warning: MCP: OAuth "invalid_grant"/, "the library does not write to the terminal itself");
    assert.equal((await at.here(["mcp", "logout", "web"])).code, 0);
    assert.equal((await at.here(["mcp", "test", "web"])).code, 1);
    await at.here(["mcp", "add", "x", "prog"]);
    assert.match((await at.here(["mcp", "login", "x"])).stderr, /'x' is a program/);
  });

  test("login and logout do not print variables of an address", async () => {
    using at = place();
    await at.here(["mcp", "add", "web", "http://127.0.0.1:2/$" + "{PLACE}/mcp"]);
    const env = { PLACE: "hidden-path" };
    const failed = await at.here(["mcp", "login", "web"], { env });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /Logging in to http:\S+\/\[redacted: PLACE\]\/mcp failed/);
    const left = await at.here(["mcp", "logout", "web", "--json"], { env });
    assert.match(left.stdout, /\/\$\{PLACE\}\/mcp/);
    for (const { stdout, stderr } of [failed, left]) assert.doesNotMatch(stdout + stderr, /hidden-path/);
  });

  const WRONG: readonly [sentence: string, argv: readonly string[], message: RegExp][] = [
    ["a name that tools cannot have", ["a__b", "x"], /'a__b' is not a name for a server/],
    ["a URL of another kind", ["x", "ftp://h/mcp"], /'ftp:\/\/h\/mcp' is not a program, and a URL must start with http/],
    ["a header for a program", ["x", "prog", "--header", "A: b"], /--header and --sse need a URL/],
    ["a variable without a value", ["x", "prog", "--env", "A"], /'A' must have the form --env NAME=VALUE/],
    ["arguments for a URL", ["x", "https://h/mcp", "more"], /a URL takes no arguments/],
  ];
  for (const [sentence, argv, message] of WRONG)
    test(`mcp add refuses ${sentence}`, async () => {
      using at = place();
      const ran = await at.here(["mcp", "add", ...argv]);
      assert.equal(ran.code, 2);
      assert.match(ran.stderr, message);
    });
});
