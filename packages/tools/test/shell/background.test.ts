import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import {
  type BackgroundCommand,
  type BackgroundCommands,
  type BackgroundEnd,
  type RunContext,
  type TaskProcess,
  type Tool,
  ToolError,
  type ToolResult,
} from "@assent/core";
import { createHostFiles, createHostProcesses, sessionOutputDirectory } from "@assent/host";
import { shellTool } from "../../src/index.ts";
import { scratch } from "../scratch.ts";
import { runContext, shown } from "../session.ts";

/** Keeps one command after the other, as a session's tasks do, and lets the test see what becomes of each. */
type Keeper = BackgroundCommands & {
  readonly kept: BackgroundCommand[];
  readonly processes: TaskProcess[];
  readonly ends: Promise<BackgroundEnd>[];
  readonly stop: AbortController;
};

function keeper({ refuses }: { refuses?: Error } = {}): Keeper {
  const stop = new AbortController();
  const made: Keeper = {
    ...{ kept: [], processes: [], ends: [], stop },
    start: async (command) => {
      if (refuses) throw refuses;
      const begun = Promise.withResolvers<string>();
      const started = async (process: TaskProcess): Promise<void> => {
        made.processes.push(process);
        begun.resolve("t_1");
      };
      made.kept.push(command);
      const end = command.run({ signal: stop.signal, started });
      made.ends.push(end);
      return await Promise.race([begun.promise, end.then(() => undefined)]);
    },
  };
  return made;
}

type Scene = Keeper & {
  readonly root: string;
  readonly tool: Tool;
  readonly call: (input: object, ctx?: Partial<RunContext>) => Promise<ToolResult>;
  /** Starts it, and waits for its end. */
  readonly behind: (input: object) => Promise<{ result: ToolResult; end: BackgroundEnd; file: string }>;
  readonly files: () => readonly string[];
};

function scene(t: TestContext, kept: Keeper = keeper()): Scene {
  const root = scratch(t);
  const output = join(root, ".state");
  const files = createHostFiles({ outputDirectory: output });
  const processes = createHostProcesses({ graceMs: 150, lingerMs: 150 });
  const tool = shellTool({ workspace: root, files, processes, environment: { PATH: "/usr/bin:/bin" }, background: kept });
  const call: Scene["call"] = async (input, more = {}) => {
    const ctx = { ...runContext({ cwd: root, callId: "c1", sessionId: "s_1" }), started: async () => undefined, ...more };
    const invocation = await tool.build(input, ctx);
    return await invocation.execute(ctx.signal, undefined, ctx);
  };
  return {
    ...kept,
    ...{ root, tool, call },
    behind: async (input) => {
      const result = await call({ run_in_background: true, ...input });
      const end = await kept.ends[0];
      if (!end) throw new Error("nothing was started");
      const file = (result.details as { outputFile: string }).outputFile;
      return { result, end, file };
    },
    files: () => (existsSync(output) ? readdirSync(sessionOutputDirectory(output, "s_1")) : []),
  };
}

/** Waits for something of the world outside. */
async function until(holds: () => boolean | undefined): Promise<void> {
  for (const deadline = Date.now() + 20_000; !holds(); await turn()) if (Date.now() > deadline) throw new Error("waited in vain");
}

test("the call ends while the command runs; it names the task and the file, which grows with what is written", async (t) => {
  const at = scene(t);
  const command = `echo first; until [ -e go ]; do sleep 0.01; done; echo second`;
  const result = await at.call({ command, run_in_background: true, description: "wait a little" });
  const { taskId, outputFile, agent } = result.details as Record<string, string>;
  assert.deepEqual([taskId, agent, result.error], ["t_1", "shell", undefined]);
  assert.equal(
    result.content,
    `Started background task t_1 (shell: wait a little). It runs on its own; do not wait or poll.\nIts output goes to ${outputFile}.\nYou will receive a <task-notification> when it ends.`,
  );
  const { type, status } = result.display as { type: string; status: string };
  assert.deepEqual([type, status], ["task_execution", "background"]);
  const written = (): string => readFileSync(outputFile ?? "", "utf8");
  await until(() => written() !== "");
  assert.deepEqual([written(), at.kept[0]?.output()], ["first\n", "first\n"]);
  writeFileSync(join(at.root, "go"), "");
  const end = await at.ends[0];
  assert.deepEqual([end?.status, written()], ["completed", "first\nsecond\n"]);
  assert.equal(end?.result, `first\nsecond\n[all of its output: ${outputFile}]`);
});

const ENDS: readonly (readonly [name: string, input: object, status: string, error: string | null, said: string])[] = [
  ["a success", { command: "echo done" }, "completed", null, "done"],
  ["nothing written", { command: "true" }, "completed", null, "(no output)"],
  ["a non-zero exit", { command: "echo out; exit 3" }, "failed", "The command ended with exit code 3.", "out"],
  ["a signal", { command: "echo out; kill -9 $$" }, "failed", "The command was ended by SIGKILL.", "out"],
  ["a time limit that was given", { command: "echo out; sleep 30", timeout_ms: 200 }, "failed", "time limit (200 ms) reached", "out"],
  ["in a terminal", { command: "printf '\\033[31mred\\033[0m\\n'; stty size", pty: true }, "completed", null, "red\n24 80"],
];
for (const [name, input, status, error, said] of ENDS) {
  test(`${name}: ${status}`, async (t) => {
    const { end, file } = await scene(t).behind(input);
    assert.deepEqual([end.status, end.error, end.result], [status, error, `${said}\n[all of its output: ${file}]`]);
    assert.equal(end.partial, name.includes("time limit"));
  });
}

