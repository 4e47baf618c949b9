import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, test } from "node:test";
import { TOOL_LISTINGS } from "@assent/tools";
import { ended, type Place, place, until } from "../support/assent.ts";

async function park(at: Place, command: string): Promise<{ sessionId: string; approvalId: string; callId: string }> {
  const { code, value } = await at.hereJson(["call", "shell", "--input", JSON.stringify({ command }), "--on-ask", "park"]);
  assert.equal(code, 75);
  return value;
}

describe("assent approvals", () => {
  test("the approval form, oldest first; [] when none", async () => {
    using at = place();
    assert.deepEqual((await at.hereJson(["approvals"])).value, []);
    assert.equal((await at.here(["approvals"])).stdout, "Nothing waits for an answer.\n");
    const first = await park(at, "touch a");
    const second = await park(at, "touch b");
    const { value } = await at.hereJson(["approvals"]);
    assert.deepEqual(
      value.map(({ id }: { id: string }) => id),
      [first.approvalId, second.approvalId],
    );
    assert.deepEqual(Object.keys(value[0]), [
      ...["id", "sessionId", "callId", "tool", "title", "reason", "requestedAt", "fingerprint"],
      ...["sessionTitle", "agent", "group", "directory", "mode", "why", "ageSeconds", "command", "offers"],
    ]);
    const { sessionTitle, agent, directory, why, command, offers } = value[0];
    assert.deepEqual([agent, directory, why, command], ["Assent", at.workspace, "no rule allows it", "touch a"]);
    assert.deepEqual(
      offers.map(({ scope, rules }: { scope: string; rules: readonly string[] }) => [scope, ...rules]),
      [
        ["session", "Shell(touch a)"],
        ["project", "Shell(touch a)"],
        ["user", "Shell(touch a)"],
      ],
    );
    const [heading, line, origin] = (await at.here(["approvals"])).stdout.split("\n");
    assert.match(heading ?? "", /^ID +TOOL +AGE +WHAT$/);
    assert.match(line ?? "", /^a_\w+ {2}shell {2}now {2}Confirm command: touch a$/);
    assert.equal(origin, `  ${sessionTitle} · Assent · ${at.workspace} · no rule allows it`);
    assert.deepEqual(
      [value[0].sessionId, value[0].callId, value[0].tool, value[0].reason],
      [first.sessionId, first.callId, "shell", "default"],
    );
    assert.match(value[0].fingerprint, /^[0-9a-f]{64}$/);
  });

  test("a rule that asked is named, with its place in the file", async () => {
    using at = place();
    await at.here(["call", "shell", "--input", '{"command":"ls"}', "--ask", "shell:command=ls*", "--on-ask", "park"]);
    const [approval] = (await at.hereJson(["approvals"])).value;
    assert.deepEqual([approval.reason, approval.rule], ["checker", { text: "shell:command=ls*", source: "--ask" }]);
  });

  test("--session, --tool and --all choose", async () => {
    using at = place();
    const first = await park(at, "touch a");
    const second = await park(at, "touch b");
    await at.here(["reject", first.approvalId]);
    const ids = async (...argv: string[]): Promise<string[]> =>
      (await at.hereJson(["approvals", ...argv])).value.map(({ id }: { id: string }) => id);
    assert.deepEqual(await ids(), [second.approvalId]);
    assert.deepEqual(await ids("--all"), [first.approvalId, second.approvalId]);
    assert.deepEqual(await ids("--all", "--session", first.sessionId.slice(0, 8)), [first.approvalId]);
    assert.deepEqual(await ids("--tool", "read"), []);
    assert.deepEqual(await ids("--tool", "shell"), [second.approvalId]);
    assert.equal((await at.hereJson(["approvals", "--all"])).value[0].state, "rejected");
    assert.deepEqual([(await at.hereJson(["approvals", "--session", "s_unknown"])).code], [4]);
  });

  test("lists page with --limit and --after, and stderr says how to continue", async () => {
    using at = place();
    const parked = [await park(at, "touch a"), await park(at, "touch b"), await park(at, "touch c")];
    const first = await at.hereJson(["approvals", "--limit", "2"]);
    assert.deepEqual(
      first.value.map(({ id }: { id: string }) => id),
      [parked[0]?.approvalId, parked[1]?.approvalId],
    );
    assert.equal(first.stderr, `For more: assent approvals --limit 2 --after ${parked[1]?.approvalId}\n`);
    const rest = await at.hereJson(["approvals", "--limit", "2", "--after", parked[1]?.approvalId ?? ""]);
    assert.deepEqual([rest.value.length, rest.value[0].id, rest.stderr], [1, parked[2]?.approvalId, ""]);
  });

  test("sessions are listed newest first, and page on to older ones", async () => {
    using at = place();
    const ids: string[] = [];
    for (const name of ["a", "b", "c"]) ids.unshift((await park(at, `touch ${name}`)).sessionId);
    const first = await at.hereJson(["sessions", "--limit", "2"]);
    const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id);
    assert.deepEqual(idsOf(first.value), ids.slice(0, 2));
    assert.equal(first.stderr, `For more: assent sessions --limit 2 --after ${ids[1]}\n`);
    assert.deepEqual(idsOf((await at.hereJson(["sessions", "--after", ids[1] ?? ""])).value), ids.slice(2));
  });

  test("show gives the long form: input, place, decision, what would be remembered, and its state", async () => {
    using at = place();
    const { approvalId } = await park(at, "touch a");
    const { value } = await at.hereJson(["approvals", "show", approvalId]);
    for (const key of ["kind", "input", "cwd", "facts", "preview", "suggestions", "decision", "state", "consumed"])
      assert.ok(key in value, key);
    assert.deepEqual(value.input, { command: "touch a" });
    assert.deepEqual([value.kind, value.cwd, value.state, value.consumed], ["execute", at.workspace, "open", false]);
    assert.deepEqual([value.preview.type, value.preview.command], ["exec", "touch a"]);
    assert.deepEqual(value.suggestions, ["Shell(touch a)"]);
    assert.deepEqual([value.decision.verdict, value.decision.reason, value.decision.explicitAsk], ["ask", "default", false]);
    assert.ok(Array.isArray(value.decision.trace));
    const text = await at.here(["approvals", "show", approvalId]);
    assert.match(text.stdout, /^what +touch a$/m);
    assert.match(text.stdout, new RegExp(`^assent approve ${approvalId}$`, "m"));
    await at.here(["approve", approvalId, "--by", "Ada", "--reason", "fine"]);
    const answered = (await at.hereJson(["approvals", "show", approvalId])).value;
    assert.deepEqual([answered.state, answered.answeredBy.name, answered.answerReason], ["approved", "Ada", "fine"]);
  });

  test("a command too large for the list is shown whole by show", async () => {
    using at = place();
    const { approvalId } = await park(at, `echo ${"x".repeat(100_000)}`);
    const list = await at.here(["approvals"]);
    assert.ok(list.stdout.includes("(long)") && list.stdout.length < 1_000);
    assert.ok((await at.here(["approvals", "show", approvalId])).stdout.includes("x".repeat(100_000)));
    assert.equal((await at.hereJson(["approvals", "show", approvalId])).value.input.command.length, 100_005);
  });

  test("hostile text reaches no terminal raw, in any listing", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at, "echo \u001b[2J\u202e\r\u0007 x");
    for (const argv of [
      ["approvals"],
      ["approvals", "show", approvalId],
      ["sessions"],
      ["log", sessionId],
      ["approvals", "--tool", "\u001b[2J"],
    ]) {
      const { stdout, stderr } = await at.here(argv);
      assert.ok(!/[^\P{Cc}\n]|\u202e/u.test(stdout + stderr), argv.join(" "));
    }
  });
});

