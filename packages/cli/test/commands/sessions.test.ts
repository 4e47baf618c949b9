import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, test } from "node:test";
import { type Draft, memoryLedger, type SessionPorts } from "@assent/core";
import { createdDraft, draftOf, endedDraft, endedTaskDraft, manualClock, proposedDraft, startedTaskDraft } from "@assent/core/testing";
import { openLedger } from "@assent/store";
import { recordedReads } from "../../src/compose/recorded-reads.ts";
import { conversationParts } from "../../src/desk/sessions/conversation-parts.ts";
import { exportedEvents } from "../../src/desk/sessions/export.ts";
import { createTranscript } from "../../src/desk/sessions/export-markdown.ts";
import { type Place, place, until } from "../support/assent.ts";

const SCRIPT = {
  turns: [{ say: "I look.", calls: [{ tool: "read", id: "c1", input: { file_path: "a.txt" } }] }, { say: "I have seen it." }],
};

/** The model's turns in a fork: a script restarts in every session. */
const GOES_ON = {
  turns: [
    {
      expect: { result: { call: "c1", contains: "hello" } },
      calls: [{ tool: "edit", id: "c3", input: { file_path: "a.txt", old_string: "hello", new_string: "HELLO" } }],
    },
    { expect: { result: { call: "c3", outcome: "succeeded" } }, say: "Changed." },
  ],
};

/** A finished run that has read a file. */
async function ran(at: Place, script: object = SCRIPT, flags: readonly string[] = ["--mode", "yolo"]): Promise<string> {
  at.write("a.txt", "hello\n");
  at.write("s.json", JSON.stringify(script));
  await at.here(["run", "look at it", "--model", "script:s.json", ...flags]);
  return (await sessions(at))[0]?.["id"] as string;
}

async function sessions(at: Place, ...argv: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  return (await at.hereJson(["sessions", ...argv])).value;
}

type Event = { readonly seq: number; readonly session: string; readonly type: string; readonly body: Record<string, unknown> };

