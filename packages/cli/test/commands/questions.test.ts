import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openLedger } from "@assent/store";
import { replayTranscript } from "../../src/tui/conversation/replay.ts";
import { type Place, place } from "../support/assent.ts";
import { afterReading, openPty } from "../support/pty.ts";

type Parked = { readonly sessionId: string; readonly callId: string; readonly approvalId: string };

const DB = { id: "db", question: "Which database?", options: [{ label: "SQLite", description: "one file" }, { label: "Postgres" }] };
const EXTRAS = { id: "x", question: "What else?", multi: true, options: [{ label: "Cache" }, { label: "Search" }] };
const ASK = (questions: readonly object[]): string[] => ["call", "ask", "--input", JSON.stringify({ questions })];

async function park(at: Place, questions: readonly object[] = [DB]): Promise<Parked> {
  const { code, value } = await at.hereJson([...ASK(questions), "--on-ask", "park"]);
  assert.deepEqual([code, value.outcome], [75, "waiting"]);
  assert.match(value.approvalId, /^q_/);
  return value;
}

const answers = (...selected: string[]): string => JSON.stringify([{ id: "db", selected }]);
const approve = (id: string, selected: string, ...more: string[]): string[] => ["approve", id, "--answers", answers(selected), ...more];

describe("a question that was parked", () => {
  test("it is listed as an approval of ask, with what it asks besides", async () => {
    using at = place();
    const { approvalId, sessionId, callId } = await park(at, [{ ...DB, recommended: 1 }]);
    const [form] = (await at.hereJson(["approvals"])).value;
    assert.deepEqual(Object.keys(form), [
      "id",
      "sessionId",
      "callId",
      "tool",
      "title",
      "reason",
      "requestedAt",
      "fingerprint",
      "questions",
      "sessionTitle",
      "agent",
      "group",
      "directory",
      "mode",
      "why",
      "ageSeconds",
    ]);
    assert.deepEqual(
      [form.id, form.sessionId, form.callId, form.tool, form.title],
      [approvalId, sessionId, callId, "ask", "Which database?"],
    );
    assert.deepEqual(form.questions, [{ ...DB, multi: false, recommended: 1, allowCustom: true }]);
    assert.match((await at.here(["approvals"])).stdout, new RegExp(`^${approvalId}  ask .*Which database\\?$`, "m"));
    for (const [argv, count] of [
      [["--tool", "ask"], 1],
      [["--tool", "shell"], 0],
      [["--session", sessionId], 1],
    ] as const)
      assert.equal((await at.hereJson(["approvals", ...argv])).value.length, count, argv.join(" "));
  });

  for (const [who, by, decided] of [
    ["you", [], /^answered by you$/],
    ["another", ["--by", "Ada"], /^answered by Ada \(\w+\)$/],
  ] as const)
    test(`read back from the record, a question that ${who} answered says so`, async () => {
      using at = place();
      const { approvalId, sessionId } = await park(at);
      await at.here(approve(approvalId, "Postgres", ...by));
      await at.here(["resume", sessionId]);
      const ledger = await openLedger({ directory: at.store });
      try {
        const [block] = (await replayTranscript(ledger, sessionId)).settled;
        assert.ok(block?.type === "call");
        assert.match(block.decided ?? "", decided);
      } finally {
        await ledger.close();
      }
    });

  test("an answer from another process is stored before it is said, and is the call's one result", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at);
    const { code, value, stderr } = await at.json(approve(approvalId, "Postgres", "--by", "Ada"));
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(value), ["id", "outcome", "alreadyAnswered", "answeredBy", "answeredAt"]);
    assert.deepEqual([value.id, value.outcome, value.alreadyAnswered, value.answeredBy.name], [approvalId, "answered", false, "Ada"]);
    assert.match(stderr, new RegExp(`^Continue with: assent resume ${sessionId}$`, "m"));
    assert.deepEqual((await at.hereJson(["approvals"])).value, []);
    for (const _ of [1, 2]) {
      const end = await at.json(["resume", sessionId]);
      assert.deepEqual(
        [end.code, end.value.outcome, end.value.type, end.value.content],
        [0, "succeeded", "answered", "User selected: Postgres"],
      );
    }
  });

  test("answers from a file, and as the object of the JSON form", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at, [DB, EXTRAS]);
    const said = {
      outcome: "answered",
      answers: [
        { id: "x", selected: ["Search", "Cache"], custom: "a\nb" },
        { id: "db", selected: [], note: "you choose" },
      ],
    };
    at.write("answers.json", JSON.stringify(said));
    assert.equal((await at.json(["approve", approvalId, "--answers", "@answers.json"])).code, 0);
    const { value } = await at.hereJson(["resume", sessionId]);
    assert.equal(value.content, 'User answers:\ndb: (no answer) note: "you choose"\nx: [Search, Cache] + "a\\nb"');
  });

  test("a second, different answer changes nothing and prints the first; the same again is fine", async () => {
    using at = place();
    const { approvalId } = await park(at);
    const first = await at.json(approve(approvalId, "SQLite", "--by", "first"));
    const same = await at.json(approve(approvalId, "SQLite", "--by", "again", "--reason", "other"));
    assert.deepEqual([same.code, same.value], [0, { ...first.value, alreadyAnswered: true }]);
    for (const argv of [approve(approvalId, "Postgres"), ["reject", approvalId]]) {
      const late = await at.json(argv);
      assert.deepEqual([late.code, late.value], [1, { ...first.value, alreadyAnswered: true }]);
      assert.match(late.stderr, /^Already answered: answered by first .*at /);
    }
  });

  test("of two processes at once one wins, the other exits 1 and prints the winner's answer", async () => {
    using at = place();
    for (let race = 0; race < 5; race++) {
      const { approvalId, sessionId } = await park(at);
      const both = await Promise.all([
        at.json(approve(approvalId, "SQLite", "--by", "one")),
        at.json(["reject", approvalId, "--by", "two"]),
      ]);
      assert.deepEqual(both.map(({ code }) => code).sort(), [0, 1]);
      const winner = both.find(({ code }) => code === 0);
      assert.deepEqual(both.find(({ code }) => code === 1)?.value, { ...winner?.value, alreadyAnswered: true });
      const { value } = await at.hereJson(["resume", sessionId]);
      assert.equal(value.type, winner?.value.outcome === "answered" ? "answered" : "ask_cancelled");
    }
  });

  const BAD: readonly (readonly [name: string, given: string, message: RegExp])[] = [
    ["an option that was not offered", answers("Oracle"), /^Question db: there is no option "Oracle"/],
    ["two options", answers("SQLite", "Postgres"), /^Question db: only one option/],
    ["another question", '[{"id":"z","selected":[]}]', /no question z/],
    ["nothing", "[]", /^Question db has no answer/],
    ["no JSON", "SQLite", /^The answers are not valid JSON/],
    ["a cancel", '{"outcome":"cancelled"}', /^Answers are a list/],
  ];
  for (const [name, given, message] of BAD) {
    test(`${name}: bad_answer, exit 2, and it stays open`, async () => {
      using at = place();
      const { approvalId } = await park(at);
      const { code, value } = await at.hereJson(["approve", approvalId, "--answers", given]);
      assert.deepEqual([code, value.error.type], [2, "bad_answer"]);
      assert.match(value.error.message, message);
      assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    });
  }

  test("without --answers: exit 2, the questions are printed, and nothing is taken for an answer", async () => {
    using at = place();
    const { approvalId } = await park(at, [{ ...DB, recommended: 1 }]);
    const text = await at.run(["approve", approvalId]);
    assert.deepEqual([text.code, text.stdout], [2, ""]);
    for (const part of ["Which database?", "1  SQLite", "one file", "2  Postgres (Recommended)", `assent approve ${approvalId}`])
      assert.ok(text.stderr.includes(part), part);
    const { code, value } = await at.hereJson(["approve", approvalId]);
    assert.deepEqual([code, value.error.type, value.questions[0].id], [2, "bad_answer", "db"]);
    assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    assert.equal(value.error.hint, `assent approve ${approvalId} --answers '[{"id":"db","selected":["SQLite"]}]'`);
  });

  test("declined: the call ends cancelled, with the reason", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at);
    const { code, value } = await at.json(["reject", approvalId, "--reason", "ask me tomorrow"]);
    assert.deepEqual([code, value.outcome], [0, "declined"]);
    const end = await at.hereJson(["resume", sessionId]);
    assert.deepEqual([end.value.outcome, end.value.type], ["cancelled", "ask_cancelled"]);
    assert.equal(end.value.content, "Ask tool was cancelled by the user\nReason: ask me tomorrow");
  });

  test("resumed while open: parked again, under the same id", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at);
    for (const _ of [1, 2]) {
      const { code, value, stderr } = await at.json(["resume", sessionId]);
      assert.deepEqual([code, value.outcome, value.approvalId], [75, "waiting", approvalId]);
      assert.match(stderr, new RegExp(`assent approve ${approvalId} --answers JSON`));
    }
    assert.equal((await at.here(["log", sessionId, "--type", "question.asked", "--json"])).stdout.trim().split("\n").length, 1);
  });

  test("after its call ended an answer comes too late", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at);
    const end = await at.hereJson(["resume", sessionId, "--on-ask", "deny"]);
    assert.deepEqual([end.code, end.value.type], [1, "ask_unavailable"]);
    const late = await at.hereJson(approve(approvalId, "SQLite"));
    assert.deepEqual([late.code, late.value.outcome, late.value.alreadyAnswered], [1, "cancelled", true]);
    assert.deepEqual((await at.hereJson(["approvals", "--all"])).value[0].state, "cancelled");
  });

  test("it fails if no one can be asked, and says so", async () => {
    using at = place();
    const { code, value } = await at.hereJson(ASK([DB]));
    assert.deepEqual(
      [code, value.outcome, value.type, value.content],
      [1, "failed", "ask_unavailable", "Ask tool requires interactive mode"],
    );
  });

  test("show gives all of it, before and after", async () => {
    using at = place();
    const { approvalId } = await park(at);
    const open = await at.here(["approvals", "show", approvalId.slice(0, 8)]);
    for (const part of ["Which database?", "one file", "open", `assent approve ${approvalId} --answers`])
      assert.ok(open.stdout.includes(part), part);
    await at.here(approve(approvalId, "Postgres", "--by", "Ada"));
    const { value } = await at.hereJson(["approvals", "show", approvalId]);
    assert.deepEqual(
      [value.state, value.answers, value.answeredBy.name, value.consumed],
      ["answered", [{ id: "db", selected: ["Postgres"] }], "Ada", false],
    );
    assert.deepEqual([value.kind, value.cwd, value.decision.verdict, value.input.questions[0].id], ["think", at.workspace, "allow", "db"]);
  });

  test("a question too large for a list is listed, shown and answered whole", async () => {
    using at = place();
    const preview = "p".repeat(4_000);
    const options = Array.from({ length: 20 }, (_, index) => ({ label: `option ${index}`, preview }));
    const { approvalId, sessionId } = await park(at, [{ ...DB, options }]);
    assert.equal((await at.hereJson(["approvals"])).value[0].questions[0].options[19].preview, preview);
    const custom = "c".repeat(100_000);
    at.write("long.json", JSON.stringify([{ id: "db", selected: [], custom }]));
    assert.equal((await at.json(["approve", approvalId, "--answers", "@long.json"])).code, 0);
    const end = await at.hereJson(["resume", sessionId]);
    assert.deepEqual([end.code, end.value.type], [0, "answered"]);
  });

  const USAGE: readonly (readonly [name: string, argv: readonly string[]])[] = [
    ["--remember of a question", ["approve", "q_nobody", "--remember", "session"]],
    ["--edit of a question", ["approve", "q_nobody", "--edit", "x.json"]],
    ["--answers to an approval", ["approve", "a_nobody", "--answers", "[]"]],
  ];
  for (const [name, argv] of USAGE) {
    test(`${name} is a usage error`, async () => {
      using at = place();
      at.write("x.json", "{}");
      const { code, value } = await at.hereJson(argv);
      assert.deepEqual([code, value.error.type], [2, "usage"]);
    });
  }

  test("an unknown id", async () => {
    using at = place();
    for (const argv of [approve("q_nobodyknows", "A"), ["reject", "q_nobodyknows"], ["approvals", "show", "q_nobodyknows"]]) {
      const { code, value } = await at.hereJson(argv);
      assert.deepEqual([code, value.error.type], [4, "unknown_approval"]);
    }
  });

  test("hostile text reaches no terminal raw", async () => {
    using at = place();
    const hostile = "\u001b[2J\u202e\u0007";
    const { approvalId } = await park(at, [{ ...DB, question: `Which ${hostile}?`, options: [{ label: hostile, description: hostile }] }]);
    for (const argv of [["approvals"], ["approvals", "show", approvalId], ["approve", approvalId]]) {
      const { stdout, stderr } = await at.here(argv);
      assert.ok(!/[^\P{Cc}\n]|\u202e/u.test(stdout + stderr), argv.join(" "));
    }
  });
});

