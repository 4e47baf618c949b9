import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { currentHolder } from "@assent/host";
import { openLedger } from "@assent/store";
import { type Place, type Printed, place } from "../../support/assent.ts";

type Parked = { readonly sessionId: string; readonly callId: string; readonly approvalId: string };

async function park(at: Place, command = "touch x", flags: readonly string[] = []): Promise<Parked> {
  const { code, value } = await at.hereJson(["call", "shell", "--input", JSON.stringify({ command }), "--on-ask", "park", ...flags]);
  assert.equal(code, 75);
  return value;
}

describe("approve and reject", () => {
  test("an answer is printed after it is stored: the object, who and when", async () => {
    using at = place();
    const { approvalId } = await park(at);
    const { code, value, stderr } = await at.json(["approve", approvalId, "--by", "Ada", "--reason", "looks fine"]);
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(value), ["id", "outcome", "alreadyAnswered", "answeredBy", "answeredAt"]);
    assert.deepEqual([value.id, value.outcome, value.alreadyAnswered], [approvalId, "approved", false]);
    assert.deepEqual([value.answeredBy.kind, value.answeredBy.name], ["person", "Ada"]);
    assert.notEqual(value.answeredBy.user, "Ada");
    assert.match(value.answeredAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.match(stderr, /assent resume s_/);
  });

  test("approve and reject at the same instant: one wins, the loser exits 1 and prints the winner's outcome, who and when", async () => {
    using at = place();
    for (let race = 0; race < 10; race++) {
      const { approvalId, sessionId } = await park(at, `touch x${race}`);
      const answers = await Promise.all([at.json(["approve", approvalId, "--by", "yes"]), at.json(["reject", approvalId, "--by", "no"])]);
      assert.deepEqual(answers.map(({ code }) => code).sort(), [0, 1]);
      const winner = answers.find(({ code }) => code === 0);
      const loser = answers.find(({ code }) => code === 1);
      assert.deepEqual(loser?.value, { ...winner?.value, alreadyAnswered: true });
      assert.match(
        loser?.stderr ?? "",
        new RegExp(
          `^Already answered: ${winner?.value.outcome} by ${winner?.value.answeredBy.name} .*at ${winner?.value.answeredAt.slice(0, 19)}`,
        ),
      );
      const end = await at.hereJson(["resume", sessionId]);
      const approved = winner?.value.outcome === "approved";
      assert.equal(end.value.outcome, approved ? "succeeded" : "rejected");
      assert.equal(existsSync(at.path(`x${race}`)), approved);
    }
  });

  test("approve ten times: one success, then nine times the existing answer, exit 0, with the first one's name and time", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at, "echo once >> x");
    const first = await at.json(["approve", approvalId, "--by", "first"]);
    assert.deepEqual([first.code, first.value.alreadyAnswered], [0, false]);
    for (let time = 1; time < 10; time++) {
      const again = await at.json(["approve", approvalId, "--by", `again ${time}`, "--reason", "another"]);
      assert.deepEqual([again.code, again.value], [0, { ...first.value, alreadyAnswered: true }]);
    }
    assert.equal((await at.json(["resume", sessionId])).code, 0);
    assert.equal(readFileSync(at.path("x"), "utf8"), "once\n");
  });

  test("the same for reject, and after the answer was used", async () => {
    using at = place();
    const rejected = await park(at);
    for (const already of [false, true]) {
      const { code, value } = await at.json(["reject", rejected.approvalId]);
      assert.deepEqual([code, value.outcome, value.alreadyAnswered], [0, "rejected", already]);
    }
    const approved = await park(at);
    await at.here(["approve", approved.approvalId]);
    await at.here(["resume", approved.sessionId]);
    const late = await at.json(["approve", approved.approvalId]);
    assert.deepEqual([late.code, late.value.outcome, late.value.alreadyAnswered], [0, "approved", true]);
    const changed = await at.json(["reject", approved.approvalId]);
    assert.deepEqual([changed.code, changed.value.outcome], [1, "approved"]);
  });

  test("an approve that remembers something else is a different answer", async () => {
    using at = place();
    const { approvalId } = await park(at);
    await at.here(["approve", approvalId]);
    const { code, value, stderr } = await at.json(["approve", approvalId, "--remember", "session"]);
    assert.deepEqual([code, value.outcome, value.alreadyAnswered], [1, "approved", true]);
    assert.match(stderr, /^Already answered: approved by .*\. Your rule was not saved\.\n$/);
    at.write("edit.json", '{"command":"touch z"}');
    const edited = await at.here(["approve", approvalId, "--edit", at.path("edit.json")]);
    assert.match(edited.stderr, /^Already answered: approved by .*\. Your edit was not saved\.\n$/);
    assert.deepEqual((await at.hereJson(["grants"])).value, []);
  });

  test("approve, then a rule denies, then resume: denied, the approval too, nothing ran", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at);
    await at.here(["approve", approvalId]);
    const { code, value } = await at.json(["resume", sessionId, "--deny", "shell"]);
    assert.deepEqual([code, value.outcome, value.type], [1, "denied", "denied_policy_changed"]);
    assert.equal((await at.hereJson(["approvals", "show", approvalId])).value.state, "denied");
    assert.ok(!existsSync(at.path("x")));
    const late = await at.json(["approve", approvalId]);
    assert.deepEqual([late.code, late.value.outcome, late.value.alreadyAnswered], [1, "denied", true]);
  });

  const PRESENT: readonly [sentence: string, settings: string, stderr: RegExp][] = [
    [
      "denies is stored, and it is said that it will not run",
      '{ "version": 1, "permissions": { "deny": ["Shell(touch *)"] } }',
      /\nassent: warning: Your current rules deny it \(Shell\(touch \*\)\)\. A deny rule from the user permissions matches\..* It will not run unless this changes first\.\n$/,
    ],
    [
      "does not deny has no such word",
      '{ "version": 1, "permissions": { "ask": ["Shell(touch *)"] } }',
      /^Continue with: assent resume s_\w+\n$/,
    ],
    [
      "cannot be read is stored, and that is said",
      '{ "version": 1, nonsense',
      /\nassent: warning: Could not check whether your current rules deny it: /,
    ],
  ];
  for (const [sentence, settings, expected] of PRESENT) {
    test(`an approve of what the present policy ${sentence}`, async () => {
      using at = place();
      const { approvalId } = await park(at);
      mkdirSync(at.path("../.config/assent"), { recursive: true });
      at.write("../.config/assent/settings.json", settings);
      const { code, stdout, stderr } = await at.here(["approve", approvalId]);
      assert.deepEqual([code, stdout.includes("  approved by ")], [0, true], stderr);
      assert.match(stderr, expected);
      assert.equal(
        (await at.here(["approve", approvalId])).stderr.includes("policy"),
        false,
        "reported once, by the process that answered",
      );
    });
  }

  test("an old fingerprint is stale_revision and leaves the approval open; the right one is taken", async () => {
    using at = place();
    const { approvalId } = await park(at);
    const [{ fingerprint }] = (await at.hereJson(["approvals"])).value;
    const wrong = fingerprint.replace(/^./, (digit: string) => (digit === "0" ? "1" : "0"));
    const stale = await at.json(["approve", approvalId, "--fingerprint", wrong]);
    assert.deepEqual([stale.code, stale.value.error.type], [1, "stale_revision"]);
    assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    assert.equal((await at.json(["approve", approvalId, "--fingerprint", fingerprint])).code, 0);
  });

  for (const argv of [["approve"], ["reject"], ["approvals", "show"]]) {
    test(`${argv.join(" ")} of an unknown id: exit 4, unknown_approval`, async () => {
      using at = place();
      const { code, value } = await at.json([...argv, "a_nobodyknowsthis234567"]);
      assert.deepEqual([code, value.error.type], [4, "unknown_approval"]);
      assert.equal(value.error.hint, "assent approvals --all");
      const text = await at.run([...argv, "a_nobodyknowsthis234567"]);
      assert.deepEqual(
        [text.code, text.stdout, text.stderr],
        [4, "", "assent: There is no approval 'a_nobodyknowsthis234567'.\nSee: assent approvals --all\n"],
      );
      assert.ok(!existsSync(at.store));
    });
  }

  test("an id may be cut to a unique beginning of 6 characters, not to fewer", async () => {
    using at = place();
    const { approvalId } = await park(at);
    assert.equal((await at.json(["approve", approvalId.slice(0, 5)])).value.error.type, "unknown_approval");
    assert.equal((await at.json(["approve", approvalId.slice(0, 6)])).value.id, approvalId);
  });

  test("an approve that fails before its commit leaves the approval open", async () => {
    using at = place();
    const { approvalId } = await park(at);
    const { code, value } = await at.json(["approve", approvalId, "--edit", "missing.json"]);
    assert.deepEqual([code, value.error.type], [2, "usage"]);
    assert.equal((await at.hereJson(["approvals"])).value[0].id, approvalId);
  });

  test("--no-wait changes nothing for an approval", async () => {
    using at = place();
    const { approvalId } = await park(at);
    assert.equal((await at.json(["approve", approvalId, "--no-wait"])).value.outcome, "approved");
  });
});