describe("assent sessions", () => {
  test("every session with its state, and no writer once it is closed", async () => {
    using at = place();
    const parked = await park(at, "touch a");
    const done = (await at.hereJson(["call", "shell", "--input", '{"command":"true"}', "--mode", "yolo"])).value;
    const { value } = await at.hereJson(["sessions"]);
    assert.deepEqual(
      value.map(({ id, state, openApprovals, calls }: Record<string, unknown>) => [id, state, openApprovals, calls]),
      [
        [done.sessionId, "done", 0, 1],
        [parked.sessionId, "parked", 1, 1],
      ],
    );
    const keys = [
      "id",
      "cwd",
      "title",
      "state",
      "model",
      "turns",
      "calls",
      "openApprovals",
      "pausedTasks",
      "startedAt",
      "updatedAt",
      "writer",
    ];
    for (const key of keys) assert.ok(key in value[0], key);
    assert.deepEqual([value[0].cwd, value[0].model, value[0].writer], [at.workspace, null, null]);
    assert.deepEqual((await at.hereJson(["sessions", "--state", "parked"])).value.length, 1);
    assert.deepEqual((await at.hereJson(["sessions", "--state", "failed"])).value, []);
  });

  test("what came from stdin names a session without the line's end", async () => {
    using at = place();
    at.write("s.json", JSON.stringify({ turns: [{ say: "done" }] }));
    await at.here(["run", "--model", "script:s.json"], { input: "look at it\n" });
    await at.here(["call", "shell", "--input", "-", "--mode", "yolo"], { input: '{"command":"true"}\n' });
    const titles = (await at.hereJson(["sessions"])).value.map(({ title }: Record<string, unknown>) => title);
    assert.deepEqual(titles, ['shell {"command":"true"}', "look at it"]);
  });
});

