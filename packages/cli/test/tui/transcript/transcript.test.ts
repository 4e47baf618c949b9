import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import type { ConversationEvent } from "@assent/agent";
import type { EventBodies, EventType, LedgerEvent } from "@assent/core";
import { drawAnsi } from "../../../src/tui/draw/ansi.ts";
import { makeTheme } from "../../../src/tui/draw/theme.ts";
import { plainLines } from "../../../src/tui/plain/plain-lines.ts";
import { appendDelta, EMPTY_STREAM, endStream, openBlocks } from "../../../src/tui/transcript/answer-stream.ts";
import type { Block, CallBlock } from "../../../src/tui/transcript/block.ts";
import { isSamePerson } from "../../../src/tui/transcript/call-words.ts";
import { drawBlock } from "../../../src/tui/transcript/draw-block.ts";
import type { Drawing } from "../../../src/tui/transcript/drawing.ts";
import { buildPrompt, commandContext, ownWords } from "../../../src/tui/transcript/prompt.ts";
import {
  applyConversationEvent,
  applyLedgerEvent,
  EMPTY_TRANSCRIPT,
  type EventContext,
  liveBlocks,
  type Transcript,
  takeSettled,
} from "../../../src/tui/transcript/transcript.ts";

const DRAWING: Drawing = {
  columns: 60,
  rows: 24,
  theme: makeTheme("none"),
  markdown: (text) => text.split("\n").map((line) => line.replaceAll("**", "_")),
  isMarkdown: (tool) => tool === "report",
  open: false,
  cwd: "/w",
  now: 65_000,
};
const PID = 7;
const LIVE: EventContext = { pid: PID, live: true };

function recorded<T extends EventType>(type: T, body: Partial<EventBodies[T]>): LedgerEvent {
  return { type, body, session: "s_1", seq: 1, pos: 1, at: "1970-01-01T00:01:00.000Z" } as unknown as LedgerEvent;
}

function after(events: readonly LedgerEvent[], hearing: EventContext = LIVE): Transcript {
  return events.reduce((now, event) => applyLedgerEvent(now, event, hearing), EMPTY_TRANSCRIPT);
}

function said(...events: readonly object[]): Transcript {
  return events.reduce<Transcript>(
    (now, event) => applyConversationEvent(now, { turn: 1, ...event } as ConversationEvent),
    EMPTY_TRANSCRIPT,
  );
}

const text = (delta: string): object => ({ type: "delta", index: 0, delta: { type: "text", delta } });

const PERSON = { kind: "person", user: "ada", name: "Ada", door: "tui", pid: PID } as const;

describe("an answer as it comes", () => {
  const ROWS: readonly [sentence: string, deltas: readonly string[], settled: readonly string[], open: string][] = [
    ["a sentence is open until the next part begins", ["One", " sentence.\n"], [], "One sentence."],
    ["an empty line and a new part settle what is before it", ["One.\n\nTw"], [], "One.\n\nTw"],
    ["…once the new part's line is whole", ["One.\n\nTwo\n"], ["One."], "Two"],
    ["what is indented after an empty line still belongs to it", ["- a\n\n  b\n"], [], "- a\n\n  b"],
    ["code settles line by line", ["```ts\na\nb\nc"], ["", "a", "b"], "c"],
    ["a fence inside code of a longer fence is code", ["````\n```\nx\n````\nend\n"], ["", "```", "x"], "end"],
    ["text before code settles with its fence", ["Look:\n```\n"], ["Look:", ""], ""],
  ];
  for (const [sentence, deltas, settled, open] of ROWS) {
    test(sentence, () => {
      let stream = EMPTY_STREAM;
      const found: Block[] = [];
      for (const delta of deltas) {
        const next = appendDelta(stream, delta);
        stream = next.stream;
        found.push(...next.settled);
      }
      assert.deepEqual(found.map(wordsOf), settled);
      assert.equal(openBlocks(stream).map(wordsOf).join("\n"), open);
    });
  }

  test("cut anywhere, the same pieces come of it", () => {
    const whole = "# A\n\nText with *marks*.\n\n- x\n- y\n\n```js\nlet a = 1;\n\nlet b = 2;\n```\nEnd.";
    const pieces = (step: number): string => {
      let stream = EMPTY_STREAM;
      const found: Block[] = [];
      for (let at = 0; at < whole.length; at += step) {
        const next = appendDelta(stream, whole.slice(at, at + step));
        stream = next.stream;
        found.push(...next.settled);
      }
      return JSON.stringify([...found, ...endStream(stream)]);
    };
    for (const step of [1, 2, 3, 7, 50]) assert.equal(pieces(step), pieces(whole.length), `step ${step}`);
  });
});