describe("approve --edit", () => {
  test("the edited command runs, the original does not, the record shows both", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at, "touch original");
    at.write("edit.json", '{"command":"touch edited"}');
    const { code, value, stderr } = await at.hereJson(["approve", approvalId, "--edit", "edit.json"]);
    assert.deepEqual([code, value.outcome], [0, "approved"]);
    assert.match(stderr, /fingerprint is [0-9a-f]{64}\n/);
    const end = await at.hereJson(["resume", sessionId]);
    assert.equal(end.value.outcome, "succeeded");
    assert.ok(existsSync(at.path("edited")) && !existsSync(at.path("original")));
    const log = await at.here(["log", sessionId, "--json"]);
    assert.ok(log.stdout.includes("touch original") && log.stdout.includes("touch edited"));
  });

  for (const [name, text] of [
    ["an input against the schema", '{"command":7,"nope":1}'],
    ["no JSON at all", "{oops"],
  ] as const) {
    test(`${name}: invalid_tool_params, exit 2, still open`, async () => {
      using at = place();
      const { approvalId } = await park(at);
      const { code, value } = await at.hereJson(["approve", approvalId, "--edit", "-"], { input: text });
      assert.deepEqual([code, value.error.type], [2, "invalid_tool_params"]);
      assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    });
  }

  test("approvals show of an edited approval shows both: what was asked, and what was answered instead", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at, "touch original");
    const before = await at.hereJson(["approvals", "show", approvalId]);
    assert.ok(!("edited" in before.value));
    const long = `touch edited ${"x".repeat(100_000)}`;
    await at.hereJson(["approve", approvalId, "--edit", "-"], { input: JSON.stringify({ command: long }) });
    for (const _ of ["answered", "resumed"]) {
      const { value } = await at.hereJson(["approvals", "show", approvalId]);
      assert.deepEqual([value.input, value.edited.input], [{ command: "touch original" }, { command: long }]);
      assert.match(value.edited.fingerprint, /^[0-9a-f]{64}$/);
      const { stdout } = await at.here(["approvals", "show", approvalId]);
      assert.match(stdout, /^edited +answered with changes:\n +\{\n +"command": "touch edited x+"\n +\}$/m);
      await at.hereJson(["resume", sessionId]);
    }
  });

  test("an edited approval is marked in the list, in show and in the record, with what was approved", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at, "touch alpha");
    const other = await park(at, "touch gamma");
    await at.here(["approve", other.approvalId]);
    await at.here(["approve", approvalId, "--edit", "-"], { input: '{"command":"touch beta"}' });
    const rows = (await at.here(["approvals", "--all"])).stdout.split("\n");
    assert.match(rows.find((row) => row.startsWith(approvalId)) ?? "", /^\S+ +approved, edited +shell +\S+ +.*touch beta$/);
    assert.match(rows.find((row) => row.startsWith(other.approvalId)) ?? "", /^\S+ +approved +shell +\S+ +.*touch gamma$/);
    const forms = (await at.hereJson(["approvals", "--all"])).value as readonly Record<string, unknown>[];
    assert.deepEqual(
      forms.map(({ id, state, edited }) => [id, state, edited]),
      [
        [approvalId, "approved", true],
        [other.approvalId, "approved", undefined],
      ],
    );
    assert.match((await at.here(["approvals", "show", approvalId])).stdout, /^state +approved, edited by \w+/m);
    const log = (await at.here(["log", sessionId, "--type", "*.answered"])).stdout;
    assert.match(log, /outcome=approved edited=touch beta /);
    assert.ok(!(await at.here(["log", other.sessionId, "--type", "*.answered"])).stdout.includes("edited"));
  });

  test("while a live process has the session, approve says that it continues by itself", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at);
    const ledger = await openLedger({ directory: at.store });
    try {
      await ledger.acquire(sessionId, currentHolder("tui"));
      const { stderr } = await at.here(["approve", approvalId]);
      assert.equal(
        stderr,
        `Process ${process.pid} (tui) has the session open and continues by itself. If it ends first: assent resume ${sessionId}\n`,
      );
    } finally {
      await ledger.close();
    }
  });

  test("approvals show of an approval answered as it was shows no change", async () => {
    using at = place();
    const { approvalId } = await park(at);
    await at.hereJson(["approve", approvalId]);
    assert.ok(!("edited" in (await at.hereJson(["approvals", "show", approvalId])).value));
    assert.ok(!(await at.here(["approvals", "show", approvalId])).stdout.includes("with changes"));
  });

  for (const [what, command, said] of [
    [
      "a deny rule matches",
      "rm z",
      /^Your edited version would be denied \(shell:command=rm\*\)\. A deny rule from the session permissions matches\./,
    ],
    ["a safeguard forbids", "touch STORE/x", /^Your edited version would be denied\. A safeguard forbids it/],
  ] as const) {
    test(`an edit that ${what} is refused at once, exit 1: nothing is approved, the approval stays open`, async () => {
      using at = place();
      const { approvalId, sessionId } = await park(at, "touch x", ["--deny", "shell:command=rm*"]);
      const edit = (text: string): Promise<Printed> =>
        at.hereJson(["approve", approvalId, "--edit", "-"], { input: JSON.stringify({ command: text }) });
      const { code, value } = await edit(command.replace("STORE", at.store));
      assert.deepEqual([code, value.error.type, value.error.hint], [1, "not_allowed", "The approval is still open."]);
      assert.match(value.error.message, said);
      assert.equal((await at.here(["log", sessionId, "--json", "--type", "approval.answered"])).stdout, "");
      assert.deepEqual([(await edit("touch y")).code, (await edit("rm z")).code], [0, 1], "the first approval counts");
      assert.equal((await at.hereJson(["resume", sessionId])).value.outcome, "succeeded");
      assert.deepEqual([existsSync(at.path("x")), existsSync(at.path("y"))], [false, true]);
    });
  }

  test("an edit that a later rule denies is denied on resume; nothing ran", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at);
    await at.hereJson(["approve", approvalId, "--edit", "-"], { input: '{"command":"rm z"}' });
    mkdirSync(at.path("../.config/assent"), { recursive: true });
    at.write("../.config/assent/settings.json", '{ "version": 1, "permissions": { "deny": ["shell:command=rm*"] } }');
    const { code, value } = await at.hereJson(["resume", sessionId]);
    assert.deepEqual([code, value.outcome], [1, "denied"]);
    assert.ok(existsSync(at.workspace) && !existsSync(at.path("x")));
  });

  test("an edit equal to what was shown counts as none", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at);
    const { code, stderr } = await at.hereJson(["approve", approvalId, "--edit", "-"], { input: '{ "command" : "touch x" }' });
    assert.equal(code, 0);
    assert.ok(!stderr.includes("fingerprint"));
    assert.equal((await at.hereJson(["resume", sessionId])).value.outcome, "succeeded");
  });
});