test("no time limit but one that was given: the default of the foreground does not count", async (t) => {
  const limits: (number | undefined)[] = [];
  const kept = keeper();
  const root = scratch(t);
  const host = createHostProcesses();
  const tool = shellTool({
    workspace: root,
    files: createHostFiles({ outputDirectory: root }),
    processes: {
      ...host,
      run: (spec, signal) => {
        limits.push(spec.timeoutMs);
        return host.run(spec, signal);
      },
    },
    environment: { PATH: "/usr/bin:/bin" },
    background: kept,
  });
  const ctx = { ...runContext({ cwd: root, callId: "c1", sessionId: "s_1" }), started: async () => undefined };
  for (const input of [{ run_in_background: true }, { run_in_background: true, timeout_ms: 5_000 }, {}])
    await (await tool.build({ command: "true", ...input }, ctx)).execute(ctx.signal, undefined, ctx);
  await Promise.all(kept.ends);
  assert.deepEqual(limits, [undefined, 5_000, 120_000]);
});

function isThere(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

test("stopped: cancelled with what it had written, and everything in its group is gone", async (t) => {
  const at = scene(t);
  const command = "trap '' TERM; echo $$; sleep 300 & echo begun; wait; sleep 300";
  await at.call({ command, run_in_background: true });
  await until(() => at.kept[0]?.output().includes("begun"));
  at.stop.abort("test");
  const end = await at.ends[0];
  assert.deepEqual([end?.status, end?.error, end?.partial], ["cancelled", null, true]);
  assert.match(end?.result ?? "", /^\d+\nbegun\n\[all of its output: /);
  await until(() => !isThere(at.processes[0]?.pgid ?? 0)); // whoever was killed stays until the system has taken note
});

test("long output is cut in the notice and complete in the file", async (t) => {
  const { end, file } = await scene(t).behind({ command: "seq 1 300000" });
  assert.ok(end.result.length < 21_000);
  assert.match(end.result, /^1\n2\n/);
  assert.match(end.result, /\n300000\n\[all of its output: /);
  assert.match(end.result, /\[output truncated: 1988895 characters, 300000 lines\]/);
  assert.equal(readFileSync(file, "utf8").length, 1_988_895);
});

test("of what it has written the last 1 MiB is at hand", async (t) => {
  const at = scene(t);
  await at.behind({ command: "seq 1 500000" });
  const text = at.kept[0]?.output() ?? "";
  assert.deepEqual([text.length, text.endsWith("\n500000\n")], [1_048_576, true]);
});

test("a refused command starts nothing, creates no file and reports the refusal", async (t) => {
  const at = scene(t, keeper({ refuses: new ToolError("Too many.", "task_limit") }));
  await assert.rejects(at.call({ command: `touch ${"made"}`, run_in_background: true }), { type: "task_limit", message: "Too many." });
  assert.deepEqual([existsSync(join(at.root, "made")), at.files()], [false, []]);
});

test("a start that cannot be recorded is no start", async (t) => {
  const at = scene(t);
  const started = async (): Promise<void> => {
    throw new Error("the disk is full");
  };
  await assert.rejects(at.call({ command: "touch made", run_in_background: true }, { started }), /the disk is full/);
  assert.equal(existsSync(join(at.root, "made")), false);
});

test("a directory that does not exist: the call fails, and there is no task", async (t) => {
  const at = scene(t);
  const result = await at.call({ command: "echo x", cwd: "absent", run_in_background: true });
  assert.equal(result.error?.type, "shell_execute_error");
  assert.match(shown(result.content), /was not started in absent/);
  assert.deepEqual(at.processes, []);
});

test("the approval warns that the command keeps running", async (t) => {
  const { tool, root } = scene(t);
  const ctx = { cwd: root, callId: "c1", sessionId: "s_1" };
  const signal = new AbortController().signal;
  for (const [input, warnings, said] of [
    [{ command: "make" }, undefined, "Run make"],
    [{ command: "make", run_in_background: false }, undefined, "Run make"],
    [
      { command: "make", run_in_background: true, description: "build" },
      ["It runs in the background until it exits, is stopped, or the session ends.", "The model says: build"],
      "Run make in the background (the model says: build)",
    ],
  ] as const) {
    const invocation = await tool.build(input, ctx);
    const details = (await invocation.confirmation(signal)) as { warnings?: readonly string[]; command: string };
    assert.deepEqual([details.warnings, details.command, invocation.describe()], [warnings, "make", said]);
  }
});

test("run_in_background is offered only if commands can run in the background", (t) => {
  const { tool, root } = scene(t);
  const bare = shellTool({
    workspace: root,
    files: createHostFiles({ outputDirectory: root }),
    processes: createHostProcesses(),
    environment: {},
  });
  const shows = ({ inputSchema, description }: Tool): readonly boolean[] => [
    JSON.stringify(inputSchema).includes("run_in_background"),
    description.includes("run_in_background"),
  ];
  assert.deepEqual(
    [shows(tool), shows(bare)],
    [
      [true, true],
      [false, false],
    ],
  );
});
