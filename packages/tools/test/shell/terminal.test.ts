import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Display, Processes } from "@assent/core";
import { validateBuildAndExecute } from "@assent/core/ungoverned";
import { createHostFiles, createHostProcesses } from "@assent/host";
import { shellTool } from "../../src/builtin/shell.ts";
import { scratch } from "../scratch.ts";
import { session, shown } from "../session.ts";

const ROWS: readonly (readonly [name: string, command: string, content: string, type: string | undefined])[] = [
  [
    "it is a terminal of 80 columns and 24 rows",
    "stty size; test -t 0 && test -t 1 && test -t 2 && echo terminal",
    "24 80\nterminal",
    undefined,
  ],
  ["the program is told which kind", "echo $TERM", "xterm-256color", undefined],
  ["output and error in the order they were written", "echo a; echo b >&2; echo c", "a\nb\nc", undefined],
  ["nothing to show", "true", "(no output)", undefined],
  ["a non-zero exit is a failure with the output", "echo out; exit 3", "out\n[exit code 3]", "shell_execute_error"],
  ["a signal is named", "echo x; kill -9 $$", "x\n[ended by signal SIGKILL]", "shell_execute_error"],
  ["colours are not given to the model", "printf '\\033[1;31mred\\033[0m and plain\\n'", "red and plain", undefined],
  ["what was written over is not given", "printf 'one 10%%\\rone 99%%\\rdone    \\n'; echo end", "done\nend", undefined],
  ["what was erased is not given", "printf 'a\\nb\\nc\\033[A\\033[2Kx\\n'", "a\n x\nc", undefined],
  ["a line that is longer than the terminal is wide is whole", "printf 'x%.0s' $(seq 200); echo", "x".repeat(200), undefined],
  [
    "a colour that is left on does not go on into our own lines",
    "printf '\\033[31mred'; exit 1",
    "red\n[exit code 1]",
    "shell_execute_error",
  ],
];
for (const [name, command, content, type] of ROWS) {
  test(name, async (t) => {
    const result = await session(t).call("shell", { command, pty: true });
    assert.deepEqual([shown(result.content), result.error?.type], [content, type]);
  });
}

test("people see the terminal while it runs and when it has ended, never an escape sequence", async (t) => {
  const { call, root } = session(t);
  const seen: Display[] = [];
  const update = (display: Display): void => {
    seen.push(display);
    writeFileSync(join(root, `seen${seen.length}`), "");
  };
  const after = (n: number) => `until [ -e seen${n} ]; do sleep 0.01; done`;
  const command = `printf '\\033[32mgo\\033[0m\\n'; ${after(1)}; printf '10%%\\r'; ${after(2)}; echo 100%; ${after(3)}; exit 2`;
  const result = await call("shell", { command, pty: true, timeout_ms: 20_000 }, { update });
  assert.deepEqual(seen.slice(0, 3).map(textsOf), [["go"], ["go", "10%"], ["go", "100%"]]);
  assert.deepEqual(textsOf(result.display), ["go", "100%", "[exit code 2]"]);
  assert.ok(!JSON.stringify([result, seen]).includes("\\u001b"));
});

test("a program that asks in its terminal gets no answer and ends with the time limit", async (t) => {
  const { call, root } = session(t);
  const command = `echo before; read -r answer < /dev/tty; touch ${root}/answered`;
  const result = await call("shell", { command, pty: true, timeout_ms: 1000 });
  assert.equal(result.error?.type, "execution_timeout");
  assert.match(shown(result.content), /^before\nError: Tool 'shell' did not finish within 1 s/);
  assert.equal(existsSync(join(root, "answered")), false);
});

test("a cancel ends what runs in the terminal", async (t) => {
  const cancel = new AbortController();
  const update = (display: Display): void => {
    if (textsOf(display).includes("ready")) cancel.abort();
  };
  const result = await session(t).call("shell", { command: "echo ready; sleep 60", pty: true }, { signal: cancel.signal, update });
  assert.equal(result.error?.type, "cancelled");
  assert.equal(result.content, "ready\n[cancelled]");
});

test("long output of a terminal is cut once, and the whole is in a file as it was written", async (t) => {
  const made = session(t);
  const result = await made.call("shell", { command: "seq -f '\\033[31mline %g' 5000 | sed 's/.*/\\x1b[32m&/'", pty: true });
  const content = shown(result.content);
  assert.ok(content.startsWith("\\033[31mline 1\n") && content.endsWith("line 5000") && content.length <= 25_000);
  assert.equal(content.match(/\[output truncated: \d+ characters, 5000 lines; full output in .*\]/g)?.length, 1);
  const [file = ""] = readdirSync(made.output);
  assert.equal(result.spilled?.[0]?.path, join(made.output, file));
  assert.equal(readFileSync(join(made.output, file), "utf8").split("\r\n").length, 5001);
});

test("where it could not be saved, a success stays one and the line says so", async (t) => {
  const root = scratch(t);
  writeFileSync(join(root, "output"), "a file where the directory should be");
  const result = await run(root, createHostProcesses(), "seq 5000");
  assert.equal(result.error, undefined);
  assert.match(shown(result.content), /\n\[output truncated: \d+ characters, 5000 lines; full output could not be saved\]\n/);
});

test("output that comes faster than it can be drawn is drawn in part, and given in full", async (t) => {
  let updates = 0;
  const result = await session(t).call(
    "shell",
    { command: "yes | head -c 3000000; echo; echo last", pty: true },
    { update: () => updates++ },
  );
  assert.ok(shown(result.content).endsWith("last"));
  assert.ok(updates > 0);
  assert.equal(result.spilled?.length, 1);
});

test("where there are no terminals the command is not started, and that is said", async (t) => {
  const none: Processes = { ...createHostProcesses(), run: async () => Promise.reject(new Error("There are no terminals here")) };
  const result = await run(scratch(t), none, "echo x");
  assert.equal(result.error?.type, "shell_execute_error");
  assert.match(shown(result.content), /was not started in .*: There are no terminals here/);
});

function run(root: string, processes: Processes, command: string) {
  const files = createHostFiles({ outputDirectory: join(root, "output") });
  const tool = shellTool({ workspace: root, files, processes, environment: { PATH: "/usr/bin:/bin" } });
  const ctx = { cwd: root, callId: "c", sessionId: "s" };
  return validateBuildAndExecute(tool, { command, pty: true }, new AbortController().signal, undefined, ctx);
}

/** The lines of a terminal's display. */
function textsOf(display: Display | undefined): readonly string[] {
  assert.ok(typeof display === "object" && display.type === "ansi_output");
  return display.ansiOutput.map((line) => line.map(({ text }) => text).join(""));
}
