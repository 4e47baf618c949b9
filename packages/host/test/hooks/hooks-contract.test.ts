import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type EventBodies, memoryLedger, openSession, parseEvent, type Session } from "@assent/core";
import { type ScriptedHook, testHooks } from "@assent/core/testing";
import { createFunctionHooks, type FunctionHook } from "../../src/hooks/function-hooks.ts";
import { createSystemClock } from "../../src/system/clock.ts";
import { currentHolder } from "../../src/system/identity.ts";
import { createRandomIds } from "../../src/system/ids.ts";
import { hook, hookBench, shellCall } from "./hooks-bench.ts";

async function newSession(): Promise<Session> {
  const [clock, ids] = [createSystemClock(), createRandomIds()];
  return await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("test"), create: { cwd: "/" } });
}

async function recordedRuns({ ledger, id }: Session): Promise<readonly EventBodies["hook.ran"][]> {
  const found: EventBodies["hook.ran"][] = [];
  for await (const stored of ledger.read({ session: id, seq: 0 }, { session: id, types: ["hook.ran"] })) {
    const event = parseEvent(stored);
    if (event?.type === "hook.ran") found.push(event.body);
  }
  return found;
}

function toFunction({ name, says, fails, hangs }: ScriptedHook): FunctionHook {
  const run = async (_input: unknown, { signal }: { readonly signal: AbortSignal }): Promise<unknown> => {
    if (fails) throw new Error("broken");
    if (hangs) await pause(60_000, undefined, { signal, ref: false });
    return says;
  };
  return { run, name, timeoutMs: hangs ? 100 : 10_000 };
}

testHooks("functions as hooks", async (scripted) => {
  const session = await newSession();
  const hooks: Record<string, FunctionHook[]> = {};
  for (const one of scripted) hooks[one.event] = [...(hooks[one.event] ?? []), toFunction(one)];
  const runner = createFunctionHooks({ session, hooks, warn: () => undefined });
  return {
    hooks: runner,
    records: async () => await recordedRuns(session),
    idle: runner.idle,
    close: async () => await session.close("done", 0),
  };
});

testHooks("programs as hooks", async (scripted) => {
  const commandOf = ({ says, fails, hangs }: ScriptedHook): string =>
    fails ? "exit 1" : hangs ? "sleep 60" : says ? `printf %s '${JSON.stringify(says)}'` : "exit 0";
  const bench = hookBench(
    scripted.map((one, at) =>
      hook(one.event, commandOf(one), { name: one.name, definition: `${one.event} ${at}`, timeoutMs: one.hangs ? 300 : 10_000 }),
    ),
  );
  return { hooks: bench, records: async () => bench.records, idle: bench.idle, close: bench.close };
});

const { signal } = new AbortController();

test("functions are registered under either name of an event, with a matcher for either name of a tool", async () => {
  const session = await newSession();
  const deny = { decision: "deny", reason: "no" };
  const hooks = createFunctionHooks({
    session,
    hooks: {
      PreToolUse: [
        { run: () => deny, matcher: "Bash" },
        { run: () => ({ decision: "ask" }), matcher: "read" },
      ],
    },
  });
  assert.equal((await hooks.consult("pre_tool_use", shellCall(), signal))?.verdict, "deny");
  assert.equal((await hooks.consult("pre_tool_use", shellCall("x", { tool: "read", tool_name: "Read" }), signal))?.verdict, "ask");
  assert.equal(await hooks.consult("pre_tool_use", shellCall("x", { tool: "edit", tool_name: "Edit" }), signal), undefined);
  await session.close("done", 0);
});

test("an event that does not exist, or a matcher that is not an expression, is refused at once", async () => {
  const session = await newSession();
  assert.throws(() => createFunctionHooks({ session, hooks: { before_tool: () => undefined } }), /There is no hook event 'before_tool'/);
  assert.throws(() => createFunctionHooks({ session, hooks: { stop: { run: () => undefined, matcher: "(" } } }), SyntaxError);
  await session.close("done", 0);
});

test("the same function twice runs twice, and is named by itself", async () => {
  const session = await newSession();
  function audit(): undefined {
    return undefined;
  }
  const hooks = createFunctionHooks({ session, hooks: { pre_tool_use: [audit, audit] } });
  await hooks.consult("pre_tool_use", shellCall(), signal);
  assert.deepEqual(
    (await recordedRuns(session)).map(({ hook: name }) => name),
    ["audit", "audit"],
  );
  await session.close("done", 0);
});
