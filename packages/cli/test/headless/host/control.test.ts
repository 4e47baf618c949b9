import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { afterEach, describe, test } from "node:test";
import { type Place, place, until } from "../../support/assent.ts";
import { endHosts, type Host, isRequest, isResult, isSystem, type Line, resultsOf, startHost } from "../host.ts";

afterEach(endHosts);

const ASKS = `
turns:
  - calls: [{ tool: shell, id: c1, input: { command: "echo one >> ran" } }]
  - say: Done.
allowUnused: true
`;

function start(at: Place, script: string, argv: readonly string[] = []): Host {
  at.write("s.yaml", script);
  return startHost(at, ["run", "--model", "script:s.yaml", ...argv]);
}

async function asked(at: Place, script = ASKS, argv: readonly string[] = []): Promise<{ readonly host: Host; readonly request: Line }> {
  const host = start(at, script, argv);
  assert.equal((await host.ask("initialize", { protocol: 1, can_use_tool: true })).subtype, "success");
  host.say("go");
  return { host, request: await host.next("can_use_tool", isRequest("can_use_tool")) };
}

function ran(at: Place): string {
  return existsSync(at.path("ran")) ? readFileSync(at.path("ran"), "utf8") : "";
}

describe("can_use_tool", () => {
  test("a host applies a part of the change that the model asks to apply", async () => {
    using at = place();
    mkdirSync(at.path("src"));
    for (const name of ["a", "b"]) at.write(`src/${name}.ts`, "old(1);\n");
    at.write("policy.json", JSON.stringify({ version: 1, permissions: { ask: ["Edit(src/**)"] } }));
    const calls = [
      "{ tool: ast_edit, id: c1, input: { ops: [{ pat: old($A), out: fresh($A) }], paths: [src] } }",
      "{ tool: resolve, id: c2, input: { action: apply, reason: as asked } }",
    ];
    const script = `turns: [${calls.map((call) => `{ calls: [${call}] }`).join(", ")}, { say: Done. }]\nallowUnused: true`;
    const { host, request } = await asked(at, script, ["--policy", "policy.json"]);
    host.answer(request, { behavior: "allow", part: { files: [] } });
    const again = await host.next("can_use_tool", (line) => isRequest("can_use_tool")(line) && line !== request);
    assert.match(again.request.answer_error, /'part' cannot be read/);
    host.answer(again, { behavior: "allow", part: { files: [{ path: "src/b.ts" }] } });
    await host.next("result", isResult);
    const texts = ["a", "b"].map((name) => readFileSync(at.path(`src/${name}.ts`), "utf8"));
    assert.deepEqual([texts, await host.end()], [["old(1);\n", "fresh(1);\n"], 0]);
  });

  test("it carries what a person would be shown, has no time limit, and the approval is on record before it is asked", async () => {
    using at = place();
    const { host, request } = await asked(at, ASKS.replace("echo one >> ran", "touch ran"));
    const { request: shown } = request;
    const opened = host.lines.find(isSystem("approval_opened"));
    assert.ok(host.lines.indexOf(opened) < host.lines.indexOf(request));
    assert.deepEqual(
      [shown.approval_id, shown.tool_name, shown.tool_use_id, shown.input.command, shown.fingerprint, shown.agent_id, shown.expires_at],
      [opened.approval.id, "shell", "c1", "touch ran", opened.approval.fingerprint, null, null],
    );
    assert.equal(shown.description, "$ touch ran");
    assert.deepEqual(shown.decision_reason.reason, "default");
    assert.deepEqual(
      shown.permission_suggestions.map(({ id, scope }: Line) => [id, scope]),
      [
        ["once", "once"],
        ["session", "session"],
        ["project", "project"],
        ["user", "user"],
      ],
    );
    assert.equal((await host.ask("status")).response.state, "waiting");
    assert.equal((await host.ask("list_approvals")).response.approvals[0].id, shown.approval_id);
    host.answer(request, { behavior: "allow", updatedInput: { command: "touch ran" } });
    await host.next("the result", isResult);
    assert.equal(await host.end(), 0);
    assert.ok(existsSync(at.path("ran")));
    const closed = host.lines.find(isSystem("approval_closed"));
    assert.deepEqual([closed.outcome, closed.approval_id], ["approved", shown.approval_id]);
    const decision = host.lines.find(isSystem("decision"));
    assert.deepEqual([decision.decision, decision.source], ["allow", "user_approved"]);
  });

  test("deny: the model gets the message; with interrupt the batch ends and the result is interrupted", async () => {
    using at = place();
    const first = await asked(at);
    first.host.answer(first.request, { behavior: "deny", message: "not now" });
    assert.equal((await first.host.next("result", isResult)).subtype, "success");
    const [told] = resultsOf(first.host.lines);
    assert.deepEqual([told.outcome, told.error_type], ["rejected", "rejected_by_user"]);
    assert.match(told.content, /not now/);
    assert.equal(await first.host.end(), 0);
    using again = place();
    const calls = ["a", "b"].map((id) => `{ tool: shell, id: ${id}, input: { command: "echo ${id} >> ran" } }`);
    const { host, request } = await asked(again, `turns: [{ calls: [${calls.join(", ")}] }, { say: next }]`);
    host.answer(request, { behavior: "deny", interrupt: true });
    const result = await host.next("result", isResult);
    assert.deepEqual([result.subtype, result.is_error], ["interrupted", false]);
    assert.equal(resultsOf(host.lines).length, 2);
    host.say("go on");
    assert.equal((await host.next("the next result", isResult)).result, "next");
    assert.deepEqual([await host.end(), ran(again)], [0, ""]);
  });

  test("an edited command is what runs, the original is not; the record shows both, and the model is informed", async () => {
    using at = place();
    const { host, request } = await asked(at);
    host.answer(request, { behavior: "allow", fingerprint: request.request.fingerprint, updatedInput: { command: "echo two >> ran" } });
    const { session_id } = await host.next("result", isResult);
    assert.equal(await host.end(), 0);
    assert.equal(ran(at), "two\n");
    assert.match(resultsOf(host.lines)[0].content, /^The input was edited before it ran: \{"command":"echo two >> ran"\}/);
    const { stdout } = await at.here(["log", session_id, "--json"]);
    assert.ok(stdout.includes("echo one >> ran") && stdout.includes("echo two >> ran"));
  });

  test("an edit that does not fit: asked again with edit_error, nothing ran", async () => {
    using at = place();
    const { host, request } = await asked(at);
    host.answer(request, { behavior: "allow", updatedInput: { timeout: 1 } });
    const again = await host.next("asked again", isRequest("can_use_tool"));
    assert.match(again.request.edit_error, /command/);
    assert.notEqual(again.request_id, request.request_id);
    assert.equal(ran(at), "");
    host.answer(again, { behavior: "deny" });
    await host.next("result", isResult);
    assert.deepEqual([await host.end(), ran(at)], [0, ""]);
  });

  test("an edit that a deny rule is for: denied, nothing ran", async () => {
    using at = place();
    const { host, request } = await asked(at, ASKS, ["--deny", "Shell(rm *)"]);
    host.answer(request, { behavior: "allow", updatedInput: { command: "rm -r x" } });
    await host.next("result", isResult);
    assert.equal(resultsOf(host.lines)[0].outcome, "denied");
    assert.deepEqual([await host.end(), ran(at)], [0, ""]);
  });

  const BAD: readonly unknown[] = [
    { behavior: "yes" },
    { behavior: "ALLOW" },
    { behavior: true },
    {},
    "allow",
    null,
    { behavior: "allow", remember: "x" },
  ];
  for (const reply of BAD) {
    test(`${JSON.stringify(reply)} is not an answer: asked again; after the third --on-ask decides, nothing ran`, async () => {
      using at = place();
      const { host, request } = await asked(at);
      let open = request;
      for (let bad = 1; bad <= 3; bad += 1) {
        host.answer(open, reply);
        const warning = await host.next("a warning", isSystem("warning"));
        assert.equal(warning.code, "bad_answer");
        if (bad < 3) {
          open = await host.next("asked again", isRequest("can_use_tool"));
          assert.equal(typeof open.request.answer_error, "string");
        }
      }
      await host.next("result", isResult);
      assert.equal(resultsOf(host.lines)[0].error_type, "denied_unattended");
      assert.deepEqual([await host.end(), ran(at)], [0, ""]);
    });
  }

  test("an answer with another fingerprint leaves the approval open", async () => {
    using at = place();
    const { host, request } = await asked(at);
    host.answer(request, { behavior: "allow", fingerprint: "0".repeat(64) });
    assert.equal((await host.next("warning", isSystem("warning"))).code, "stale_revision");
    const again = await host.next("asked again", isRequest("can_use_tool"));
    assert.equal(again.request.approval_id, request.request.approval_id);
    assert.equal(ran(at), "");
    host.answer(again, { behavior: "allow", fingerprint: again.request.fingerprint });
    await host.next("result", isResult);
    assert.deepEqual([await host.end(), ran(at)], [0, "one\n"]);
  });

  test("a host that answers with an error cannot be asked: --on-ask decides", async () => {
    using at = place();
    const { host, request } = await asked(at, ASKS, ["--on-ask", "park"]);
    host.send({ type: "control_response", response: { subtype: "error", request_id: request.request_id, error: "no callback" } });
    const result = await host.next("result", isResult);
    assert.deepEqual([result.subtype, result.approvals.length], ["parked", 1]);
    assert.deepEqual([await host.exit(), ran(at)], [75, ""]);
  });

  test("at its time limit an approval has expired, and a late yes changes nothing", async () => {
    using at = place();
    const { host, request } = await asked(at, ASKS, ["--approval-timeout", "300ms"]);
    assert.equal(typeof request.request.expires_at, "string");
    const cancel = await host.next("a cancel", ({ type }) => type === "control_cancel_request");
    assert.equal(cancel.request_id, request.request_id);
    host.answer(request, { behavior: "allow" });
    assert.equal((await host.next("warning", isSystem("warning"))).code, "late_response");
    await host.next("result", isResult);
    assert.equal(resultsOf(host.lines)[0].outcome, "expired");
    assert.deepEqual([await host.end(), ran(at)], [0, ""]);
  });

  test("answered from another terminal first: the host's request is withdrawn", async () => {
    using at = place();
    const { host, request } = await asked(at);
    assert.equal((await at.here(["reject", request.request.approval_id, "--reason", "elsewhere"])).code, 0);
    assert.equal((await host.next("a cancel", ({ type }) => type === "control_cancel_request")).request_id, request.request_id);
    host.answer(request, { behavior: "allow" });
    const closed = await host.next("closed", isSystem("approval_closed"));
    assert.deepEqual([closed.outcome, closed.reason], ["rejected", "elsewhere"]);
    await host.next("result", isResult);
    assert.equal(resultsOf(host.lines)[0].outcome, "rejected");
    assert.deepEqual([await host.end(), ran(at)], [0, ""]);
  });

  test("many are open at once and are answered in any order; remember answers similar calls from then on", async () => {
    using at = place();
    const calls = ["a", "b"].map((id) => `{ tool: write, id: ${id}, input: { file_path: ${id}.txt, content: x } }`);
    const third = "{ calls: [{ tool: write, id: c, input: { file_path: c.txt, content: x } }] }";
    const { host, request } = await asked(at, `turns: [{ calls: [${calls.join(", ")}] }, ${third}, { say: Done. }]`);
    const second = await host.next("the second", isRequest("can_use_tool"));
    host.answer(second, { behavior: "allow" });
    await host.next("closed", isSystem("approval_closed"));
    assert.ok(!existsSync(at.path("b.txt")), "it waits for the one before it");
    const wide = request.request.permission_suggestions.find(({ id }: Line) => id === "session");
    host.answer(request, { behavior: "allow", remember: wide.id });
    await host.next("result", (line) => isResult(line) || isRequest("can_use_tool")(line));
    assert.ok(existsSync(at.path("a.txt")) && existsSync(at.path("b.txt")));
    host.child.stdin?.end();
    await host.exit();
    assert.equal((await at.hereJson(["grants"])).value.length, 1);
  });

  test("a command by its first words is the last suggestion, with its risk, and can be remembered", async () => {
    using at = place();
    at.write("Makefile", "a b:\n\t@echo $@ >> ran\n");
    const calls = ["a", "b"].map((id) => `{ calls: [{ tool: shell, id: ${id}, input: { command: make ${id} } }] }`);
    const { host, request } = await asked(at, `turns: [${calls.join(", ")}, { say: Done. }]`);
    const wide = request.request.permission_suggestions.at(-1);
    assert.deepEqual([wide.id, wide.scope, wide.rule], ["wider", "project", "Shell(make *)"]);
    assert.match(wide.risk, /build instructions of this repository/);
    assert.ok(wide.description.endsWith(wide.risk));
    host.answer(request, { behavior: "allow", remember: "wider" });
    await host.next("result", (line) => isResult(line) || isRequest("can_use_tool")(line));
    assert.deepEqual([await host.end(), ran(at)], [0, "a\nb\n"]);
  });

  test("an explicit ask offers only once", async () => {
    using at = place();
    const { host, request } = await asked(at, ASKS, ["--ask", "Shell(echo *)", "--mode", "yolo"]);
    assert.deepEqual(
      request.request.permission_suggestions.map(({ id }: Line) => id),
      ["once"],
    );
    host.answer(request, { behavior: "allow" });
    await host.next("result", isResult);
    assert.deepEqual([await host.end(), ran(at)], [0, "one\n"]);
  });

  test("the host leaves while it is asked: --on-ask decides, and the run comes to its end", async () => {
    using at = place();
    const { host } = await asked(at);
    assert.equal(await host.end(), 0);
    assert.equal(resultsOf(host.lines)[0].error_type, "denied_unattended");
    assert.equal(host.lines.at(-1).subtype, "success");
  });

  test("a host that says it cannot be asked is not; neither is one that never joined", async () => {
    for (const joins of [true, false]) {
      using at = place();
      const host = start(at, ASKS);
      if (joins) await host.ask("initialize", { can_use_tool: false });
      host.say("go");
      await host.next("result", isResult);
      assert.equal(host.lines.filter(({ type }) => type === "control_request").length, 0);
      assert.equal(resultsOf(host.lines)[0].error_type, "denied_unattended");
      assert.equal(await host.end(), 0);
    }
  });

  test("a prompt on the command line does not outrun a host that joins", async () => {
    using at = place();
    at.write("s.yaml", ASKS);
    const host = startHost(at, ["run", "go", "--model", "script:s.yaml"]);
    await host.next("the approval is open", isSystem("approval_opened"));
    await host.ask("initialize", {});
    const request = await host.next("can_use_tool", isRequest("can_use_tool"));
    host.answer(request, { behavior: "allow" });
    await host.next("result", isResult);
    assert.deepEqual([await host.end(), ran(at)], [0, "one\n"]);
  });
});

