import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Display } from "@assent/core";
import { manualClock } from "@assent/core/testing";
import { nodeDigest } from "@assent/host";
import { toolDigest } from "../../core/src/tool-digest.ts";
import type { ServerState } from "../src/index.ts";
import { createBench, findTool, hostile, published, run, scratch, until } from "./server-bench.ts";

const callsIn = (directory: string): readonly string[] =>
  existsSync(join(directory, "calls.log")) ? readFileSync(join(directory, "calls.log"), "utf8").trim().split("\n") : [];

const reasonOf = (state: ServerState | undefined): string =>
  state?.state === "failed" ? `${state.reason} ${state.advice}` : String(state?.state);

describe("servers of the npm registry", () => {
  test("everything: tools of many kinds, structured content, images, links", async (t) => {
    const { set, call } = createBench(t, { everything: published("everything") });
    await set.settle(20_000);
    assert.deepEqual(set.disabledTools("everything"), []);
    assert.equal((await call("mcp__everything__get-sum", { a: 1, b: 2 })).content, "The sum of 1 and 2 is 3.");
    const weather = await call("mcp__everything__get-structured-content", { location: "Chicago" });
    assert.equal(typeof (weather.value as { temperature?: unknown })?.temperature, "number");
    const image = await call("mcp__everything__get-tiny-image");
    assert.ok(Array.isArray(image.content) && image.content.some(({ type }) => type === "image"), JSON.stringify(image.content));
    assert.match(String(image.display), /\[image\/png, \d+ bytes\]/);
    assert.match(String((await call("mcp__everything__get-resource-links", { count: 1 })).content), /Resource demo:/);
    await assert.rejects(async () => call("mcp__everything__get-sum", { a: "x" }), /a|b/);
  });

  test("filesystem: reads only in its directory, and says why it refuses", async (t) => {
    const directory = scratch(t);
    writeFileSync(join(directory, "a.txt"), "hello");
    const { set, call } = createBench(t, { fs: published("filesystem", directory) }, { directory });
    await set.settle(20_000);
    assert.equal((await call("mcp__fs__read_text_file", { path: join(directory, "a.txt") })).content, "hello");
    const refused = await call("mcp__fs__read_text_file", { path: "/etc/hostname" });
    assert.equal(refused.error?.type, "mcp_tool_error");
    assert.match(refused.error?.message ?? "", /outside allowed directories/);
  });

  test("memory: keeps what one call wrote for the next", async (t) => {
    const directory = scratch(t);
    const memory = { ...published("memory"), env: { MEMORY_FILE_PATH: join(directory, "memory.jsonl") } };
    const { set, call } = createBench(t, { memory }, { directory });
    await set.settle(20_000);
    await call("mcp__memory__create_entities", { entities: [{ name: "Ada", entityType: "person", observations: ["wrote"] }] });
    assert.match(JSON.stringify((await call("mcp__memory__read_graph")).value), /Ada/);
  });
});

const variable = (name: string): string => `$${`{${name}}`}`;
const SECRETS = { MY_TOKEN: "open-sesame", MY_PAT: "hidden pat", DOCS: "/srv/docs" };

