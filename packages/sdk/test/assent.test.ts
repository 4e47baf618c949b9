import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { type Message, type Mode, type Query, type QueryOptions, query, type ToolRequest, type UserMessage } from "@assent/sdk";
import { withoutProgram } from "../../../test/support/programs.ts";
import { BIN, type Place, place, until } from "../../cli/test/support/assent.ts";
import { drain } from "./support/at-door.ts";

/** Against the real program, with a scripted model. */
function start(at: Place, turns: readonly object[], options: Partial<QueryOptions> = {}): Query {
  const script = at.write("script.json", JSON.stringify({ turns }));
  return query({ prompt: "Go.", executable: BIN, cwd: at.workspace, env: at.env, model: `script:${script}`, ...options });
}

function results(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => (message.type === "result" ? [message.subtype] : []));
}

/** The first message that fits; the ones before it are read and forgotten. */
async function find<M extends Message>(from: Query, fits: (message: Message) => message is M): Promise<M> {
  for (;;) {
    const { done, value } = await from.next();
    assert.ok(!done, "it ended before");
    if (fits(value)) return value;
  }
}

const isResult = (message: Message): message is Extract<Message, { type: "result" }> => message.type === "result";
const shell = (command: string, id = "c1"): object => ({ tool: "shell", id, input: { command } });
const SLEEP = shell("touch started.txt && sleep 60");

/** Prompts that come when they are let: each after its promise. */
async function* paced(...prompts: readonly (readonly [text: string, after?: Promise<unknown>])[]): AsyncGenerator<string, void, undefined> {
  for (const [text, after] of prompts) {
    await after;
    yield text;
  }
}

describe("a run", () => {
  test("says who it is, what happened, and how it came out", async () => {
    using at = place();
    await using run = start(at, [{ calls: [shell("touch a.txt")] }, { say: "Done." }], { mode: "yolo" });
    const { version, tools } = await run.ready;
    assert.equal(typeof version, "string");
    assert.ok(Array.isArray(tools) && tools.length > 0);
    const { messages, error } = await drain(run);
    assert.equal(error, undefined);
    const [init] = messages;
    assert.ok(init?.type === "system" && init.subtype === "init");
    assert.deepEqual([init.permission_mode, init.cwd, init.protocol, init.resumed], ["yolo", at.workspace, 1, false]);
    const decision = messages.find((message) => message.type === "system" && message.subtype === "decision");
    assert.ok(decision?.type === "system" && decision.subtype === "decision");
    assert.deepEqual([decision.tool_use_id, decision.decision], ["c1", "allow"]);
    const result = messages.at(-1);
    assert.ok(result?.type === "result");
    assert.deepEqual([result.subtype, result.result, result.exit_code, result.num_tool_calls], ["success", "Done.", 0, 1]);
    assert.equal((await run.exit).code, 0);
  });

  test("prompts may come while it works; the same uuid counts once", async () => {
    using at = place();
    const said = { type: "user", message: { role: "user", content: "two" }, uuid: "u2" } as const;
    async function* prompts(): AsyncGenerator<UserMessage | string, void, undefined> {
      yield "one";
      yield said;
      yield said;
    }
    const { messages, error } = await drain(start(at, [{ say: "1" }, { say: "2" }], { prompt: prompts() }));
    assert.equal(error, undefined);
    assert.deepEqual(
      messages.filter(isResult).map(({ result }) => result),
      ["1", "2"],
    );
  });

  test("a limit is an orderly end", async () => {
    using at = place();
    await using run = start(at, [{ calls: [shell("true")] }], { mode: "yolo", maxTurns: 1 });
    const { messages, error } = await drain(run);
    assert.deepEqual([results(messages), error, (await run.exit).code], [["error_max_turns"], undefined, 53]);
  });

  test("a mistake in the options is thrown with what was said about it", async () => {
    using at = place();
    const { messages, error } = await drain(start(at, [], { args: ["--no-such-option"] }));
    assert.deepEqual([messages, error?.type, error?.exit?.code], [[], "process_exited", 2]);
    assert.match(error?.exit?.stderr ?? "", /no-such-option/);
  });
});