function wordsOf(block: Block): string {
  if (block.type === "code") return block.lines.join("\n");
  return "text" in block ? String(block.text) : "";
}

describe("a transcript", () => {
  test("answers are settled at their end; a request that is made again says so", () => {
    const transcript = said({ type: "message_start" }, text("Half"), { type: "message_start" }, text("Whole."), {
      type: "message_stop",
      stop: "stop",
    });
    assert.deepEqual(takeSettled(transcript).settled.map(wordsOf), ["Half", "The answer starts over.", "Whole."]);
  });

  test("thinking is a block of its own, before what is said", () => {
    const transcript = said(
      { type: "delta", index: 0, delta: { type: "reasoning", delta: "hm" } },
      { type: "block_stop", index: 0 },
      text("So."),
    );
    assert.deepEqual(
      liveBlocks(transcript).map(({ type }) => type),
      ["thought", "answer"],
    );
  });

  const CALL = recorded("call.proposed", { call: "c1", tool: "write", raw: '{"file_path":"/w/a"}', index: 0, turn: 1, givenId: null });
  test("a call is open until it ended, and holds back what comes after it", () => {
    const open = after([CALL, recorded("message.user", { turn: 1, content: "later", origin: "user" })]);
    assert.equal(takeSettled(open).settled.length, 0);
    const closed = applyLedgerEvent(
      open,
      recorded("call.ended", { call: "c1", outcome: "succeeded", type: null, content: "ok", durationMs: 1 }),
      LIVE,
    );
    assert.deepEqual(
      takeSettled(closed).settled.map(({ type }) => type),
      ["call", "user"],
    );
  });

  test("an edit, and what is remembered, are said with the yes: what, where, and how it is taken back", () => {
    const base = {
      approval: "a_1",
      session: "s_1",
      call: "c1",
      revision: 1,
      outcome: "approved",
      fingerprint: "f",
      by: PERSON,
      reason: null,
    };
    const edited = { input: { command: "x" }, fingerprint: "g" };
    const remember = (scope: string, ...rules: string[]) => ({ scope, rules });
    const told = (over: object): readonly unknown[] => {
      // Parsing: a body as the ledger has it.
      const body = { ...base, ...over } as unknown as EventBodies["approval.answered"];
      return after([CALL, recorded("approval.answered", body)]).blocks.map((block) =>
        block.type === "call" ? block.decided : "text" in block && block.text,
      );
    };
    assert.deepEqual(told({ edited }), ["approved by you, edited"]);
    assert.deepEqual(told({ remember: remember("user", "Edit(/a.js)") }), [
      "approved by you, remembered",
      "Saved for all your projects: Edit(/a.js). /grants lists it; /grants revoke ID removes it.",
    ]);
    assert.deepEqual(told({ edited, remember: remember("session", "A", "B") }), [
      "approved by you, edited, remembered",
      "Saved for this session: A, B. /grants lists them; /grants revoke ID removes each.",
    ]);
  });

  test("an answer by the same system user is yours, unless it has another name", () => {
    const by = { kind: "person", user: "ada", name: "ada", door: "tui", pid: 9 } as const;
    assert.deepEqual(
      [
        isSamePerson(by, "ada"),
        isSamePerson(by, "bob"),
        isSamePerson({ ...by, name: "Grace" }, "ada"),
        isSamePerson({ ...by, kind: "host" }, "ada"),
      ],
      [true, false, false, false],
    );
  });

  const ANSWERS: readonly [sentence: string, by: object, decided: string, notes: number][] = [
    ["an answer of this screen is yours", PERSON, "approved by you", 0],
    ["an answer from elsewhere says by whom, in a line of its own", { ...PERSON, pid: 8, name: "Grace" }, "approved by Grace (ada)", 1],
  ];
  for (const [sentence, by, decided, notes] of ANSWERS) {
    test(sentence, () => {
      const body = {
        approval: "a_1",
        session: "s_1",
        call: "c1",
        revision: 1,
        outcome: "approved",
        fingerprint: "f",
        by,
        reason: null,
      } as EventBodies["approval.answered"];
      const { blocks } = after([CALL, recorded("approval.answered", body)]);
      assert.equal((blocks[0] as CallBlock).decided, decided);
      assert.equal(blocks.filter(({ type }) => type === "note").length, notes);
    });
  }

  test("a notice is its display text once, and no line of the person", () => {
    const { blocks } = after([
      recorded("message.user", { turn: 1, content: "<task-notification>…", origin: "notice", displayText: "Background task done." }),
    ]);
    assert.deepEqual(blocks, [{ type: "notice", text: "Background task done." }]);
    assert.deepEqual(drawBlock(blocks[0] as Block, DRAWING), ["● Background task done."]);
  });

  test("a notice opens to what its background tasks brought: an agent's report, the end of a command's output and where all of it is", () => {
    const ended = { status: "completed", error: null, partial: false, settled: true, by: null } as const;
    const { blocks, ends } = after([
      recorded("task.started", { task: "t_1", agent: "explorer" }),
      recorded("task.started", { task: "t_2", agent: "shell", command: { outputFile: "/out/t_2", fingerprint: null } }),
      recorded("task.started", { task: "t_3", agent: "explorer" }),
      recorded("task.ended", { ...ended, task: "t_2", status: "failed", error: "exit code 1", result: "3 of 4 pass\n" }),
      recorded("notice.queued", { notice: "n_2", kind: "task", displayText: "Two failed.", task: "t_2" }),
      recorded("task.ended", { ...ended, task: "t_1", result: "I found it.\nTwice." }),
      recorded("notice.queued", { notice: "n_1", kind: "task", displayText: "One completed.", task: "t_1" }),
      recorded("message.user", { turn: 1, content: "<task…", origin: "notice", displayText: "Two failed.\nOne completed." }),
    ]);
    const [block] = blocks as readonly Block[];
    assert.ok(block);
    assert.deepEqual(drawBlock(block, DRAWING), [
      ...["● Two failed.", "  One completed.", "  3 lines of output: ctrl+o or /tasks t_2", "  2 lines of output: ctrl+o or /tasks t_1"],
    ]);
    assert.deepEqual(drawBlock(block, { ...DRAWING, open: true }), [
      ...["● Two failed.", "  One completed.", "    Error: exit code 1", "    ", "    3 of 4 pass", "    Full output: /out/t_2"],
      ...["    I found it.", "    Twice."],
    ]);
    assert.deepEqual(plainLines(block, "/w"), [
      ...["Notice: Two failed.", "One completed.", "Error: exit code 1", "", "3 of 4 pass", "Full output: /out/t_2"],
      ...["I found it.", "Twice."],
    ]);
    assert.deepEqual(
      ends.map(({ task }) => task),
      ["t_3"],
      "what was told is not told again",
    );
  });

  for (const [sentence, by, outcome, decided] of [
    ["a question that was answered here", PERSON, "answered", "answered by you"],
    ["one that was declined elsewhere", { ...PERSON, pid: 8 }, "declined", "declined by Ada (ada)"],
    ["one without an answer", { ...PERSON, kind: "runtime" }, "expired", "no answer in time"],
  ] as const)
    test(`${sentence} says by whom, not that a tool let it pass`, () => {
      const { blocks } = after([
        recorded("call.proposed", { call: "c1", tool: "ask", raw: { questions: [] }, index: 0, turn: 1, givenId: null }),
        recorded("call.judged", { call: "c1", tool: "ask", input: {}, verdict: "allow", reason: "tool", source: "tool", rule: null }),
        recorded("question.asked", { question: "q_1", callId: "c1", questions: [] }),
        recorded("question.answered", { question: "q_1", session: "s_1", outcome, by: by as typeof PERSON, reason: null }),
      ]);
      assert.equal((blocks[0] as CallBlock).decided, decided);
    });

  test("resolve 7: before its result a resolve names the preview it is about", () => {
    const staged = recorded("proposal.staged", { proposal: "p_1", tool: "ast_edit", label: "rename" });
    const resolve = recorded("call.proposed", {
      call: "c2",
      tool: "resolve",
      raw: '{"action":"apply","reason":"good"}',
      index: 0,
      turn: 1,
      givenId: null,
    });
    const { blocks } = after([staged, resolve]);
    assert.deepEqual(drawBlock(blocks[0] as Block, DRAWING), ["Resolving… [ast_edit] rename", "  good"]);
    const settled = after([staged, recorded("proposal.discarded", { proposal: "p_1" }), resolve]);
    assert.deepEqual(drawBlock(settled.blocks[0] as Block, DRAWING), ["Resolving…", "  good"]);
  });

  test("read back from the record, an answer is what it was", () => {
    const { blocks } = after(
      [
        recorded("message.assistant", {
          turn: 1,
          content: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "One.\n\nTwo." },
          ],
          stop: "aborted",
        }),
      ],
      { pid: -1, live: false },
    );
    assert.deepEqual(blocks.map(wordsOf), ["hm", "One.", "Two.", "Interrupted."]);
  });

  test("the model sees the person's own command, but it is not shown as their words", () => {
    const content = buildPrompt([commandContext("ls", "a\nb")], "go");
    assert.equal(ownWords(content), "go");
    assert.match(JSON.stringify(content), /\$ ls\\na\\nb/);
    assert.equal(buildPrompt([], "go"), "go");
  });
});

