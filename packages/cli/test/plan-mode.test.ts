import assert from "node:assert/strict";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { defineTool, type Tool } from "@assent/core";
import { z } from "zod";
import { type Place, type Printed, place } from "./support/assent.ts";

const planPath = (sessionId: string): string => `.assent/plans/${sessionId}.md`;

/** Writes the session's plan with `write`; only a tool knows its session. */
const draft: Tool = defineTool({
  name: "draft",
  description: "Writes the plan.",
  kind: "think",
  input: z.object({ content: z.string() }),
  permission: () => "allow",
  run: ({ content }, { sessionId, gate }) => gate({ name: "write", arguments: { file_path: planPath(sessionId), content } }),
});

/** Puts a link in the plan's place. */
const trap: Tool = defineTool({
  name: "trap",
  description: "Links the plan to a source file.",
  kind: "think",
  input: z.object({ kind: z.enum(["symbolic", "hard", "directory"]) }),
  permission: () => "allow",
  run: ({ kind }, { cwd, sessionId }) => {
    const path = join(cwd, planPath(sessionId));
    if (kind === "directory") {
      mkdirSync(dirname(dirname(path)), { recursive: true });
      mkdirSync(join(cwd, "elsewhere"));
      symlinkSync(join(cwd, "elsewhere"), dirname(path));
      return "trapped";
    }
    mkdirSync(dirname(path), { recursive: true });
    if (kind === "symbolic") symlinkSync(join(cwd, "src/a.ts"), path);
    else linkSync(join(cwd, "src/a.ts"), path);
    return "trapped";
  },
});

const tools = [draft, trap];

function workspace(): Place {
  const at = place();
  mkdirSync(at.path("src"));
  at.write("src/a.ts", "const a = 1;\n");
  return at;
}

type Run = Printed & {
  readonly calls: readonly { readonly tool: string; readonly outcome: string; readonly type: string | null; readonly content: string }[];
};

/** Plays the turns and reports how every call ended. */
async function play(at: Place, turns: string, argv: readonly string[]): Promise<Run> {
  at.write("script.yaml", `turns: [${turns}]`);
  const ran = await at.hereJson(["run", "go", "--model", "script:script.yaml", ...argv], { tools });
  const { session_id: sessionId, subtype, result: text, error } = ran.value.at(-1);
  return {
    ...ran,
    value: { sessionId, reason: subtype === "success" ? "done" : subtype, text, error },
    calls: await callsOf(at, sessionId),
  };
}

type Logged = { readonly type: string; readonly body: Readonly<Record<string, ReturnType<typeof JSON.parse>>> };

async function logged(at: Place, session: string, type: string): Promise<readonly Logged[]> {
  const { stdout } = await at.here(["log", session, "--type", type, "--json"]);
  const text = stdout.trim();
  return text.startsWith("[") ? JSON.parse(text) : text === "" ? [] : text.split("\n").map((line) => JSON.parse(line));
}

async function callsOf(at: Place, session: string): Promise<Run["calls"]> {
  const proposed = await logged(at, session, "call.proposed");
  const ended = await logged(at, session, "call.ended");
  return ended.map(({ body }) => ({
    tool: String(proposed.find((call) => call.body["call"] === body["call"])?.body["tool"]),
    outcome: body["outcome"],
    type: body["type"],
    content: String(body["content"]),
  }));
}

async function modes(at: Place, session: string): Promise<readonly string[]> {
  return (await logged(at, session, "mode.changed")).map(({ body }) => String(body["to"]));
}

const DRAFT = "{ calls: [{ tool: draft, input: { content: '# Fix cache' } }] }";
const RESOLVE = "{ calls: [{ tool: resolve, id: r, input: { action: apply, reason: ready } }] }";
const ENTER = "{ calls: [{ tool: enter_plan_mode, input: {} }] }";
const DONE = "{ say: done }";