describe("canUseTool", () => {
  const once = [{ calls: [shell("touch shown.txt")] }, { say: "Done." }];

  test("is shown the frozen request, and what may be remembered", async () => {
    using at = place();
    const asked: ToolRequest[] = [];
    const { error } = await drain(
      start(at, once, {
        canUseTool(request) {
          asked.push(request);
          return { behavior: "allow" };
        },
      }),
    );
    assert.equal(error, undefined);
    const [request] = asked;
    assert.ok(request && asked.length === 1);
    assert.deepEqual([request.tool_name, request.tool_use_id, request.input["command"]], ["shell", "c1", "touch shown.txt"]);
    assert.match(request.fingerprint, /\S/);
    assert.equal(request.permission_suggestions[0]?.scope, "once");
    assert.ok(existsSync(at.path("shown.txt")));
  });

  test("an edited input is what runs", async () => {
    using at = place();
    await drain(start(at, once, { canUseTool: () => ({ behavior: "allow", updatedInput: { command: "touch edited.txt" } }) }));
    assert.deepEqual([existsSync(at.path("edited.txt")), existsSync(at.path("shown.txt"))], [true, false]);
  });

  test("a preview shows what the command does on a copy, and write applies exactly that", { skip: withoutProgram("bwrap") }, async () => {
    using at = place();
    const shown: unknown[] = [];
    const turns = [{ calls: [shell("echo $RANDOM$RANDOM > stamp.txt; cat stamp.txt")] }, { say: "Done." }];
    const { error } = await drain(
      start(at, turns, {
        canUseTool({ preview }) {
          const { effect } = preview as { readonly effect: { readonly state: string; readonly id: string; readonly output: string } };
          shown.push(effect.state);
          if (effect.state === "offered") return { behavior: "preview" };
          shown.push(effect.output, existsSync(at.path("stamp.txt")));
          return { behavior: "allow", write: effect.id };
        },
      }),
    );
    assert.equal(error, undefined);
    assert.deepEqual(shown, ["offered", "shown", readFileSync(at.path("stamp.txt"), "utf8").trimEnd(), false]);
  });

  test("a preview that is not offered is asked again, with why", async () => {
    using at = place();
    const faults: (string | undefined)[] = [];
    const settings = at.write("policy.json", JSON.stringify({ version: 1, preview: "off" }));
    await drain(
      start(at, once, {
        args: ["--policy", settings],
        canUseTool({ answer_error }) {
          faults.push(answer_error);
          return answer_error === undefined ? { behavior: "preview" } : { behavior: "deny" };
        },
      }),
    );
    assert.match(faults[1] ?? "", /offers no preview/);
    assert.equal(existsSync(at.path("shown.txt")), false);
  });

  test("an edit that does not fit is asked again, with why", async () => {
    using at = place();
    const faults: (string | undefined)[] = [];
    await drain(
      start(at, once, {
        canUseTool({ edit_error }) {
          faults.push(edit_error);
          return faults.length === 1 ? { behavior: "allow", updatedInput: {} } : { behavior: "deny" };
        },
      }),
    );
    assert.deepEqual([faults.length, faults[0], typeof faults[1]], [2, undefined, "string"]);
    assert.equal(existsSync(at.path("shown.txt")), false);
  });

  test("that throws leaves it to `onAsk`", async () => {
    using at = place();
    const failing = (): never => {
      throw new Error("broken");
    };
    const { messages } = await drain(start(at, once, { canUseTool: failing, onAsk: "deny" }));
    const result = messages.at(-1);
    assert.ok(result?.type === "result");
    assert.equal(result.permission_denials.length, 1);
    assert.equal(existsSync(at.path("shown.txt")), false);
    const warning = messages.find((message) => message.type === "system" && message.subtype === "warning");
    assert.ok(warning?.type === "system" && warning.subtype === "warning");
    assert.deepEqual([warning.code, warning.message, warning.session_id], ["callback_failed", "can_use_tool: broken", result.session_id]);
  });

  test("a callback is aborted when someone else answers first", async () => {
    using at = place();
    const withdrawn = Promise.withResolvers<void>();
    await using run = start(at, once, {
      canUseTool: async ({ approval_id }, { signal }) => {
        signal.addEventListener("abort", () => withdrawn.resolve());
        assert.equal((await at.here(["reject", approval_id, "--reason", "mine"])).code, 0);
        await withdrawn.promise;
        return { behavior: "allow" };
      },
    });
    const { error } = await drain(run);
    assert.equal(error, undefined);
    assert.equal(existsSync(at.path("shown.txt")), false);
  });
});