describe("everything that waits for a person, in one list", () => {
  test("approvals, questions and parked previews, oldest first; they page together", async () => {
    using at = place();
    at.write("settings.json", JSON.stringify({ proposals: { resolver: "person", stage: ["write"] } }));
    at.write("a.txt", "one\n");
    const shell = (await at.hereJson(["call", "shell", "--input", '{"command":"touch x"}', "--on-ask", "park"])).value.approvalId;
    const first = (await park(at)).approvalId;
    const staged = await at.hereJson([
      "call",
      "write",
      "--input",
      '{"file_path":"b.txt","content":"two"}',
      "--policy",
      "settings.json",
      "--on-ask",
      "park",
    ]);
    const [proposal] = (await at.hereJson(["proposals"])).value;
    assert.deepEqual([staged.code, proposal?.parked], [0, true], JSON.stringify(staged.value));
    const second = (await park(at, [EXTRAS])).approvalId;
    const ids = async (...argv: string[]): Promise<string[]> =>
      (await at.hereJson(["approvals", ...argv])).value.map(({ id }: { id: string }) => id);
    const all = [shell, first, proposal.id, second];
    assert.deepEqual(await ids(), all);
    for (const [index, id] of all.entries()) assert.deepEqual(await ids("--after", id), all.slice(index + 1));
    const page = await at.hereJson(["approvals", "--limit", "2"]);
    assert.equal(page.stderr, `For more: assent approvals --limit 2 --after ${first}\n`);
    assert.deepEqual(await ids("--tool", "write"), [proposal.id]);
    const form = (await at.hereJson(["approvals"])).value[2];
    assert.deepEqual([form.proposalId, form.tool, form.sessionId], [proposal.id, "write", proposal.sessionId]);
    assert.equal((await at.hereJson(["approvals", "show", proposal.id])).value.id, proposal.id);
    await at.here(["reject", proposal.id]);
    assert.deepEqual(await ids(), [shell, first, second]);
    assert.equal((await at.hereJson(["approvals", "--all"])).value[2].state, "discarded");
  });
});