describe("a server that cannot be used is named with its reason, and the others work", () => {
  const rows: readonly [sentence: string, server: (directory: string) => Parameters<typeof createBench>[1][string], reason: RegExp][] = [
    [
      "a program that does not exist",
      () => ({ ...hostile("plain", ""), command: "no-such-server" }) as never,
      /no-such-server was not found on PATH\. Install it/,
    ],
    [
      "a program that exits",
      () => ({ type: "stdio", command: "sh", args: ["-c", "echo bad key >&2; exit 4"], env: {} }),
      /exited with code 4\. Its standard error ends with "bad key"/,
    ],
    [
      "a program that is not a server",
      () => ({ type: "stdio", command: "sh", args: ["-c", "echo usage: x; exit 1"], env: {} }),
      /standard output is not MCP: "usage: x"/,
    ],
    [
      "a program that prints secrets before it exits",
      () => {
        const script = "echo token=abc sk-0123456789abcdef $MY_KEY $PLACE >&2; exit 4";
        return { type: "stdio", command: "sh", args: ["-c", script], env: { MY_KEY: "open sesame", PLACE: "/srv/data" } };
      },
      /ends with "token=\[redacted: secret\] \[redacted: key\] \[redacted: MY_KEY\] \/srv\/data"/,
    ],
    [
      "a program that prints variables of its configuration under other names",
      () => {
        const script = "echo $0 $PLACE $HERE >&2; exit 4";
        const env = { PLACE: variable("MY_PAT"), HERE: variable("DOCS") };
        return { type: "stdio", command: "sh", args: ["-c", script, variable("MY_TOKEN")], env };
      },
      /ends with "\[redacted: MY_TOKEN\] \[redacted: MY_PAT\] \/srv\/docs"/,
    ],
    [
      "a program whose name has a secret",
      () => ({ type: "stdio", command: `/no/${variable("MY_TOKEN")}`, args: [], env: {} }),
      /^\/no\/\[redacted: MY_TOKEN\] could not be started/,
    ],
    [
      "a program that prints the default of a secret variable, and of another one",
      () => {
        const args = ["-c", "echo $0 $1 >&2; exit 4", variable("NO_TOKEN:-written in the file"), variable("NO_HOST:-localhost")];
        return { type: "stdio", command: "sh", args, env: {} };
      },
      /ends with "\[redacted: NO_TOKEN\] localhost"/,
    ],
    [
      "an address with a secret",
      () => ({ type: "http", url: `http://127.0.0.1:2/${variable("MY_TOKEN")}/mcp`, headers: {} }),
      /^http:\/\/127\.0\.0\.1:2\/\[redacted: MY_TOKEN\]\/mcp could not be reached/,
    ],
    [
      "a secret that is not an address",
      () => ({ type: "http", url: variable("MY_TOKEN"), headers: {} }),
      /^"\[redacted: MY_TOKEN\]" is not an address/,
    ],
    [
      "a header that cannot be sent",
      () => ({ type: "http", url: "http://127.0.0.1:2/mcp", headers: { "X-Key": `${variable("MY_PAT")}\n!` } }),
      /could not be reached: (?!.*hidden pat).*\[redacted/,
    ],
    ["a program that exits while it lists its tools", (directory) => hostile("die-listing", directory), /exited with code 5/],
    [
      "a first answer that is not valid",
      (directory) => hostile("null-start", directory),
      /^The program cannot be used: its answer is not valid/,
    ],
    ["a program that refuses the connection", (directory) => hostile("no-start", directory), /^The program cannot be used: no license\. /],
    [
      "a tool that does not fit the protocol",
      (directory) => hostile("invalid", directory),
      /did not list what it offers: Invalid result for tools\/list: tools\.1\.inputSchema\.type: [^{[]*$/,
    ],
    ["a schema that is too deep to be read", (directory) => hostile("deep", directory), /did not list what it offers: Maximum call stack/],
    ["a list without an end", (directory) => hostile("endless", directory), /pagination did not terminate/],
    [
      "a variable that is not set",
      () => ({ type: "stdio", command: "sh", args: ["$" + "{NO_SUCH}"], env: {} }),
      /in servers\.json uses variables that are not set: \$\{NO_SUCH\} in "args\[0\]"/,
    ],
  ];
  for (const [sentence, server, reason] of rows)
    test(sentence, async (t) => {
      const directory = scratch(t);
      const variables = { environment: SECRETS, programEnvironment: { PATH: process.env["PATH"] ?? "", DOCS: SECRETS.DOCS } };
      const { set, call } = createBench(t, { bad: server(directory), good: hostile("plain", directory) }, { directory, ...variables });
      let seen = "";
      set.subscribe(() => {
        const state = set.servers[0]?.state();
        if (state?.state === "failed") seen = reasonOf(state);
      });
      await set.settle(20_000);
      assert.match(seen, reason);
      assert.equal((await call("mcp__good__echo", { text: "hi" })).content, "hi");
    });
});

describe("a server that misbehaves", () => {
  test("text on its standard output that is not MCP is skipped", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("garbage", directory) }, { directory });
    await set.settle(20_000);
    assert.equal((await call("mcp__x__echo", { text: "hi" })).content, "hi");
  });

  test("an answer that is not valid fails the call at once", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("invalid-answer", directory) }, { directory });
    await set.settle(20_000);
    for (const answer of [{ result: null }, { result: "text" }, { error: "no" }, {}]) {
      const { error } = await call("mcp__x__echo", { answer });
      assert.match(error?.message ?? "", /x reports: its answer is not valid: it needs an object as result/, JSON.stringify(answer));
    }
  });

  test("a result of 10 MB arrives whole", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("huge", directory) }, { directory });
    await set.settle(20_000);
    assert.equal((await call("mcp__x__echo")).content.length, 10 * 1024 * 1024);
  });

  for (const levels of [1_000, 10_000])
    test(`a result nested in ${levels} levels is refused, and the message says that the tool ran`, async (t) => {
      const directory = scratch(t);
      const { set, call } = createBench(t, { x: hostile("deep-result", directory) }, { directory });
      await set.settle(20_000);
      const { error } = await call("mcp__x__echo", { levels });
      assert.match(error?.message ?? "", /'mcp__x__echo' ran, but its result could not be kept: it has more than 512 levels/);
    });

  test("a result is not compared with a pattern of the server, which could take minutes", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("slow-pattern", directory) }, { directory });
    await set.settle(20_000);
    const { value, error } = await call("mcp__x__echo");
    assert.deepEqual([value, error], [{ a: `${"a".repeat(22)}!` }, undefined]);
  });

  test("pictures that would make a result too large for the model are named instead", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("pictures", directory) }, { directory });
    await set.settle(20_000);
    const { content } = await call("mcp__x__echo");
    assert.ok(Array.isArray(content));
    assert.deepEqual(
      content.map((part) => (part.type === "text" ? part.text : part.type)),
      ["image", "image", "[image/png, 3750 kB]: left out, because the result is too large."],
    );
  });

  test("a message without an end ends the server, not this process", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("too-long", directory) }, { directory });
    await set.settle(20_000);
    const { error } = await call("mcp__x__echo");
    assert.equal(error?.type, "mcp_server_unavailable");
    assert.match(error?.message ?? "", /sent a message of more than 64 MB/);
  });

  test("a server that dies during a call: the call says that it may have had an effect, and the server starts again", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("die", directory) }, { directory });
    await set.settle(20_000);
    const { error } = await call("mcp__x__echo");
    assert.match(error?.message ?? "", /ended while the call ran, so it may have had an effect\. The program exited with code 7/);
    assert.deepEqual(callsIn(directory), ["echo"]);
    await until(() => set.servers[0]?.state().state === "ready", "the second start");
  });

  test("while a server is down, its tools stay, and a call fails at once with the reason", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("once", directory) }, { directory });
    await set.settle(20_000);
    const tool = findTool(set, "mcp__x__echo");
    process.kill(Number(readFileSync(join(directory, "started"), "utf8")), "SIGKILL");
    await until(() => /only once/.test(reasonOf(set.servers[0]?.state())), "the failed restart");
    assert.equal(findTool(set, "mcp__x__echo"), tool);
    const { error } = await call("mcp__x__echo");
    assert.equal(error?.type, "mcp_server_unavailable");
    assert.match(error?.message ?? "", /x is not available\. The program exited with code 9\. .*Assent starts it again in \d+ s\./);
    const failure = await (await tool.build({})).failure?.();
    assert.match(failure?.error?.message ?? "", /is not available/, "no person is asked about such a call");
  });

  test("a server whose first start fails is tried again", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("flaky", directory) }, { directory });
    await set.settle(20_000);
    await until(() => set.servers[0]?.state().state === "ready", "the second start");
    assert.equal((await call("mcp__x__echo", { text: "hi" })).content, "hi");
  });

  test("a server that keeps failing is started again after 1, 2, 4, 8 and 16 seconds, and then only by a person", async (t) => {
    const clock = manualClock();
    const { set } = createBench(t, { x: { type: "stdio", command: "sh", args: ["-c", "exit 4"], env: {} } }, { clock });
    const [server] = set.servers;
    const failed = async (): Promise<number | undefined> => {
      await until(() => server?.state().state === "failed", "the failure");
      const state = server?.state();
      return state?.state === "failed" && state.retryAt !== undefined ? state.retryAt - clock.now() : undefined;
    };
    set.start();
    for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000]) {
      assert.equal(await failed(), pause);
      await clock.advance(pause - 1);
      assert.equal(server?.state().state, "failed");
      await clock.advance(1);
    }
    assert.equal(await failed(), undefined);
    await server?.restart();
    assert.equal(await failed(), 1_000);
  });

  test("a server that never answers does not hold up the others", async (t) => {
    const directory = scratch(t);
    const { set } = createBench(t, { mute: hostile("mute", directory), good: hostile("plain", directory) }, { directory });
    set.start();
    await until(() => set.servers[1]?.state().state === "ready", "the good server");
    await set.settle(1);
    assert.equal(set.servers[0]?.state().state, "starting");
    assert.deepEqual(
      set.tools().map(({ name }) => name),
      ["mcp__good__echo"],
    );
  });

  test("cancelling a call that hangs tells the server and ends the call", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("hang", directory) }, { directory });
    await set.settle(20_000);
    const cancel = new AbortController();
    const calling = call("mcp__x__echo", {}, { signal: cancel.signal });
    await until(() => callsIn(directory).length === 1, "the call");
    cancel.abort();
    await assert.rejects(calling);
    await until(() => callsIn(directory).includes("cancelled"), "the cancellation");
  });

  test("a server that ignores the end of its input is ended", async (t) => {
    const directory = scratch(t);
    const { set } = createBench(t, { x: hostile("stay", directory) }, { directory });
    await set.settle(20_000);
    const pid = Number(readFileSync(join(directory, "started"), "utf8"));
    await set.close();
    assert.throws(() => process.kill(pid, 0), /ESRCH/);
  });
});