describe("methods", () => {
  test("an approval is listed, and answered by its id, once", async () => {
    using at = place();
    await using run = start(at, [{ calls: [shell("touch a.txt")] }, { say: "Done." }], {
      canUseTool: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("withdrawn")))),
    });
    const opened = await find(
      run,
      (message): message is Extract<Message, { subtype: "approval_opened" }> =>
        message.type === "system" && message.subtype === "approval_opened",
    );
    const [approval] = await run.listApprovals();
    assert.ok(approval && approval.id === opened.approval.id);
    assert.equal((await run.status()).state, "waiting");
    const ref = { approvalId: approval.id, fingerprint: approval.fingerprint };
    await assert.rejects(run.approve({ ...ref, fingerprint: "another" }), { type: "refused", reason: "stale_revision" });
    assert.equal((await run.approve(ref)).outcome, "approved");
    assert.equal((await drain(run)).error, undefined);
    assert.ok(existsSync(at.path("a.txt")));
  });

  test("interrupt ends the running call, and the next prompt works", async () => {
    using at = place();
    const stopped = Promise.withResolvers<void>();
    const prompt = paced(["first"], ["second", stopped.promise]);
    const turns = [{ calls: [SLEEP] }, { expect: { result: { call: "c1", outcome: "cancelled" } }, say: "Here." }];
    await using run = start(at, turns, { prompt, mode: "yolo" });
    await until("the command runs", () => existsSync(at.path("started.txt")));
    await run.interrupt();
    stopped.resolve();
    const { messages, error } = await drain(run);
    assert.deepEqual([results(messages), error], [["interrupted", "success"], undefined]);
  });

  test("interrupt with `end` ends the run", async () => {
    using at = place();
    await using run = start(at, [{ calls: [SLEEP] }], { mode: "yolo" });
    await until("the command runs", () => existsSync(at.path("started.txt")));
    await run.interrupt({ end: true });
    const { messages, error } = await drain(run);
    assert.deepEqual([results(messages), error, (await run.exit).code], [["error_cancelled"], undefined, 130]);
  });

  test("mode and model change for what comes after", async () => {
    using at = place();
    const changed = Promise.withResolvers<void>();
    const turns = [
      { calls: [shell("touch a.txt")] },
      { say: "One." },
      { expect: { model: "openai:other" }, calls: [shell("touch b.txt", "c2")] },
      { expect: { result: { call: "c2", outcome: "denied" } }, say: "Two." },
    ];
    await using run = start(at, turns, { prompt: paced(["first"], ["second", changed.promise]), mode: "yolo" });
    await find(run, isResult);
    await run.setMode("plan");
    await run.setModel("openai:other");
    await assert.rejects(run.setMode("nonsense" as Mode), { type: "refused", reason: "invalid_mode" });
    changed.resolve();
    const { messages, error } = await drain(run);
    assert.deepEqual([results(messages), error], [["success"], undefined]);
    assert.deepEqual([existsSync(at.path("a.txt")), existsSync(at.path("b.txt"))], [true, false]);
  });

  test("an unknown task cannot be stopped", async () => {
    using at = place();
    const done = Promise.withResolvers<void>();
    await using run = start(at, [{ say: "One." }, { say: "Two." }], { prompt: paced(["first"], ["second", done.promise]) });
    await find(run, isResult);
    await assert.rejects(run.taskStop("t_nobody"), { type: "refused" });
    await assert.rejects(run.taskSend("t_nobody", "hello"), { type: "refused" });
    done.resolve();
    assert.equal((await drain(run)).error, undefined);
  });
});

