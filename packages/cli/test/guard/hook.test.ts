import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AGENT_NAMES } from "@assent/guard";
import { CLIENT_NAMES } from "@assent/policy";
import { startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { BIN, ended, type Place, place, type Ran, until } from "../support/assent.ts";

type Sent = { readonly event?: string; readonly command?: string; readonly id?: string; readonly session?: string; readonly more?: object };

function input(at: Place, { event = "PreToolUse", command = "touch ran", id = "t1", session = "S1", more = {} }: Sent): string {
  const call = { tool_name: "Bash", tool_input: { command, description: "x" }, tool_use_id: id };
  return JSON.stringify({ session_id: session, cwd: at.workspace, hook_event_name: event, permission_mode: "default", ...call, ...more });
}

/** A hook process of its own, as an agent starts it. */
function hook(at: Place, sent: Sent, options: readonly string[] = []): Promise<Ran> {
  return at.run(["hook", "claude", ...options], { input: input(at, sent) });
}

/** Runs the hook below a process that ends with it, as an agent that is killed does. */
function underAgentThatEnds(at: Place, sent: Sent, options: readonly string[] = []): void {
  const argv = JSON.stringify([BIN, "hook", "claude", "--store", at.store, ...options]);
  const text = JSON.stringify(input(at, sent));
  const agent = `require("node:child_process").spawnSync(process.execPath, ${argv}, { input: ${text} })`;
  spawnSync(process.execPath, ["-e", agent], { cwd: at.workspace, env: at.env });
}

function startHook(at: Place, sent: Sent, options: readonly string[] = []): ChildProcess {
  const child = at.start(["hook", "claude", ...options]);
  child.stdin?.end(input(at, sent));
  return child;
}

/** Ends the hook once its call waits for approval, as its deadline would. */
async function giveUpWaiting(at: Place, sent: Sent): Promise<Ran> {
  const before = (await approvals(at)).length;
  const child = startHook(at, sent);
  const end = ended(child);
  await until("the approval is open", async () => child.exitCode !== null || (await approvals(at)).length > before);
  child.kill("SIGTERM");
  return await end;
}

function rules(at: Place, permissions: object): void {
  mkdirSync(join(at.root, ".config/assent"), { recursive: true });
  writeFileSync(join(at.root, ".config/assent/settings.json"), JSON.stringify({ permissions }), { mode: 0o600 });
}

async function approvals(at: Place): Promise<readonly { id: string; session: string }[]> {
  return (await at.hereJson(["approvals"])).value;
}

async function sessions(at: Place): Promise<readonly { id: string; state: string; group?: object; unknownOutcomes: number }[]> {
  return (await at.hereJson(["sessions"])).value;
}

async function outcomes(at: Place): Promise<readonly string[]> {
  const { stdout } = await at.here(["log", "--type", "call.ended", "--json"]);
  return [...stdout.matchAll(/"outcome": ?"(\w+)"/g)].map(([, outcome = ""]) => outcome);
}

const ALLOWED = /"permissionDecision":"allow"/;

describe("a call of another agent", () => {
  test("is allowed by a rule, claimed before the answer, and ended by the report", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch ran)"] });
    const allowed = await hook(at, {});
    assert.deepEqual([allowed.code, allowed.stderr], [0, ""]);
    assert.match(allowed.stdout, ALLOWED);
    assert.deepEqual(await outcomes(at), []);
    assert.match((await at.here(["log", "--type", "call.claimed"])).stdout, /call\.claimed/);
    assert.deepEqual((await at.hereJson(["sessions", "--state", "running"])).value.length, 1);
    await hook(at, { event: "PostToolUse", more: { tool_response: { stdout: "fine" } } });
    assert.deepEqual(await outcomes(at), ["succeeded"]);
    const [session] = await sessions(at);
    assert.match((await at.here(["log", "--type", "session.created"])).stdout, /\(run by Claude Code\)/);
    assert.match((await at.here(["sessions", "export", session?.id ?? ""])).stdout, /^- Run by `?Claude Code`?, in its session/m);
    assert.equal(session?.state, "done");
    assert.partialDeepStrictEqual(session?.group, { client: "claude", title: "Claude Code", id: "S1", process: { pid: process.pid } });
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("is denied by a rule, with the reason on stderr and exit code 2", async () => {
    using at = place();
    rules(at, { deny: ["Shell(touch *)"] });
    const denied = await hook(at, {});
    assert.deepEqual([denied.code, denied.stdout], [2, ""]);
    assert.match(denied.stderr, /'shell' is denied/);
    assert.deepEqual(await outcomes(at), ["denied"]);
  });

  test("that fails is recorded as failed", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch ran)"] });
    await hook(at, {});
    await hook(at, { event: "PostToolUseFailure", more: { error: "exit 1" } });
    assert.deepEqual(await outcomes(at), ["failed"]);
  });

  test("waits until a person approves it in another process", async () => {
    using at = place();
    const child = startHook(at, {}, ["--deadline", "60s"]);
    const end = ended(child);
    await until("the approval is open", async () => (await approvals(at)).length === 1);
    const [open] = await approvals(at);
    const answer = await at.here(["approve", open?.id ?? ""]);
    assert.match(answer.stderr, /Claude Code continues\./);
    const done = await end;
    assert.equal(done.code, 0);
    assert.match(done.stdout, ALLOWED);
  });

  test("is denied when a person rejects it, and the reason reaches the agent", async () => {
    using at = place();
    const end = ended(startHook(at, {}, ["--deadline", "60s"]));
    await until("the approval is open", async () => (await approvals(at)).length === 1);
    const [open] = await approvals(at);
    await at.here(["reject", open?.id ?? "", "--reason", "use the script"]);
    const { code, stderr } = await end;
    assert.equal(code, 2);
    assert.match(stderr, /use the script/);
  });

  test("is denied at the deadline; the same call finds the later approval, once", async () => {
    using at = place();
    const late = await giveUpWaiting(at, {});
    const [open] = await approvals(at);
    assert.equal(late.code, 2);
    assert.ok(late.stderr.includes(`waits for approval ${open?.id}`), late.stderr);
    assert.match((await at.here(["approve", open?.id ?? ""])).stderr, /Claude Code runs it when it makes the same call again\./);
    assert.match((await hook(at, { id: "t2" })).stdout, ALLOWED);
    assert.equal((await giveUpWaiting(at, { id: "t3" })).code, 2);
    await hook(at, { event: "PostToolUse", id: "t2", more: { tool_response: "ok" } });
    assert.deepEqual(await outcomes(at), ["succeeded"]);
  });

  const others: readonly [sentence: string, sent: Sent][] = [
    ["another command", { id: "t2", command: "touch other" }],
    ["another directory", { id: "t2", more: { cwd: "/" } }],
    ["another session of the agent", { id: "t2", session: "S2" }],
    ["another option of the same command", { id: "t2", more: { tool_input: { command: "touch ran", run_in_background: true } } }],
  ];
  for (const [sentence, sent] of others) {
    test(`does not find an approval of ${sentence}`, async () => {
      using at = place();
      await giveUpWaiting(at, {});
      await at.here(["approve", (await approvals(at))[0]?.id ?? ""]);
      assert.equal((await giveUpWaiting(at, sent)).code, 2);
    });
  }

  test("that is remembered for the session is allowed for the whole session of the agent, and no other", async () => {
    using at = place();
    await giveUpWaiting(at, {});
    const [open] = await approvals(at);
    await at.here(["approve", open?.id ?? "", "--remember", "session"]);
    assert.match((await hook(at, { id: "t2" })).stdout, ALLOWED); // uses the answer
    assert.match((await hook(at, { id: "t3" })).stdout, ALLOWED); // uses the grant
    assert.equal((await giveUpWaiting(at, { id: "t4", session: "S2" })).code, 2);
  });

  test("that a person approves with an edit is not run, because the agent would run the original", async () => {
    using at = place();
    await giveUpWaiting(at, {});
    const edit = at.write("edit.json", JSON.stringify({ command: "touch safer" }));
    assert.equal((await at.here(["approve", (await approvals(at))[0]?.id ?? "", "--edit", edit])).code, 0);
    const { code, stderr } = await hook(at, { id: "t2" });
    assert.equal(code, 2);
    assert.match(stderr, /edited call/);
  });

  test("cannot be resumed, because Assent does not run it", async () => {
    using at = place();
    await giveUpWaiting(at, {});
    const [session] = await sessions(at);
    await at.here(["approve", (await approvals(at))[0]?.id ?? ""]);
    for (const more of [[], ["--take-over"], ["--cwd", "."]]) {
      const { code, value } = await at.json(["resume", session?.id ?? "", ...more]);
      assert.deepEqual([code, value.error.type], [1, "session_run_elsewhere"]);
    }
  });

  test("ends as unknown if the agent's session ends without a report, and open approvals close", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch ran)"] });
    await hook(at, {});
    await giveUpWaiting(at, { id: "t2", command: "touch other" });
    await hook(at, { event: "SessionEnd" });
    assert.deepEqual((await outcomes(at)).toSorted(), ["cancelled", "unknown"]);
    assert.deepEqual(await approvals(at), []);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("that changes the directory is ended by the report from the new directory", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch ran)"] });
    await hook(at, {});
    await hook(at, { event: "PostToolUse", more: { cwd: join(at.workspace, "..") } });
    assert.deepEqual(await outcomes(at), ["succeeded"]);
  });

  test("of an agent that was killed ends as unknown with the first call of another session; a living agent's is left alone", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch ran)"] });
    await hook(at, { session: "alive" });
    underAgentThatEnds(at, { session: "killed" });
    underAgentThatEnds(at, { session: "killed", id: "t2", command: "touch other" }, ["--deadline", "6s"]);
    assert.equal((await approvals(at)).length, 1);
    await hook(at, { session: "alive", id: "t2" });
    assert.deepEqual(await outcomes(at), [], "no new session");
    await hook(at, { session: "new" });
    assert.deepEqual((await outcomes(at)).toSorted(), ["cancelled", "unknown"]);
    assert.deepEqual(await approvals(at), []);
    await hook(at, { session: "alive", event: "PostToolUse" });
    assert.deepEqual((await outcomes(at)).toSorted(), ["cancelled", "succeeded", "unknown"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("whose agent alone was killed stays listed while its hook waits; an answer then runs nothing, and the call ends as unknown", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch other)"] });
    const argv = JSON.stringify([BIN, "hook", "claude", "--store", at.store]);
    const agent = spawn(
      process.execPath,
      [
        "-e",
        `const hook = require("node:child_process").spawn(process.execPath, ${argv});
         hook.stdin.end(${JSON.stringify(input(at, {}))});
         hook.on("close", (code) => code === 0 && require("node:fs").writeFileSync("ran", ""));`,
      ],
      { cwd: at.workspace, env: at.env },
    );
    const end = once(agent, "exit");
    await until("the approval is open", async () => (await approvals(at)).length === 1);
    agent.kill("SIGKILL");
    await end;
    const [open] = await approvals(at);
    assert.equal((await at.here(["approve", open?.id ?? ""])).code, 0);
    await until("the hook claimed the call", async () =>
      (await at.here(["log", "--type", "call.claimed"])).stdout.includes("call.claimed"),
    );
    assert.ok(!existsSync(at.path("ran")));
    await hook(at, { session: "new", command: "touch other" });
    assert.deepEqual(await outcomes(at), ["unknown"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("of a living agent that came through the wrapper is left alone by the first call of another session", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch ran)"] });
    await at.run(["hook", "install", "claude", "--yes"]);
    const argv = ["claude", "decide", "--store", at.store];
    const first = spawnSync(join(at.store, "hooks/assent-hook"), argv, { cwd: at.workspace, env: at.env, input: input(at, {}) });
    assert.equal(first.status, 0, String(first.stderr));
    await hook(at, { session: "S2" });
    assert.deepEqual(await outcomes(at), []);
  });

  test("whose waiting hook was killed is found by the same call, with its answer", async () => {
    using at = place();
    const waiting = startHook(at, {});
    const end = ended(waiting);
    await until("the approval is open", async () => (await approvals(at)).length === 1);
    waiting.kill("SIGKILL");
    await end;
    await at.here(["approve", (await approvals(at))[0]?.id ?? ""]);
    assert.match((await hook(at, { id: "t2" })).stdout, ALLOWED);
    assert.equal((await sessions(at)).length, 1);
  });

  test("a second report changes nothing, and a report without a call is ignored", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch ran)"] });
    await hook(at, {});
    for (const text of ["first", "second"]) await hook(at, { event: "PostToolUse", more: { tool_response: text } });
    assert.deepEqual(await outcomes(at), ["succeeded"]);
    assert.match((await at.here(["log", "--type", "call.ended"])).stdout, /content=first/);
    assert.equal((await hook(at, { event: "PostToolUse", command: "never asked" })).code, 0);
  });

  test("twenty at once, with the same and with different commands, have one record and one end each", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch *)"] });
    await hook(at, { id: "t0" }); // creates the store
    await hook(at, { id: "t0", event: "PostToolUse" });
    const calls = Array.from({ length: 20 }, (_, index) => ({ id: `c${index}`, command: `touch f${index % 10}` }));
    const answers = await Promise.all(calls.map((sent) => hook(at, sent)));
    assert.deepEqual(new Set(answers.map(({ code }) => code)), new Set([0]));
    await Promise.all(calls.map((sent) => hook(at, { ...sent, event: "PostToolUse", more: { tool_response: sent.id } })));
    assert.deepEqual(
      await outcomes(at),
      Array.from({ length: 21 }, () => "succeeded"),
    );
    assert.equal((await at.here(["verify"])).code, 0);
  });

  const reads: readonly [sentence: string, command: string, verdict: "allow" | "ask", reason?: RegExp][] = [
    ["a plain reader runs without approval", "ls -la", "allow"],
    ["a pattern asks, because the agent's shell expands it", "ls *", "ask", /The agent's shell expands \*/],
    ["git asks, because its settings may start programs", "git status", "ask", /git is known to only read if Assent itself runs it/],
  ];
  for (const [sentence, command, verdict, reason] of reads) {
    test(`${sentence}, and explain --outside says so`, async () => {
      using at = place();
      const { code, stdout } = await hook(at, { command }, ["--on-ask", "deny"]);
      assert.deepEqual([code, ALLOWED.test(stdout)], verdict === "allow" ? [0, true] : [2, false]);
      const explained = await at.here(["explain", "--outside", "--workspace", at.workspace, "shell", command]);
      assert.ok(explained.stdout.startsWith(verdict.toUpperCase()), explained.stdout);
      if (reason) assert.match(explained.stdout, reason);
    });
  }

  test("is decided by rules with examples", async () => {
    using at = place();
    const deny = { rule: "Read(.env)", match: [".env", "app/.env"], notMatch: [".env.example"] };
    rules(at, { deny: [deny], allow: [{ rule: "Edit(src/**)", match: ["src/a.ts"] }] });
    const asked = async (tool: string, file: string): Promise<number | null> => {
      const sent = { tool_name: tool, tool_input: { file_path: join(at.workspace, file), content: "x" } };
      return (await hook(at, { more: sent }, ["--on-ask", "deny"])).code;
    };
    assert.deepEqual([await asked("Read", ".env"), await asked("Write", "src/a.ts"), await asked("Write", "b.ts")], [2, 0, 2]);
  });

  test("of a tool that only the agent has is allowed by a rule, and explained", async () => {
    using at = place();
    rules(at, { allow: ["mcp__tracker__get"] });
    const sent = { tool_name: "mcp__tracker__get", tool_input: { id: 1 } };
    assert.match((await hook(at, { more: sent }, ["--on-ask", "deny"])).stdout, ALLOWED);
    const { value } = await at.hereJson(["explain", "--outside", "--workspace", at.workspace, "mcp__tracker__get", "{}"]);
    assert.equal(value.verdict, "allow");
  });

  test("of an unknown tool asks, also if it has the name of a tool of Assent that needs no approval", async () => {
    using at = place();
    for (const tool of ["search", "todo", "task_list", "ast_grep", "Teleport"])
      assert.equal((await hook(at, { more: { tool_name: tool, tool_input: {} } }, ["--on-ask", "deny"])).code, 2, tool);
  });

  test("that asks the agent's own person is recorded and left to the person", async () => {
    using at = place();
    for (const tool of ["ExitPlanMode", "AskUserQuestion"]) {
      const { code, stdout } = await hook(at, { id: tool, more: { tool_name: tool, tool_input: { plan: "x" } } });
      assert.deepEqual([code, stdout], [0, ""]);
    }
    assert.equal((await at.hereJson(["sessions", "--state", "running"])).value.length, 2);
  });

  test("to Assent's own commands or record is denied", async () => {
    using at = place();
    rules(at, { allow: ["Shell"] });
    for (const command of ["assent approve a_123456", `cat ${at.store}/ledger.db`, `sh -c 'assent approve x'`])
      assert.equal((await hook(at, { command })).code, 2, command);
    rules(at, { allow: ["mcp__fs"] });
    const sent = { tool_name: "mcp__fs__write_file", tool_input: { path: `${at.store}/ledger.db`, content: "x" } };
    assert.match((await hook(at, { more: sent })).stderr, /Assent's own files/);
  });
});