async function events(at: Place, argv: readonly string[]): Promise<readonly Event[]> {
  const { stdout } = await at.here(argv);
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

/** The sequence number of the nth event of a type, from 0: `call.ended 1`. */
async function seqOf(at: Place, session: string, which: string): Promise<number> {
  const [type = "", nth = "0"] = which.split(" ");
  const found = (await events(at, ["log", session, "--type", type, "--json"]))[Number(nth)];
  assert.ok(found, which);
  return found.seq;
}

async function createdOf(at: Place, session: string): Promise<Record<string, unknown>> {
  const [event] = await events(at, ["log", session, "--type", "session.created", "--json"]);
  assert.ok(event);
  return event.body;
}

describe("assent sessions fork", () => {
  test("the new session keeps place, model, mode and options, and begins with the last finished turn", async () => {
    using at = place();
    const id = await ran(at);
    const { code, value } = await at.hereJson(["sessions", "fork", id.slice(0, 8)]);
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(value), ["id"]);
    const { forked, version, ...kept } = await createdOf(at, value.id);
    const { version: same, ...before } = await createdOf(at, id);
    assert.deepEqual([kept, version], [before, same]);
    assert.deepEqual(forked, { session: id, seq: await seqOf(at, id, "message.assistant 1") });
    assert.deepEqual(
      (await sessions(at)).map(({ id, state }) => [id, state]),
      [
        [value.id, "done"],
        [id, "done"],
      ],
    );
    assert.equal((await at.hereJson(["verify"])).value.ok, true);
  });

  test("the text form is the id alone, and stderr says how to continue", async () => {
    using at = place();
    const { stdout, stderr } = await at.here(["sessions", "fork", await ran(at)]);
    assert.match(stdout, /^s_\w{20}\n$/);
    assert.equal(stderr, `Continue with: assent resume ${stdout.trim()} PROMPT\n`);
  });

  const PLACES: readonly [sentence: string, which: string, expected: "whole" | "cut" | "nothing"][] = [
    ["before anything was said", "session.opened", "nothing"],
    ["after the prompt", "message.user", "whole"],
    ["after an answer with a call", "message.assistant", "cut"],
    ["while its call is judged", "call.judged", "cut"],
    ["after the result", "call.ended", "whole"],
    ["after the last word", "message.assistant 1", "whole"],
    ["at the very end", "session.closed", "whole"],
  ];
  const ENDS = { whole: [0, undefined], cut: [2, "bad_place"], nothing: [1, "nothing_to_fork"] };
  for (const [sentence, which, expected] of PLACES) {
    test(`--at ${sentence}: ${expected}`, async () => {
      using at = place();
      const id = await ran(at);
      const seq = await seqOf(at, id, which);
      const { code, value } = await at.hereJson(["sessions", "fork", id, "--at", String(seq)]);
      assert.deepEqual([code, Object(value.error).type], ENDS[expected]);
      assert.equal((await sessions(at)).length, expected === "whole" ? 2 : 1);
      if (expected === "whole") assert.deepEqual((await createdOf(at, value.id))["forked"], { session: id, seq });
      const near = `Use --at ${(await seqOf(at, id, "message.assistant")) - 1}, before the answer with the calls or --at ${await seqOf(at, id, "call.ended")}, after the last of them.`;
      if (expected === "cut") assert.equal(value.error.hint, near);
    });
  }

  test("a place beyond the end: exit 2; an unknown session: exit 4; one of a single call: exit 1", async () => {
    using at = place();
    const id = await ran(at);
    const beyond = await at.hereJson(["sessions", "fork", id, "--at", "9999"]);
    assert.deepEqual([beyond.code, beyond.value.error.type], [2, "bad_place"]);
    assert.equal((await at.hereJson(["sessions", "fork", "s_unknown"])).code, 4);
    const { value } = await at.hereJson(["call", "list", "--input", '{"path":"."}']);
    const none = await at.hereJson(["sessions", "fork", value.sessionId]);
    assert.deepEqual([none.code, none.value.error.type], [1, "nothing_to_fork"]);
  });

  test("open work stays behind: the fork ends before the turn that waits, and nothing waits in it", async () => {
    using at = place();
    const waits = { calls: [{ tool: "write", id: "w1", input: { file_path: "x", content: "x" } }] };
    const id = await ran(at, { turns: [SCRIPT.turns[0], waits], allowUnused: true }, ["--on-ask", "park"]);
    const { value } = await at.hereJson(["sessions", "fork", id]);
    assert.deepEqual((await createdOf(at, value.id))["forked"], { session: id, seq: await seqOf(at, id, "call.ended") });
    assert.deepEqual(
      (await sessions(at)).map(({ state, openApprovals }) => [state, openApprovals]),
      [
        ["idle", 0],
        ["parked", 1],
      ],
    );
    const cut = await at.hereJson(["sessions", "fork", id, "--at", String(await seqOf(at, id, "approval.opened"))]);
    assert.match(cut.value.error.hint, /^Use --at \d+, before the answer with the calls\.$/);
  });

  test("a session that another process holds can be forked", async () => {
    using at = place();
    at.write("a.txt", "hello\n");
    at.write("s.json", JSON.stringify({ turns: [SCRIPT.turns[0], { delayMs: 600_000, say: "late" }] }));
    const child = at.start(["run", "look", "--model", "script:s.json"]);
    child.stdin?.end();
    try {
      await until("its first turn is over", async () => (await events(at, ["log", "--type", "turn.ended", "--json"])).length === 1);
      const [origin] = await sessions(at);
      const { code, value } = await at.hereJson(["sessions", "fork", String(origin?.["id"])]);
      assert.equal(code, 0);
      assert.deepEqual(
        (await sessions(at)).map(({ id, state }) => [id === value.id, state]),
        [
          [true, "idle"],
          [false, "running"],
        ],
      );
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("a fork of a fork that said nothing of its own begins where that one does", async () => {
    using at = place();
    const id = await ran(at);
    const first = (await at.hereJson(["sessions", "fork", id, "--at", String(await seqOf(at, id, "call.ended"))])).value.id;
    const second = (await at.hereJson(["sessions", "fork", first])).value.id;
    assert.deepEqual((await createdOf(at, second))["forked"], (await createdOf(at, first))["forked"]);
  });

  test("an incomplete answer is not a finished turn, and nothing it proposed ever runs", async () => {
    const { ledger, append } = recording();
    const call = { type: "call", call: "c9", tool: "read", input: {} } as const;
    const cut = { turn: 2, content: [call], stop: "aborted", usage: null, model: null, providerId: null };
    await append("s_origin", [createdDraft(), ...spoken("one"), draftOf("message.assistant", cut)]);
    const { findForkPlaces } = await import("../../src/desk/sessions/fork-place.ts");
    const places = await findForkPlaces(ledger, "s_origin", 4);
    assert.deepEqual([places?.finished?.seq, places?.cuts, places?.at?.seq, places?.at?.isDone], [3, undefined, 4, false]);
  });

  test("a mode that was chosen in the session is the fork's, too", async () => {
    const { ledger, append } = recording();
    await append("s_origin", [
      createdDraft({ door: "run" }),
      draftOf("mode.changed", { from: "default", to: "auto-edit", by: "Ada" }),
      ...spoken("one"),
      draftOf("mode.changed", { from: "auto-edit", to: "yolo", by: "Ada" }),
    ]);
    const { forkSession } = await import("../../src/desk/sessions/fork.ts");
    const id = await forkSession(ports(ledger), { id: "s_origin", at: undefined });
    const modes: unknown[] = [];
    for await (const { type, body } of ledger.read({ session: id, seq: 0 }, { session: id }))
      if (type === "session.created" || type === "mode.changed") modes.push(body["mode"] ?? body["to"]);
    assert.deepEqual(modes, ["default", "auto-edit"]);
  });

  test("resuming a fork with a prompt continues it: the model knows the conversation, and files that were read before may be edited", async () => {
    using at = place();
    const id = await ran(at);
    const fork = (await at.hereJson(["sessions", "fork", id])).value.id;
    at.write("s.json", JSON.stringify(GOES_ON));
    const { code, stderr } = await at.here(["resume", fork, "change it"]);
    assert.equal(code, 0, stderr);
    const ended = await events(at, ["log", fork, "--type", "call.ended", "--json"]);
    assert.deepEqual(
      ended.map(({ body }) => [body["call"], body["outcome"]]),
      [["c3", "succeeded"]],
    );
    assert.equal((await at.here(["resume", fork])).code, 0);
  });
});

/** A ledger with events written by the test. */
function recording(): { ledger: ReturnType<typeof memoryLedger>; append: (session: string, events: readonly Draft[]) => Promise<void> } {
  const ledger = memoryLedger();
  const holder = { pid: 1, host: "here", processStart: "1", door: "test" };
  return {
    ledger,
    append: async (session, events) => {
      const lease = await ledger.acquire(session, holder, true);
      await ledger.append(lease, lease.head, { events, durability: "full" });
    },
  };
}

function ports(ledger: ReturnType<typeof memoryLedger>): SessionPorts {
  return { ledger, clock: manualClock(), ids: { next: (prefix) => `${prefix}fork` } };
}

function spoken(text: string): readonly Draft[] {
  const answer = { turn: 1, stop: "stop", usage: null, model: null, providerId: null };
  return [
    draftOf("message.user", { turn: 1, content: text, origin: "user" }),
    draftOf("message.assistant", { ...answer, content: [{ type: "text", text: `${text}!` }] }),
  ];
}

test("what a session has read is known in its fork, up to the place of the fork, through every fork between", async () => {
  const { ledger, append } = recording();
  const read = (call: string, digest: string): readonly Draft[] => [
    proposedDraft(call),
    endedDraft(call, { outcome: "cancelled", details: { known: [{ path: "/a", digest }] } }),
  ];
  await append("s_1", [createdDraft(), ...read("c1", "one"), ...read("c2", "two")]);
  await append("s_2", [createdDraft({ forked: { session: "s_1", seq: 3 } })]);
  await append("s_3", [createdDraft({ forked: { session: "s_2", seq: 1 } })]);
  const reads = recordedReads();
  reads.from(ledger);
  assert.deepEqual(await Promise.all(["s_1", "s_2", "s_3"].map(async (id) => (await reads.recall(id, "/a"))?.digest)), [
    "two",
    "one",
    "one",
  ]);
  await append("s_3", read("c9", "three"));
  assert.equal((await reads.recall("s_3", "/a"))?.digest, "three");
  assert.deepEqual(await conversationParts(ledger, "s_3"), [
    { session: "s_1", through: 3 },
    { session: "s_2", through: 1 },
    { session: "s_3", through: Number.POSITIVE_INFINITY },
  ]);
});

describe("assent sessions export", () => {
  test("jsonl: the events of log --json, with large values in their places", async () => {
    using at = place();
    const large = "x".repeat(100_000);
    const { value } = await at.hereJson(["call", "shell", "--input", JSON.stringify({ command: `echo ${large}` }), "--on-ask", "park"]);
    await at.here(["reject", value.approvalId, "--reason", "too long"]);
    const log = await events(at, ["log", value.sessionId, "--json"]);
    const exported = await events(at, ["sessions", "export", value.sessionId, "--format", "jsonl"]);
    assert.deepEqual(
      exported.map(({ session, seq, type }) => [session, seq, type]),
      log.map(({ session, seq, type }) => [session, seq, type]),
    );
    assert.ok(log.some(({ body }) => JSON.stringify(body).includes("$blob")));
    assert.ok(!JSON.stringify(exported).includes('"$blob"'));
    assert.ok(exported.some(({ type, body }) => type === "call.judged" && JSON.stringify(body).includes(large)));
    assert.deepEqual(await events(at, ["sessions", "export", value.sessionId, "--json"]), exported);
    assert.equal((await at.here(["sessions", "export", value.sessionId, "--format", "md", "--json"])).code, 2);
    assert.equal((await at.here(["sessions", "export", "s_unknown"])).code, 4);
    const help = (await at.here(["sessions", "export", "--help"])).stdout;
    assert.match(help, /--json +the same as --format jsonl/);
    assert.ok(!help.includes("one JSON value"), help);
  });

  test("md: prompt, answers, calls with verdict, who decided and what came of it", async () => {
    using at = place();
    const turns = [
      { say: "I make **it**.", calls: [{ tool: "write", id: "w1", input: { file_path: "x", content: "x" } }] },
      { say: "Made.\n```\n# not a heading" },
    ];
    const id = await ran(at, { turns }, ["--on-ask", "park"]);
    const [approval] = (await at.hereJson(["approvals"])).value;
    const open = (await at.here(["sessions", "export", id, "--format", "md"])).stdout;
    assert.match(open, /### `write` as `w1`[\s\S]*- It has not ended\.\n\n\*The session ended: parked\*\n\n$/);
    await at.here(["resume", id]);
    assert.match(
      (await at.here(["sessions", "export", id])).stdout,
      /- It has not ended\.\n\n\*The session ended: parked\*\n\n\*The session ended: parked\*\n\n$/,
    );
    await at.here(["approve", approval.id, "--by", "Ada", "--reason", "go"]);
    await at.here(["resume", id]);
    const { stdout } = await at.here(["sessions", "export", id, "--format", "md"]);
    assert.equal((await at.here(["sessions", "export", id])).stdout, stdout, "it is what is printed where no format is asked for");
    const wanted = [
      /^# `look at it`\n/,
      /\n## Person\n\n```\nlook at it\n```\n/,
      /\n## Model\n\n```\nI make \*\*it\*\*\.\n```\n/,
      /\n### `write` as `w1`\n\n```json\n\{\n {2}"content": "x"/,
      /\n- Verdict: \*\*ask\*\*: `No rule allows it.*`\n/,
      new RegExp(`\\n- Asked as \`${approval.id}\`, \\d{4}-`),
      /\n- Answer: \*\*approved\*\* by `Ada \(\w+\)`, \S+: `go`\n/,
      /\n- Proposal `p_\w+` applied\n- Outcome: \*\*succeeded\*\* after \d+ ms\n/,
      /\n````\nMade\.\n```\n# not a heading\n````\n/,
      /\n\*The session ended: done\*\n/,
    ];
    for (const text of wanted) assert.match(stdout, text);
    const told = stdout.match(/^(### `|## |\*The session|- Outcome).*$/gm)?.map((line) => line.slice(0, 12));
    const order = ["## Person", "## Model", "### `write` ", "- Outcome: *", "*The session", "*The session", "## Model", "*The session"];
    assert.deepEqual(told, order, "each note follows the call that was left open");
  });

  test("md: of a call that was approved with edits both are there: what the model proposed, and what the person made of it", async () => {
    using at = place();
    const input = JSON.stringify({ command: "touch alpha" });
    const { value } = await at.hereJson(["call", "shell", "--input", input, "--on-ask", "park"]);
    await at.here(["approve", value.approvalId, "--edit", "-", "--by", "Ada"], { input: JSON.stringify({ command: "touch beta" }) });
    const command = (text: string): string => `\`\`\`json\\n\\{\\n {2}"command": "touch ${text}"\\n\\}\\n\`\`\`\\n\\n`;
    const both = new RegExp(
      `### \`shell\` as \`\\w+\`\\n\\nProposed by the model:\\n\\n${command("alpha")}Edited by \`Ada \\(\\w+\\)\`:\\n\\n${command("beta")}- Verdict`,
    );
    for (const _ of ["answered", "resumed"]) {
      const { stdout } = await at.here(["sessions", "export", value.sessionId]);
      assert.match(stdout, both);
      assert.match(stdout, /\n- Answer: \*\*approved, edited\*\* by `Ada/);
      assert.equal(stdout.match(/Edited by/g)?.length, 1);
      await at.here(["resume", value.sessionId]);
    }
  });

  test("md: what the model proposed stays what it proposed, however often its edit is judged", () => {
    const { take, end } = createTranscript();
    const by = { kind: "person", user: "ada", name: "Ada", door: "tui", pid: 1 };
    const judged = (input: object, fingerprint: string) => ({
      call: "c1",
      input,
      fingerprint,
      verdict: "ask",
      reason: "default",
      source: "x",
    });
    const edited = { input: { command: "two" }, fingerprint: "f2" };
    for (const [type, body] of [
      ["call.proposed", { call: "c1", tool: "shell", raw: { command: "one" } }],
      ["call.judged", judged({ command: "one" }, "f1")],
      ["approval.answered", { approval: "a_1", call: "c1", outcome: "approved", by, reason: null, edited }],
      ["call.judged", judged({ command: "two" }, "f2")],
    ] as const)
      take({ type, body, at: "1970-01-01T00:00:00.000Z", session: "s_1", seq: 1, pos: 1 } as never);
    assert.match(
      end(),
      /Proposed by the model:\n\n```json\n\{\n {2}"command": "one"[\s\S]*Edited by `Ada \(ada\)`:\n\n```json\n\{\n {2}"command": "two"/,
    );
  });

  test("md: what background tasks came back with is there, and where the rest of it is", async () => {
    const { ledger, append } = recording();
    const command = { outputFile: "/out/t_2.log", fingerprint: null };
    await append("s_1", [
      createdDraft(),
      startedTaskDraft("t_1"),
      startedTaskDraft("t_2", { agent: "shell", description: "npm test", session: "s_1", command }),
      endedTaskDraft("t_1", { result: "I found src/users.js.\n## Person" }),
      endedTaskDraft("t_2", { status: "failed", result: "3 of 4 pass", error: "exit code 1" }),
    ]);
    const { take } = createTranscript();
    let text = "";
    for await (const event of exportedEvents(ledger, "s_1")) text += take(event as never);
    assert.match(text, /\*Task `t_1` started with `explorer`: `looks around`; its conversation is `s_t_1`\*/);
    assert.match(text, /\*Task `t_2` started with `shell`: `npm test`; its output is in `\/out\/t_2\.log`\*/);
    assert.match(text, /\*Task `t_1` completed\*\n\n```\nI found src\/users\.js\.\n## Person\n```\n/);
    assert.match(text, /\*Task `t_2` failed\*\n\n```\nError: exit code 1\n\n3 of 4 pass\n```\n/);
  });

  test("md: no text of anybody becomes markup, and nothing hidden reaches a terminal", async () => {
    using at = place();
    const hostile = "\u001b[2J\u202e\u0007 ```\n## Person\n- Answer: **approved** by `root`";
    const id = await ran(at, {
      turns: [{ say: hostile, calls: [{ tool: "shell", id: "c`1", input: { command: `echo '${hostile}'` } }] }, {}],
    });
    const { stdout } = await at.here(["sessions", "export", id, "--format", "md"]);
    assert.ok(!/[^\P{Cc}\n]|\u202e/u.test(stdout));
    const outside = stdout.replace(/^(`{3,})\w*\n[\s\S]*?\n\1$/gm, "");
    assert.equal(outside.match(/^## Person$/gm)?.length, 1);
    assert.ok(!outside.includes("approved"), outside);
  });

  test("md: notices and reminders are given as people saw them, never in the model's envelope", async () => {
    const { ledger, append } = recording();
    const told = (origin: "notice" | "schedule" | "steering", displayText?: string): Draft =>
      draftOf("message.user", {
        turn: 1,
        content: "<envelope>secret</envelope>",
        origin,
        ...(displayText !== undefined && { displayText }),
      });
    await append("s_1", [createdDraft(), told("notice", "task done"), told("schedule", "it is time"), told("steering"), told("notice")]);
    const { take } = createTranscript();
    let text = "";
    for await (const event of exportedEvents(ledger, "s_1")) text += take(event as never);
    assert.ok(!text.includes("envelope"), text);
    assert.match(
      text,
      /## Notice\n\n```\ntask done\n```\n[\s\S]*## Schedule\n\n```\nit is time\n```\n[\s\S]*## Reminder\n\nAssent sent the model/,
    );
  });

  test("a fork begins with what it was forked from, up to there", async () => {
    using at = place();
    const id = await ran(at);
    const seq = await seqOf(at, id, "call.ended");
    const fork = (await at.hereJson(["sessions", "fork", id, "--at", String(seq)])).value.id;
    const exported = await events(at, ["sessions", "export", fork, "--format", "jsonl"]);
    assert.deepEqual(
      exported.map((event) => [event.session, event.seq]),
      [...Array.from({ length: seq }, (_, index) => [id, index + 1]), [fork, 1], [fork, 2], [fork, 3]],
    );
    const { stdout } = await at.here(["sessions", "export", fork]);
    assert.ok(stdout.includes(`- Forked from \`${id}\` after event ${seq}\n`));
    assert.ok(!stdout.includes("I have seen it."));
  });
});

describe("sessions of background agents", () => {
  const CHILD = "s_childaaaaaaaaaaaaaaa";
  const paused = (task: string): Draft => draftOf("task.paused", { task, reason: "restart", blocked: null });

  /** A session that started two agents, one of them paused, and the other one's session. */
  async function withTasks(at: Place, ...more: readonly Draft[]): Promise<void> {
    const ledger = await openLedger({ directory: at.store });
    const holder = { pid: 1, host: "elsewhere", processStart: "1", door: "test" };
    const write = async (session: string, events: readonly Draft[]): Promise<void> => {
      const lease = await ledger.acquire(session, holder);
      await ledger.append(lease, 0, { events: [...events, draftOf("session.closed", { reason: "done", exit: 0 })], durability: "full" });
    };
    const started = [startedTaskDraft("t_1"), startedTaskDraft("t_2"), endedTaskDraft("t_1"), paused("t_2")];
    await write("s_rootaaaaaaaaaaaaaaaa", [createdDraft(), ...started, ...more]);
    await write(CHILD, [createdDraft({ title: "look", parent: { session: "s_rootaaaaaaaaaaaaaaaa", call: "c1", task: "t_1" } })]);
    await ledger.close();
  }

  test("they are listed with --all alone, and paused agents are counted where they were started", async () => {
    using at = place();
    await withTasks(at);
    assert.deepEqual(
      (await sessions(at)).map(({ id, pausedTasks }) => [id, pausedTasks]),
      [["s_rootaaaaaaaaaaaaaaaa", 1]],
    );
    const all = await sessions(at, "--all");
    assert.deepEqual([all.length, all[0]?.["parent"]], [2, { session: "s_rootaaaaaaaaaaaaaaaa", call: "c1", task: "t_1" }]);
    const { stdout } = await at.here(["sessions", "--all"]);
    assert.match(stdout, /PAUSED[\s\S]*\(t_1 of s_rootaaaaaaaaaaaaaaaa\) look/);
  });

  test("prune keeps them while an agent has not ended, and says so; afterwards all go together", async () => {
    using at = place();
    await withTasks(at);
    const kept = await at.hereJson(["prune", "--older-than", "1d"]);
    assert.deepEqual(
      [kept.value, kept.stderr],
      [{ sessions: 0, bytes: 0 }, "Kept 2 sessions: a background agent it started has not ended. See: assent tasks\n"],
    );
    rmSync(at.store, { recursive: true });
    await withTasks(at, endedTaskDraft("t_2"));
    const gone = await at.hereJson(["prune", "--older-than", "1d"]);
    assert.deepEqual([gone.value.sessions, gone.stderr], [2, ""]);
    assert.deepEqual(await sessions(at, "--all"), []);
  });

  test("a question that waits counts as open", async () => {
    using at = place();
    const input = JSON.stringify({ questions: [{ id: "db", question: "Which?", options: [{ label: "a" }, { label: "b" }] }] });
    assert.equal((await at.here(["call", "ask", "--input", input, "--on-ask", "park"])).code, 75);
    assert.equal((await sessions(at))[0]?.["openApprovals"], 1);
  });
});
