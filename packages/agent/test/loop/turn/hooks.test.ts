import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HookEvent, HookNotice, HookOpinion, Hooks, JsonObject } from "@assent/core";
import type { ConversationDeps } from "../../../src/index.ts";
import { createStopHook } from "../../../src/loop/turn/stop-hook.ts";
import { type Rehearsal, rehearse } from "../../rehearsal.ts";

type Words = Partial<HookOpinion> | undefined;
type Answers = Partial<Record<HookEvent, (input: JsonObject, signal: AbortSignal) => Words | Promise<Words>>>;
type Heard = { readonly event: HookEvent | HookNotice; readonly input: JsonObject };

/** Hooks that say these, and everything they were asked and told. */
function hooksThat(answers: Answers): Hooks & { readonly heard: Heard[] } {
  const heard: Heard[] = [];
  return {
    heard,
    consult: async (event, input, signal) => {
      heard.push({ event, input });
      const said = await answers[event]?.(input, signal);
      return said && { verdict: "none", name: "guard.sh", ...said };
    },
    tell: (event, input) => void heard.push({ event, input }),
  };
}

type Hooked = Rehearsal & { readonly hooks: ReturnType<typeof hooksThat> };

async function hooked(script: string, answers: Answers, talk: Partial<ConversationDeps> = {}): Promise<Hooked> {
  const hooks = hooksThat(answers);
  return { ...(await rehearse(script, { talk: { hooks, ...talk } })), hooks };
}

const of = ({ hooks }: Hooked, event: string): readonly JsonObject[] =>
  hooks.heard.filter((one) => one.event === event).map(({ input }) => input);

describe("user_prompt_submit", () => {
  const REFUSALS: readonly [sentence: string, answer: () => Words | Promise<Words>, message: RegExp][] = [
    ["a block", () => ({ verdict: "deny", reason: "not on Fridays" }), /^The prompt was not sent: not on Fridays$/],
    ["a block without a reason", () => ({ verdict: "deny" }), /blocked by hook guard\.sh/],
    ["continue: false", () => ({ stop: "enough" }), /enough/],
    ["a hook that throws: prompts fail closed", () => Promise.reject(new Error("gone")), /failed to execute: gone/],
    ["a verdict nobody knows", () => ({ verdict: "maybe" as never }), /blocked by hook/],
  ];
  for (const [sentence, answer, message] of REFUSALS) {
    test(`${sentence}: the prompt is not sent, and the end says so`, async () => {
      const made = await hooked("turns: [{ say: never }]\nallowUnused: true", { user_prompt_submit: answer });
      const end = await made.send("go");
      assert.deepEqual([end.reason, end.text, end.error?.type], ["stopped", "", "hook_stopped"]);
      assert.match(end.error?.message ?? "", message);
      assert.deepEqual([await made.events("message.user"), await made.events("turn.started")], [[], []]);
    });
  }

  test("its context reaches the model behind the prompt, in an envelope that names the hook", async () => {
    const made = await hooked(
      `turns: [{ expect: { reminders: [{ contains: ['<hook name="guard.sh">', 'it is &lt;late&gt;'] }] }, say: ok }]`,
      { user_prompt_submit: () => ({ context: "it is <late>" }) },
    );
    assert.equal((await made.send("go")).error, undefined);
    assert.deepEqual(
      (await made.events("message.user")).map(({ body }) => body.origin),
      ["user", "steering"],
    );
  });

  test("it reads the prompt as text, and who asks", async () => {
    const made = await hooked("turns: [{ say: ok }]", {});
    await made.conversation.send(
      [
        { type: "text", text: "look" },
        { type: "text", text: "here" },
      ],
      new AbortController().signal,
    );
    const [input] = of(made, "user_prompt_submit");
    assert.match(String(input?.["prompt"]), /look[\s\S]*here/);
    assert.deepEqual(
      [input?.["hook_event_name"], input?.["session_id"], input?.["cwd"], input?.["mode"], input?.["permission_mode"]],
      ["UserPromptSubmit", made.session.id, "/w", "default", "default"],
    );
  });

  test("a notice is delivered although a hook blocks every prompt, and the hook is not consulted", async () => {
    const made = await hooked("turns: [{ expect: { notices: [{ contains: tea }] }, say: ok }]", {
      user_prompt_submit: () => ({ verdict: "deny" }),
    });
    const { session } = made;
    await session.record([session.draft("notice.queued", { notice: "n_1", kind: "task", modelText: "tea", displayText: "tea" })], "normal");
    assert.deepEqual(await made.conversation.resume(new AbortController().signal), { reason: "done", text: "ok" });
    assert.deepEqual(of(made, "user_prompt_submit"), []);
  });

  test("the prompt of an agent is not submitted to hooks, and it starts no session", async () => {
    const made = await hooked(
      "turns: [{ say: ok }]",
      { user_prompt_submit: () => ({ verdict: "deny" }) },
      { agent: { id: "t_1", type: "explorer" } },
    );
    assert.equal((await made.send("go")).reason, "done");
    assert.deepEqual([of(made, "user_prompt_submit"), of(made, "session_start")], [[], []]);
  });
});