describe("rules that are limited to a client", () => {
  const codex = { rule: "Shell(touch *)", client: "codex" };
  const cases: readonly [sentence: string, permissions: object, agent: string, allowed: boolean][] = [
    ["an allow counts for its client", { allow: [codex] }, "codex", true],
    ["an allow does not count for another client", { allow: [codex] }, "claude", false],
    ["a deny counts for its client", { allow: ["Shell(touch *)"], deny: [codex] }, "codex", false],
    ["a deny does not count for another client", { allow: ["Shell(touch *)"], deny: [codex] }, "claude", true],
    ["a rule about Assent's own calls does not count", { allow: [{ ...codex, client: "assent" }] }, "codex", false],
  ];
  for (const [sentence, permissions, agent, allowed] of cases) {
    test(sentence, async () => {
      using at = place();
      rules(at, permissions);
      const { code } = await at.run(["hook", agent, "--on-ask", "deny"], { input: input(at, {}) });
      assert.equal(code, allowed ? 0 : 2);
      const explained = await at.hereJson(["explain", "--client", agent, "--workspace", at.workspace, "shell", "touch ran"]);
      assert.equal(explained.value.verdict === "allow", allowed);
    });
  }

  test("do not count for Assent's own calls, unless they are about them", async () => {
    using at = place();
    const verdict = async (): Promise<string> =>
      (await at.hereJson(["explain", "--workspace", at.workspace, "shell", "touch ran"])).value.verdict;
    rules(at, { allow: ["Shell(touch *)"], deny: [codex] });
    assert.equal(await verdict(), "allow");
    rules(at, { allow: ["Shell(touch *)"], deny: [{ ...codex, client: "assent" }] });
    assert.equal(await verdict(), "deny");
  });

  test("with an unknown client deny every call, because the rule may forbid something", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch *)"], deny: [{ ...codex, client: "codexx" }] });
    const { code, stderr } = await hook(at, {});
    assert.equal(code, 2);
    assert.match(stderr, /client/);
  });

  test("can name every agent that Assent guards", () => assert.deepEqual(CLIENT_NAMES, ["assent", ...AGENT_NAMES]));
});

