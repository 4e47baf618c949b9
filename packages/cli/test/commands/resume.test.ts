import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { describe, test } from "node:test";
import { ended, groupRuns, type Place, place, until } from "../support/assent.ts";
import { ENTRY } from "../support/entry.ts";

async function park(
  at: Place,
  command: string,
  flags: readonly string[] = [],
): Promise<{ sessionId: string; approvalId: string; callId: string }> {
  const { code, value } = await at.hereJson(["call", "shell", "--input", JSON.stringify({ command }), "--on-ask", "park", ...flags]);
  assert.equal(code, 75);
  return value;
}

describe("assent resume", () => {
  test("an unknown session: exit 4, session_not_found, hint assent sessions", async () => {
    using at = place();
    const { code, value } = await at.json(["resume", "s_nobodyknowsthis234567"]);
    assert.deepEqual([code, value.error.type, value.error.hint], [4, "session_not_found", "assent sessions"]);
  });

  test("nothing answered: exit 75 again, the same approval, nothing run", async () => {
    using at = place();
    const parked = await park(at, "touch x");
    for (let time = 0; time < 2; time++) {
      const { code, value } = await at.json(["resume", parked.sessionId]);
      assert.deepEqual([code, value.outcome, value.approvalId], [75, "waiting", parked.approvalId]);
    }
    assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    assert.ok(!existsSync(at.path("x")));
  });

  test("with --on-ask deny what waits is denied and its approval closed", async () => {
    using at = place();
    const parked = await park(at, "touch x");
    const { code, value } = await at.json(["resume", parked.sessionId, "--on-ask", "deny"]);
    assert.deepEqual([code, value.type], [1, "denied_unattended"]);
    assert.deepEqual((await at.hereJson(["approvals"])).value, []);
    assert.equal((await at.json(["approve", parked.approvalId])).code, 1);
  });

  test("a session that is open in a live process: exit 1, session_in_use, pid and door named", async () => {
    using at = place();
    const child = at.start(["call", "shell", "--input", '{"command":"touch started; sleep 60"}', "--mode", "yolo", "--json"]);
    const end = ended(child);
    await until("the command has started", () => existsSync(at.path("started")));
    const [session] = (await at.hereJson(["sessions"])).value;
    assert.deepEqual([session.state, session.writer.pid, session.writer.door], ["running", child.pid, "call"]);
    const { code, value } = await at.json(["resume", session.id]);
    assert.deepEqual([code, value.error.type], [1, "session_in_use"]);
    assert.ok(value.error.message.includes(String(child.pid)) && value.error.message.includes("call"));
    child.kill("SIGTERM");
    assert.equal((await end).code, 130);
  });

  test("two resume at once: the effect happens once, and both report it correctly", async () => {
    using at = place();
    const parked = await park(at, "echo once >> x; sleep 0.3");
    await at.here(["approve", parked.approvalId]);
    const both = await Promise.all([at.json(["resume", parked.sessionId]), at.json(["resume", parked.sessionId])]);
    for (const { code, value } of both) {
      assert.ok(
        (code === 0 && value.outcome === "succeeded") || (code === 1 && value.error.type === "session_in_use"),
        JSON.stringify(value),
      );
    }
    assert.ok(both.some(({ code }) => code === 0));
    assert.equal(readFileSync(at.path("x"), "utf8"), "once\n");
  });

  test("--take-over ends a live command in the middle of a call, which cancels the call and goes no further", async () => {
    using at = place();
    const child = at.start(["call", "shell", "--input", '{"command":"touch started; sleep 60; touch late"}', "--mode", "yolo", "--json"]);
    const end = ended(child);
    await until("the command has started", () => existsSync(at.path("started")));
    const [session] = (await at.hereJson(["sessions"])).value;
    const taken = await at.json(["resume", session.id, "--take-over"]);
    assert.deepEqual([taken.code, taken.value.outcome, taken.value.type], [130, "cancelled", "cancelled"]);
    assert.equal((await end).code, 130);
    assert.ok(!existsSync(at.path("late")));
    assert.equal((await at.hereJson(["verify"])).value.ok, true);
  });

  test("resumed ten times after one approve: the effect ran once, every resume says the same", async () => {
    using at = place();
    const parked = await park(at, "echo once >> x");
    await at.here(["approve", parked.approvalId]);
    const ends = [];
    for (let time = 0; time < 10; time++) ends.push(await at.json(["resume", parked.sessionId.slice(0, 8)]));
    for (const { code, value } of ends) assert.deepEqual([code, value], [0, ends[0]?.value]);
    assert.equal(readFileSync(at.path("x"), "utf8"), "once\n");
  });

  test("the directory of the session is gone: exit 1, cwd_missing; another one is asked about again", async () => {
    using at = place();
    mkdirSync(at.path("sub"));
    mkdirSync(at.path("other"));
    const parked = await park(at, "touch x", ["--cwd", "sub"]);
    await at.here(["approve", parked.approvalId]);
    rmSync(at.path("sub"), { recursive: true });
    const missing = await at.json(["resume", parked.sessionId]);
    assert.deepEqual([missing.code, missing.value.error.type], [1, "cwd_missing"]);
    const moved = await at.json(["resume", parked.sessionId, "--cwd", "other"]);
    assert.deepEqual([moved.code, moved.value.outcome], [75, "waiting"]);
    assert.ok(!existsSync(at.path("other/x")));
    await at.here(["approve", moved.value.approvalId]);
    assert.equal((await at.json(["resume", parked.sessionId, "--cwd", "other"])).value.outcome, "succeeded");
    assert.ok(existsSync(at.path("other/x")));
  });

  test("a finished session is printed even when its directory is gone", async () => {
    using at = place();
    mkdirSync(at.path("sub"));
    const { value } = await at.json(["call", "shell", "--input", '{"command":"echo hi"}', "--mode", "yolo", "--cwd", "sub"]);
    rmSync(at.path("sub"), { recursive: true });
    assert.deepEqual((await at.json(["resume", value.sessionId])).value, value);
  });

  test("the tool of a waiting call changed: the approval is closed, the call ends denied, tool_changed", async () => {
    using at = place();
    const before = { entry: ENTRY, env: { TEST_TOOL: "as it was" } };
    const after = { entry: ENTRY, env: { TEST_TOOL: "as it is now" } };
    const parked = await at.json(["call", "mark", "--input", '{"text":"x"}', "--on-ask", "park"], before);
    assert.equal(parked.code, 75);
    await at.run(["approve", parked.value.approvalId], before);
    const { code, value } = await at.json(["resume", parked.value.sessionId], after);
    assert.deepEqual([code, value.outcome, value.type], [1, "denied", "tool_changed"]);
    assert.equal((await at.hereJson(["approvals", "show", parked.value.approvalId])).value.state, "cancelled");
    assert.ok(!existsSync(at.path("marks")));
  });

  test("a session is judged by the flags it began with, and by what a resume adds", async () => {
    using at = place();
    const flags = ["--ask", "shell", "--allow", "read", "--deny", "write", "--mode", "yolo"];
    const parked = await park(at, "touch x", flags);
    const revisions = async (): Promise<string[]> => {
      const { stdout } = await at.here(["log", parked.sessionId, "--type", "call.judged", "--json"]);
      return [
        ...new Set(
          stdout
            .trimEnd()
            .split("\n")
            .map((line): string => JSON.parse(line).body.policy),
        ),
      ];
    };
    assert.equal((await at.hereJson(["resume", parked.sessionId])).code, 75);
    assert.equal((await revisions()).length, 1);
    assert.equal((await at.hereJson(["resume", parked.sessionId, "--deny", "mcp__nothing"])).code, 75);
    assert.equal((await revisions()).length, 2);
    await at.here(["approve", parked.approvalId]);
    assert.equal((await at.json(["resume", parked.sessionId])).value.outcome, "succeeded");
  });

  test("loosening is not retroactive: yolo on resume does not open what waits", async () => {
    using at = place();
    const parked = await park(at, "touch x");
    assert.equal((await at.json(["resume", parked.sessionId, "--mode", "yolo"])).code, 75);
    assert.ok(!existsSync(at.path("x")));
  });

  test("a call whose process was killed while it ran ends unknown, is not run again, and its process group is gone", async () => {
    using at = place();
    const child = at.start(["call", "shell", "--input", '{"command":"echo run >> x; echo $$ > pid; sleep 60"}', "--mode", "yolo"]);
    const end = ended(child);
    await until("the command has started", () => existsSync(at.path("pid")) && readFileSync(at.path("pid"), "utf8").includes("\n"));
    child.kill("SIGKILL");
    await end;
    const [session] = (await at.hereJson(["sessions"])).value;
    assert.equal(session.state, "interrupted");
    for (let time = 0; time < 2; time++) {
      const { code, value } = await at.json(["resume", session.id]);
      assert.deepEqual([code, value.outcome, value.type], [1, "unknown", "execution_unknown"]);
    }
    assert.equal(readFileSync(at.path("x"), "utf8"), "run\n");
    await until("its process group is gone", () => !groupRuns(Number(readFileSync(at.path("pid"), "utf8"))));
    const again = await at.json(["call", "shell", "--input", '{"command":"echo other >> x"}', "--mode", "yolo"]);
    assert.equal(again.value.outcome, "succeeded");
  });
});