describe("session_start and turn_start", () => {
  test("session_start hooks run once, and their context comes before the first prompt", async () => {
    const made = await hooked(
      "turns: [{ expect: { reminders: [{ contains: welcome }] }, say: a }, { expect: { reminders: [] }, say: b }]",
      { session_start: () => ({ context: "welcome" }) },
    );
    assert.equal((await made.send("one")).error, undefined);
    assert.equal((await made.send("two")).error, undefined);
    assert.deepEqual(
      of(made, "session_start").map((input) => input["source"]),
      ["startup"],
    );
    assert.deepEqual(
      (await made.events("message.user")).map(({ body }) => body.origin),
      ["steering", "user", "user"],
    );
  });

  test("a continued session has the source resume, unless the host says otherwise", async () => {
    const first = await hooked("turns: [{ say: a }]", {});
    await first.send("one");
    const hooks = hooksThat({});
    const again = await rehearse("turns: [{ say: a }, { say: b }, { say: c }]", { after: first, talk: { hooks } });
    await again.send("two");
    assert.equal(hooks.heard[0]?.input["source"], "resume");
    const cleared = await hooked("turns: [{ say: a }]", {}, { source: "clear" });
    await cleared.send("one");
    assert.equal(of(cleared, "session_start")[0]?.["source"], "clear");
  });

  test("a hook that fails there stops nothing: a warning", async () => {
    const fails = (): Promise<Words> => Promise.reject(new Error("gone"));
    const made = await hooked("turns: [{ say: a }]", { session_start: fails, turn_start: fails });
    assert.equal((await made.send("go")).reason, "done");
    assert.deepEqual(
      made.heard.flatMap((event) => (event.type === "warning" ? [event.message] : [])),
      ["a session_start hook failed: gone", "a turn_start hook failed: gone"],
    );
  });

  test("hooks may add context to every request, and are told of every turn's end and of a failed run", async () => {
    const made = await hooked(
      "turns: [{ calls: [{ tool: echo, input: { text: a } }] }, { expect: { reminders: [{ contains: tick }] }, error: { status: 400, message: no } }]",
      { turn_start: () => ({ context: "tick" }) },
    );
    assert.equal((await made.send("go")).error?.type, "provider_error");
    assert.deepEqual(
      of(made, "turn_end").map((input) => input["reason"]),
      ["tool-calls", "error"],
    );
    assert.deepEqual(
      of(made, "on_error").map((input) => [input["hook_event_name"], input["error_type"], input["error"]]),
      [["StopFailure", "provider_error", "no (status 400)"]],
    );
  });
});