describe("policy diff --ledger", () => {
  test("judges calls of other agents as their hooks do", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch *)", "mcp__tracker__get"] });
    await hook(at, {});
    await hook(at, { id: "t2", command: "git status" }, ["--on-ask", "deny"]);
    await hook(at, { id: "t3", more: { tool_name: "mcp__tracker__get", tool_input: { id: 1 } } });
    const file = (name: string, permissions: object): string => at.write(name, JSON.stringify({ version: 1, permissions }));
    const files = [file("old.json", {}), file("new.json", { deny: [{ rule: "Shell(touch *)", client: "claude" }, "mcp__tracker"] })];
    const { value } = await at.hereJson(["policy", "diff", ...files, "--ledger"]);
    const found = value.calls.map(({ tool, old, new: next }: Record<string, string>) => [tool, old, next]);
    assert.deepEqual(found, [
      ["shell", "ask", "deny"],
      ["mcp__tracker__get", "ask", "deny"],
    ]);
    assert.deepEqual([value.judged, value.unjudged], [3, 0]);
  });
});

describe("a fault before a call denies it", () => {
  const faults: readonly [sentence: string, text: (at: Place) => string, options?: readonly string[]][] = [
    ["input that is not JSON", () => "nonsense"],
    ["a directory that does not exist", (at) => input(at, { more: { cwd: "/does/not/exist" } })],
    ["a store that cannot be opened", (at) => input(at, {}), ["--store", "/proc/nowhere"]],
  ];
  for (const [sentence, text, options = []] of faults) {
    test(`${sentence}: exit code 2 and a reason`, async () => {
      using at = place();
      const { code, stdout, stderr } = await at.run(["hook", "claude", ...options], { input: text(at) });
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, /Assent denied this call because it could not decide: /);
    });
  }

  test("broken settings: exit code 2", async () => {
    using at = place();
    mkdirSync(join(at.root, ".config/assent"), { recursive: true });
    writeFileSync(join(at.root, ".config/assent/settings.json"), "{ nonsense", { mode: 0o600 });
    assert.equal((await hook(at, {})).code, 2);
  });

  test("a database that does not answer: exit code 2 after the deadline", async () => {
    using at = place();
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const { code, stderr } = await at.run(["hook", "claude", "--deadline", "100ms", "--store", `postgres://127.0.0.1:${port}/x`], {
      input: input(at, {}),
    });
    silent.close();
    assert.equal(code, 2);
    assert.match(stderr, /the deadline of this hook passed/);
  });

  const besides: readonly [sentence: string, prepare: (at: Place) => readonly string[], reason: RegExp][] = [
    [
      "a warning",
      (at) => {
        chmodSync(at.store, 0o777);
        return [];
      },
      /requires approval/,
    ],
    ["an error of the command line", () => ["--nonsense"], /Assent ended with status 2 before it could decide/],
    [
      "a crash",
      (at) => {
        const wrapper = join(at.store, "hooks/assent-hook");
        writeFileSync(wrapper, readFileSync(wrapper, "utf8").replace("assent.js", "missing.js"));
        return [];
      },
      /Assent ended with status 1 before it could decide/,
    ],
  ];
  for (const [sentence, prepare, reason] of besides)
    test(`${sentence} does not hide the denial from Qwen Code, which reads it only if nothing else is on stderr`, async () => {
      using at = place();
      await at.run(["hook", "install", "qwen", "--yes"]);
      const argv = ["qwen", "decide", "--on-ask", "deny", "--store", at.store, ...prepare(at)];
      const event = input(at, { more: { tool_name: "run_shell_command" } });
      const { status, stderr } = spawnSync(join(at.store, "hooks/assent-hook"), argv, {
        ...{ cwd: at.workspace, env: at.env, input: event, encoding: "utf8" },
      });
      assert.equal(status, 2);
      const { decision, hookSpecificOutput } = JSON.parse(stderr);
      assert.deepEqual([decision, hookSpecificOutput.permissionDecision], ["deny", "deny"]);
      assert.match(hookSpecificOutput.permissionDecisionReason, reason);
    });

  for (const [file, command] of [
    ["package.json", "npm test"],
    [".git/commondir", "git log"],
  ] as const)
    test(`a FIFO in the place of ${file} does not block the hook, which would then be late`, () => {
      using at = place();
      mkdirSync(join(at.workspace, ".git"), { recursive: true });
      rmSync(join(at.workspace, file), { force: true });
      execFileSync("mkfifo", [join(at.workspace, file)]);
      const options = ["--on-ask", "deny", "--store", at.store];
      const { status } = spawnSync(process.execPath, [BIN, "hook", "claude", ...options], {
        ...{ cwd: at.workspace, env: at.env, input: input(at, { command }) },
        ...{ timeout: 60_000, killSignal: "SIGKILL" }, // a blocked process handles no other signal
      });
      assert.equal(status, 2);
    });

  test("a deadline that passes before a person can be asked: exit code 2, and the reason is the deadline", async () => {
    using at = place();
    const { code, stderr } = await ended(startHook(at, {}, ["--deadline", "1ms"]));
    assert.equal(code, 2);
    assert.match(stderr, /the deadline of this hook passed/);
  });

  test("an agent that does not end the input: exit code 2 after the deadline", async () => {
    using at = place();
    const child = at.start(["hook", "claude", "--deadline", "100ms"]);
    const { code, stderr } = await ended(child);
    assert.equal(code, 2);
    assert.match(stderr, /the deadline of this hook passed/);
  });

  test("on other events a fault only warns, because exit code 2 would keep an agent running", async () => {
    using at = place();
    for (const event of ["PostToolUse", "SessionEnd"]) {
      const { code, stderr } = await at.run(["hook", "claude", "--store", "/proc/nowhere"], { input: input(at, { event }) });
      assert.equal(code, 0);
      assert.match(stderr, /Assent could not record this: /);
    }
    assert.deepEqual((await hook(at, { event: "Stop" })).code, 0);
    for (const event of ["PostToolUse", "PermissionDenied", "Stop", "SessionEnd"]) {
      const { code, stderr } = await at.run(["hook", "claude"], { input: JSON.stringify({ hook_event_name: event }) });
      assert.deepEqual([code, /Assent could not record this: The hook's input has no session_id/.test(stderr)], [0, true], stderr);
    }
  });
});

describe("hook install --store", () => {
  test("names a directory that holds everywhere", async () => {
    using at = place();
    const { code, stdout } = await at.run(["hook", "install", "claude", "--dry-run", "--store", "mine"], { cwd: at.workspace });
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`"report",\\s+\\+\\s+"--store",\\s+\\+\\s+"${join(at.workspace, "mine")}"`));
  });

  test("refuses a password, because the agent's configuration would show it", async () => {
    using at = place();
    const server = await startPostgres(18);
    const store = server.url("hooks").replace("postgres@", "postgres:hunter2@");
    const { code, stderr } = await at.run(["hook", "install", "claude", "--yes", "--store", store]);
    await server.stop();
    assert.deepEqual([code, /--store has a password/.test(stderr), stderr.includes("hunter2")], [2, true, false], stderr);
  });
});