describe("what a server reports", () => {
  const rows: readonly [sentence: string, behavior: string, message: RegExp, type: string | undefined][] = [
    ["a tool that failed", "error", /^no such ticket$/, "mcp_tool_error"],
    ["a request that was refused", "refuse", /The MCP server x reports: .*out of order/, "mcp_tool_error"],
  ];
  for (const [sentence, behavior, message, type] of rows)
    test(sentence, async (t) => {
      const directory = scratch(t);
      const { set, call } = createBench(t, { x: hostile(behavior, directory) }, { directory });
      await set.settle(20_000);
      const { error } = await call("mcp__x__echo");
      assert.match(error?.message ?? "", message);
      assert.equal(error?.type, type);
    });

  test("a server cannot use the model, and gets an error that says so", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("sampling", directory) }, { directory });
    await set.settle(20_000);
    assert.match(String((await call("mcp__x__echo")).content), /does not let servers use its model/);
  });

  test("the root is the workspace", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("roots", directory) }, { directory });
    await set.settle(20_000);
    assert.match(String((await call("mcp__x__echo")).content), new RegExp(`file://${directory}`));
  });

  test("progress is shown", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("progress", directory) }, { directory });
    await set.settle(20_000);
    const shown: Display[] = [];
    await call("mcp__x__echo", {}, { update: (display) => shown.push(display) });
    assert.deepEqual(shown, [{ type: "tool_progress", progress: 1, total: 2, message: "half" }]);
  });
});

