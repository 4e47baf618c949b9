import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ended, type Place, place, until } from "../support/assent.ts";
import { openPty } from "../support/pty.ts";

function settings(at: Place, value: object): void {
  mkdirSync(join(at.root, ".config/assent"), { recursive: true });
  writeFileSync(join(at.root, ".config/assent/settings.json"), JSON.stringify(value), { mode: 0o600 });
}

/** A parked call that waits for approval; returns the approval's id. */
async function park(at: Place): Promise<string> {
  await at.here(["call", "shell", "--input", JSON.stringify({ command: "touch ran" }), "--on-ask", "park", "--workspace", at.workspace]);
  const { value } = await at.hereJson(["approvals"]);
  return value.at(-1).id;
}

async function answers(at: Place): Promise<readonly string[]> {
  const { stdout } = await at.here(["log", "--type", "approval.answered", "--json"]);
  return [...stdout.matchAll(/"from": ?"([\w:]+)"/g)].map(([, from = ""]) => from);
}

describe("answersFrom", () => {
  test("refuses an approval by a script, says where to approve, and leaves it open", async () => {
    using at = place();
    settings(at, { answersFrom: ["terminal", "inbox"] });
    const id = await park(at);
    const { code, value } = await at.hereJson(["approve", id]);
    assert.deepEqual([code, value.error.type], [1, "answer_not_accepted"]);
    assert.match(value.error.message, /does not accept approvals from command\. Approve it from: terminal, inbox\./);
    assert.equal((await at.hereJson(["approvals"])).value.length, 1);
  });

  test("accepts an approval at a terminal, and records where it was given", async () => {
    using at = place();
    settings(at, { answersFrom: ["terminal"] });
    const id = await park(at);
    const screen = openPty(at, ["approve", id, "--store", at.store]);
    assert.equal(await screen.end, 0, screen.text());
    assert.deepEqual(await answers(at), ["terminal"]);
  });

  test("accepts a rejection from anywhere", async () => {
    using at = place();
    settings(at, { answersFrom: [] });
    const { code } = await at.here(["reject", await park(at)]);
    assert.deepEqual([code, await answers(at)], [0, ["command"]]);
  });

  test("cannot be loosened by the settings of the person who approves", async () => {
    using at = place();
    settings(at, { answersFrom: ["terminal"] });
    const id = await park(at);
    settings(at, { answersFrom: ["command"] });
    assert.equal((await at.hereJson(["approve", id])).value.error.type, "answer_not_accepted");
  });

  test("without dialogs makes --on-ask agent wait for an answer that counts", async () => {
    using at = place();
    settings(at, { answersFrom: ["command"] });
    const child = at.start(["hook", "claude", "--on-ask", "agent", "--deadline", "60s"]);
    const call = { tool_name: "Bash", tool_input: { command: "touch ran" }, tool_use_id: "t1", permission_mode: "default" };
    child.stdin?.end(JSON.stringify({ session_id: "S", cwd: at.workspace, hook_event_name: "PreToolUse", ...call }));
    const end = ended(child);
    await until("the approval is open", async () => (await at.hereJson(["approvals"])).value.length === 1);
    await at.here(["approve", (await at.hereJson(["approvals"])).value[0].id]);
    assert.match((await end).stdout, /"permissionDecision":"allow"/);
    assert.deepEqual(await answers(at), ["command"]);
  });

  test("with dialogs lets the agent's dialog answer", async () => {
    using at = place();
    settings(at, { answersFrom: ["dialog:claude"] });
    const call = { tool_name: "Bash", tool_input: { command: "touch ran" }, tool_use_id: "t1", permission_mode: "default" };
    const event = JSON.stringify({ session_id: "S", cwd: at.workspace, hook_event_name: "PreToolUse", ...call });
    assert.match((await at.run(["hook", "claude", "--on-ask", "agent"], { input: event })).stdout, /"permissionDecision":"ask"/);
    assert.deepEqual(await answers(at), ["dialog:claude"]);
  });

  test("names a place that does not exist in the error", async () => {
    using at = place();
    settings(at, { answersFrom: ["anywhere"] });
    const { stdout } = await at.here(["policy", "check", "--workspace", at.workspace]);
    assert.match(stdout, /one of terminal, command, inbox/);
  });
});
