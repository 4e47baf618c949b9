import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { afterEach, describe, test } from "node:test";
import { type Place, place } from "../support/assent.ts";
import { endHosts, type Host, isRequest, isResult, isSystem, startHost } from "./host.ts";

afterEach(endHosts);

const ASKS = '{ calls: [{ tool: shell, id: w1, input: { command: "touch made" } }] }';

/** A run with a host, whose task is about to ask. */
async function asking(settings: object, turns: string): Promise<{ readonly at: Place; readonly host: Host }> {
  const at = place();
  mkdirSync(at.path("../.config/assent/agents"), { recursive: true });
  at.write("../.config/assent/agents/helper.md", "---\nname: helper\ndescription: Helps.\n---\nYou help.\n");
  at.write("../.config/assent/settings.json", JSON.stringify({ version: 1, permissions: { allow: ["Agent"] }, ...settings }));
  at.write(
    "s.yaml",
    `turns:
  - calls: [{ tool: agent, id: c1, input: { description: help me, prompt: Do it., agent: helper, run_in_background: true } }]
  - say: Meanwhile.
  - say: Told.
agents: { helper: { turns: [${turns}] } }
`,
  );
  const host = startHost(at, ["run", "--model", "script:s.yaml"]);
  await host.ask("initialize", { protocol: 1, can_use_tool: true });
  host.say("go");
  return { at, host };
}

describe("a task's approvals, with a host", () => {
  test("bubble to it, labelled with agent and task; what is remembered is the task's own", async () => {
    const again = '{ calls: [{ tool: shell, input: { command: "touch made" } }] }';
    const { at, host } = await asking({}, `${ASKS}, ${again}, { say: x }`);
    using _place = at;
    const { request, request_id } = await host.next("asked", isRequest("can_use_tool"));
    assert.deepEqual([request.agent_id, request.agent_name], ["t_c1", "helper (t_c1)"]);
    assert.ok(!existsSync(at.path("made")));
    const [once, wide, ...wider] = request.permission_suggestions;
    assert.deepEqual([once.scope, wide.scope, wider], ["once", "session", []], "no wider than it would be stored");
    const { approval_id, fingerprint } = request;
    const everywhere = await host.ask("approve", { approval_id, fingerprint, remember: "project" });
    assert.deepEqual([everywhere.subtype, everywhere.error_type], ["error", "not_allowed"], "and nothing is narrowed unsaid");
    host.answer({ request_id, request }, { behavior: "allow", remember: wide.id });
    assert.equal((await host.next("result", isResult)).result, "Told.");
    assert.equal(await host.end(), 0, host.stderr());
    assert.ok(existsSync(at.path("made")));
    assert.equal(host.lines.filter(isRequest("can_use_tool")).length, 1, "the second is answered by the grant");
    const { output_session } = host.lines.find(isSystem("task_notification"));
    const grants = (await at.hereJson(["grants", "--all"])).value;
    assert.deepEqual(
      grants.map(({ scope }: { scope: string }) => scope),
      ["session"],
    );
    const log = (await at.here(["log", "--json", "--type", "grant.created"])).stdout;
    assert.equal(JSON.parse(log).body.session, output_session);
  });

  test("one that is open when its task is stopped is withdrawn; nothing runs", async () => {
    const { at, host } = await asking({}, `${ASKS}, { say: x }`);
    using _place = at;
    const { request, request_id } = await host.next("asked", isRequest("can_use_tool"));
    assert.equal((await host.ask("task_stop", { task_id: "t_c1" })).subtype, "success");
    await host.next("withdrawn", ({ type, request_id: id }) => type === "control_cancel_request" && id === request_id);
    assert.equal((await host.next("ended", isSystem("task_notification"))).status, "cancelled");
    const late = await at.hereJson(["approve", request.approval_id]);
    assert.deepEqual([late.code, late.value.outcome, late.value.alreadyAnswered], [1, "cancelled", true]);
    assert.equal((await host.next("result", isResult)).result, "Told.");
    assert.equal(await host.end(), 0, host.stderr());
    assert.ok(!existsSync(at.path("made")));
  });

  test("with `tasks.onAsk: deny` are denied although a person is there", async () => {
    const { at, host } = await asking(
      { tasks: { onAsk: "deny" } },
      `${ASKS}, { expect: { result: { call: w1, type: denied_unattended } }, say: x }`,
    );
    using _place = at;
    assert.equal((await host.next("result", isResult)).result, "Told.");
    assert.equal(await host.end(), 0, host.stderr());
    assert.equal(host.lines.filter(isRequest("can_use_tool")).length, 0);
  });

  test("a mode that is tightened while a task's call waits ends the call; the task's own mode follows", async () => {
    const { at, host } = await asking({}, `${ASKS}, { expect: { result: { call: w1, outcome: denied } }, say: x }`);
    using _place = at;
    await host.next("asked", isRequest("can_use_tool"));
    assert.equal((await host.ask("set_permission_mode", { mode: "plan" })).subtype, "success");
    assert.equal((await host.next("ended", isSystem("task_notification"))).status, "completed");
    await host.next("result", isResult);
    assert.equal(await host.end(), 0, host.stderr());
    const modes = (await at.here(["log", "--json", "--type", "mode.changed"])).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(new Set(modes.map(({ session }) => session)).size, 2);
    assert.ok(!existsSync(at.path("made")));
  });
});
