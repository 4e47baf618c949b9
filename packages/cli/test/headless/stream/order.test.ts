import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { afterEach, describe, test } from "node:test";
import { type Place, place, until } from "../../support/assent.ts";
import { endHosts, type Host, isResult, isSystem, type Line, resultsOf, startHost } from "../host.ts";

afterEach(endHosts);

const FLAGS: readonly string[] = ["--model", "script:s.yaml", "--output-format", "stream-json"];

async function linesOf(at: Place, argv: readonly string[]): Promise<readonly Line[]> {
  const { stdout } = await at.here(argv);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function inOrder(lines: readonly Line[]): void {
  const shown = lines.filter(({ seq, parent_tool_use_id }) => seq !== undefined && parent_tool_use_id === null);
  const seqs = shown.map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
    shown.map(({ type, subtype, seq }) => `${type}/${subtype ?? ""} ${seq}`).join(", "),
  );
}

describe("lines in the order of the ledger", () => {
  const two = ["a", "b"].map((id) => `{ tool: shell, id: ${id}, input: { command: "touch ${id}" } }`).join(", ");
  const DENIES: readonly (readonly string[])[] = [
    ["--deny", "Shell"],
    ["--mode", "plan"],
    ["--on-ask", "deny"],
    ["--deny", "Shell(touch a)", "--allow", "Shell(touch b)"],
  ];
  for (const flags of DENIES) {
    test(`${flags.join(" ")}: each decision comes behind the answer that made the call, before its result, and shows its own place`, async () => {
      using at = place();
      at.write("s.yaml", `turns: [{ calls: [${two}] }, { say: Done. }]`);
      const lines = await linesOf(at, ["run", "go", ...flags, ...FLAGS]);
      inOrder(lines);
      const decisions = lines.filter(isSystem("decision"));
      assert.deepEqual(decisions.map(({ tool_use_id }) => tool_use_id).toSorted(), ["a", "b"]);
      const answer = lines.findIndex(({ type }) => type === "assistant");
      for (const decision of decisions) {
        const result = lines.findIndex(({ message }) =>
          message?.content.some(({ tool_use_id }: Line) => tool_use_id === decision.tool_use_id),
        );
        const at0 = lines.indexOf(decision);
        assert.ok(answer < at0 && at0 < result, `${answer} ${at0} ${result}`);
        const { stdout } = await at.here(["log", decision.session_id, "--json"]);
        const own = stdout
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line))
          .filter(({ body }) => body.call === decision.tool_use_id);
        const [judged, over] = ["call.judged", "call.ended"].map((type) => own.find((event) => event.type === type).seq);
        assert.ok(judged <= decision.seq && decision.seq < over, `${judged} ${decision.seq} ${over}`);
      }
    });
  }

  test("a denied call of an agent: the same in its own session", async () => {
    using at = place();
    mkdirSync(`${at.root}/.config/assent/agents`, { recursive: true });
    writeFileSync(`${at.root}/.config/assent/agents/helper.md`, "---\nname: helper\ndescription: helps\n---\nYou help.\n");
    const launch = "{ tool: agent, id: launch, input: { description: find it, prompt: look, agent: helper } }";
    at.write(
      "s.yaml",
      `turns: [{ calls: [${launch}] }, { say: Done. }]\nagents: { helper: { turns: [{ calls: [${two}] }, { say: found }] } }`,
    );
    const lines = await linesOf(at, ["run", "go", "--allow", "Agent", "--deny", "Shell", ...FLAGS]);
    const own = lines.filter(({ parent_tool_use_id }) => parent_tool_use_id === "launch");
    assert.deepEqual(
      own.map(({ type, subtype }) => subtype ?? type),
      ["user", "assistant", "decision", "decision", "user", "user", "assistant"],
    );
    assert.deepEqual(
      own.map(({ seq }) => seq),
      own.map(({ seq }) => seq).toSorted((a, b) => a - b),
    );
  });

  test("--mode plan changes no mode, and no earlier event is reported after the first line", async () => {
    using at = place();
    at.write("s.yaml", "turns: [{ say: a }, { say: b }]\nallowUnused: true");
    const lines = await linesOf(at, ["run", "go", "--mode", "plan", ...FLAGS]);
    inOrder(lines);
    assert.equal(lines.filter(isSystem("mode_changed")).length, 0);
    const resumed = await linesOf(at, ["resume", lines[0].session_id, "go on", "--mode", "default", ...FLAGS]);
    inOrder(resumed);
    assert.deepEqual([resumed[0].subtype, resumed.filter(isSystem("mode_changed")).map(({ to }) => to)], ["init", ["default"]]);
  });
});

