import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { EventBodies } from "../src/model/events.ts";
import { type HookOpinion, rewrittenInput, stopMessageOf } from "../src/model/hooks/combine.ts";
import type { HookEvent, HookPoint } from "../src/model/hooks/event-table.ts";
import { postToolHookInput, toolHookInput } from "../src/model/hooks/input.ts";
import type { JsonObject } from "../src/model/json/json.ts";
import type { Hooks } from "../src/ports.ts";

/** What a hook of the suite does: answers, fails, or runs past its time limit. */
export type HookScript = { readonly says?: JsonObject; readonly fails?: true; readonly hangs?: true };

/** Hooks of one event, in configuration order. A hook that hangs has a time limit of at most a second. */
export type ScriptedHook = HookScript & { readonly event: HookPoint; readonly name: string };

/** A port made from scripted hooks. */
export type HooksUnderTest = {
  readonly hooks: Hooks;
  /** The runs that were recorded so far. */
  readonly records: () => Promise<readonly EventBodies["hook.ran"][]>;
  /** Resolves when hooks that were only told have ended. */
  readonly idle: () => Promise<void>;
  readonly close?: () => Promise<void>;
};

/** Makes a port; called once for each case. */
export type HooksMaker = (hooks: readonly ScriptedHook[]) => Promise<HooksUnderTest>;

const SESSION = { sessionId: "s_1", cwd: "/", mode: "default" } as const;
const CALL = { callId: "c1", tool: "shell", kind: "execute", input: { command: "ls", cwd: "src" } } as const;
const RESULT = { content: "done", durationMs: 1 } as const;

function about(event: HookEvent): JsonObject {
  const call = { ...CALL, event };
  return event === "pre_tool_use" || event === "permission_request"
    ? toolHookInput(SESSION, call)
    : postToolHookInput(SESSION, call, RESULT);
}

function specific(fields: JsonObject): HookScript {
  return { says: { hookSpecificOutput: fields } };
}

const ALLOW = specific({ permissionDecision: "allow" });
const ASK = specific({ permissionDecision: "ask" });
const DENY = specific({ permissionDecision: "deny", permissionDecisionReason: "no" });
const SILENT: HookScript = {};

type OpinionCase = {
  readonly title: string;
  readonly event: HookEvent;
  readonly hooks: readonly HookScript[];
  readonly expect: (said: HookOpinion | undefined) => void;
};

function verdict(expected: HookOpinion["verdict"]): OpinionCase["expect"] {
  return (said) => assert.equal(said?.verdict ?? "none", expected);
}

function input(expected: JsonObject): OpinionCase["expect"] {
  return (said) => {
    assert.ok(said?.updatedInput);
    const updatedInput = { input: said.updatedInput, mode: said.updatedInputMode ?? "merge" };
    assert.deepEqual(rewrittenInput(CALL.input, { updatedInput }), expected);
  };
}

