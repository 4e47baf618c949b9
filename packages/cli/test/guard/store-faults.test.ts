import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { AGENT_NAMES, AGENTS, type AgentName } from "@assent/guard";
import { ended, type Place, place, until } from "../support/assent.ts";

const SHELLS: Readonly<Record<AgentName, string>> = {
  ...{ claude: "Bash", codex: "Bash", gemini: "run_shell_command", qwen: "run_shell_command", opencode: "bash" },
};

/** A call before it runs. */
function before(agent: AgentName, at: Place, command: string): string {
  const [tool, input] = [SHELLS[agent], { command }];
  if (agent === "opencode")
    return JSON.stringify({ event: "tool.execute.before", session: "S", cwd: at.workspace, tool, args: input, call: "t1" });
  const name = agent === "gemini" ? "BeforeTool" : "PreToolUse";
  return JSON.stringify({
    session_id: "S",
    cwd: at.workspace,
    hook_event_name: name,
    tool_name: tool,
    tool_input: input,
    tool_use_id: "t1",
  });
}

function allowTouch(at: Place): void {
  mkdirSync(join(at.root, ".config/assent"), { recursive: true });
  const settings = JSON.stringify({ permissions: { allow: ["Shell(touch *)"] } });
  writeFileSync(join(at.root, ".config/assent/settings.json"), settings, { mode: 0o600 });
}

/** A file system of one megabyte; undefined where this user cannot have one. */
function mountSmall(at: Place): { readonly path: string; readonly run: (...options: readonly string[]) => void } | undefined {
  const path = join(at.root, "small");
  mkdirSync(path);
  const run = (...options: readonly string[]): number | null => spawnSync("mount", ["-t", "tmpfs", "-o", ...options, "tmpfs", path]).status;
  return run("size=1m") === 0 ? { path, run: (...options) => void run(...options) } : undefined;
}

function fill(directory: string): void {
  try {
    for (let at = 0; ; at++) writeFileSync(join(directory, `fill${at}`), "x".repeat(4096));
  } catch {
    // full
  }
}

describe("an allowed call without a record is denied, and the reason says what a person can do", () => {
  test("where the disk is full or read-only, for every agent", async (t) => {
    using at = place();
    allowTouch(at);
    const small = mountSmall(at);
    if (!small) return t.skip("needs a user who may mount a file system");
    try {
      const store = join(small.path, "store");
      const ask = (agent: AgentName): ReturnType<Place["here"]> =>
        at.here(["hook", agent, "--store", store], { input: before(agent, at, "touch ran") });
      assert.equal((await ask("claude")).code, 0);
      fill(small.path);
      for (const agent of AGENT_NAMES) {
        const { code, stdout, stderr } = await ask(agent);
        assert.deepEqual([code, /Disk full: .* Free space in .*assent doctor/s.test(stdout + stderr)], [2, true], AGENTS[agent].title);
      }
      for (const name of readdirSync(small.path)) if (name.startsWith("fill")) rmSync(join(small.path, name));
      small.run("remount,ro");
      for (const agent of AGENT_NAMES) {
        const { code, stdout, stderr } = await ask(agent);
        assert.deepEqual(
          [code, /cannot be written: .* Make it writable.*assent doctor/s.test(stdout + stderr)],
          [2, true],
          AGENTS[agent].title,
        );
      }
      const { stdout, code } = await at.here(["verify", "--store", store]);
      assert.equal(code, 0, stdout);
      assert.match((await at.here(["doctor", "--store", store])).stdout, /error +store/);
    } finally {
      spawnSync("umount", [small.path]);
    }
  });

  test("where another process holds the record: its process is named", async () => {
    using at = place();
    allowTouch(at);
    await at.here(["hook", "codex"], { input: before("codex", at, "touch ran") });
    const database = new DatabaseSync(join(at.store, "ledger.db"));
    database.exec("begin exclusive");
    const { code, stderr } = await at.run(["hook", "codex"], { input: before("codex", at, "touch ran") });
    database.exec("rollback");
    database.close();
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`The process ${process.pid} has held the ledger .* Try again, or end it`));
  });

  test("also if the record is locked at the deadline: the hook ends itself, because most agents run a call whose hook is late", async () => {
    using at = place();
    const child = at.start(["hook", "codex", "--deadline", "6s"]);
    const end = ended(child);
    child.stdin?.end(before("codex", at, "touch ran"));
    await until("the approval is open", async () => (await at.hereJson(["approvals"])).value.length === 1);
    const database = new DatabaseSync(join(at.store, "ledger.db"));
    database.exec("begin immediate");
    const { code, signal, stdout } = await end;
    database.exec("rollback");
    database.close();
    assert.deepEqual([code, signal, stdout], [null, "SIGKILL", ""]);
  });
});