describe("remembered answers", () => {
  test("--remember user answers similar calls of other sessions; revoking ends it at once", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at);
    assert.equal((await at.here(["approve", approvalId, "--remember", "user", "--expires", "2h", "--by", "Ada"])).code, 0);
    const { value: grants } = await at.hereJson(["grants"]);
    assert.equal(grants.length, 1);
    const [grant] = grants;
    assert.deepEqual(Object.keys(grant), ["id", "scope", "rule", "tool", "createdAt", "createdBy", "approvalId", "expiresAt", "state"]);
    assert.deepEqual(
      [grant.scope, grant.rule, grant.tool, grant.createdBy, grant.approvalId, grant.state],
      ["user", "Shell(touch x)", "shell", "Ada", approvalId, "active"],
    );
    const lasts = Date.parse(grant.expiresAt) - Date.parse(grant.createdAt);
    assert.ok(lasts > 7_100_000 && lasts <= 7_200_000, String(lasts));
    assert.equal((await at.hereJson(["resume", sessionId])).value.outcome, "succeeded");
    const same = await at.hereJson(["call", "shell", "--input", '{"command":"touch x"}']);
    assert.equal(same.value.outcome, "succeeded");
    const other = await at.hereJson(["call", "shell", "--input", '{"command":"touch x; touch y"}']);
    assert.equal(other.value.type, "denied_unattended");
    for (let time = 0; time < 2; time++) {
      const revoked = await at.hereJson(["grants", "revoke", grant.id.slice(0, 8)]);
      assert.deepEqual([revoked.code, revoked.value], [0, { id: grant.id, state: "revoked" }]);
    }
    assert.equal((await at.hereJson(["call", "shell", "--input", '{"command":"touch x"}'])).value.type, "denied_unattended");
    assert.deepEqual((await at.hereJson(["grants"])).value, []);
    assert.equal((await at.hereJson(["grants", "--all"])).value[0].state, "revoked");
  });

  test("--remember session holds in that session only, and a project's in its workspace", async () => {
    using at = place();
    const { approvalId } = await park(at);
    await at.here(["approve", approvalId, "--remember", "project", "--pattern", "shell:command=touch*"]);
    const { value } = await at.hereJson(["grants", "--scope", "project"]);
    assert.deepEqual([value[0].rule, value[0].workspace], ["shell:command=touch*", at.workspace]);
    assert.deepEqual((await at.hereJson(["grants", "--scope", "user"])).value, []);
    assert.equal((await at.hereJson(["call", "shell", "--input", '{"command":"touch z"}'])).value.outcome, "succeeded");
    const elsewhere = await at.hereJson(["call", "shell", "--input", '{"command":"touch z"}', "--workspace", at.root]);
    assert.equal(elsewhere.value.type, "denied_unattended");
  });

  for (const [name, rule] of [
    ["a rule that does not parse", "a["],
    ["a rule that does not cover the request", "shell:command=ls"],
    ["everything, beyond the session", "*"],
  ] as const) {
    test(`${name}: bad_rule, exit 2, still open`, async () => {
      using at = place();
      const { approvalId } = await park(at);
      const { code, value } = await at.hereJson(["approve", approvalId, "--remember", "user", "--pattern", rule]);
      assert.deepEqual([code, value.error.type], [2, "bad_rule"]);
      assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    });
  }

  test("a write is remembered for the file it named, never for every file, and the rule is said", async () => {
    using at = place();
    const write = (path: string) =>
      at.hereJson(["call", "write", "--input", JSON.stringify({ file_path: path, content: "x" }), "--on-ask", "park"]);
    const { approvalId } = (await write("a[1].txt")).value;
    const { stderr } = await at.here(["approve", approvalId, "--remember", "user"]);
    assert.match(stderr, /^Remembered for this user: Edit\(\/a\\\[1\]\.txt\)$/m);
    assert.equal((await write("b.txt")).code, 75);
  });

  test("an empty --store is a usage error: it must not mean the present directory", async () => {
    using at = place();
    assert.equal((await at.here(["sessions", "--store", ""])).code, 2);
  });

  test("a command that a shell could read in more than one way offers no rule", async () => {
    using at = place();
    const { approvalId } = await park(at, "touch x && touch $HOME/y");
    assert.deepEqual((await at.hereJson(["approvals", "show", approvalId])).value.suggestions, []);
    const { code, value } = await at.hereJson(["approve", approvalId, "--remember", "session"]);
    assert.deepEqual([code, value.error.type], [2, "bad_rule"]);
  });

  test("policy 9: a compound is remembered by one rule for each part", async () => {
    using at = place();
    const { approvalId, sessionId } = await park(at, "touch x && touch y");
    assert.deepEqual((await at.hereJson(["approvals", "show", approvalId])).value.suggestions, ["Shell(touch x)", "Shell(touch y)"]);
    assert.equal((await at.here(["approve", approvalId, "--remember", "user"])).code, 0);
    assert.equal((await at.hereJson(["resume", sessionId])).value.outcome, "succeeded");
    const part = await at.hereJson(["call", "shell", "--input", '{"command":"touch y"}']);
    assert.equal(part.value.outcome, "succeeded");
  });

  test("an explicit ask is answered once, even with --remember", async () => {
    using at = place();
    const { approvalId } = await park(at, "touch x", ["--ask", "shell"]);
    assert.equal((await at.hereJson(["approve", approvalId, "--remember", "user"])).value.outcome, "approved");
    assert.deepEqual((await at.hereJson(["grants", "--all"])).value, []);
  });

  test("--pattern and --expires need --remember", async () => {
    using at = place();
    for (const extra of [
      ["--pattern", "shell"],
      ["--expires", "1h"],
    ]) {
      const { code, stderr } = await at.here(["approve", "a_1", ...extra]);
      assert.deepEqual([code, stderr], [2, `assent approve: option '${extra[0]}' needs '--remember session|project|user'.\n`]);
    }
  });

  test("revoking an unknown grant: exit 4, grant_not_found", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["grants", "revoke", "g_nobody"]);
    assert.deepEqual([code, value.error.type], [4, "grant_not_found"]);
  });
});
