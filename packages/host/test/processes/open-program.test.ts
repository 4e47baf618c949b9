import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { PipedProcess } from "@assent/core";
import { createHostProcesses } from "../../src/processes/processes.ts";
import { readProcessTable } from "../../src/processes/table.ts";
import { scratch } from "../scratch.ts";

const processes = createHostProcesses({ graceMs: 150, lingerMs: 150 });
const env = { PATH: "/usr/bin:/bin" };

type Talk = PipedProcess & { readonly seen: { output: string; errors: string }; readonly says: (text: string) => Promise<void> };

async function talkTo(script: string, port = processes): Promise<Talk> {
  const seen = { output: "", errors: "" };
  const opened = await port.open({
    ...{ file: "sh", args: ["-c", script], cwd: "/", env },
    onOutput: (chunk) => {
      seen.output += Buffer.from(chunk).toString();
    },
    onError: (text) => {
      seen.errors += text;
    },
  });
  return { ...opened, seen, says: (text) => until(() => (seen.output + seen.errors).includes(text)) };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 10_000; !isTrue(); ) {
    assert.ok(Date.now() < deadline, "it did not happen within 10 s");
    await delay(5);
  }
}

const isAlive = (pid: number): boolean => readProcessTable().find(pid)?.zombie === false;

test("a program reads what is written to it, and output and errors come apart", async () => {
  const program = await talkTo('read -r line; echo "got $line"; echo oops >&2; read -r more', createHostProcesses({ graceMs: 20_000 }));
  await program.write("hello\n");
  await program.says("oops");
  assert.deepEqual(program.seen, { output: "got hello\n", errors: "oops\n" });
  await program.close();
  assert.deepEqual(await program.ended, { exitCode: 1, signal: null });
});

test("a program that reads to the end exits by itself when its input closes", async () => {
  const program = await talkTo("cat; echo bye", createHostProcesses({ graceMs: 20_000 }));
  await program.close();
  assert.equal(program.seen.output, "bye\n");
  assert.deepEqual(await program.ended, { exitCode: 0, signal: null });
});

test("a program that ignores the end of its input is ended, with all that it started", async () => {
  const program = await talkTo('trap "" TERM; sleep 77 & echo $!; while :; do sleep 1; done');
  await program.says("\n");
  await program.close();
  assert.equal((await program.ended).signal, "SIGKILL");
  await until(() => !isAlive(Number(program.seen.output)));
});

test("what an exited program started ends, too", async () => {
  const program = await talkTo("sleep 77 >/dev/null 2>&1 & echo $!");
  await program.ended;
  assert.equal(isAlive(Number(program.seen.output)), false);
});

test("writing to a program that is gone rejects", async () => {
  const program = await talkTo("exit 3");
  assert.deepEqual(await program.ended, { exitCode: 3, signal: null });
  await assert.rejects(program.write("x"), /no longer reads/);
});

describe("a program that cannot be started", () => {
  const rows: readonly [sentence: string, file: string, message: RegExp][] = [
    ["a name that is not on PATH", "no-such-program", /^The program no-such-program was not found on PATH\.$/],
    ["a file that does not exist", "/nonexistent/x", /\/nonexistent\/x could not be started/],
  ];
  for (const [sentence, file, message] of rows)
    test(sentence, async () => {
      const ignore = (): void => undefined;
      const opening = processes.open({ file, args: [], cwd: "/", env, onOutput: ignore, onError: ignore });
      await assert.rejects(opening, ({ message: text }: Error) => message.test(text));
    });
});

test("a program that ignores everything but SIGKILL ends when this process is killed", async (t) => {
  const directory = scratch(t);
  const file = join(directory, "pids");
  const script = `
    import { createHostProcesses } from ${JSON.stringify(new URL("../../src/processes/processes.ts", import.meta.url).href)};
    const ignore = () => undefined;
    const args = ["-c", 'trap "" TERM HUP INT; sleep 77 & echo $$ $! >"$0.new"; mv "$0.new" "$0"; while :; do sleep 1; done', ${JSON.stringify(file)}];
    await createHostProcesses().open({ file: "sh", args, cwd: "/", env: { PATH: "/usr/bin:/bin" }, onOutput: ignore, onError: ignore });
  `;
  const parent = spawn(process.execPath, ["--conditions=@assent/source", "--input-type=module", "-e", script], { stdio: "inherit" });
  const read = (): readonly number[] => {
    try {
      return readFileSync(file, "utf8").trim().split(" ").map(Number);
    } catch {
      return [];
    }
  };
  await until(() => read().length === 2);
  parent.kill("SIGKILL");
  await once(parent, "exit");
  await until(() => !read().some(isAlive));
});
