import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type QueryOptions, type query, SdkError, type UserMessage } from "@assent/sdk";
import { atDoor, drain, echoes, HELLO, type Step } from "./support/at-door.ts";

const RESULT: Step = { result: {} };
const END: Step = { end: true };

async function* each<T>(...items: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* items;
}

describe("a run", () => {
  test("one prompt is one user line, its messages come in order, and the input ends after its result", async () => {
    const { messages, error } = await drain(
      atDoor([HELLO, { user: true }, { echo: true }, { say: { type: "assistant", message: {} } }, RESULT, END]),
    );
    assert.equal(error, undefined);
    assert.deepEqual(
      messages.map(({ type }) => type),
      ["system", "assistant", "result"],
    );
    const [user] = echoes(messages) as readonly { readonly message: unknown; readonly uuid: unknown }[];
    assert.deepEqual(user?.message, { role: "user", content: "Hi" });
    assert.equal(typeof user?.uuid, "string");
  });

  test("many prompts get many results, and the input ends after the last", async () => {
    const said = { type: "user", message: { role: "user", content: [{ type: "text", text: "two" }] }, uuid: "u2" } as const;
    const steps = [HELLO, { user: true }, { echo: true }, RESULT, { user: true }, { echo: true }, RESULT, END];
    const { messages, error } = await drain(atDoor(steps, { prompt: each<UserMessage | string>("one", said) }));
    assert.equal(error, undefined);
    assert.deepEqual(echoes(messages)[1], said);
    assert.equal(messages.filter(({ type }) => type === "result").length, 2);
  });

  test("no prompt at all ends the input at once", async () => {
    assert.deepEqual(await drain(atDoor([HELLO, END], { prompt: each() })), { messages: [], error: undefined });
  });

  test("a prompt is not said before the first request was answered", async () => {
    await using running = atDoor([{ respond: ["initialize", { version: "9.9.9" }] }, { user: true }, RESULT, END]);
    assert.deepEqual(await running.ready, { version: "9.9.9" });
    assert.equal((await drain(running)).error, undefined);
  });

  test("a run that failed in an orderly way ends with its result, and throws nothing", async () => {
    await using running = atDoor([
      HELLO,
      { user: true },
      { result: { subtype: "error_max_turns", is_error: true, exit_code: 53 } },
      { exit: 53 },
    ]);
    const { messages, error } = await drain(running);
    assert.deepEqual([messages.length, error], [1, undefined]);
    assert.equal((await running.exit).code, 53);
  });

  test("the last line counts without its newline", async () => {
    const last = JSON.stringify({ type: "result", subtype: "success", exit_code: 0, uuid: "u", session_id: "s", result: "ü" });
    const { messages, error } = await drain(atDoor([HELLO, { user: true }, { raw: last }]));
    assert.equal(error, undefined);
    assert.equal(messages[0]?.type === "result" && messages[0].result, "ü");
  });
});

describe("the command line", () => {
  const rows: readonly (readonly [sentence: string, options: Partial<QueryOptions>, expected: readonly string[]])[] = [
    ["a plain run", {}, ["run", "--input-format=stream-json", "--output-format=stream-json"]],
    [
      "a session taken up again, with partial messages",
      { resume: "s_1", includePartialMessages: true },
      ["resume", "s_1", "--input-format=stream-json", "--output-format=stream-json", "--include-partial-messages"],
    ],
    [
      "every option that is a flag",
      {
        model: "script:a.yaml",
        mode: "plan",
        onAsk: "park",
        maxTurns: 3,
        maxToolCalls: 4,
        maxTimeMs: 500,
        workspace: "w",
        addDirs: ["a", "b"],
        tools: ["t.ts"],
        allow: ["-x"],
        ask: ["y"],
        deny: ["z"],
        policy: "p.json",
        store: "s",
        args: ["--verbose"],
      },
      [
        ...["run", "--input-format=stream-json", "--output-format=stream-json", "--model=script:a.yaml", "--mode=plan", "--on-ask=park"],
        ...["--max-turns=3", "--max-tool-calls=4", "--max-time=500ms", "--workspace=w", "--add-dir=a", "--add-dir=b", "--tool=t.ts"],
        ...["--allow=-x", "--ask=y", "--deny=z", "--policy=p.json", "--store=s", "--verbose"],
      ],
    ],
  ];
  for (const [sentence, options, expected] of rows) {
    test(sentence, async () => {
      const { messages } = await drain(atDoor([HELLO, { user: true }, { arguments: true }, RESULT, END], options));
      const [told] = messages;
      assert.deepEqual(told?.type === "system" && told.subtype === "warning" && JSON.parse(told.message), expected);
    });
  }

  test("the environment is this one, with what is given on top and what is undefined taken away", async () => {
    process.env["SDK_KEPT"] = "kept";
    process.env["SDK_GONE"] = "there";
    const steps = [HELLO, { user: true }, { variable: "SDK_KEPT" }, { variable: "SDK_GONE" }, { variable: "SDK_NEW" }, RESULT, END];
    const { messages } = await drain(atDoor(steps, { env: { SDK_GONE: undefined, SDK_NEW: "new" } }));
    delete process.env["SDK_KEPT"];
    delete process.env["SDK_GONE"];
    assert.deepEqual(
      messages.flatMap((message) => (message.type === "system" && message.subtype === "warning" ? [message.message] : [])),
      ["kept", "undefined", "new"],
    );
  });
});