describe("a host that only speaks", () => {
  test("what waited to know whether it can be asked is left to --on-ask", async () => {
    using at = place();
    at.write("s.yaml", ASKS);
    const host = startHost(at, ["run", "go", "--model", "script:s.yaml"]);
    await host.next("the approval is open", isSystem("approval_opened"));
    host.say("are you there?");
    await host.next("the first result", isResult);
    assert.equal(resultsOf(host.lines)[0].error_type, "denied_unattended");
    assert.equal(host.lines.filter(({ type }) => type === "control_request").length, 0);
    host.child.stdin?.end();
    await host.exit();
    assert.equal(ran(at), "");
  });
});

describe("requests of a host", () => {
  test("initialize tells what there is; a second one is refused; unknown ones and reused ids too", async () => {
    using at = place();
    const host = start(at, ASKS);
    const { response } = await host.ask("initialize", { protocol: 1, hooks: null, agents: [] });
    assert.deepEqual(
      [response.protocol, response.pending, response.tools.includes("shell"), response.models[0].value],
      [1, [], true, "script:s.yaml"],
    );
    assert.equal((await host.ask("initialize")).error_type, "already_initialized");
    assert.equal((await host.ask("fly")).error_type, "unknown_subtype");
    assert.equal((await host.ask("set_permission_mode", { mode: "loose" })).error_type, "invalid_mode");
    assert.equal((await host.ask("task_stop", { task_id: "t_x" })).error_type, "task_stop_not_found");
    assert.equal((await host.ask("task_send", { task_id: "t_x", message: "m" })).error_type, "send_message_not_found");
    const status = (await host.ask("status")).response;
    assert.deepEqual([status.state, status.turn, status.open_calls, status.tasks, status.schedules], ["idle", 0, [], [], []]);
    assert.deepEqual((await host.ask("supported_commands")).response, { commands: [] });
    assert.equal(await host.end(), 0);
    assert.equal(host.lines.at(-1).type, "result");
  });

  test("a wrong protocol or invalid hooks: the host gets an error and may try again", async () => {
    using at = place();
    const host = start(at, ASKS);
    assert.equal((await host.ask("initialize", { protocol: 2 })).subtype, "error");
    assert.match((await host.ask("initialize", { hooks: { Nothing: [] } })).error, /Nothing/);
    assert.equal((await host.ask("initialize", {})).subtype, "success");
    assert.equal(await host.end(), 0);
  });

  test("approve and reject by id need the fingerprint that was shown", async () => {
    using at = place();
    const { host, request } = await asked(at);
    const { approval_id, fingerprint } = request.request;
    assert.equal((await host.ask("approve", { approval_id })).error_type, "bad_answer");
    assert.equal((await host.ask("approve", { approval_id, fingerprint: "x" })).error_type, "stale_revision");
    assert.equal((await host.ask("approve", { approval_id: "a_nothing", fingerprint })).error_type, "unknown_approval");
    const { response } = await host.ask("approve", { approval_id, fingerprint });
    assert.deepEqual([response.id, response.outcome, response.alreadyAnswered], [approval_id, "approved", false]);
    assert.equal((await host.ask("reject", { approval_id, fingerprint })).error_type, "already_answered");
    assert.equal((await host.ask("approve", { approval_id, fingerprint })).response.alreadyAnswered, true);
    await host.next("result", isResult);
    assert.deepEqual([await host.end(), ran(at)], [0, "one\n"]);
  });

  test("a host applies a part of a proposal, and gets the id of the part", async () => {
    using at = place();
    mkdirSync(at.path("src"));
    for (const name of ["a", "b"]) at.write(`src/${name}.ts`, "old(1);\n");
    at.write("policy.json", JSON.stringify({ version: 1, proposals: { resolver: "person", steering: "none" } }));
    const call = "{ tool: ast_edit, id: c1, input: { ops: [{ pat: old($A), out: fresh($A) }], paths: [src] } }";
    const host = start(at, `turns: [{ calls: [${call}] }, { say: Done. }]\nallowUnused: true`, ["--policy", "policy.json"]);
    await host.ask("initialize", { protocol: 1 });
    host.say("go");
    const { proposal_id: id } = await host.next("proposal", isSystem("proposal"));
    await host.next("result", isResult);
    const answer = { approval_id: id, fingerprint: "" };
    assert.equal((await host.ask("approve", { ...answer, part: { files: [] } })).error_type, "invalid_part");
    assert.equal((await host.ask("approve", { ...answer, part: { files: [{ path: "src/c.ts" }] } })).error_type, "invalid_part");
    const { response } = await host.ask("approve", { ...answer, part: { files: [{ path: "src/b.ts" }] } });
    assert.equal(response.outcome, "applied");
    assert.notEqual(response.id, id);
    const texts = ["a", "b"].map((name) => readFileSync(at.path(`src/${name}.ts`), "utf8"));
    assert.deepEqual([texts, await host.end()], [["old(1);\n", "fresh(1);\n"], 0]);
  });

  test("mode plan while an edit waits: it is denied", async () => {
    using at = place();
    const script = "turns: [{ calls: [{ tool: write, id: c1, input: { file_path: x.txt, content: y } }] }, { say: Done. }]";
    const { host } = await asked(at, `${script}\nallowUnused: true`);
    assert.deepEqual((await host.ask("set_permission_mode", { mode: "plan" })).response, { mode: "plan" });
    const closed = await host.next("closed", isSystem("approval_closed"));
    assert.equal(closed.outcome, "denied");
    await host.next("mode_changed", isSystem("mode_changed"));
    await until("the result of the call", () => resultsOf(host.lines).length > 0);
    assert.equal(resultsOf(host.lines)[0].outcome, "denied");
    host.child.stdin?.end();
    await host.exit();
    assert.ok(!existsSync(at.path("x.txt")));
  });

  test("mode yolo while an ask waits: it still waits; a new explicit ask waits too", async () => {
    using at = place();
    const second = '{ calls: [{ tool: shell, id: c2, input: { command: "echo two >> ran" } }] }';
    const { host, request } = await asked(at, ASKS.replace("  - say: Done.", `  - ${second}\n  - say: Done.`), [
      "--ask",
      "Shell(echo two *)",
    ]);
    assert.equal((await host.ask("set_permission_mode", { mode: "bypassPermissions" })).response.mode, "yolo");
    assert.equal((await host.ask("status")).response.state, "waiting");
    assert.equal(ran(at), "");
    host.answer(request, { behavior: "allow" });
    const next = await host.next("the explicit ask", isRequest("can_use_tool"));
    assert.equal(next.request.input.command, "echo two >> ran");
    host.answer(next, { behavior: "deny" });
    await host.next("result", isResult);
    assert.deepEqual([await host.end(), ran(at)], [0, "one\n"]);
  });

  test("a mode that the team has locked: mode_locked", async () => {
    using at = place();
    at.write("p.json", JSON.stringify({ permissions: { lock: ["yolo"] } }));
    const host = start(at, ASKS, ["--policy", "p.json"]);
    assert.equal((await host.ask("set_permission_mode", { mode: "yolo" })).error_type, "mode_locked");
    assert.equal(await host.end(), 0);
  });

  test("set_model counts from the next request; null is the first one again", async () => {
    using at = place();
    const host = start(at, "turns: [{ expect: { model: other }, say: a }, { expect: { model: script }, say: b }]");
    assert.deepEqual((await host.ask("set_model", { model: "other" })).response, { model: "other" });
    host.say("go");
    assert.equal((await host.next("result", isResult)).result, "a");
    assert.deepEqual((await host.ask("set_model", { model: null })).response, { model: "script:s.yaml" });
    host.say("go");
    assert.equal((await host.next("result", isResult)).result, "b");
    assert.equal(await host.end(), 0);
    assert.equal(host.lines.filter(isSystem("model_changed")).length, 2);
  });

  test("interrupt in a batch of three: all have results, and the next message works", async () => {
    using at = place();
    const calls = ["a", "b", "c"].map((id) => `{ tool: shell, id: ${id}, input: { command: "echo ${id} >> ran; sleep 30" } }`);
    const host = start(at, `turns: [{ calls: [${calls.join(", ")}] }, { say: next }]`, ["--mode", "yolo"]);
    await host.ask("initialize");
    host.say("go");
    await until("the first runs", () => ran(at) !== "");
    const answered = await host.ask("interrupt");
    assert.deepEqual(answered.response, {});
    assert.deepEqual(
      resultsOf(host.lines).map(({ outcome }) => outcome),
      ["cancelled", "cancelled", "cancelled"],
    );
    const result = await host.next("result", isResult);
    assert.deepEqual([result.subtype, result.is_error], ["interrupted", false]);
    host.say("go on");
    assert.equal((await host.next("the next", isResult)).result, "next");
    assert.deepEqual([await host.end(), ran(at)], [0, "a\n"]);
  });

  test("interrupt with end: the run ends, exit 130", async () => {
    using at = place();
    const host = start(at, 'turns: [{ calls: [{ tool: shell, id: a, input: { command: "echo a >> ran; sleep 30" } }] }]', [
      "--mode",
      "yolo",
    ]);
    host.say("go");
    await until("it runs", () => ran(at) !== "");
    host.send({ type: "control_request", request_id: "i", request: { subtype: "interrupt", end: true } });
    assert.equal(await host.exit(), 130);
    assert.deepEqual([host.lines.at(-1).type, host.lines.at(-1).subtype], ["result", "error_cancelled"]);
    assert.equal(resultsOf(host.lines)[0].outcome, "cancelled");
    assert.ok(host.lines.some(({ type, response }) => type === "control_response" && response.request_id === "i"));
  });
});

