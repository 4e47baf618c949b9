import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ended, type Place, place, projectFile, put, until, userFile } from "../support/assent.ts";

/** Asks about commands, and answers each: `+` approves, `-` rejects, `?` leaves it open. */
async function ask(at: Place, ...answers: readonly (readonly [answer: "+" | "-" | "?", command: string])[]): Promise<void> {
  for (const [answer, command] of answers) {
    const { value } = await at.hereJson(["call", "shell", "--input", JSON.stringify({ command }), "--on-ask", "park"]);
    assert.ok(value.approvalId, command);
    if (answer !== "?") assert.equal((await at.here([answer === "+" ? "approve" : "reject", value.approvalId])).code, 0);
  }
}

/** A call of Claude Code that waits, and that a person approves. */
async function approveHook(at: Place, id: string, command: string): Promise<void> {
  const child = at.start(["hook", "claude"]);
  const call = { tool_name: "Bash", tool_input: { command }, tool_use_id: id };
  child.stdin?.end(
    JSON.stringify({ session_id: id, cwd: at.workspace, hook_event_name: "PreToolUse", permission_mode: "default", ...call }),
  );
  const end = ended(child);
  const waiting = async (): Promise<readonly { readonly id: string }[]> => (await at.hereJson(["approvals"])).value;
  await until("the approval is open", async () => child.exitCode !== null || (await waiting()).length > 0);
  assert.equal((await at.here(["approve", (await waiting())[0]?.id ?? ""])).code, 0);
  assert.equal((await end).code, 0);
}

const HISTORY = [
  ["+", "make build"],
  ["+", "make lint"],
  ["+", "make lint"],
  ["-", "make deploy"],
  ["-", "make SHELL=./x"],
  ["+", "rm -r out"],
  ["?", "touch x"],
] as const;

describe("assent stats", () => {
  test("counts questions by tool and by what asked, with the share that was approved", async () => {
    using at = place();
    await ask(at, ...HISTORY);
    const parked = ["call", "shell", "--input", '{"command":"git push"}', "--ask", "Shell(git push)", "--on-ask", "park"];
    await at.hereJson(parked);
    const { code, value } = await at.hereJson(["stats"]);
    assert.equal(code, 0);
    assert.deepEqual([value.asked, value.approved, value.rejected, value.open, value.unanswered], [8, 4, 2, 2, 0]);
    assert.ok(value.medianMs >= 0 && value.p90Ms >= value.medianMs);
    assert.deepEqual(
      value.tools.map(({ name, asked }: Count) => [name, asked]),
      [["shell", 8]],
    );
    assert.deepEqual(
      value.rules.map(({ name, asked }: Count) => [name, asked]),
      [
        ["no rule", 7],
        ["Shell(git push), session permissions", 1],
      ],
    );
  });

  test("suggests the rule that would have saved most questions, with its rehearsal", async () => {
    using at = place();
    await ask(at, ...HISTORY);
    const { value } = await at.hereJson(["stats"]);
    const [best] = value.suggestions;
    assert.deepEqual([best.rule, best.allowed, best.approved], ["Shell(make *)", 4, 3]);
    assert.match(best.risk, /build instructions of this repository/);
    assert.deepEqual(
      best.rejected.map(({ subject }: { subject: string }) => subject),
      ["make deploy"],
    );
    const { stdout } = await at.here(["stats"]);
    assert.match(stdout, /^7 questions: 4 approved \(67 %\), 2 rejected, 0 without an answer, 1 open\.\nAnswers took \d+ s \(median\)/);
    assert.match(
      stdout,
      /It would have allowed 4 asked calls, 3 of which you approved\. You rejected 1 of them:\n {4}make deploy {2}\(s_\w+ \S+\)\n/,
    );
    assert.match(stdout, /assent stats store 'Shell\(make \*\)' --to project/);
  });

  test("names no share as long as nobody answered", async () => {
    using at = place();
    await ask(at, ["?", "touch x"]);
    assert.match((await at.here(["stats"])).stdout, /^1 question: 0 approved, 0 rejected, 0 without an answer, 1 open\.\n/);
  });

  test("a narrower rule wins where it saves as much", async () => {
    using at = place();
    await ask(at, ["+", "make lint"], ["+", "make lint"]);
    assert.deepEqual(
      (await at.hereJson(["stats"])).value.suggestions.map(({ rule }: { rule: string }) => rule),
      ["Shell(make lint)"],
    );
  });

  test("calls that today's rules allow or deny are not suggested again", async () => {
    using at = place();
    await ask(at, ["+", "make lint"], ["+", "make build"]);
    put(userFile(at), JSON.stringify({ permissions: { deny: ["Shell(make)"] } }));
    assert.deepEqual((await at.hereJson(["stats"])).value.suggestions, []);
  });

  test("calls of a guarded agent are rehearsed as strictly as its hook decides", async () => {
    using at = place();
    for (const [id, command] of Object.entries({ t1: "git status", t2: "git status" })) await approveHook(at, id, command);
    await ask(at, ["+", "make lint"]);
    const { value } = await at.hereJson(["stats"]);
    assert.deepEqual([value.asked, value.rehearsed.judged], [3, 3]);
    assert.deepEqual(
      value.suggestions.map(({ rule, approved }: { rule: string; approved: number }) => [rule, approved]),
      [["Shell(git status)", 2]],
      "Assent itself would run git status without asking; the agent's shell would not",
    );
    const loose = await at.hereJson(["stats", "store", "Shell(git *)", "--to", "user"]);
    assert.equal(loose.code, 2);
  });

  test("--since leaves out older questions, and an empty record is no error", async () => {
    using at = place();
    assert.deepEqual([(await at.here(["stats"])).stdout, (await at.hereJson(["stats"])).value.asked], ["No person was asked.\n", 0]);
    await ask(at, ["+", "make lint"]);
    assert.equal((await at.hereJson(["stats", "--since", "1h"])).value.asked, 1);
    assert.equal((await at.hereJson(["stats", "--since", "1ms"])).value.asked, 0);
  });
});