describe("assent log", () => {
  test("events of a session and the shared ones that name it, one JSON line each, in order", async () => {
    using at = place();
    const { sessionId, approvalId, callId } = await park(at, "touch a");
    await at.here(["approve", approvalId]);
    await at.here(["resume", sessionId]);
    const { code, stdout } = await at.here(["log", sessionId, "--json"]);
    assert.equal(code, 0);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const types = events.map(({ type }) => type).filter((type) => type.startsWith("call.") || type.startsWith("approval."));
    assert.deepEqual(
      [...new Set(types)],
      ["call.proposed", "call.judged", "approval.opened", "approval.answered", "call.claimed", "call.started", "call.ended"],
    );
    assert.deepEqual(
      [...events].sort((left, right) => left.pos - right.pos),
      events,
    );
    const own = events.filter(({ session }) => session === sessionId).map(({ seq }) => seq);
    assert.deepEqual(
      own,
      own.map((_, at) => at + 1),
    );
    for (const event of events)
      assert.deepEqual(Object.keys(event).sort(), ["at", "body", "epoch", "hash", "pos", "prev", "seq", "session", "type", "v"]);
    const since = (await at.here(["log", sessionId, "--since", "3", "--json"])).stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.ok(since.every(({ session, seq }) => session !== sessionId || seq > 3));
    assert.ok(since.length > 0 && since.length < events.length);
    const ofCall = await at.here(["log", "--call", callId, "--type", "call.*", "--json"]);
    assert.ok(
      ofCall.stdout
        .trimEnd()
        .split("\n")
        .every((line) => JSON.parse(line).body.call === callId),
    );
    assert.equal((await at.here(["log", sessionId, "--since", "2999-01-01T00:00:00Z"])).stdout, "");
    assert.ok((await at.here(["log", sessionId, "--since", "2020-01-01"])).stdout.includes("call.ended"));
  });

  const unknownTypes = [
    ["misspelled", "call.propose", /'call\.propose'\. Did you mean 'call\.proposed'\? Types: .*approval\.opened, /],
    ["a pattern", "cals.*", /there is no event type 'cals\.\*'/],
    ["without a name", "", /there is no event type ''/],
  ] as const;
  for (const [name, type, message] of unknownTypes)
    test(`a type that does not exist is an error that names the types, also with --follow: ${name}`, async () => {
      using at = place();
      await park(at, "touch a");
      for (const more of [[], ["--follow"]]) {
        const { code, stdout, stderr } = await at.here(["log", "--type", type, ...more]);
        assert.deepEqual([code, stdout], [2, ""]);
        assert.match(stderr, message);
      }
    });

  test("text is one line per event", async () => {
    using at = place();
    const { sessionId } = await park(at, "touch 'a\nb'");
    const { stdout } = await at.here(["log", sessionId, "--type", "call.*"]);
    assert.deepEqual(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => /call\.\w+/.exec(line)?.[0]),
      ["call.proposed", "call.judged"],
    );
  });

  test("of one session the first column is its own number, which --since and --at take; else the position in the store", async () => {
    using at = place();
    await park(at, "touch before");
    const { sessionId, approvalId } = await park(at, "touch a");
    await at.here(["approve", approvalId]);
    const lines = async (argv: readonly string[]): Promise<(readonly [string, string])[]> =>
      (await at.here(argv)).stdout
        .trimEnd()
        .split("\n")
        .map((line) => [line.slice(0, 5).trim(), /[a-z]+\.[a-z]+/.exec(line)?.[0] ?? ""] as const);
    const events = (await at.here(["log", sessionId, "--json"])).stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const own = await lines(["log", sessionId]);
    assert.deepEqual(
      own,
      events.map(({ session, seq, type }) => [session === sessionId ? `#${seq}` : "", type]),
    );
    assert.ok(own.some(([number, type]) => number === "" && type === "approval.answered"));
    const judged = own.find(([, type]) => type === "call.judged")?.[0]?.slice(1) ?? "";
    assert.equal((await lines(["log", sessionId, "--since", judged]))[0]?.[0], `#${Number(judged) + 1}`);
    assert.equal((await lines(["log"]))[0]?.[0], "1");
  });

  test("an unknown session or call: exit 4; a bad --since: exit 2", async () => {
    using at = place();
    await park(at, "touch a");
    assert.equal((await at.hereJson(["log", "s_unknown"])).value.error.type, "session_not_found");
    const call = await at.hereJson(["log", "--call", "nope"]);
    assert.deepEqual([call.code, call.value.error.type], [4, "unknown_call"]);
    assert.equal((await at.here(["log", "--since", "yesterday"])).code, 2);
  });

  test("--follow prints what another process records, until SIGINT: exit 130", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at, "touch a");
    const child = at.start(["log", sessionId, "--follow", "--type", "approval.*", "--json"]);
    let printed = "";
    child.stdout?.on("data", (text) => (printed += text));
    const end = ended(child);
    await until("the past is printed", () => printed.includes("approval.opened"));
    await at.here(["approve", approvalId]);
    await until("the answer is printed", () => printed.includes("approval.answered"));
    child.kill("SIGINT");
    const { code, stderr } = await end;
    assert.deepEqual([code, stderr], [130, ""]);
    assert.equal(printed.trimEnd().split("\n").length, 2);
  });

  test("--follow ends when its reader is gone", async () => {
    using at = place();
    const { approvalId } = await park(at, "touch a");
    const child = at.start(["log", "--follow"]);
    const end = ended(child);
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    child.stdout?.destroy();
    await at.here(["approve", approvalId]);
    const { code, stderr } = await end;
    assert.deepEqual([code, stderr], [130, ""]);
  });
});