describe("tools of a server", () => {
  test("a changed tool has another digest, and a call of the old one does not run", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("changing", directory) }, { directory });
    await set.settle(20_000);
    const old = findTool(set, "mcp__x__echo");
    const waiting = await old.build({ text: "approved before the change" });
    await call("mcp__x__echo");
    await until(() => findTool(set, "mcp__x__echo") !== old, "the new list");
    assert.match(findTool(set, "mcp__x__echo").description, /deletes your files/);
    assert.notEqual(toolDigest(findTool(set, "mcp__x__echo"), nodeDigest), toolDigest(old, nodeDigest));
    const { error } = await run(waiting, new AbortController().signal);
    assert.equal(error?.type, "tool_changed");
    assert.deepEqual(callsIn(directory), ["echo"], "only the first call reached the server");
  });

  test("the same tool of another program has another digest", async (t) => {
    const directory = scratch(t);
    const other = { ...hostile("plain", directory), env: { A: "b" } };
    const { set } = createBench(t, { x: hostile("plain", directory) }, { directory });
    const { set: same } = createBench(t, { x: other }, { directory });
    const { set: another } = createBench(t, { x: hostile("other", directory) }, { directory });
    await Promise.all([set, same, another].map((one) => one.settle(20_000)));
    const digests = [set, same, another].map((one) => toolDigest(findTool(one, "mcp__x__echo"), nodeDigest));
    assert.equal(digests[0], digests[1], "the environment holds secrets that change");
    assert.notEqual(digests[0], digests[2]);
  });

  test("a schema that does not compile disables its tool alone", async (t) => {
    const directory = scratch(t);
    const { set } = createBench(t, { x: hostile("bad-schema", directory) }, { directory });
    await set.settle(20_000);
    assert.deepEqual(
      set.tools().map(({ name }) => name),
      ["mcp__x__echo"],
    );
    assert.match(JSON.stringify(set.disabledTools("x")), /"tool":"broken","reason":".*strnig|"tool":"broken"/);
  });

  test("schemas that are too deep, too large or elsewhere, long descriptions, and names that are listed twice disable their tools alone", async (t) => {
    const directory = scratch(t);
    const { set, call } = createBench(t, { x: hostile("odd-schemas", directory), y: hostile("bad-output", directory) }, { directory });
    await set.settle(20_000);
    assert.equal((await call("mcp__x__echo", { text: "hi" })).content, "hi");
    assert.match((await call("mcp__y__echo", { text: "hi" })).content as string, /has an invalid outputSchema: .*strnig/);
    assert.deepEqual(callsIn(directory), ["echo"], "the second call was not sent");
    const expected = {
      deep: /more than 1024 levels/,
      large: /its input schema has 1\d{5} characters; at most 100000 are compiled/,
      wordy: /its description has 100001 characters; at most 100000 are sent/,
      fetched: /can't resolve reference/,
      twice: /The server lists it 2 times/,
    };
    const disabled = Object.fromEntries(set.disabledTools("x").map(({ tool, reason }) => [tool, reason]));
    assert.equal(Object.keys(disabled).length, 5);
    for (const [tool, reason] of Object.entries(expected)) assert.match(disabled[tool] ?? "", reason);
  });

  test("a list that changes while it is read is read again, once for many changes", async (t) => {
    const directory = scratch(t);
    const { set } = createBench(t, { x: hostile("late", directory) }, { directory });
    await set.settle(20_000);
    await until(() => set.tools().some(({ name }) => name === "mcp__x__late"), "the new list");
    assert.ok(readFileSync(join(directory, "lists.log"), "utf8").length < 10);
  });

  test("names that become the same disable their tools, and the reason names both", async (t) => {
    const directory = scratch(t);
    const { set } = createBench(t, { x: hostile("collide", directory) }, { directory });
    await set.settle(20_000);
    assert.deepEqual(
      set.tools().map(({ name }) => name),
      ["mcp__x__echo"],
    );
    assert.deepEqual(
      set.disabledTools("x").map(({ tool }) => tool),
      ["a.b", "a b"],
    );
    assert.match(set.disabledTools("x")[0]?.reason ?? "", /^"a\.b" and "a b" would all be called mcp__x__a_b\./);
  });

  test("long names are cut to 64 characters and stay different", async (t) => {
    const directory = scratch(t);
    const { set } = createBench(t, { x: hostile("long", directory) }, { directory });
    await set.settle(20_000);
    const names = set.tools().map(({ name }) => name);
    assert.deepEqual(
      names.map(({ length }) => length),
      [9, 64, 64, 64],
    );
    assert.equal(new Set(names).size, 4);
    assert.ok(set.tools().every(({ title }) => title.length <= 100));
  });

  test("of more than 1,000 tools, the first are offered, and the reason says how to choose", async (t) => {
    const directory = scratch(t);
    const crowd = hostile("crowd", directory);
    const { set } = createBench(t, { x: crowd, some: { ...crowd, enabledTools: ["tool_1002"] } }, { directory });
    await set.settle(20_000);
    const named = (prefix: string): number => set.tools().filter(({ name }) => name.startsWith(prefix)).length;
    assert.deepEqual([named("mcp__x__"), named("mcp__some__")], [1_000, 1]);
    const reason = 'At most 1000 tools of a server are offered. Choose with "enabledTools".';
    assert.deepEqual(set.disabledTools("x"), [{ tool: "3 more", reason }]);
  });

  test("200 tools are all there; enabledTools and disabledTools choose among them", async (t) => {
    const directory = scratch(t);
    const many = hostile("many", directory);
    const { set } = createBench(
      t,
      { all: many, some: { ...many, enabledTools: ["tool_1", "tool_2"], disabledTools: ["tool_2"] } },
      { directory },
    );
    await set.settle(20_000);
    assert.equal(set.tools().filter(({ name }) => name.startsWith("mcp__all__")).length, 200);
    assert.deepEqual(
      set.tools().flatMap(({ name }) => (name.startsWith("mcp__some__") ? [name] : [])),
      ["mcp__some__tool_1"],
    );
  });

  for (const trusted of [true, false])
    test(`annotations of a server that is ${trusted ? "" : "not "}trusted are ${trusted ? "believed" : "ignored"}`, async (t) => {
      const directory = scratch(t);
      const { set } = createBench(t, { x: hostile("hints", directory) }, { directory, trusted });
      await set.settle(20_000);
      const tool = findTool(set, "mcp__x__echo");
      assert.equal(tool.readOnlyHint, trusted);
      assert.equal((await tool.build({})).safe(), trusted);
      assert.equal(tool.title, "Say it");
      assert.deepEqual(await (await tool.build({})).confirmation(new AbortController().signal), {
        ...{ type: "mcp", serverName: "x", toolName: "echo", toolDisplayName: "Say it" },
      });
    });
});