describe("--on-ask", () => {
  test("deny denies at once and leaves no approval", async () => {
    using at = place();
    const { code } = await hook(at, {}, ["--on-ask", "deny"]);
    assert.equal(code, 2);
    assert.deepEqual(await approvals(at), []);
  });

  test("agent claims the call and leaves it to the dialog of Claude Code", async () => {
    using at = place();
    const { code, stdout } = await hook(at, {}, ["--on-ask", "agent"]);
    assert.equal(code, 0);
    assert.match(stdout, /"permissionDecision":"ask"/);
    assert.match((await at.here(["log", "--type", "call.claimed"])).stdout, /call\.claimed/);
    await hook(at, { event: "PermissionDenied", more: { reason: "no" } });
    assert.deepEqual(await outcomes(at), ["failed"]);
  });

  test("both waits if the dialog of Claude Code is not certain", async () => {
    using at = place();
    const end = ended(startHook(at, {}, ["--on-ask", "both", "--deadline", "60s"]));
    await until("the approval is open", async () => (await approvals(at)).length === 1);
    await at.here(["approve", (await approvals(at))[0]?.id ?? ""]);
    assert.match((await end).stdout, ALLOWED);
  });

  test("a dialog about a call that Assent did not leave to it gets no opinion", async () => {
    using at = place();
    rules(at, { allow: ["Shell(touch ran)"] });
    await hook(at, {});
    const { code, stdout } = await hook(at, { event: "PermissionRequest" }, ["--on-ask", "both"]);
    assert.deepEqual([code, stdout], [0, ""]);
    assert.deepEqual(await approvals(at), []);
  });

  test("an approval beside a dialog closes with the report, and when its hook is stopped", async () => {
    using at = place();
    for (const stop of ["report", "signal"] as const) {
      await hook(at, { session: stop }, ["--on-ask", "agent"]);
      const beside = startHook(at, { event: "PermissionRequest", session: stop });
      const end = ended(beside);
      await until("the approval is open", async () => (await approvals(at)).length === 1);
      if (stop === "signal") beside.kill("SIGTERM");
      else await hook(at, { event: "PostToolUse", session: stop });
      const { code, stdout } = await end;
      assert.deepEqual([code, stdout], [0, ""]);
      assert.deepEqual(await approvals(at), []);
      await hook(at, { event: "Stop", session: stop });
    }
    assert.deepEqual((await outcomes(at)).toSorted(), ["cancelled", "cancelled", "failed", "succeeded"]);
    assert.equal((await at.here(["verify"])).code, 0);
  });

  test("an approval whose hook was killed beside a dialog closes with the turn", async () => {
    using at = place();
    await hook(at, {}, ["--on-ask", "agent"]);
    const beside = startHook(at, { event: "PermissionRequest" });
    const end = ended(beside);
    await until("the approval is open", async () => (await approvals(at)).length === 1);
    beside.kill("SIGKILL");
    await end;
    await hook(at, { event: "Stop" });
    assert.deepEqual(await approvals(at), []);
    assert.deepEqual((await outcomes(at)).toSorted(), ["cancelled", "failed"]);
  });

  test("agent still denies what a rule denies, and allows what a rule allows", async () => {
    using at = place();
    rules(at, { deny: ["Shell(touch ran)"], allow: ["Shell(touch good)"] });
    assert.equal((await hook(at, {}, ["--on-ask", "agent"])).code, 2);
    assert.match((await hook(at, { command: "touch good" }, ["--on-ask", "agent"])).stdout, ALLOWED);
  });
});