/** Offered only if they can be used. */
const HIDDEN: ReadonlySet<string> = new Set(["ask", "resolve"]);

describe("assent tools", () => {
  test("the built-in tools, with kind and source", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["tools"]);
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(value), ["tools", "failed", "agentErrors"]);
    assert.deepEqual(
      value.tools.map(({ name, kind, source }: Record<string, string>) => [name, kind, source]),
      TOOL_LISTINGS.filter(({ name }) => !HIDDEN.has(name)).map(({ name, kind }) => [name, kind, "built-in"]),
    );
    assert.match((await at.here(["tools"])).stdout, /^NAME +KIND +SOURCE +DESCRIPTION\nread +read +built-in +\S/);
    assert.ok(!existsSync(at.store));
  });

  test("a tool by its name: what it does, its kind and the input it takes", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["tools", "shell"]);
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(value), ["name", "kind", "title", "description", "source", "inputSchema"]);
    assert.deepEqual([value.name, value.kind, value.source], ["shell", "execute", "built-in"]);
    assert.equal(value.inputSchema.properties.command.type, "string");
    const { stdout } = await at.here(["tools", "shell"]);
    assert.match(stdout, /^tool +shell\nkind +execute\nsource +built-in$/m);
    assert.ok(stdout.includes(value.description.trim().split("\n")[0]), stdout);
    const shown = stdout.slice(stdout.search(/^input /m) + "input".length);
    assert.deepEqual(JSON.parse(shown), value.inputSchema);
    assert.match(shown, /^ +"properties": \{$/m);
    assert.ok(!existsSync(at.store));
  });

  test("tools that are offered only sometimes are named below the list", async () => {
    using at = place();
    const { stdout } = await at.here(["tools"]);
    assert.match(
      stdout,
      /\nAlso offered at times \(see assent tools NAME\):\n {2}ask +when a person can answer.*\n {2}resolve +when a previewed/,
    );
    const { value } = await at.hereJson(["tools"]);
    const names: readonly string[] = value.tools.map(({ name }: { readonly name: string }) => name);
    assert.deepEqual(
      [names.includes("agent"), names.includes("task_list"), names.includes("ask"), names.includes("resolve")],
      [true, true, false, false],
    );
    const all = await at.here(["tools", "--all"]);
    assert.match(all.stdout, /^ask /m);
    assert.doesNotMatch(all.stdout, /Also offered at times/);
    assert.match((await at.here(["tools", "ask"])).stdout, /^offered +when a person can answer/m);
  });

  test("an unknown tool: exit 4, and the nearest name", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["tools", "shel"]);
    assert.deepEqual([code, value.error.type, value.error.hint], [4, "tool_not_registered", "assent tools"]);
    assert.equal(value.error.message, "There is no tool 'shel'. Did you mean 'shell'?");
    assert.equal((await at.hereJson(["tools", "frobnicate"])).value.error.message, "There is no tool 'frobnicate'.");
  });
});