describe("plan mode, from outside", () => {
  test("an edit is denied even if a rule allows it", async () => {
    using at = workspace();
    await at.here(["call", "read", "--input", JSON.stringify({ file_path: "src/a.ts" })]);
    const input = JSON.stringify({ file_path: "src/a.ts", old_string: "1", new_string: "2" });
    const { code, value } = await at.hereJson(["call", "edit", "--input", input, "--mode", "plan", "--allow", "Edit"]);
    assert.deepEqual([code, value.outcome, value.type], [1, "denied", "denied_by_mode"]);
    assert.equal(readFileSync(at.path("src/a.ts"), "utf8"), "const a = 1;\n");
  });

  const SHELL: readonly [command: string, outcome: string, type: string | null][] = [
    ["git status", "succeeded", null],
    ["git commit --allow-empty -m x", "denied", "denied_by_mode"],
    ["echo x > .assent/plans/x.md", "denied", "denied_by_mode"],
  ];
  for (const [command, outcome, type] of SHELL) {
    test(`${command}`, async () => {
      using at = workspace();
      await at.here(["call", "shell", "--input", JSON.stringify({ command: "git init -q ." }), "--mode", "yolo"]);
      const { value } = await at.hereJson(["call", "shell", "--input", JSON.stringify({ command }), "--mode", "plan", "--allow", "Shell"]);
      assert.deepEqual([value.outcome, value.type], [outcome, type], value.content);
    });
  }

  const WRITES: readonly [sentence: string, turns: string, argv: readonly string[], type: string | null][] = [
    ["the plan is written without asking, and is not staged", DRAFT, ["--on-ask", "deny"], null],
    ["not against a rule", DRAFT, ["--on-ask", "deny", "--deny", "Edit(.assent/**)"], "denied_by_rule"],
    ["an ask rule asks", DRAFT, ["--on-ask", "deny", "--ask", "Edit(.assent/**)"], "denied_unattended"],
    [
      "not through a link to another file",
      `{ calls: [{ tool: trap, input: { kind: symbolic } }] }, ${DRAFT}`,
      ["--on-ask", "deny"],
      "denied_by_mode",
    ],
    [
      "not a file that has another name",
      `{ calls: [{ tool: trap, input: { kind: hard } }] }, ${DRAFT}`,
      ["--on-ask", "deny"],
      "denied_by_mode",
    ],
    [
      "not through a linked directory",
      `{ calls: [{ tool: trap, input: { kind: directory } }] }, ${DRAFT}`,
      ["--on-ask", "deny"],
      "denied_by_mode",
    ],
    [
      "not more than 256 KiB",
      `{ calls: [{ tool: draft, input: { content: '${"x".repeat(256 * 1024 + 1)}' } }] }`,
      ["--on-ask", "deny"],
      "denied_by_mode",
    ],
  ];
  for (const [sentence, turns, argv, type] of WRITES) {
    test(`plan-mode 3: ${sentence}`, async () => {
      using at = workspace();
      const last = type === null ? `${RESOLVE}` : DONE;
      const { calls, value } = await play(at, `${turns}, ${last}`, ["--mode", "plan", ...argv]);
      assert.equal(calls.find(({ tool }) => tool === "write")?.type, type, JSON.stringify(calls));
      assert.equal(readFileSync(at.path("src/a.ts"), "utf8"), "const a = 1;\n", "the file is untouched");
      assert.deepEqual((await at.hereJson(["proposals"])).value, [], "nothing is staged");
      assert.equal(value.reason, "done");
    });
  }

  test("with --on-ask deny the run ends well, with the plan as its result", async () => {
    using at = workspace();
    const { code, value, calls } = await play(at, `${DRAFT}, ${RESOLVE}`, ["--mode", "plan", "--on-ask", "deny"]);
    assert.deepEqual([code, value.text], [0, "# Fix cache"]);
    assert.deepEqual(calls.at(-1), {
      tool: "resolve",
      outcome: "denied",
      type: "denied_unattended",
      content: `No person can approve the plan here. It is kept at ${planPath(value.sessionId)}.`,
    });
    assert.deepEqual(await modes(at, value.sessionId), ["plan"]);
  });

  test("with --on-ask fail the run fails", async () => {
    using at = workspace();
    const { code, value } = await play(at, `${DRAFT}, ${RESOLVE}`, ["--mode", "plan", "--on-ask", "fail"]);
    assert.deepEqual([code, value.error.type], [1, "approval_required"]);
  });

  const ANSWERED: readonly [sentence: string, start: string, turns: string, outcome: readonly string[], mode: string][] = [
    ["approve", "plan", `${DRAFT}, ${RESOLVE}`, [], "default"],
    ["proceed_always", "plan", `${DRAFT}, ${RESOLVE}`, ["--outcome", "proceed_always"], "auto-edit"],
    ["restore_previous", "yolo", `${ENTER}, ${DRAFT}, ${RESOLVE}`, ["--outcome", "restore_previous"], "yolo"],
    ["auto-edit approves no plan", "auto-edit", `${ENTER}, ${DRAFT}, ${RESOLVE}`, ["--outcome", "restore_previous"], "auto-edit"],
  ];
  for (const [sentence, start, turns, outcome, mode] of ANSWERED) {
    test(`parked, answered and resumed: ${sentence}`, async () => {
      using at = workspace();
      const parked = await play(at, turns, ["--mode", start, "--on-ask", "park"]);
      assert.equal(parked.code, 75, parked.stderr);
      const { sessionId } = parked.value;
      const [open] = (await at.hereJson(["approvals"])).value;
      const answered = await at.hereJson(["approve", open.id, ...outcome]);
      assert.deepEqual([answered.code, answered.value.outcome], [0, "approved"]);
      assert.doesNotMatch(answered.stderr, /warning/, "nothing warns of a plan that will be carried out");
      assert.equal((await modes(at, sessionId)).at(-1), "plan", "nothing happens before the session continues");
      await at.here(["resume", sessionId], { tools });
      await at.here(["resume", sessionId], { tools });
      const resolved = (await callsOf(at, sessionId)).filter(({ tool }) => tool === "resolve");
      assert.deepEqual(
        resolved.map(({ type, content }) => [type, content]),
        [["applied", `Plan approved: Fix-cache. Mode: ${mode}.\n.assent/plans/Fix-cache.md`]],
      );
      assert.equal((await modes(at, sessionId)).at(-1), mode);
      assert.deepEqual(readdirSync(at.path(".assent/plans")), ["Fix-cache.md"]);
      assert.deepEqual((await at.hereJson(["grants"])).value, []);
    });
  }

  test("a parked write of the plan file, which a rule asks about, is approved without a warning, and runs", async () => {
    using at = workspace();
    const argv = ["--mode", "plan", "--on-ask", "park", "--ask", "Edit(.assent/**)"];
    const { sessionId } = (await play(at, DONE, argv)).value;
    const input = JSON.stringify({ file_path: planPath(sessionId), content: "# Fix cache" });
    at.write("script.yaml", `turns: [${DONE}, { calls: [{ tool: write, input: ${input} }] }, ${DONE}]`);
    await at.here(["resume", sessionId, "go on", "--on-ask", "park"]);
    const [open] = (await at.hereJson(["approvals"])).value;
    const answered = await at.hereJson(["approve", open.id]);
    assert.doesNotMatch(answered.stderr, /warning/);
    await at.here(["resume", sessionId]);
    assert.equal((await callsOf(at, sessionId)).find(({ tool }) => tool === "write")?.outcome, "succeeded");
  });

  test("a plan that was edited meanwhile is not approved, and the mode stays", async () => {
    using at = workspace();
    const { value } = await play(at, `${DRAFT}, ${RESOLVE}`, ["--mode", "plan", "--on-ask", "park"]);
    const [open] = (await at.hereJson(["approvals"])).value;
    writeFileSync(at.path(planPath(value.sessionId)), "# Another");
    await at.here(["approve", open.id]);
    await at.here(["resume", value.sessionId], { tools });
    const resolved = (await callsOf(at, value.sessionId)).at(-1);
    assert.deepEqual([resolved?.outcome, resolved?.type], ["failed", "plan_changed"]);
    assert.deepEqual(await modes(at, value.sessionId), ["plan"]);
  });

  test("a plan that is rejected keeps the mode, and the reason reaches the model", async () => {
    using at = workspace();
    const { value } = await play(at, `${DRAFT}, ${RESOLVE}`, ["--mode", "plan", "--on-ask", "park"]);
    const [open] = (await at.hereJson(["approvals"])).value;
    await at.here(["reject", open.id, "--reason", "too much"]);
    await at.here(["resume", value.sessionId], { tools });
    const resolved = (await callsOf(at, value.sessionId)).at(-1);
    assert.deepEqual([resolved?.type, resolved?.content], ["plan_rejected", "Plan rejected. Reason: too much"]);
  });

  for (const outcome of ["restore_previous", "proceed_always"]) {
    test(`${outcome} answers nothing but a plan, and the approval stays open`, async () => {
      using at = workspace();
      const { value } = await at.hereJson(["call", "shell", "--input", JSON.stringify({ command: "touch x" }), "--on-ask", "park"]);
      const refused = await at.hereJson(["approve", value.approvalId, "--outcome", outcome]);
      assert.deepEqual([refused.code, refused.value.error.type], [2, "bad_answer"]);
      assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    });
  }

  test("plan-mode 1: what was staged before stays staged; a person cannot apply it while the mode is on", async () => {
    using at = workspace();
    const policy = join(at.root, "policy.json");
    writeFileSync(policy, JSON.stringify({ version: 1, mode: "yolo", proposals: { stage: ["Write"], steering: "none" } }));
    const write = "{ calls: [{ tool: write, input: { file_path: new.txt, content: hello } }] }";
    const { value, calls } = await play(at, `${write}, ${ENTER}, ${DONE}`, ["--policy", policy, "--on-ask", "park"]);
    assert.equal(value.reason, "done", JSON.stringify(calls));
    const [row] = (await at.hereJson(["proposals"])).value;
    const applied = await at.hereJson(["apply", row.id]);
    assert.equal(applied.code, 1);
    assert.equal(existsSync(at.path("new.txt")), false);
    assert.equal((await at.hereJson(["proposals"])).value[0].state, "staged");
  });

  test("enter_plan_mode is refused if no one can approve a plan", async () => {
    using at = workspace();
    const { calls, value } = await play(at, `${ENTER}, ${DONE}`, ["--on-ask", "deny"]);
    assert.deepEqual([calls[0]?.outcome, calls[0]?.type], ["failed", "execution_denied"]);
    assert.deepEqual(await modes(at, value.sessionId), []);
  });
});
