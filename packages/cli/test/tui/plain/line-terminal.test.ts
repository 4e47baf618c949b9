import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Approver } from "@assent/core";
import { sampleApproval } from "@assent/core/testing";
import { type LineTerminal, openLineTerminal } from "../../../src/tui/plain/line-terminal.ts";
import { makePlainView } from "../../../src/tui/plain/plain-view.ts";
import type { ConversationView } from "../../../src/tui/screen/view.ts";
import { type FakeTerminal, fakeTerminal } from "../../support/terminal.ts";

const BY = { kind: "person", user: "ann", name: "ann", door: "tui", pid: 1 } as const;
const PROMPT = "Type a letter, then Enter: ";
const { signal } = new AbortController();

type Bench = FakeTerminal & {
  readonly desk: LineTerminal;
  readonly stage: ConversationView & { readonly idle: () => Promise<void> };
  readonly approver: Approver;
};

/** A desk and a stage that write on the same paper. */
function bench(): Bench {
  const terminal = fakeTerminal();
  const { io, clock } = terminal;
  const desk = openLineTerminal(io, { clock, cancel: () => undefined });
  const stage = makePlainView({ output: io.stderr, cwd: "/w", ask: desk.ask, between: desk.between });
  const attend = () => ({ decided: () => undefined, observe: () => undefined });
  const { approver } = desk.door({ take: () => undefined, accept: async () => undefined })({
    by: BY,
    settings: () => undefined,
    revising: () => undefined,
    leaving: signal,
    attend,
    settle: async () => undefined,
  });
  assert.ok(approver);
  return { ...terminal, desk, stage, approver };
}

const command = (text: string, id: string) =>
  sampleApproval({ id, tool: "shell", input: { command: text }, details: { type: "exec", command: text, rootCommand: ":" } });

async function read(at: FakeTerminal, text: string): Promise<void> {
  await at.shows(text);
  await at.clock.advance(300);
}

const note = (text: string) => ({ type: "note", text, role: "dim" }) as const;

describe("lines, one keyboard and one paper", () => {
  test("what is said while approvals wait comes before or after each of them, never inside", async () => {
    const b = bench();
    const long = Array.from({ length: 10 }, (_, line) => `: ${line}.`).join("\n");
    const first = b.approver.ask(command(long, "a_1"), signal);
    b.stage.append(note("SAID while the first is shown"));
    const second = b.approver.ask(command(long, "a_2"), signal);
    b.stage.append(note("SAID while the second waits"));
    for (const answered of [first, second]) {
      await read(b, "Enter shows more");
      b.stage.append(note("SAID between two pages"));
      b.press("\r");
      await read(b, PROMPT);
      b.stage.append(note("SAID before the answer"));
      b.press("y\r");
      assert.equal((await answered)?.outcome, "approve");
    }
    await b.stage.idle();
    const painted = b.painted();
    assert.equal(painted.split("SAID").length - 1, 6, "all of it is said");
    const shown = painted.split("Approval needed").slice(1);
    assert.equal(shown.length, 2);
    for (const approval of shown) assert.ok(!approval.slice(0, approval.indexOf(PROMPT)).includes("SAID"), painted);
  });

  test("a line of the person's own is asked for again after every question that came between", async () => {
    const b = bench();
    const typed = b.desk.ask("You: ", signal);
    await b.shows("You: ");
    b.press("half");
    const asked = b.approver.ask(command(":", "a_1"), signal);
    await read(b, PROMPT);
    b.press("y\r");
    await asked;
    await b.shows("You: ");
    b.press("whole\r");
    assert.deepEqual(await typed, { line: "whole" });
  });

  test("a question that is taken back at once does not end the conversation", async () => {
    const b = bench();
    const typed = b.desk.ask("You: ", signal);
    await b.shows("You: ");
    assert.equal(await b.approver.ask(command(":", "a_1"), AbortSignal.abort()), undefined);
    await b.shows("You: ");
    b.press("on\r");
    assert.deepEqual(await typed, { line: "on" });
  });

  test("each answer shows the rule it would save, and a rejection can stop the turn", async () => {
    const b = bench();
    const answered = b.approver.ask({ ...command("touch a", "a_1"), suggestions: ["Shell(touch a)"] }, signal);
    await b.shows("s  always allow this in this session: Shell(touch a)\n");
    await b.shows("p  always allow this in this project: Shell(touch a)\n");
    await b.shows("u  always allow this in all my projects: Shell(touch a)\n");
    await b.shows("x  no, and stop the model\n");
    await read(b, PROMPT);
    b.press("x\r");
    await b.shows("Reason for the model");
    b.press("not now\r");
    const { outcome, interrupt, reason } = (await answered) ?? {};
    assert.deepEqual([outcome, interrupt, reason], ["reject", true, "not now"]);
  });
});