describe("stop", () => {
  const block = { verdict: "deny", reason: "run the <tests>" } as const;

  test("a hook holds the end back, and the model reads why", async () => {
    const answers: Words[] = [block];
    const made = await hooked(
      "turns: [{ say: done }, { expect: { reminders: [{ contains: ['<hook name=\"guard.sh\">', 'run the &lt;tests&gt;'] }] }, say: now done }]",
      { stop: () => answers.shift() },
    );
    assert.deepEqual(await made.send("go"), { reason: "done", text: "now done" });
    assert.deepEqual(
      of(made, "stop").map((input) => [input["stop_hook_active"], input["last_assistant_message"]]),
      [
        [false, "done"],
        [true, "now done"],
      ],
    );
  });

  test("at most so often in a row, then the run ends with a warning", async () => {
    const made = await hooked("turns: [{ say: a }, { say: b }, { say: c }]", { stop: () => block }, { stopHookLimit: 2 });
    assert.deepEqual(await made.send("go"), { reason: "done", text: "c", remark: "stop hook limit reached" });
    assert.equal(made.heard.filter((event) => event.type === "warning" && event.code === "stop_hook_limit").length, 1);
    made.player.assertUsed();
  });

  test("eight times unless settings say otherwise, and each run counts for itself", async () => {
    const turns = Array.from({ length: 18 }, () => "{ say: a }").join(", ");
    const made = await hooked(`turns: [${turns}]`, { stop: () => block });
    await made.send("one");
    assert.equal(of(made, "stop").length, 9);
    await made.send("two");
    assert.equal(of(made, "stop").length, 18);
    assert.equal(of(made, "stop")[9]?.["stop_hook_active"], false);
  });

  test("calls between do not make it endless", async () => {
    const work = "{ calls: [{ tool: echo, input: { text: a } }] }, { say: a }";
    const made = await hooked(`turns: [{ say: a }, ${work}, ${work}]`, { stop: () => block }, { stopHookLimit: 2 });
    assert.equal((await made.send("go")).remark, "stop hook limit reached");
  });

  const GOES: readonly [sentence: string, answer: () => Words | Promise<Words>][] = [
    ["no opinion", () => undefined],
    ["continue: false does not hold an end back", () => ({ stop: "enough" })],
    ["not even beside a block", () => ({ verdict: "deny", stop: "enough" })],
    ["a hook that fails: finishing is the safe side", () => Promise.reject(new Error("gone"))],
  ];
  for (const [sentence, answer] of GOES)
    test(`${sentence}: the run ends`, async () => {
      const made = await hooked("turns: [{ say: done }]", { stop: answer });
      assert.deepEqual(await made.send("go"), { reason: "done", text: "done" });
    });

  test("an abort while the hook thinks ends the run as cancelled", async () => {
    const stop = new AbortController();
    const made = await hooked("turns: [{ say: done }]", {
      stop: () => {
        stop.abort();
        return block;
      },
    });
    assert.equal((await made.conversation.send("go", stop.signal)).reason, "cancelled");
  });

  test("an agent is held back by subagent_stop, under its own name", async () => {
    const made = await hooked(
      "turns: [{ say: a }, { expect: { reminders: [{ contains: run the }] }, say: b }]",
      { subagent_stop: () => block },
      { agent: { id: "t_1", type: "explorer" }, stopHookLimit: 1 },
    );
    assert.deepEqual(await made.send("go"), { reason: "done", text: "b", remark: "stop hook limit reached" });
    const [input] = of(made, "subagent_stop");
    assert.deepEqual([input?.["agent_id"], input?.["agent_type"], input?.["agent_name"]], ["t_1", "explorer", "explorer"]);
    assert.deepEqual(of(made, "stop"), []);
  });

  test("without hooks a stop is never held back", async () => {
    const { signal } = new AbortController();
    const answer = await createStopHook({ hooks: undefined, event: "stop", input: () => ({}) }).consult("x", signal);
    assert.deepEqual(answer, { feedback: undefined, context: undefined, limitReached: false });
  });
});
