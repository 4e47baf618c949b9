import assert from "node:assert/strict";
import { after, before, describe, mock, test } from "node:test";
import type { Hooks, ToolDefinition } from "@assent/core";
import { z } from "zod";
import { createGate, type Gate, type GateOptions, type TurnOutcome } from "../src/index.ts";
import { newStore } from "./gate-scene.ts";

/** An embedding program that does everything wrong. Nothing may run that was not decided, and nothing may hang. */
const fail = (): never => {
  throw new Error("broken on purpose");
};
const never = (): Promise<never> => new Promise(() => undefined);
const hostileHooks = (consult: () => Promise<never>): Hooks => ({ consult, tell: fail });

type Hostile = {
  readonly options?: GateOptions;
  readonly tool?: Partial<ToolDefinition<typeof INPUT>>;
  /** Aborts the signal of the run as soon as the hostile part was reached. */
  readonly cancels?: boolean;
  readonly outcome: TurnOutcome["calls"][number]["outcome"];
  /** How often the body starts. */
  readonly effects: number;
};

const ACT = { id: "1", name: "act", arguments: { n: 1 } };
const throwing: object = new Proxy({}, { get: fail, ownKeys: fail });
const revoked = <T extends object>(value: T): T => {
  const { proxy, revoke } = Proxy.revocable(value, {});
  revoke();
  return proxy;
};
const INPUT = z.object({ n: z.number() });
const ALLOW: GateOptions = { rules: { allow: ["act"] } };
const schemaOf = (validate: (value: { readonly n: number }) => unknown): typeof INPUT =>
  ({ "~standard": { version: 1, vendor: "test", validate } }) as unknown as typeof INPUT;
const answersOnly = (isAnswered: (n: number) => boolean): NonNullable<Hostile["tool"]> => ({
  input: schemaOf((value) => (isAnswered(value.n) ? { value } : never())),
  inputSchema: { type: "object" },
});
const TWO = { updatedInput: { n: 2 } };

const ROWS: readonly (readonly [sentence: string, row: Hostile])[] = [
  ["an approver that throws", { options: { approve: fail }, outcome: "denied", effects: 0 }],
  ["an approver that rejects", { options: { approve: () => Promise.reject(new Error("no line")) }, outcome: "denied", effects: 0 }],
  [
    "an approver that answers nonsense",
    { options: { approve: async () => ({ outcome: "maybe" }) as never }, outcome: "denied", effects: 0 },
  ],
  [
    "an approver that approves and rejects at once",
    { options: { approve: async () => ({ outcome: "approve", reject: "no" }) as never }, outcome: "denied", effects: 0 },
  ],
  [
    "an approver that answers for a person without a name",
    { options: { approve: async () => ({ outcome: "approve", by: "" }) }, outcome: "denied", effects: 0 },
  ],
  ["an approver that never answers", { options: { approve: never }, cancels: true, outcome: "cancelled", effects: 0 }],
  ["a hook that throws", { options: { ...ALLOW, hooks: hostileHooks(fail) }, outcome: "denied", effects: 0 }],
  [
    "a hook that rejects",
    { options: { ...ALLOW, hooks: hostileHooks(() => Promise.reject(new Error("no"))) }, outcome: "denied", effects: 0 },
  ],
  ["a hook that never settles", { options: { ...ALLOW, hooks: hostileHooks(never) }, cancels: true, outcome: "cancelled", effects: 0 }],
  ...[false, 0, "", { verdict: "none", name: "h", context: 7 }].map((said): readonly [string, Hostile] => [
    `a Hooks port that answers ${JSON.stringify(said)}`,
    { options: { ...ALLOW, hooks: { consult: async () => said as never, tell: () => undefined } }, outcome: "denied", effects: 0 },
  ]),
  ["a permission that throws", { tool: { permission: fail }, outcome: "denied", effects: 0 }],
  ["a permission that returns nonsense", { tool: { permission: () => "yes" as never }, outcome: "denied", effects: 0 }],
  ["a permission that never settles", { tool: { permission: never }, cancels: true, outcome: "cancelled", effects: 0 }],
  ["locations that throw", { options: ALLOW, tool: { locations: fail, kind: "edit" }, outcome: "denied", effects: 0 }],
  ["a check that throws", { options: ALLOW, tool: { check: fail }, outcome: "invalid", effects: 0 }],
  [
    "a confirmation that throws, and a person who approves",
    { options: { approve: async () => "approve" }, tool: { confirm: fail }, outcome: "succeeded", effects: 1 },
  ],
  ["a tool that throws", { options: ALLOW, tool: { run: fail }, outcome: "failed", effects: 0 }],
  ["a tool that throws nothing at all", { options: ALLOW, tool: { run: () => Promise.reject(undefined) }, outcome: "failed", effects: 0 }],
  ["a tool that never settles", { options: ALLOW, tool: { run: never }, cancels: true, outcome: "cancelled", effects: 0 }],
  ["a schema that never answers", { options: ALLOW, tool: answersOnly(() => false), cancels: true, outcome: "cancelled", effects: 0 }],
  ...[
    { hooks: { pre_tool_use: () => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...TWO } }) } },
    { hooks: { permission_request: () => ({ hookSpecificOutput: { decision: { behavior: "allow", ...TWO } } }) } },
    { approve: async () => ({ outcome: "approve", ...TWO }) as const },
  ].map((options): readonly [string, Hostile] => [
    `a schema that never answers for the input that ${Object.keys({ ...options.hooks, ...options })[0]} changed`,
    { options, tool: answersOnly((n) => n === 1), cancels: true, outcome: "cancelled", effects: 0 },
  ]),
  ["an observer that throws", { options: { ...ALLOW, observe: fail }, outcome: "succeeded", effects: 1 }],
  [
    "a handler that throws",
    { options: { ...ALLOW, handlers: { mine: fail } }, tool: { runtimeHandler: "mine" }, outcome: "failed", effects: 0 },
  ],
];