function together(host: Host, lines: readonly object[]): void {
  host.child.stdin?.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

const user = (content: string): object => ({ type: "user", message: { role: "user", content } });
const request = (id: string, subtype: string, fields: object = {}): object => ({
  type: "control_request",
  request_id: id,
  request: { subtype, ...fields },
});
const isResponse =
  (id: string) =>
  ({ type, response }: Line): boolean =>
    type === "control_response" && response.request_id === id;

describe("lines of a host in the order in which they came", () => {
  const SCRIPT = `
turns:
  - { delayMs: 300, calls: [{ tool: shell, id: c1, input: { command: touch one } }] }
  - say: done
allowUnused: true
`;

  test("an interrupt right behind a message ends that message's turns; the next one works", async () => {
    using at = place();
    at.write("s.yaml", SCRIPT);
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--allow", "Shell(touch *)"]);
    await host.ask("initialize");
    together(host, [user("go"), request("x", "interrupt"), user("again")]);
    assert.equal((await host.next("the response", isResponse("x"))).response.subtype, "success");
    assert.equal((await host.next("the result", isResult)).subtype, "interrupted");
    assert.ok(!existsSync(at.path("one")));
    assert.equal((await host.next("the next result", isResult)).subtype, "success");
    assert.deepEqual([await host.end(), existsSync(at.path("one"))], [0, true]);
  });

  test("an interrupt before a message does not touch it", async () => {
    using at = place();
    at.write("s.yaml", SCRIPT);
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--allow", "Shell(touch *)"]);
    await host.ask("initialize");
    together(host, [request("x", "interrupt"), user("go")]);
    assert.equal((await host.next("the result", isResult)).subtype, "success");
    assert.deepEqual([await host.end(), resultsOf(host.lines)[0].outcome], [0, "succeeded"]);
  });

  test("the end of input behind an interrupt: what runs in the background is waited for", async () => {
    using at = place();
    mkdirSync(`${at.root}/.config/assent/agents`, { recursive: true });
    writeFileSync(`${at.root}/.config/assent/agents/helper.md`, "---\nname: helper\ndescription: helps\n---\nYou help.\n");
    const launch = "{ tool: agent, id: launch, input: { description: find it, prompt: look, agent: helper, run_in_background: true } }";
    const slow = "{ tool: shell, id: s, input: { command: trap '' TERM; touch ran; sleep 300; sleep 300 } }";
    at.write(
      "s.yaml",
      `turns: [{ calls: [${launch}] }, { calls: [${slow}] }, { say: it was found }]\nagents: { helper: { turns: [{ delayMs: 4000, say: found }] } }`,
    );
    const host = startHost(at, ["run", "--model", "script:s.yaml", "--mode", "yolo"]);
    await host.ask("initialize");
    host.say("go");
    await until("it runs", () => existsSync(at.path("ran")));
    together(host, [request("x", "interrupt")]);
    assert.equal(await host.end(), 0, host.stderr());
    const results = host.lines.filter(isResult).map(({ subtype, result }) => [subtype, result]);
    assert.deepEqual([host.lines.find(isSystem("task_notification")).status, results.at(-1)], ["completed", ["success", "it was found"]]);
    assert.equal(results[0]?.[0], "interrupted");
  });

  test("models are set one after the other, and the message behind them is for the last", async () => {
    using at = place();
    at.write("s.yaml", "turns: [{ say: done }]\nallowUnused: true");
    const host = startHost(at, ["run", "--model", "script:s.yaml"]);
    await host.ask("initialize");
    const models = ["a:b", null, "c:d", null];
    together(host, [...models.map((model, at0) => request(`m${at0}`, "set_model", { model })), user("go")]);
    const { result } = await host.next("the result", isResult);
    const responses = host.lines.filter(({ response }) => response?.request_id?.startsWith("m"));
    assert.deepEqual(
      responses.map(({ response }) => [response.request_id, response.response.model]),
      models.map((model, at0) => [`m${at0}`, model ?? "script:s.yaml"]),
    );
    const answer = host.lines.find(({ type }) => type === "assistant");
    assert.deepEqual([result, answer.message.model], ["done", "script"]);
    together(host, [request("p0", "set_permission_mode", { mode: "yolo" }), request("p1", "set_permission_mode", { mode: "plan" })]);
    await until("both", () => host.lines.some(isResponse("p0")) && host.lines.some(isResponse("p1")));
    const modes = host.lines.filter(({ response }) => response?.request_id?.startsWith("p")).map(({ response }) => response.response.mode);
    assert.deepEqual([modes, await host.end()], [["yolo", "plan"], 0]);
  });

  test("half a surrogate pair in a message or an answer is U+FFFD, and no failure", async () => {
    using at = place();
    at.write("s.yaml", 'turns: [{ calls: [{ tool: shell, id: s, input: { command: "echo x >> ran" } }] }, { say: done }]');
    const host = startHost(at, ["run", "--model", "script:s.yaml"]);
    await host.ask("initialize", { can_use_tool: true });
    host.say("g\ud800o");
    const asked = await host.next("asked", ({ request: about }) => about?.subtype === "can_use_tool");
    host.answer(asked, { behavior: "deny", message: "n\udc00o" });
    assert.equal((await host.next("the result", isResult)).result, "done");
    assert.equal(host.lines.find(({ type }) => type === "user").message.content[0].text, "g\ufffdo");
    assert.match(resultsOf(host.lines)[0].content, /n\ufffdo/);
    assert.equal(await host.end(), 0);
  });
});