const CASES: readonly OpinionCase[] = [
  { title: "without hooks there is no opinion", event: "pre_tool_use", hooks: [], expect: (said) => assert.equal(said, undefined) },
  { title: "a hook without an answer has no opinion", event: "pre_tool_use", hooks: [SILENT], expect: verdict("none") },
  { title: "a deny beats an ask and an allow", event: "pre_tool_use", hooks: [ALLOW, DENY, ASK], expect: verdict("deny") },
  { title: "an ask beats an allow, in any order", event: "pre_tool_use", hooks: [ASK, ALLOW], expect: verdict("ask") },
  {
    title: "the reason of a deny is passed on",
    event: "pre_tool_use",
    hooks: [DENY],
    expect: (said) => assert.equal(said?.reason, "no"),
  },
  { title: "a hook that fails denies", event: "pre_tool_use", hooks: [ALLOW, { fails: true }], expect: verdict("deny") },
  { title: "a hook past its time limit denies", event: "pre_tool_use", hooks: [{ hangs: true }], expect: verdict("deny") },
  {
    title: "an answer that makes no sense denies",
    event: "pre_tool_use",
    hooks: [specific({ permissionDecision: "maybe" })],
    expect: verdict("deny"),
  },
  {
    title: "a new input is merged",
    event: "pre_tool_use",
    hooks: [specific({ updatedInput: { command: "ls -l" } })],
    expect: input({ command: "ls -l", cwd: "src" }),
  },
  {
    title: "a later hook merges into what an earlier one made",
    event: "pre_tool_use",
    hooks: [specific({ updatedInput: { command: "ls -l" } }), specific({ updatedInput: { cwd: "lib" } })],
    expect: input({ command: "ls -l", cwd: "lib" }),
  },
  {
    title: "a new input replaces the whole where the hook says so",
    event: "pre_tool_use",
    hooks: [specific({ updatedInput: { command: "ls" }, updatedInputMode: "replace" })],
    expect: input({ command: "ls" }),
  },
  {
    title: "an allow is dropped where a later hook rewrites",
    event: "pre_tool_use",
    hooks: [ALLOW, specific({ updatedInput: { command: "id" } })],
    expect: verdict("none"),
  },
  {
    title: "an allow answers an ask",
    event: "permission_request",
    hooks: [specific({ decision: { behavior: "allow" } })],
    expect: verdict("allow"),
  },
  {
    title: "next to a hook that fails, no allow answers an ask",
    event: "permission_request",
    hooks: [specific({ decision: { behavior: "allow" } }), { fails: true }],
    expect: verdict("none"),
  },
  {
    title: "a new result is passed on",
    event: "tool_response_transform",
    hooks: [specific({ updatedToolOutput: "clean" })],
    expect: (said) => assert.equal(said?.updatedOutput, "clean"),
  },
  { title: "a result is withheld if a hook fails", event: "tool_response_transform", hooks: [{ fails: true }], expect: verdict("deny") },
  {
    title: "a deny after a call stops the run",
    event: "post_tool_use",
    hooks: [DENY],
    expect: (said) => assert.equal(said && stopMessageOf(said), "no"),
  },
  {
    title: "a block after a call is feedback and stops nothing",
    event: "post_tool_use",
    hooks: [{ says: { decision: "block", reason: "run the tests" } }],
    expect: (said) => assert.deepEqual([said?.feedback, said && stopMessageOf(said)], ["run the tests", undefined]),
  },
  {
    title: "a hook that fails after a call changes nothing",
    event: "post_tool_use",
    hooks: [{ fails: true }],
    expect: (said) => assert.equal(said && stopMessageOf(said), undefined),
  },
];

/** Registers the contract of the `Hooks` port as tests. */
export function testHooks(name: string, make: HooksMaker): void {
  const run = (title: string, hooks: readonly ScriptedHook[], check: (subject: HooksUnderTest) => Promise<void>): void => {
    test(title, { timeout: 60_000 }, async () => {
      const subject = await make(hooks);
      try {
        await check(subject);
      } finally {
        await subject.close?.();
      }
    });
  };
  const { signal } = new AbortController();
  describe(name, () => {
    for (const { title, event, hooks, expect } of CASES) {
      run(
        title,
        hooks.map((hook, at) => ({ ...hook, event, name: `h${at + 1}` })),
        async (subject) => expect(await subject.hooks.consult(event, about(event), signal)),
      );
    }
    run(
      "every run is recorded with its hook, event, call and outcome",
      [{ ...DENY, event: "pre_tool_use", name: "guard" }],
      async (subject) => {
        await subject.hooks.consult("pre_tool_use", about("pre_tool_use"), signal);
        const [ran] = await subject.records();
        assert.deepEqual([ran?.hook, ran?.event, ran?.callId, ran?.outcome], ["guard", "pre_tool_use", "c1", "deny"]);
      },
    );
    run("a cancelled consultation ends, and does not allow", [{ hangs: true, event: "pre_tool_use", name: "slow" }], async (subject) => {
      const controller = new AbortController();
      const asking = subject.hooks.consult("pre_tool_use", about("pre_tool_use"), controller.signal);
      controller.abort();
      assert.notEqual((await asking)?.verdict, "allow");
    });
    run("it knows which hooks apply", [{ event: "tool_response_transform", name: "clean" }], async ({ hooks }) => {
      assert.deepEqual([hooks.applies?.("tool_response_transform", "shell"), hooks.applies?.("pre_tool_use", "shell")], [true, false]);
    });
    run(
      "an event that is only told runs its hooks, and never throws",
      [{ fails: true, event: "permission_denied", name: "log" }],
      async (subject) => {
        assert.doesNotThrow(() => subject.hooks.tell("permission_denied", about("pre_tool_use")));
        await subject.idle();
        assert.deepEqual(
          (await subject.records()).map(({ hook, outcome }) => [hook, outcome]),
          [["log", "failed"]],
        );
      },
    );
  });
}