describe("lines of a host", () => {
  test("one result for each message, in order; a repeated uuid counts once", async () => {
    using at = place();
    const host = start(at, "turns: [{ say: a }, { say: b }]");
    host.say("one", { uuid: "u1" });
    host.say("one", { uuid: "u1" });
    host.say("two", { uuid: "u2" });
    assert.equal(await host.end(), 0, host.stderr());
    assert.deepEqual(
      host.lines.filter(isResult).map(({ result }) => result),
      ["a", "b"],
    );
    assert.equal(host.lines.at(-1).type, "result");
  });

  test("lines that cannot be read are told with their number, and change nothing", async () => {
    using at = place();
    const host = start(at, "turns: [{ say: a }]");
    for (const line of ["garbage", "", "[1]", '{"type":"fly"}', '{"type":"user"}', '{"type":"control_response","response":{}}'])
      host.send(line);
    host.say("go");
    assert.equal(await host.end(), 0);
    assert.deepEqual(
      host.lines.filter(isSystem("protocol_error")).map(({ line }) => line),
      [1, 3, 4, 5, 6],
    );
    assert.equal(host.lines.at(-1).result, "a");
  });

  test("a hundred such lines end the run: exit 1", async () => {
    using at = place();
    const host = start(at, "turns: [{ say: a }]\nallowUnused: true");
    for (let line = 0; line < 100; line += 1) host.send("garbage");
    assert.equal(await host.exit(), 1);
    assert.deepEqual([host.lines.at(-1).subtype, host.lines.at(-1).error.type], ["error_during_execution", "protocol_error"]);
  });

  test("a line that is too long is reported, and the next one is read", async () => {
    using at = place();
    const host = start(at, "turns: [{ say: a }]");
    host.send(`{"type":"user","x":"${"x".repeat(33 * 1024 * 1024)}"}`);
    host.say("go");
    assert.equal(await host.end(), 0);
    assert.match(host.lines.find(isSystem("protocol_error")).message, /longer than/);
    assert.equal(host.lines.at(-1).result, "a");
  });

  test("blocks are taken as they are; nothing at all is an end too", async () => {
    using at = place();
    const host = start(at, "turns: [{ say: a }]");
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
    host.send({ type: "user", message: { role: "user", content: [{ type: "text", text: "see" }, image] } });
    assert.equal(await host.end(), 0);
    assert.deepEqual(host.lines.find(({ origin }) => origin === "user").message.content[1], image);
    using empty = place();
    const silent = start(empty, "turns: []");
    assert.equal(await silent.end(), 0);
    assert.deepEqual(
      silent.lines.map(({ type, subtype }) => `${type}/${subtype}`),
      ["system/init", "result/success"],
    );
  });

  test("a provider's failure is the result of its message, and the next one works; the exit code is the strongest", async () => {
    using at = place();
    const host = start(at, "turns: [{ error: { status: 500, message: boom } }, { say: b }]");
    host.say("one");
    host.say("two");
    assert.equal(await host.end(), 1);
    assert.deepEqual(
      host.lines.filter(isResult).map(({ subtype }) => subtype),
      ["error_during_execution", "success"],
    );
  });

  test("a host that joins late gets the open approvals, and is asked under the same id", async () => {
    using at = place();
    at.write("s.yaml", ASKS);
    const parked = await at.hereJson(["run", "go", "--model", "script:s.yaml", "--on-ask", "park"]);
    const { session_id } = parked.value.at(-1);
    const host = startHost(at, ["resume", session_id]);
    const init = await host.next("init", isSystem("init"));
    assert.deepEqual([init.resumed, init.pending_approvals.length], [true, 1]);
    const { response } = await host.ask("initialize", { can_use_tool: true });
    const [open] = response.pending;
    assert.deepEqual([open.request.subtype, open.request.input.command], ["can_use_tool", "echo one >> ran"]);
    host.answer(open, { behavior: "allow" });
    assert.equal((await host.next("result", isResult)).result, "Done.");
    assert.deepEqual([await host.end(), ran(at)], [0, "one\n"]);
  });

  test("a host that answers an open approval and leaves at once has answered it", async () => {
    using at = place();
    at.write("s.yaml", ASKS);
    const parked = await at.hereJson(["run", "go", "--model", "script:s.yaml", "--on-ask", "park"]);
    const host = startHost(at, ["resume", parked.value.at(-1).session_id]);
    const { response } = await host.ask("initialize", { can_use_tool: true });
    host.answer(response.pending[0], { behavior: "allow" });
    assert.deepEqual([await host.end(), ran(at)], [0, "one\n"]);
  });
});

