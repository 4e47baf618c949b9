import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Answer, type Approver, type OpenApproval, reviewChanges } from "@assent/core";
import { unifiedDiff } from "@assent/core/parts";
import { testApprover } from "@assent/core/testing";
import { nodeDigest } from "@assent/host";
import { approvalLines } from "../../../src/desk/approvals/view.ts";
import { terminalApprover } from "../../../src/desk/terminal/approver.ts";
import { oneAtATime } from "../../../src/desk/terminal/one-at-a-time.ts";
import { terminalQuestioner } from "../../../src/desk/terminal/questioner.ts";
import { styleOf } from "../../../src/io/style.ts";
import { type FakeTerminal, fakeTerminal } from "../../support/terminal.ts";

const BY = { kind: "person", user: "ann", name: "ann", door: "call", pid: 1 } as const;

function approval(change: Partial<OpenApproval> = {}): OpenApproval {
  return {
    id: "a_1",
    revision: 3,
    sessionId: "s_1",
    callId: "c_1",
    tool: "shell",
    title: "Confirm command",
    fingerprint: "f1",
    input: { command: "touch x" },
    cwd: "/w",
    reason: "default",
    source: "",
    rule: null,
    explicitAsk: false,
    details: { type: "exec", command: "touch x", rootCommand: "touch" },
    suggestions: ["shell:command=touch x"],
    expiresAt: null,
    ...change,
  };
}

type Asked = FakeTerminal & {
  readonly answer: Promise<Answer | undefined>;
  readonly abort: AbortController;
  readonly cancelled: () => number;
};

function ask(
  change: Partial<OpenApproval> = {},
  size?: { columns: number; rows: number },
  means: Partial<Parameters<typeof terminalApprover>[0]> = {},
): Asked {
  const terminal = fakeTerminal(size);
  const abort = new AbortController();
  let cancels = 0;
  const approver = terminalApprover({ io: terminal.io, clock: terminal.clock, by: BY, cancel: () => cancels++, ...means });
  return { ...terminal, abort, answer: approver.ask(approval(change), abort.signal), cancelled: () => cancels };
}

function queuedApprover({ io, clock }: FakeTerminal): Approver {
  const parts = { io, clock, by: BY };
  return oneAtATime({ approver: terminalApprover({ ...parts, cancel: () => undefined }), questioner: terminalQuestioner(parts) }).approver;
}

/** Waits for a text and for the time to read it. */
async function read(asked: FakeTerminal, text: string): Promise<void> {
  await asked.shows(text);
  await asked.clock.advance(300);
}

const PROMPT = "Type a letter, then Enter: ";
const YES = { approval: "a_1", revision: 3, fingerprint: "f1", by: BY, outcome: "approve" };