type Count = { readonly name: string; readonly asked: number };

describe("assent stats store", () => {
  test("shows the rehearsal and the diff, and writes nothing without a confirmation", async () => {
    using at = place();
    await ask(at, ...HISTORY);
    const { code, stdout, stderr } = await at.here(["stats", "store", "Shell(make *)", "--to", "user"]);
    assert.equal(code, 2);
    assert.match(stdout, /^Shell\(make \*\)\n {2}It runs build instructions .+\n {2}It would have allowed 4 asked calls/);
    assert.match(stdout, /^\+ +"Shell\(make \*\)"/m);
    assert.match(stderr, /needs a terminal, or --yes/);
    assert.ok(!existsSync(userFile(at)));
  });

  for (const [to, file] of [
    ["user", userFile],
    ["project", projectFile],
  ] as const)
    test(`writes the rule into the ${to}'s settings, once`, async () => {
      using at = place();
      await ask(at, ["+", "make lint"]);
      const store = ["stats", "store", "Shell(make *)", "--to", to, "--yes"];
      const { code, value } = await at.hereJson(store);
      assert.deepEqual([code, value.written, value.allowed], [0, true, 1]);
      assert.deepEqual(JSON.parse(readFileSync(file(at), "utf8")).permissions.allow, ["Shell(make *)"]);
      assert.deepEqual([(await at.here(store)).code, (await at.hereJson(store)).value.written], [0, false]);
    });

  const refused: readonly (readonly [sentence: string, argv: readonly string[], exit: number, message: RegExp])[] = [
    ["no --to", ["Shell(make *)"], 2, /--to user or --to project/],
    ["a rule that cannot be read", ["Shell(make", "--to", "user"], 1, /cannot be used in a settings file/],
  ];
  for (const [sentence, argv, exit, message] of refused)
    test(`refused: ${sentence}`, async () => {
      using at = place();
      const { code, value } = await at.hereJson(["stats", "store", ...argv]);
      assert.equal(code, exit);
      assert.match(value.error.message, message);
    });
});