describe("a question at a real terminal", () => {
  const PLAIN = { env: { NO_COLOR: "1" } };
  const PROMPT = "then Enter: ";

  test("a person is asked; a number and Enter answer", async () => {
    using at = place();
    const screen = openPty(at, ASK([DB]), PLAIN);
    await screen.shows(PROMPT);
    assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    await afterReading();
    screen.pty.write("2\r");
    assert.equal(await screen.end, 0);
    assert.match(screen.text(), /User selected: Postgres/);
  });

  test("answered from another process while it is shown: it closes, and says who answered", async () => {
    using at = place();
    const screen = openPty(at, ASK([DB]), PLAIN);
    await screen.shows(PROMPT);
    const [{ id }] = (await at.hereJson(["approvals"])).value;
    assert.equal((await at.json(approve(id, "SQLite", "--by", "Ada"))).code, 0);
    assert.equal(await screen.end, 0);
    assert.match(screen.text(), /answered elsewhere by Ada/);
    assert.match(screen.text(), /User selected: SQLite/);
  });

  test("killed while it is shown: a resume on a terminal shows it again, under the same id", async () => {
    using at = place();
    const first = openPty(at, ASK([DB]), PLAIN);
    await first.shows(PROMPT);
    const [{ id, sessionId }] = (await at.hereJson(["approvals"])).value;
    process.kill(first.pty.pid, "SIGKILL");
    await first.end;
    const again = openPty(at, ["resume", sessionId], PLAIN);
    await again.shows(PROMPT);
    assert.deepEqual(
      (await at.hereJson(["approvals"])).value.map((row: { id: string }) => row.id),
      [id],
    );
    await afterReading();
    again.pty.write("1\r");
    assert.equal(await again.end, 0);
    assert.match(again.text(), /User selected: SQLite/);
  });

  test("Ctrl-C cancels it", async () => {
    using at = place();
    const screen = openPty(at, ASK([DB]), PLAIN);
    await screen.shows(PROMPT);
    screen.pty.write("\u0003");
    assert.equal(await screen.end, 130);
    assert.match(screen.text(), /Ask tool was cancelled by the user/);
    assert.equal((await at.hereJson(["approvals", "--all"])).value[0].state, "cancelled");
  });

  test("the setting's time limit is kept, and written down as automatic", async () => {
    using at = place();
    at.write("settings.json", JSON.stringify({ ask: { timeout: 0.2 } }));
    const screen = openPty(at, [...ASK([{ ...DB, recommended: 1 }]), "--policy", "settings.json"], PLAIN);
    assert.equal(await screen.end, 0);
    assert.match(screen.text(), /User selected: Postgres\s+\(selected automatically after 0.2 s without an answer\)/);
    const [{ id }] = (await at.hereJson(["approvals", "--all"])).value;
    const { value } = await at.hereJson(["approvals", "show", id]);
    assert.deepEqual([value.state, value.answers], ["expired", [{ id: "db", selected: ["Postgres"], timedOut: true, automatic: true }]]);
  });
});