describe("the terminal approver", () => {
  test("y and Enter approve once, bound to the revision and fingerprint that were shown", async () => {
    const asked = ask();
    await read(asked, PROMPT);
    asked.press("y\r");
    assert.deepEqual(await asked.answer, YES);
    assert.equal(asked.held(), false);
  });

  test("it shows the command, where it would run and why it asks", async () => {
    const asked = ask();
    await asked.shows(PROMPT);
    for (const text of ["run a command", "$ touch x", "/w", "no rule allows it", "a_1"]) assert.ok(asked.painted().includes(text), text);
    asked.abort.abort();
    await asked.answer;
  });

  test("a command that names a directory of its own shows that one", async () => {
    const asked = ask({ details: { type: "exec", command: "ls", rootCommand: "ls", cwd: "/elsewhere" } });
    await asked.shows("/elsewhere");
    asked.abort.abort();
    await asked.answer;
  });

  test("n rejects, with the reason typed after it; fast typing loses no letter", async () => {
    const asked = ask();
    await read(asked, PROMPT);
    asked.press("n\r");
    await asked.shows("Reason");
    asked.press(" use rg \r");
    assert.deepEqual(await asked.answer, { ...YES, outcome: "reject", reason: "use rg" });
  });

  test("n without a reason rejects without one", async () => {
    const asked = ask();
    await read(asked, PROMPT);
    asked.press("N\r");
    await asked.shows("Reason");
    asked.press("\r");
    assert.deepEqual(await asked.answer, { ...YES, outcome: "reject" });
  });

  for (const [key, scope] of [
    ["s", "session"],
    ["p", "project"],
    ["u", "user"],
  ]) {
    test(`${key} shows the rule literally before it is remembered for the ${scope}`, async () => {
      const asked = ask();
      await read(asked, PROMPT);
      asked.press(`${key}\r`);
      await read(asked, "shell:command=touch x\n");
      asked.press("y\r");
      assert.deepEqual(await asked.answer, { ...YES, remember: { scope, rules: ["shell:command=touch x"] } });
    });
  }

  const wider = { rules: ["Shell(npm run *)"], risk: "It runs scripts of this repository." };
  for (const [agentName, scope] of [
    [undefined, "project"],
    ["worker", "session"],
  ] as const) {
    test(`w shows the prefix and its risk before it is remembered for the ${scope}`, async () => {
      const details = { type: "exec", command: "npm run x", rootCommand: "npm", wider } as const;
      const asked = ask({ details, ...(agentName !== undefined && { agentName }) });
      await read(asked, "w stores Shell(npm run *): It runs scripts of this repository.");
      await read(asked, PROMPT);
      asked.press("w\r");
      await read(asked, "  Shell(npm run *)\nIt runs scripts of this repository.\n");
      asked.press("y\r");
      assert.deepEqual((await asked.answer)?.remember, { scope, rules: ["Shell(npm run *)"] });
    });
  }

  test("t shows the tool's name before all of it is let pass in the session, and no command is offered so", async () => {
    const asked = ask({ tool: "write", details: { type: "info", title: "write", prompt: "x" }, suggestions: ["write(/x)"] });
    await read(asked, PROMPT);
    asked.press("t\r");
    await read(asked, "  write\n");
    asked.press("y\r");
    assert.deepEqual((await asked.answer)?.remember, { scope: "session", rules: ["write"] });
    const command = ask();
    await read(command, PROMPT);
    command.press("t\r");
    await read(command, "'t' is not an answer; type one of: y, s, p, u, n.\n");
    command.press("y\r");
    await command.answer;
  });

  test("a remembered answer that is not confirmed goes back to the question", async () => {
    const asked = ask();
    await read(asked, PROMPT);
    asked.press("s\r");
    await read(asked, "goes back: ");
    asked.press("\r");
    await read(asked, PROMPT);
    asked.press("y\r");
    assert.deepEqual(await asked.answer, YES);
  });

  for (const [name, change] of [
    ["an explicit ask offers no always", { explicitAsk: true }],
    ["details that hide always offer none", { details: { type: "exec", command: "x", rootCommand: "x", hideAlwaysAllow: true } }],
    ["no rule to offer means no always", { suggestions: [] }],
  ] as const) {
    test(`${name}, and s does not answer`, async () => {
      const asked = ask(change);
      await read(asked, PROMPT);
      assert.ok(!asked.painted().includes("in this session"));
      asked.press("s\r");
      await read(asked, PROMPT);
      asked.press("y\r");
      assert.equal((await asked.answer)?.remember, undefined);
    });
  }

  for (const typed of ["\r", "yes\r", "ja\r", "\u001b[A\r", "\t\r"]) {
    test(`${JSON.stringify(typed)} answers nothing: the question is put again`, async () => {
      const asked = ask();
      await read(asked, PROMPT);
      asked.press(typed);
      await read(asked, PROMPT);
      asked.press("n\r");
      await asked.shows("Reason");
      asked.press("\r");
      assert.equal((await asked.answer)?.outcome, "reject");
    });
  }

  for (const [typed, change, says] of [
    ["\r", {}, "Enter alone is not an answer; type one of: y, s, p, u, n.\n"],
    ["yes\r", {}, "'yes' is not an answer; type one of: y, s, p, u, n.\n"],
    ["s\r", { suggestions: [] }, "'s' is not an answer; type one of: y, n.\n"],
    [`${"j".repeat(500)}\r`, {}, "… is not an answer; type one of: y, s, p, u, n.\n".replace("… ", "…' ")],
  ] as const) {
    test(`${JSON.stringify(typed.slice(0, 9))} gets a note why it does not count and which keys do, without repeating the request`, async () => {
      const asked = ask(change);
      await read(asked, PROMPT);
      asked.press(typed);
      await asked.shows(says);
      await read(asked, PROMPT);
      assert.equal(asked.painted().split("Approval needed").length, 2);
      asked.press("y\r");
      assert.deepEqual(await asked.answer, YES);
    });
  }

  test("keys pressed before the question was painted and 300 ms later answer nothing", async () => {
    const asked = ask();
    asked.press("yyyy\r a\r");
    await asked.shows(PROMPT);
    asked.press("y\r");
    await asked.clock.advance(299);
    asked.press("y\r");
    await asked.clock.advance(1);
    asked.press("n\r");
    await asked.shows("Reason");
    asked.press("\r");
    assert.equal((await asked.answer)?.outcome, "reject");
  });

  test("of two approvals, Enter twice at once reaches only the first", async () => {
    const terminal = fakeTerminal();
    const approver = queuedApprover(terminal);
    const signal = new AbortController().signal;
    const first = approver.ask(approval(), signal);
    const second = approver.ask(approval({ id: "a_2" }), signal);
    await read(terminal, PROMPT);
    terminal.press("y\ry\r");
    assert.equal((await first)?.approval, "a_1");
    await read(terminal, PROMPT);
    terminal.press("n\r");
    await terminal.shows("Reason");
    terminal.press("\r");
    assert.deepEqual([(await second)?.approval, (await second)?.outcome], ["a_2", "reject"]);
  });

  test("backspace and Ctrl-U correct the line before Enter", async () => {
    const asked = ask();
    await read(asked, PROMPT);
    asked.press("yyy\u0015x\u007fn\r");
    await asked.shows("Reason");
    asked.press("\r");
    assert.equal((await asked.answer)?.outcome, "reject");
  });

  test("Ctrl-C cancels the call, even before the question could be read", async () => {
    const asked = ask();
    await asked.shows(PROMPT);
    asked.press("\u0003");
    assert.equal(await asked.answer, undefined);
    assert.equal(asked.cancelled(), 1);
    assert.equal(asked.held(), false);
  });

  test("Ctrl-D gives no answer here and leaves the approval open", async () => {
    const asked = ask();
    await read(asked, PROMPT);
    asked.press("\u0004");
    assert.equal(await asked.answer, undefined);
    assert.equal(asked.cancelled(), 0);
  });

  test("an answer from elsewhere ends the question and says so", async () => {
    const asked = ask();
    await asked.shows(PROMPT);
    asked.abort.abort();
    assert.equal(await asked.answer, undefined);
    assert.ok(asked.painted().endsWith("This approval was answered or closed elsewhere.\n"));
    assert.equal(asked.held(), false);
  });

  test("an approval that was settled while it queued is never shown", async () => {
    const terminal = fakeTerminal();
    const approver = terminalApprover({ io: terminal.io, clock: terminal.clock, by: BY, cancel: () => undefined });
    const answer = approver.ask(approval(), AbortSignal.abort());
    assert.equal(await answer, undefined);
    assert.equal(terminal.painted(), "");
  });

  test("nothing in a request reaches the terminal raw", async () => {
    const evil = "\u001b[2J\u001b]52;c;eA==\u0007\r\b\u202e\u2066\u200b\u{e0069}";
    const asked = ask(
      {
        title: `T${evil}`,
        tool: `x${evil}`,
        cwd: `/w${evil}`,
        details: { type: "exec", command: `ls${evil}`, rootCommand: "ls", warnings: [evil] },
        rule: { text: evil },
        suggestions: [evil],
        reason: "checker",
        source: evil,
        input: { command: `ls${evil}`, [evil]: evil },
      },
      { columns: 80, rows: 60 },
    );
    await read(asked, PROMPT);
    asked.press("s\r");
    await read(asked, "goes back: ");
    assert.ok(!/[^\P{Cc}\n]|[\u202e\u2066\u200b\u{e0069}]/u.test(asked.painted()));
    asked.abort.abort();
    await asked.answer;
  });

  test("a long command is shown page by page, counted, and yes is not taken before its end", async () => {
    const command = Array.from({ length: 60 }, (_, at) => `echo line-${at}`).join("\n");
    const asked = ask({ details: { type: "exec", command, rootCommand: "echo" }, input: { command } }, { columns: 80, rows: 24 });
    await read(asked, "more lines");
    assert.ok(!asked.painted().includes(PROMPT));
    asked.press("y\r");
    await asked.shows("'y' is not an answer yet: read all of it first.\n");
    for (let page = 2; page <= 4; page++) {
      await read(asked, "more lines");
      asked.press("y\r");
    }
    await read(asked, PROMPT);
    for (let at = 0; at < 60; at++) assert.ok(asked.painted().includes(`echo line-${at}`));
    asked.press("y\r");
    assert.deepEqual(await asked.answer, YES);
  });

  test("a long request can be rejected from its first page", async () => {
    const command = "x\n".repeat(200);
    const asked = ask({ details: { type: "exec", command, rootCommand: "x" }, input: { command } });
    await read(asked, "more lines");
    asked.press("n\r");
    await asked.shows("Reason");
    asked.press("\r");
    assert.equal((await asked.answer)?.outcome, "reject");
  });

  test("an edit shows its path and diff; what the details leave out of the input is shown beside them", async () => {
    const asked = ask({
      details: { type: "edit", fileName: "a.txt", filePath: "/w/a.txt", fileDiff: "-old\n+new", originalContent: "old", newContent: "new" },
      input: { file_path: "a.txt", content: "new", extra: 7 },
    });
    await asked.shows(PROMPT);
    for (const text of ["/w/a.txt", "-old", "+new", "input  extra: 7"]) assert.ok(asked.painted().includes(text), text);
    assert.ok(!asked.painted().includes("content:"));
    asked.abort.abort();
    await asked.answer;
  });

  test("of an edit with several hunks, h chooses some by their numbers", async () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`);
    const [before, after] = [lines.join(""), ["first\n", ...lines.slice(1, -1), "last\n"].join("")];
    const fileDiff = unifiedDiff({ name: "a.txt", before, after });
    const asked = ask(
      { details: { type: "edit", fileName: "a.txt", filePath: "/w/a.txt", fileDiff, originalContent: before, newContent: after } },
      { columns: 80, rows: 60 },
    );
    await read(asked, PROMPT);
    assert.match(asked.painted(), /1\.1 {2}@@[\s\S]*1\.2 {2}@@[\s\S]*h {2}choose which hunks to apply/);
    asked.press("h\r");
    await read(asked, "Apply which?");
    asked.press("1.2\r");
    assert.deepEqual(await asked.answer, { ...YES, newContent: [...lines.slice(0, -1), "last\n"].join("") });
  });

  test("a file of a proposal is edited first, shown again, and y approves the person's version", async () => {
    const review = reviewChanges(
      ["a.txt", "b.txt"].map((name) => ({
        ...{ path: `/w/${name}`, realPath: `/w/${name}` },
        ...{ before: Buffer.from("old\n"), after: Buffer.from("new\n") },
      })),
      { cwd: "/w", digest: nodeDigest },
    );
    const none = { message: "Only files are edited here." };
    const edit = { editable: () => undefined, hasEditor: () => true, open: async () => none, revise: async () => none };
    const editFile = { ...edit, openText: async () => ({ text: "mine\n" }) };
    const resolve = { tool: "resolve", details: { type: "info", prompt: "Apply" }, suggestions: [] } as const;
    const asked = ask(resolve, { columns: 80, rows: 60 }, { review: async () => review, edit: editFile });
    await read(asked, PROMPT);
    asked.press("e\r");
    await read(asked, "Edit which file?");
    asked.press("7\r");
    await read(asked, "'7' is not a number from the list.");
    asked.press("2\r");
    await read(asked, "edited by you");
    await read(asked, PROMPT);
    asked.press("y\r");
    assert.deepEqual(await asked.answer, { ...YES, part: { files: [{ path: "/w/a.txt" }, { path: "/w/b.txt", content: "mine\n" }] } });
  });

  const WROTE = { ...YES, write: "v_1" };
  const WHICH = "Write which?";
  type Step = readonly [shows: string, typed: string];
  const CHOICES: readonly (readonly [sentence: string, steps: readonly Step[], answer: object])[] = [
    ["a file and a hunk", [[WHICH, "1 2.2"]], { ...WROTE, part: [["/w/a.txt"], ["/w/b.txt", 1]] }],
    ["all of it, which is not a part", [[WHICH, "1 2"]], WROTE],
    [
      "a file, after a wrong number",
      [
        [WHICH, "3"],
        ["'3' is not a number", "2"],
      ],
      { ...WROTE, part: [["/w/b.txt"]] },
    ],
    [
      "nothing if Enter goes back: all is written",
      [
        [WHICH, ""],
        [PROMPT, "y"],
      ],
      WROTE,
    ],
    [
      "nothing if the command runs for real",
      [
        [WHICH, ""],
        [PROMPT, "r"],
      ],
      YES,
    ],
  ];
  for (const [sentence, steps, answer] of CHOICES)
    test(`of what a command would change, h chooses ${sentence}`, async () => {
      const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`);
      const changed = ["first\n", ...lines.slice(1, -1), "last\n"];
      const review = reviewChanges(
        [
          { ...{ path: "/w/a.txt", realPath: "/w/a.txt" }, before: null, after: { link: "b.txt" } },
          { ...{ path: "/w/b.txt", realPath: "/w/b.txt" }, before: Buffer.from(lines.join("")), after: Buffer.from(changed.join("")) },
        ],
        { cwd: "/w", digest: nodeDigest },
      );
      const seen = { ended: "exit code 0", succeeded: true, durationMs: 100, output: "", notes: [], changes: [], blocks: ["a block"] };
      const details = { type: "exec", command: "touch x", rootCommand: "touch", effect: { state: "shown", id: "v_1", ...seen } } as const;
      const asked = ask({ details }, { columns: 80, rows: 60 }, { review: async () => review });
      await read(asked, PROMPT);
      assert.match(asked.painted(), /\$ touch x[\s\S]*a block[\s\S]*h {2}choose which files and hunks to write/);
      asked.press("h\r");
      for (const [shows, typed] of steps) {
        await read(asked, shows);
        asked.press(`${typed}\r`);
      }
      assert.match(asked.painted(), /1 {2}a\.txt[\s\S]*a link to b\.txt after[\s\S]*2\.1 {2}@@[\s\S]*2\.2 {2}@@[\s\S]*\+ last/);
      const { part, ...said } = (await asked.answer) ?? {};
      const chosen = part?.files.map(({ path, hunks }) => [path, ...(hunks ? [hunks.length] : [])]);
      assert.deepEqual({ ...said, ...(chosen && { part: chosen }) }, answer);
    });

  test("c accepts the offer to allow confined commands, and says so in the record", async () => {
    const accepted: string[] = [];
    const confinedOffer = { take: () => "/home/ann/settings.json", accept: async () => void accepted.push("yes") };
    const facts = { containment: { confined: true, network: false } };
    const asked = ask({ facts }, undefined, { confinedOffer });
    await read(asked, PROMPT);
    assert.match(asked.painted(), /c {2}Allow all confined commands/);
    asked.press("c\r");
    assert.deepEqual(await asked.answer, { ...YES, reason: 'Also set "allowConfined": true in /home/ann/settings.json.' });
    assert.deepEqual(accepted, ["yes"]);
  });

  test("a small write is one page at 80 by 24: what its diff shows is not shown again", async () => {
    const fileDiff = "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1 @@\n+new";
    const asked = ask({
      tool: "write",
      details: { type: "edit", fileName: "a.txt", filePath: "/w/a.txt", fileDiff, originalContent: "", newContent: "new" },
      input: { file_path: "a.txt", content: "new" },
    });
    await read(asked, PROMPT);
    assert.doesNotMatch(asked.painted(), /more lines|input/);
    asked.press("y\r");
    assert.deepEqual(await asked.answer, YES);
  });

  test("what the model says of a command is marked as about its own beside the person's", () => {
    const details = { type: "exec", command: "ls", rootCommand: "ls", warnings: ["The model says: lists"] } as const;
    const of = (edited: boolean): string =>
      approvalLines(approval({ details, input: { command: "ls", description: "lists" } }), {
        columns: 80,
        style: styleOf(fakeTerminal().io.stderr, {}),
        edited,
      }).join("\n");
    assert.match(of(false), /Warning: The model says: lists/);
    assert.match(of(true), /Warning: The model said of its own version: lists/);
    assert.doesNotMatch(of(true), /The model says|description/);
  });

  test("a tool without details of its own shows its whole input", async () => {
    const asked = ask(
      { details: { type: "info", prompt: "Frob {…" }, input: { deep: { list: [1, 2] }, text: "t".repeat(300) } },
      { columns: 40, rows: 60 },
    );
    await asked.shows(PROMPT);
    const painted = asked.painted().replaceAll(/\n(?:│ | *)/g, "");
    assert.ok(painted.includes(`input text: "${"t".repeat(300)}"`));
    assert.ok(painted.includes('input  deep: {"list":[1,2]}'));
    asked.abort.abort();
    await asked.answer;
  });

  const PLANS: readonly [keys: string, answer: object][] = [
    ["y\r", { ...YES, mode: "default" }],
    ["e\r", { ...YES, mode: "auto-edit" }],
    ["b\r", { ...YES, mode: "yolo" }],
  ];
  for (const [keys, answer] of PLANS) {
    test(`plan-mode 4: ${keys.trim()} approves a plan into a mode`, async () => {
      const asked = ask({ explicitAsk: true, details: { type: "plan", plan: "# Fix", prePlanMode: "yolo", hideAlwaysAllow: true } });
      await asked.shows("back to mode yolo");
      await read(asked, PROMPT);
      asked.press(keys);
      assert.deepEqual(await asked.answer, answer);
      assert.match(asked.painted(), /# Fix/);
      assert.doesNotMatch(asked.painted(), /in this session/);
    });
  }

  test("what is said to an agent is remembered for its session, and nothing wider is offered", async () => {
    const asked = ask({ agentName: "worker", suggestions: ["Shell(git push *)"] });
    await read(asked, PROMPT);
    assert.match(asked.painted(), /in this session: Shell/);
    assert.doesNotMatch(asked.painted(), /in this project|in all my projects/);
    asked.press("p\r");
    await read(asked, "is not an answer");
    asked.press("y\r");
    assert.deepEqual(await asked.answer, YES);
  });

  test("plan-mode 4: without a mode to go back to, none is offered", async () => {
    const asked = ask({ explicitAsk: true, details: { type: "plan", plan: "# Fix" } });
    await read(asked, PROMPT);
    asked.press("b\r");
    await read(asked, "type one of: y, e, n");
    asked.press("n\r");
    await asked.shows("Reason");
    asked.press("later\r");
    assert.deepEqual(await asked.answer, { ...YES, outcome: "reject", reason: "later" });
  });
});

testApprover("the terminal approver as a port", async () => {
  const terminal = fakeTerminal();
  const approver = queuedApprover(terminal);
  return {
    approver,
    answer: async ({ id }, outcome) => {
      await terminal.shows(id);
      await read(terminal, PROMPT);
      terminal.press(outcome === "approve" ? "y\r" : "n\r");
      if (outcome === "approve") return;
      await terminal.shows("Reason");
      terminal.press("\r");
    },
  };
});