describe("questions and hooks of a host", () => {
  const QUESTION =
    "turns: [{ calls: [{ tool: ask, id: q, input: { questions: [{ id: db, question: Which?, options: [{ label: A }, { label: B }] }] } }] }, { say: Done. }]";

  test("ask_user: the question as it is, an answer that does not fit is asked for again", async () => {
    using at = place();
    const host = start(at, QUESTION);
    await host.ask("initialize", { ask_user: true });
    host.say("go");
    const request = await host.next("ask_user", isRequest("ask_user"));
    assert.deepEqual(
      [request.request.callId, request.request.questions[0].id, request.request.questions[0].options[0].label],
      ["q", "db", "A"],
    );
    host.answer(request, { outcome: "answered", answers: [{ id: "db", selected: ["C"] }] });
    const again = await host.next("again", isRequest("ask_user"));
    assert.match(again.request.answer_error, /C|db/);
    host.answer(again, { outcome: "answered", answers: [{ id: "db", selected: ["B"] }] });
    await host.next("result", isResult);
    assert.match(resultsOf(host.lines)[0].content, /User selected: B/);
    assert.equal(await host.end(), 0);
  });

  test("without it no one is asked", async () => {
    using at = place();
    const host = start(at, QUESTION);
    await host.ask("initialize", {});
    host.say("go");
    await host.next("result", isResult);
    assert.equal(resultsOf(host.lines)[0].error_type, "ask_unavailable");
    assert.equal(await host.end(), 0);
  });

  const HOOKS = { PreToolUse: [{ matcher: "Bash|shell", callback_ids: ["cb1"], timeout_ms: 30_000 }] };

  test("hook_callback: its deny counts; its input is the hook's", async () => {
    using at = place();
    const host = start(at, ASKS, ["--mode", "yolo"]);
    await host.ask("initialize", { hooks: HOOKS });
    host.say("go");
    const request = await host.next("hook_callback", isRequest("hook_callback"));
    assert.deepEqual(
      [request.request.callback_id, request.request.hook_event, request.request.tool_use_id, request.request.input.tool_input.command],
      ["cb1", "PreToolUse", "c1", "echo one >> ran"],
    );
    host.answer(request, {
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no" },
    });
    await host.next("result", isResult);
    assert.equal(resultsOf(host.lines)[0].error_type, "denied_by_hook");
    assert.deepEqual([await host.end(), ran(at)], [0, ""]);
  });

  test("a hook that fails or whose host left fails closed; in other words of the wire too", async () => {
    for (const how of ["error", "leave", "timeout"]) {
      using at = place();
      const host = start(at, ASKS, ["--mode", "yolo"]);
      const hooks = { PreToolUse: [{ matcher: null, hookCallbackIds: ["x"], timeout: how === "timeout" ? 0.2 : 30 }] };
      assert.equal((await host.ask("initialize", { hooks })).subtype, "success");
      host.say("go");
      const { request_id } = await host.next("hook_callback", isRequest("hook_callback"));
      if (how === "error") host.send({ type: "control_response", response: { subtype: "error", request_id, error: "broken" } });
      if (how === "leave") host.child.stdin?.end();
      await host.next("result", isResult);
      assert.equal(resultsOf(host.lines)[0].error_type, "denied_by_hook", how);
      assert.deepEqual([await host.end(), ran(at)], [0, ""]);
    }
  });
});