describe("what the host asks", () => {
  const rows: readonly (readonly [
    sentence: string,
    subtype: string,
    request: object,
    call: (from: ReturnType<typeof query>) => unknown,
  ])[] = [
    ["interrupt", "interrupt", {}, (from) => from.interrupt()],
    ["interrupt and end", "interrupt", { end: true }, (from) => from.interrupt({ end: true })],
    ["another mode", "set_permission_mode", { mode: "plan" }, (from) => from.setMode("plan")],
    ["another model", "set_model", { model: "a:b" }, (from) => from.setModel("a:b")],
    ["the default model", "set_model", { model: null }, (from) => from.setModel(null)],
    [
      "a yes to an approval",
      "approve",
      { approval_id: "a_1", fingerprint: "f", reason: "r", updated_input: { a: 1 }, remember: "once" },
      (from) => from.approve({ approvalId: "a_1", fingerprint: "f", reason: "r", updatedInput: { a: 1 }, remember: "once" }),
    ],
    [
      "answers to a parked question",
      "approve",
      { approval_id: "q_1", fingerprint: "f", answers: [{ id: "db", selected: ["a"] }] },
      (from) => from.approve({ approvalId: "q_1", fingerprint: "f", answers: [{ id: "db", selected: ["a"] }] }),
    ],
    ["a no", "reject", { approval_id: "a_1", fingerprint: "f" }, (from) => from.reject({ approvalId: "a_1", fingerprint: "f" })],
    ["the approvals", "list_approvals", {}, (from) => from.listApprovals()],
    ["a task to stop", "task_stop", { task_id: "t" }, (from) => from.taskStop("t")],
    ["a word to a task", "task_send", { task_id: "t", message: "m" }, (from) => from.taskSend("t", "m")],
    ["how it stands", "status", {}, (from) => from.status()],
  ];
  for (const [sentence, subtype, fields, call] of rows) {
    test(sentence, async () => {
      const response = { outcome: "approved", approvals: [], state: "idle" };
      await using running = atDoor([HELLO, { user: true }, { respond: [subtype, response] }, { echo: true }, RESULT, END]);
      const answered = await call(running);
      const expected = { list_approvals: [], approve: response, reject: response, status: response }[subtype];
      assert.deepEqual(answered, expected);
      const [heard] = echoes((await drain(running)).messages) as readonly { readonly request: object }[];
      assert.deepEqual(heard?.request, { subtype, ...fields });
    });
  }

  test("a refusal is an error with its reason, and the run continues", async () => {
    await using running = atDoor([HELLO, { user: true }, { refuse: ["set_permission_mode", "mode_locked"] }, RESULT, END]);
    await assert.rejects(running.setMode("yolo"), { name: "SdkError", type: "refused", reason: "mode_locked", message: "no" });
    assert.equal((await drain(running)).error, undefined);
  });

  test("requests after the end are refused", async () => {
    await using running = atDoor([HELLO, { user: true }, RESULT, END]);
    await drain(running);
    await assert.rejects(running.status(), { type: "closed" });
  });

  test("a response that answers nothing asked is an error of its own", async () => {
    await using running = atDoor([HELLO, { user: true }, { respond: ["status", {}] }, RESULT, END]);
    await assert.rejects(running.status(), { type: "protocol" });
    await drain(running);
  });
});