const call = (over: Partial<CallBlock>): CallBlock => ({
  type: "call",
  callId: "c1",
  tool: "shell",
  input: { command: "make" },
  state: "ended",
  outcome: "succeeded",
  errorType: null,
  ...over,
});
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}`).join("\n");

describe("a call, drawn", () => {
  const ROWS: readonly [sentence: string, block: CallBlock, drawn: readonly string[]][] = [
    [
      "a running call shows how long, by whom, and the end of its output",
      call({ state: "running", outcome: undefined as never, since: 60_000, decided: "approved by you", live: lines(9) }),
      [
        "» shell make",
        "    running 5 s · approved by you",
        ...[3, 4, 5, 6, 7, 8].map((at) => `    line ${at}`),
        "    … 3 more lines (ctrl+o)",
      ],
    ],
    [
      "a waiting one says for whom",
      call({ state: "waiting", outcome: undefined as never }),
      ["? shell make", "    waiting for your answer"],
    ],
    [
      "outcomes are words, not marks alone",
      call({ outcome: "failed", errorType: "shell_execute_error", text: "[exit code 2]" }),
      ["✗ shell make", "    failed", "    [exit code 2]"],
    ],
    [
      "a rejection says whose",
      call({ outcome: "rejected", errorType: "rejected_by_user", decided: "rejected by you: no", text: "x" }),
      ["– shell make", "    rejected by you: no"],
    ],
    [
      "a cancelled one keeps the end of what was seen of it",
      call({ outcome: "cancelled", errorType: "cancelled", live: lines(7), text: "It was cancelled." }),
      [
        "– shell make",
        "    cancelled",
        ...[2, 3, 4, 5, 6].map((at) => `    line ${at}`),
        "    It was cancelled.",
        "    … 2 more lines (ctrl+o)",
      ],
    ],
    [
      "an unknown outcome says what that means",
      call({ outcome: "unknown", errorType: null }),
      ["? shell make", "    unknown: it may have taken effect"],
    ],
    [
      "reading is told in a line",
      call({ tool: "read", input: { file_path: "/w/src/a.ts" }, display: "Read lines 1 to 3 of 3 of a.ts", text: "1\n2\n3" }),
      ["✓ read src/a.ts", "    ok · Read lines 1 to 3 of 3 of a.ts"],
    ],
    [
      "progress is a bar",
      call({ state: "running", outcome: undefined as never, live: { type: "tool_progress", progress: 5, total: 10, message: "half" } }),
      ["» shell make", "    running", "    [##########----------] 50 % half"],
    ],
    [
      "more than all of it is all of it",
      call({ state: "running", outcome: undefined as never, live: { type: "tool_progress", progress: 20, total: 10 } }),
      ["» shell make", "    running", "    [####################] 100 %"],
    ],
    [
      "a list of points shows the last of each id",
      call({
        tool: "todo",
        input: {},
        display: {
          type: "todo_list",
          todos: [
            { id: "1", content: "a", status: "pending" },
            { id: "1", content: "b", status: "completed" },
          ],
        },
      }),
      ["✓ todo ", "    ok", "    [x] b"],
    ],
    ["a person's own command is marked as theirs", call({ byPerson: true, text: "hi" }), ["✓ ! make", "    ok", "    hi"]],
    [
      "a text display of a tool is drawn as markdown",
      call({ tool: "report", input: {}, text: "for the model", display: "# Two\n**bold**\u001b[2J" }),
      ["✓ report ", "    ok", "    # Two", "    _bold_\\x1b[2J"],
    ],
    [
      "a display of one line is the summary, drawn as markdown too",
      call({ tool: "report", input: {}, text: "for the model", display: "**3** files" }),
      ["✓ report ", "    ok · _3_ files"],
    ],
    [
      "a text display of a tool that declares plain output keeps its characters",
      call({ tool: "plain", input: {}, text: "for the model", display: "**3** files" }),
      ["✓ plain ", "    ok · **3** files"],
    ],
    [
      "what a tool shows while it runs is drawn as markdown",
      call({ tool: "report", input: {}, state: "running", outcome: undefined as never, live: "**half** done" }),
      ["» report ", "    running", "    _half_ done"],
    ],
    [
      "nothing in a command is acted on",
      call({ input: { command: "a\u001b[2J\u202eb\rc" } }),
      ["✓ shell a\\x1b[2J\\u{202e}b\\rc", "    ok"],
    ],
  ];
  for (const [sentence, block, drawn] of ROWS) test(sentence, () => assert.deepEqual(drawBlock(block, DRAWING), drawn));

  test("ten thousand lines cost a few rows, and open when asked", () => {
    const block = call({ text: lines(10_000) });
    assert.equal(drawBlock(block, DRAWING).length, 8);
    assert.match(drawBlock(block, DRAWING).at(-1) ?? "", /9995 more lines/);
    assert.ok(drawBlock(block, { ...DRAWING, open: true }).length > 10_000);
  });

  const RESOLVES: readonly [sentence: string, over: Partial<CallBlock>, drawn: readonly string[]][] = [
    [
      "resolve 7: an apply that succeeded",
      { details: { sourceToolName: "ast_edit", label: "rename" } },
      ["Accept [ast_edit] rename", "  good"],
    ],
    [
      "resolve 7: a discard",
      { input: { action: "discard", reason: "" }, details: { sourceToolName: "ast_edit", label: "rename" } },
      ["Discard [ast_edit] rename", "  (no reason)"],
    ],
    [
      "resolve 7: a failure gives its first line",
      { outcome: "failed", text: "Stale: 1 file.\nmore", details: { sourceToolName: "ast_edit", label: "rename" } },
      ["Failed [ast_edit] rename", "  good", "  Stale: 1 file."],
    ],
    [
      "a failure that is about no preview is of resolve itself",
      { outcome: "failed", text: "No pending action." },
      ["Failed [resolve]", "  good", "  No pending action."],
    ],
    [
      "nothing pending, no badge",
      { input: { action: "discard", reason: "x" }, errorType: "nothing_to_discard" },
      ["Discard nothing pending", "  x"],
    ],
    [
      "resolve 7: before the result",
      { state: "running", details: { sourceToolName: "ast_edit", label: "rename" } },
      ["Resolving… [ast_edit] rename", "  good"],
    ],
    [
      "resolve 7: escapes are shown",
      { details: { sourceToolName: "a\u001b[0m", label: "b\u202e" } },
      ["Accept [a\\x1b[0m] b\\u{202e}", "  good"],
    ],
  ];
  for (const [sentence, over, drawn] of RESOLVES)
    test(sentence, () =>
      assert.deepEqual(drawBlock(call({ tool: "resolve", input: { action: "apply", reason: "good" }, ...over }), DRAWING), drawn),
    );

  test("resolve 7: a long reason is at most three lines, until it is opened", () => {
    const block = call({
      tool: "resolve",
      input: { action: "apply", reason: "word ".repeat(100) },
      details: { sourceToolName: "t", label: "l" },
    });
    assert.equal(drawBlock(block, DRAWING).length, 4);
    assert.ok(drawBlock(block, { ...DRAWING, open: true }).length > 4);
  });

  test("terminal output has our codes and no others, and never more columns than there are", () => {
    const run = { bold: true, italic: false, underline: false, dim: false, inverse: false, fg: "#ff0000", bg: "" };
    const drawn = drawAnsi(
      [
        { ...run, text: "ab\u001b]0;x\u0007" },
        { ...run, text: "漢字漢字" },
      ],
      { columns: 21, rows: 1, theme: makeTheme("dark") },
    );
    assert.equal(stripVTControlCharacters(drawn), "ab\\x1b]0;x\\x07漢字漢");
    assert.ok(drawn.includes("\u001b[1;38;5;9m"));
    assert.ok(!drawAnsi([{ ...run, text: "x" }], { columns: 9, rows: 1, theme: makeTheme("none") }).includes("\u001b"));
  });
});

describe("without a screen", () => {
  const ROWS: readonly [sentence: string, block: Block, printed: readonly string[]][] = [
    ["a call is a sentence", call({ decided: "approved by you", text: "hi\n" }), ["Call: shell make: ok, approved by you.", "hi"]],
    ["a failure names its outcome", call({ outcome: "failed", errorType: "boom", text: "" }), ["Call: shell make: failed."]],
    ["a notice says that it is one", { type: "notice", text: "done" }, ["Notice: done"]],
    ["what the person typed is on the screen already", { type: "user", text: "hello" }, []],
  ];
  for (const [sentence, block, printed] of ROWS) test(sentence, () => assert.deepEqual(plainLines(block, "/w"), printed));
});