describe("hooks", () => {
  const once = (outcome: string): readonly object[] => [
    { calls: [shell("touch a.txt")] },
    { expect: { result: { call: "c1", outcome } }, say: "Done." },
  ];
  const deny = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "never" } };

  test("a hook's deny holds in every mode", async () => {
    using at = place();
    const seen: unknown[] = [];
    const hook = (input: { readonly [key: string]: unknown }): typeof deny => {
      seen.push([input["tool"], input["hook_event_name"]]);
      return deny;
    };
    const { messages, error } = await drain(
      start(at, once("denied"), { mode: "yolo", hooks: { PreToolUse: [{ matcher: "Bash", hook }] } }),
    );
    assert.deepEqual([results(messages), error], [["success"], undefined]);
    assert.deepEqual([seen, existsSync(at.path("a.txt"))], [[["shell", "PreToolUse"]], false]);
  });

  for (const [sentence, hook, timeoutMs] of [
    ["throws", () => Promise.reject(new Error("broken")), 60_000],
    ["does not answer in time", () => new Promise<undefined>(() => undefined), 200],
  ] as const) {
    test(`a hook that ${sentence} fails closed`, async () => {
      using at = place();
      const { error } = await drain(start(at, once("denied"), { mode: "yolo", hooks: { pre_tool_use: [{ hook, timeoutMs }] } }));
      assert.equal(error, undefined);
      assert.equal(existsSync(at.path("a.txt")), false);
    });
  }
});

describe("askUser", () => {
  test("answers the model's question", async () => {
    using at = place();
    const question = { id: "db", question: "Which?", options: [{ label: "SQLite" }, { label: "Postgres" }] };
    const turns = [
      { calls: [{ tool: "ask", id: "c1", input: { questions: [question] } }] },
      { expect: { result: { call: "c1", outcome: "succeeded", contains: "Postgres" } }, say: "Done." },
    ];
    const { error, messages } = await drain(
      start(at, turns, {
        askUser: ({ questions }) => ({ outcome: "answered", answers: questions.map(({ id }) => ({ id, selected: ["Postgres"] })) }),
      }),
    );
    assert.deepEqual([results(messages), error], [["success"], undefined]);
  });
});

describe("resume", () => {
  test("a parked run is taken up again, and what waits is asked, however long the answer takes", async () => {
    using at = place();
    const turns = [{ calls: [shell("touch a.txt")] }, { calls: [shell("touch b.txt", "c2")] }, { say: "Done." }];
    const parked = await drain(start(at, turns, { onAsk: "park" }));
    const result = parked.messages.at(-1);
    assert.ok(result?.type === "result" && parked.error === undefined);
    assert.deepEqual([result.subtype, result.exit_code, result.approvals.length], ["parked", 75, 1]);
    const started = Promise.withResolvers<void>();
    const canUseTool = async () => {
      await started.promise;
      return { behavior: "allow" } as const;
    };
    await using again = start(at, turns, { resume: result.session_id, prompt: paced(), canUseTool });
    const first = await again.next();
    started.resolve();
    const { messages, error } = await drain(again);
    assert.deepEqual([first.value?.type, results(messages), error], ["system", ["success"], undefined]);
    assert.deepEqual([existsSync(at.path("a.txt")), existsSync(at.path("b.txt"))], [true, true]);
  });
});

describe("an end", () => {
  for (const [sentence, stop, type] of [
    ["abort", (_: Query, controller: AbortController) => controller.abort(), "aborted"],
    ["close", (run: Query) => void run.close(), undefined],
  ] as const) {
    test(`by ${sentence} is recorded as cancelled`, async () => {
      using at = place();
      const controller = new AbortController();
      await using run = start(at, [{ calls: [SLEEP] }], { mode: "yolo", abort: controller.signal });
      await until("the command runs", () => existsSync(at.path("started.txt")));
      stop(run, controller);
      assert.equal((await drain(run)).error?.type, type);
      assert.equal((await run.exit).code, 130);
      assert.equal((await at.hereJson(["sessions"])).value[0].state, "cancelled");
    });
  }
});