describe("a hostile embedder", () => {
  before(() => void mock.method(console, "warn", () => undefined));
  after(() => mock.restoreAll());
  for (const store of [undefined, "durable"])
    for (const [sentence, { options = {}, tool = {}, cancels = false, outcome, effects }] of ROWS)
      test(`${sentence}, ${store ?? "in memory"}: the call is ${outcome}, and the gate closes`, { timeout: 20_000 }, async () => {
        const gate = await createGate({ ...options, ...(store !== undefined && { store: newStore() }) });
        let started = 0;
        const run = (): string => `done ${++started}`;
        const body = tool.runtimeHandler === undefined ? { run } : {};
        gate.tool({ name: "act", description: "Acts.", kind: "other", input: INPUT, ...body, ...tool });
        const controller = new AbortController();
        const running = gate.run([{ id: "1", name: "act", arguments: { n: 1 } }], { signal: controller.signal });
        if (cancels) setTimeout(() => controller.abort(), 100);
        const { calls } = await running;
        assert.deepEqual([calls.map((call) => call.outcome), started], [[outcome], effects]);
        await gate.close();
      });

  test("an observer that rejects does not end the process, and is reported once", async () => {
    const observe = (): Promise<never> => Promise.reject(new Error("no line"));
    const warn = mock.method(console, "warn", () => undefined);
    const gate = await createGate({ ...ALLOW, observe: observe as never });
    gate.tool({ name: "act", description: "Acts.", kind: "other", input: INPUT, run: () => "done" });
    gate.on("response", observe as never);
    const { calls } = await gate.run([{ id: "1", name: "act", arguments: { n: 1 } }]);
    await gate.close();
    assert.deepEqual([calls[0]?.outcome, warn.mock.callCount()], ["succeeded", 2]);
  });

  const nested: readonly (readonly [sentence: string, options: (ask: () => Promise<unknown>) => GateOptions, outcome: string])[] = [
    ["a tool", () => ALLOW, "failed"],
    ["an approver", (ask) => ({ approve: () => ask() as never }), "denied"],
    ["a hook", (ask) => ({ ...ALLOW, hooks: { pre_tool_use: () => ask() as never } }), "denied"],
  ];
  for (const [sentence, options, outcome] of nested)
    test(`${sentence} that runs a call of its own gate gets an error and does not wait for itself`, { timeout: 20_000 }, async () => {
      const errors: string[] = [];
      const ask = async (): Promise<unknown> => {
        try {
          return await gate.run([{ id: "2", name: "act", arguments: { n: 2 } }]);
        } catch (error) {
          errors.push(String(error));
          throw error;
        }
      };
      const gate = await createGate(options(ask));
      gate.functions({ act: { description: "Acts.", input: INPUT, run: sentence === "a tool" ? ask : () => "done" } });
      const { calls } = await gate.run([{ id: "1", name: "act", arguments: { n: 1 } }]);
      assert.deepEqual([calls[0]?.outcome, errors.length], [outcome, 1]);
      assert.match(errors[0] ?? "", /would wait for itself\. Inside a tool, use ctx\.gate\(/);
      await gate.close();
    });

  test("a tool asks the gate for a nested call, and runs other calls when it is done", async () => {
    const gate = await createGate(ALLOW);
    let later: Promise<unknown> | undefined;
    const inner = gate.functions({ look: { description: "Looks.", input: INPUT, run: () => "seen" } }, { look: { kind: "read" } });
    gate.tool({
      name: "act",
      description: "Acts.",
      kind: "other",
      input: INPUT,
      run: async (_input, ctx) => {
        later = new Promise((resolve) => setImmediate(resolve)).then(() => inner.look({ n: 1 }));
        return await ctx.gate({ name: "look", arguments: { n: 1 } });
      },
    });
    const { calls } = await gate.run([{ id: "1", name: "act", arguments: { n: 1 } }]);
    assert.deepEqual([calls[0]?.outcome, calls[0]?.value], ["succeeded", "seen"]);
    await later?.catch(() => undefined);
    assert.equal(await inner.look({ n: 2 }), "seen");
    await gate.close();
  });

  for (const said of [false, { verdict: "maybe", name: "h" }, { verdict: "none", name: "h", updatedOutput: 5 }])
    test(`a Hooks port that answers ${JSON.stringify(said)} to tool_response_transform withholds the result`, async () => {
      const consult: Hooks["consult"] = async (event) => (event === "tool_response_transform" ? (said as never) : undefined);
      const gate = await createGate({ ...ALLOW, hooks: { consult, tell: () => undefined } });
      gate.tool({ name: "act", description: "Acts.", kind: "other", input: INPUT, run: () => "secret" });
      const { calls } = await gate.run([{ id: "1", name: "act", arguments: { n: 1 } }]);
      assert.deepEqual(
        [calls[0]?.outcome, calls[0]?.content],
        ["succeeded", "Tool output withheld: a tool_response_transform hook failed."],
      );
      await gate.close();
    });

  test("options that the program changes after createGate have no effect", { timeout: 20_000 }, async () => {
    const options: { -readonly [Name in keyof GateOptions]: GateOptions[Name] } = { approve: async () => "reject" };
    const gate = await createGate(options);
    gate.tool({ name: "act", description: "Acts.", kind: "other", input: INPUT, run: () => "done" });
    options.approve = async () => "approve";
    options.hooks = hostileHooks(never);
    const { calls } = await gate.run([{ id: "1", name: "act", arguments: { n: 1 } }]);
    assert.equal(calls[0]?.outcome, "rejected");
    await gate.close();
  });

  const turns: readonly (readonly [sentence: string, turn: unknown, message: RegExp])[] = [
    ["null", null, /options of a turn must be an object/],
    ["a signal that is none", { signal: "x" }, /Option 'signal' of a turn must be an AbortSignal/],
    ["a misspelled signal", { sginal: AbortSignal.abort() }, /no option 'sginal'\. It has signal, newPrompt, truncated/],
    ["a text for a flag", { truncated: "no" }, /'truncated' of a turn must be true or false/],
  ];
  for (const [sentence, turn, message] of turns)
    test(`options of a turn: ${sentence} is a clear error`, async () => {
      const gate = await createGate();
      await assert.rejects(gate.run([], turn as never), { name: "GateUsageError", message });
      await gate.close();
    });

  const mistakes: readonly (readonly [sentence: string, act: (gate: Gate) => unknown, message: RegExp])[] = [
    ["a list of calls that was revoked", (gate) => gate.run(revoked([])), /takes a list of calls/],
    ["options that throw", () => createGate(throwing), /options of createGate cannot be read: broken on purpose/],
    ["rules that throw", () => createGate({ rules: throwing }), /options of createGate cannot be read: broken on purpose/],
    ["a list of calls with a hole", (gate) => gate.run(Array(1)), /takes a list of calls/],
    ["a call to explain that is null", (gate) => gate.explain(null as never), /gate\.explain takes a call/],
    ["messages to resume that are text", (gate) => gate.resumeMessages("x" as never), /takes a list of messages/],
    ["a misspelled name of the person", (gate) => gate.resumeMessages([], { answerdBy: "Ann" } as never), /options of resumeMessages are/],
    [
      "a name of the person that is not text",
      (gate) => gate.resumeMessages([], { answeredBy: 5 as never }),
      /options of resumeMessages are/,
    ],
    ["an unknown event", async (gate) => gate.on("decide" as never, () => undefined), /no event 'decide'\. It has .*decided/],
    ["a listener that is not a function", async (gate) => gate.on("decided", undefined as never), /listener of event 'decided' must be a/],
  ];
  for (const [sentence, act, message] of mistakes)
    test(`${sentence} is a clear error`, async () => {
      const gate = await createGate();
      await assert.rejects(async () => await act(gate), { name: "GateUsageError", message });
      await gate.close();
    });

  const unreadable: readonly (readonly [sentence: string, call: unknown, type: string])[] = [
    ["a call that throws", throwing, "tool_not_registered"],
    [
      "a call whose name throws",
      {
        ...ACT,
        get name() {
          return fail();
        },
      },
      "tool_not_registered",
    ],
    ["arguments that throw", { ...ACT, arguments: throwing }, "invalid_tool_params"],
    ["arguments that were revoked", { ...ACT, arguments: revoked({}) }, "invalid_tool_params"],
  ];
  for (const [sentence, call, type] of unreadable)
    test(`there is an invalid call for ${sentence}, and the next one runs`, async () => {
      const gate = await createGate({ rules: { allow: new Proxy(["act"], {}) } });
      gate.tool({ name: "act", description: "Acts.", kind: "other", input: INPUT, run: () => "done" });
      const { calls } = await gate.run([call as typeof ACT, { ...ACT, id: "2" }]);
      assert.deepEqual(
        calls.map((ended) => [ended.outcome, ended.type]),
        [
          ["invalid", type],
          ["succeeded", null],
        ],
      );
      await gate.close();
    });

  test("rules and hooks that change after createGate have no effect", async () => {
    const deny = ["act:n=1"];
    const hooks: { pre_tool_use?: () => object } = { pre_tool_use: () => ({ decision: "block", reason: "no" }) };
    const gate = await createGate({ rules: { allow: ["act"], deny }, hooks });
    deny.length = 0;
    delete hooks.pre_tool_use;
    gate.tool({ name: "act", description: "Acts.", kind: "other", input: INPUT, run: () => "done" });
    const { calls } = await gate.run([1, 2].map((n) => ({ id: `${n}`, name: "act", arguments: { n } })));
    assert.deepEqual(
      calls.map(({ type }) => type),
      ["denied_by_rule", "denied_by_hook"],
    );
    await gate.close();
  });

  for (const [how, outcome] of [
    ["cancelled", "cancelled"],
    ["closed with its gate", "waiting"],
  ] as const)
    test(`a resume whose schema never answers can be ${how}: the call is ${outcome}`, { timeout: 20_000 }, async () => {
      const store = newStore();
      const definition = { name: "act", description: "Acts.", kind: "other", run: fail } as const;
      const gate = await createGate({ store, approve: "park" });
      gate.tool({ ...definition, ...answersOnly(() => true) } as never);
      await gate.run([{ id: "1", name: "act", arguments: { n: 1 } }]);
      await gate.close();
      const later = await createGate({ store, session: gate.session, approve: "park" });
      const reached = Promise.withResolvers<void>();
      const input = schemaOf(() => {
        reached.resolve();
        return never();
      });
      later.tool({ ...definition, ...answersOnly(() => true), input } as never);
      const controller = new AbortController();
      const resumed = later.resume(undefined, controller.signal);
      await reached.promise;
      if (how === "cancelled") controller.abort();
      else await later.close();
      const { calls } = await resumed;
      assert.deepEqual(
        calls.map((call) => call.outcome),
        [outcome],
      );
      await later.close();
    });

  for (const earlier of ["x", {}, [null], [5], [{}]])
    test(`resuming ${JSON.stringify(earlier)} is a clear error`, async () => {
      const gate = await createGate();
      await assert.rejects(gate.resume(earlier as never), { name: "GateUsageError", message: /'calls' that an earlier turn returned/ });
      await gate.close();
    });

  test("a call of another session cannot be resumed", async () => {
    const gate = await createGate({ store: newStore(), approve: "park" });
    gate.tool({ name: "act", description: "Acts.", kind: "other", input: INPUT, run: () => "done" });
    const { calls } = await gate.run([{ id: "1", name: "act", arguments: { n: 1 } }]);
    const other = await createGate({ store: newStore(), approve: "park" });
    await assert.rejects(other.resume(calls), /has no call '1'\. Resume it in the session that made it\.$/);
    await Promise.all([gate.close(), other.close()]);
  });

  test("a listener that throws does not silence the others", async () => {
    const gate = await createGate(ALLOW);
    gate.tool({ name: "act", description: "Acts.", kind: "other", input: INPUT, run: () => "done" });
    const heard: string[] = [];
    gate.on("response", fail);
    gate.on("response", ({ outcome }) => void heard.push(outcome));
    await gate.run([{ id: "1", name: "act", arguments: { n: 1 } }]);
    assert.deepEqual(heard, ["succeeded"]);
    await gate.close();
  });

  for (const part of ["approver", "hook", "tool"] as const)
    test(`closing ends a ${part} that never settles`, { timeout: 20_000 }, async () => {
      const reached = Promise.withResolvers<void>();
      const hang = (): Promise<never> => {
        reached.resolve();
        return never();
      };
      const options = { approver: { approve: hang }, hook: { ...ALLOW, hooks: hostileHooks(hang) }, tool: ALLOW }[part];
      const gate = await createGate(options);
      gate.tool({ name: "act", description: "Acts.", kind: "other", input: INPUT, run: part === "tool" ? hang : () => "done" });
      const running = gate.run([{ id: "1", name: "act", arguments: { n: 1 } }]);
      await reached.promise;
      await gate.close();
      const [call] = (await running).calls;
      assert.ok(call?.outcome === "cancelled" || call?.outcome === "waiting", call?.outcome);
    });
});