describe("an end too early", () => {
  type Row = readonly [sentence: string, steps: readonly Step[], expected: object, options?: Partial<QueryOptions>];
  const rows: readonly Row[] = [
    [
      "a usage error, with what stderr said",
      [{ complain: "unknown option" }, { exit: 2 }],
      { type: "process_exited", code: 2, stderr: "unknown option" },
    ],
    ["no answer to the first request", [{ exit: 0 }], { type: "process_exited", code: 0 }],
    ["an exit before the result", [HELLO, { user: true }, { exit: 0 }], { type: "process_exited", code: 0 }],
    ["a crash before the result", [HELLO, { user: true }, { exit: 1 }], { type: "process_exited", code: 1 }],
    [
      "a crash after a result that promised another code",
      [HELLO, { user: true }, RESULT, { exit: 1 }],
      { type: "process_exited", code: 1 },
    ],
    ["killed", [HELLO, { user: true }, { kill: "SIGKILL" }], { type: "process_exited", signal: "SIGKILL" }],
    ["killed after its result", [HELLO, { user: true }, RESULT, { kill: "SIGKILL" }], { type: "process_exited", signal: "SIGKILL" }],
    [
      "the first request refused",
      [{ refuse: ["initialize", "unsupported_protocol"] }, END],
      { type: "refused", reason: "unsupported_protocol" },
    ],
    ["silence instead of an answer", [{ forever: true }], { type: "not_started" }, { startTimeoutMs: 300 }],
    ["no such program", [], { type: "not_started" }, { executable: "/no/such/assent" }],
    ["no such program in the path", [], { type: "not_started" }, { executable: "assent-that-is-not-there" }],
    [
      "no such directory",
      [],
      { type: "not_started", message: "Cannot start in /no/such/directory: there is no such directory." },
      { cwd: "/no/such/directory" },
    ],
    ["a program that talks back what it hears", [{ parrot: true }, { forever: true }], { type: "refused" }],
  ];
  for (const [sentence, steps, expected, options] of rows) {
    test(sentence, async () => {
      await using running = atDoor(steps, options);
      const [{ error }] = await Promise.all([drain(running), assert.rejects(running.interrupt()), running.exit.catch(() => undefined)]);
      assert.ok(error instanceof SdkError, "it must throw");
      const { type, message, reason, exit } = error;
      const told = { type, message, reason, code: exit?.code, signal: exit?.signal, stderr: exit?.stderr };
      for (const [key, value] of Object.entries(expected)) assert.equal(told[key as keyof typeof told], value, key);
      assert.deepEqual(await running.next(), { done: true, value: undefined }, "an error is thrown once");
    });
  }

  test("its message says how it ended, and the last of stderr", async () => {
    const [spoken, silent] = await Promise.all([
      drain(atDoor([{ complain: "unknown option\n" }, { exit: 2 }])),
      drain(atDoor([{ kill: "SIGKILL" }])),
    ]);
    assert.deepEqual(
      [spoken.error?.message, silent.error?.message],
      ["Assent exited with code 2: unknown option", "Assent was ended by SIGKILL."],
    );
  });

  test("what came before it is read first", async () => {
    const { messages, error } = await drain(atDoor([HELLO, { user: true }, { flood: [200, 10] }, { kill: "SIGKILL" }]));
    assert.deepEqual([messages.length, error?.type], [200, "process_exited"]);
  });

  test("a process that hears nothing any more, and lives on, is stopped", async () => {
    const deaf = Promise.withResolvers<void>();
    async function* late(): AsyncGenerator<string, void, undefined> {
      await deaf.promise;
      yield "Hi";
    }
    await using running = atDoor([HELLO, { deaf: true }, { say: { type: "system", subtype: "warning" } }, { forever: true }], {
      prompt: late(),
    });
    assert.equal((await running.next()).done, false);
    deaf.resolve();
    assert.equal((await drain(running)).error?.type, "closed");
    assert.equal((await running.exit).signal, "SIGTERM");
  });

  test("a process it left behind, which holds the pipes, is not waited for", async () => {
    const { messages, error } = await drain(atDoor([HELLO, { user: true }, { leave: true }, RESULT, END]));
    const [told] = messages;
    process.kill(Number(told?.type === "system" && told.subtype === "warning" && told.message));
    assert.deepEqual([messages.length, error], [2, undefined]);
  });

  test("prompts that throw end the run with what they threw", async () => {
    async function* failing(): AsyncGenerator<string, void, undefined> {
      yield "one";
      throw new Error("no more");
    }
    await using running = atDoor([HELLO, { user: true }, END], { prompt: failing() });
    await assert.rejects(async () => {
      for await (const message of running) assert.equal(message.type, "nothing");
    }, /no more/);
  });
});

describe("stray lines", () => {
  const rows: readonly (readonly [sentence: string, raw: string])[] = [
    ["no JSON", "hello"],
    ["half of a line", '{"type":"assistant"'],
    ["a list", "[]"],
    ["null", "null"],
    ["no type", '{"a":1}'],
    ["an unknown type", '{"type":"keep_alive"}'],
    ["a request without its body", '{"type":"control_request","request_id":"r"}'],
    ["a response without its body", '{"type":"control_response"}'],
  ];
  for (const [sentence, raw] of rows) {
    test(`${sentence} is reported, and has no effect`, async () => {
      const stray: string[] = [];
      const steps = [HELLO, { user: true }, { raw: `${raw}\n\n` }, RESULT, END];
      const { messages, error } = await drain(atDoor(steps, { onStrayLine: (line) => stray.push(line) }));
      assert.deepEqual([stray, messages.length, error], [[raw], 1, undefined]);
    });
  }

  test("responses and withdrawals of nothing have no effect", async () => {
    const steps = [
      { raw: '{"type":"control_response","response":{"subtype":"success","request_id":"nobody"}}\n{"type":"control_cancel_request"}\n' },
      { withdraw: "nobody" },
    ];
    const { messages, error } = await drain(atDoor([HELLO, ...steps, { user: true }, RESULT, END]));
    assert.deepEqual([messages.length, error], [1, undefined]);
  });
});
