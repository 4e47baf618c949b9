import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parseEvent } from "@assent/core";
import { governed, type Place, place, toolModule } from "./bench.ts";

/** Loads a tool with this body and calls it. */
async function run(
  at: Place,
  execute: string,
  signal?: AbortSignal,
): Promise<Awaited<ReturnType<Awaited<ReturnType<typeof governed>>["call"]>>> {
  at.write("config/tools/a.ts", toolModule("a", "", execute));
  const { call } = await governed(at, await at.load());
  return await call("a", {}, signal);
}

const PROGRAMS: readonly (readonly [sentence: string, exec: string, result: object])[] = [
  [
    "output and error apart",
    'api.exec("sh", ["-c", "echo out; echo err >&2; exit 3"])',
    { code: 3, stdout: "out\n", stderr: "err\n", killed: false },
  ],
  [
    "words are no shell's",
    'api.exec("printf", ["%s", "$HOME `id` \\"; ls", "*"])',
    { code: 0, stdout: '$HOME `id` "; ls*', stderr: "", killed: false },
  ],
  ["input is given", 'api.exec("cat", [], { input: "line\\n" })', { code: 0, stdout: "line\n", stderr: "", killed: false }],
  ["without input there is nothing to read", 'api.exec("cat")', { code: 0, stdout: "", stderr: "", killed: false }],
  ["secrets stay here", 'api.exec("sh", ["-c", "echo [$MY_TOKEN]"])', { code: 0, stdout: "[]\n", stderr: "", killed: false }],
  [
    "a directory below the session's",
    'api.exec("sh", ["-c", "basename $PWD; basename $(pwd)"], { cwd: "config" })',
    { code: 0, stdout: "config\nconfig\n", stderr: "", killed: false },
  ],
  ["a time limit kills", 'api.exec("sleep", ["1000"], { timeoutMs: 20 })', { code: null, stdout: "", stderr: "", killed: true }],
  [
    "a signal of its own kills",
    'api.exec("sleep", ["1000"], { signal: AbortSignal.abort() })',
    { code: null, stdout: "", stderr: "", killed: true },
  ],
  ["a program that kills itself was killed", 'api.exec("sh", ["-c", "kill -9 $$"])', { code: null, stdout: "", stderr: "", killed: true }],
];

describe("exec", () => {
  for (const [sentence, exec, result] of PROGRAMS) {
    test(sentence, async (t) => {
      const at = place(t);
      assert.deepEqual((await run(at, `return { content: [], details: await ${exec} };`)).details, result);
    });
  }

  test("a program that is not there ends with 127 and says so", async (t) => {
    const { details } = await run(place(t), 'return { content: [], details: await api.exec("no-such-program") };');
    const { code, stderr } = Object(details);
    assert.equal(code, 127);
    assert.match(stderr, /no-such-program: not found/);
  });

  test("of each stream 10 MiB are kept, and no temporary file is", async (t) => {
    const before = new Set(readdirSync(tmpdir()));
    const flood = "head -c 11000000 /dev/zero | tr '\\\\0' x; head -c 11000000 /dev/zero | tr '\\\\0' y >&2";
    const execute = `const { stdout, stderr } = await api.exec("sh", ["-c", "${flood}"]); return { content: [], details: [stdout.length, stderr.length] };`;
    assert.deepEqual((await run(place(t), execute)).details, [10 * 1024 * 1024, 10 * 1024 * 1024]);
    assert.deepEqual(
      readdirSync(tmpdir()).filter((name) => name.startsWith("assent-exec-") && !before.has(name)),
      [],
    );
  });

  test("it ends with its call, and the ledger knows its process", async (t) => {
    const at = place(t);
    const controller = new AbortController();
    at.write(
      "config/tools/a.ts",
      toolModule(
        "a",
        "",
        `api.logger.info("begun"); await api.exec("sh", ["-c", "touch begun; exec sleep 1000"], { signal: new AbortController().signal }); return { content: [] };`,
      ),
    );
    const { call, ledger, session } = await governed(at, await at.load());
    const calling = call("a", {}, controller.signal);
    while (!existsSync(join(at.root, "begun"))) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    assert.equal((await calling).outcome, "cancelled");
    const started: unknown[] = [];
    for await (const stored of ledger.read({ pos: 0 }, { session: session.id, types: ["call.started"] }))
      started.push(parseEvent(stored)?.type);
    assert.deepEqual(started, ["call.started"]);
  });

  const REFUSED: readonly (readonly [sentence: string, execute: string, type: string, message: RegExp])[] = [
    ["no program", 'await api.exec("");', "execution_failed", /exec needs the name of a program/],
    ["an option for a program", 'await api.exec("-c", ["ls"]);', "execution_failed", /exec needs the name of a program/],
    ["a command line", 'await api.exec("ls", "-l");', "execution_failed", /exec needs its arguments as a list of strings/],
  ];
  for (const [sentence, execute, type, message] of REFUSED) {
    test(`${sentence} is refused`, async (t) => {
      const ended = await run(place(t), execute);
      assert.equal(ended.type, type);
      assert.match(ended.text, message);
    });
  }

  test("after its call has ended it is refused", async (t) => {
    const at = place(t);
    at.write(
      "config/tools/a.ts",
      `let late;
      ${toolModule(
        "a",
        "",
        `const told = late?.().catch((error) => error); const { type, message } = (await told) ?? {};
        const { promise, resolve } = Promise.withResolvers();
        const later = promise.then(() => api.exec("ls"));
        late = () => { resolve(); return later; };
        return { content: [], details: { type, message } };`,
      )}`,
    );
    const { call } = await governed(at, await at.load());
    assert.equal((await call("a")).outcome, "succeeded");
    assert.deepEqual((await call("a")).details, {
      type: "no_running_call",
      message: "exec is only available while a call of this module's tool runs",
    });
  });
});

test("what is said to the logger goes to the log with the module's name", async (t) => {
  const at = place(t);
  await run(at, 'for (const level of ["debug", "info", "warn", "error"]) api.logger[level]("at", level); return { content: [] };');
  assert.deepEqual(
    at.lines.map(({ level, message }) => `${level}: ${message}`),
    ["debug: at debug", "info: at info", "warn: at warn", "error: at error"],
  );
  assert.ok(at.lines.every(({ module }) => module === join(at.user, "a.ts")));
});
