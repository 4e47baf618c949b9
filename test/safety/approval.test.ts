import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { describe, test } from "node:test";
import type { Answer, Approver } from "@assent/core";
import { manualClock, scriptedApprover } from "@assent/core/testing";
import { until } from "../../packages/cli/test/support/assent.ts";
import { openRun, type Run, type Scene, scene, standings, type Told, written } from "./scene.ts";

function park(at: Scene, command: string): Promise<Told> {
  return at.shell(command, ["--on-ask", "park"]);
}

/** What an approve was told, and how it exited. */
async function approve(at: Scene, ...argv: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
  const { code, stdout } = await at.does(["approve", ...argv, "--json"]);
  const value = JSON.parse(stdout);
  return { code, said: value.outcome ?? value.error.type };
}

function fingerprintOf(at: Scene, { sessionId }: Told): string {
  return at.last("approval.opened", sessionId).fingerprint;
}

/** The same text with its bit number `at` turned over. */
function flipped(hex: string, at: number): string {
  const digit = Math.floor(at / 4);
  const turned = (Number.parseInt(hex[digit] ?? "0", 16) ^ (1 << (at % 4))).toString(16);
  return `${hex.slice(0, digit)}${turned}${hex.slice(digit + 1)}`;
}

describe("an answer that names another request", () => {
  test("the fingerprint of another, one with a bit turned, a part of one, none at all: refused, still open, nothing runs", async (t) => {
    const at = scene(t);
    const [one, other] = [await park(at, at.leaves("one")), await park(at, at.leaves("other"))];
    const right = fingerprintOf(at, one);
    const wrong = [
      fingerprintOf(at, other),
      flipped(right, 0),
      flipped(right, 255),
      right.slice(0, 63),
      `${right}0`,
      right.toUpperCase(),
      "",
      " ",
    ];
    for (const fingerprint of wrong) {
      const { code, said } = await approve(at, one.approvalId, "--fingerprint", fingerprint);
      assert.ok(code === 1 || code === 2, `${fingerprint}: ${code}`);
      assert.ok(["stale_revision", "usage", "bad_answer"].includes(said), said);
    }
    assert.deepEqual(at.rows("approval.answered"), []);
    assert.equal((await at.resume(one.sessionId)).outcome, "waiting");
    assert.deepEqual(at.effects(), []);
    assert.deepEqual(await approve(at, one.approvalId, "--fingerprint", right), { code: 0, said: "approved" });
    assert.equal((await at.resume(one.sessionId)).outcome, "succeeded");
    assert.equal((await at.resume(other.sessionId)).outcome, "waiting");
    assert.deepEqual(at.effects(), ["one"]);
  });

  test("written past every door, straight to the ledger, it is refused by the store itself", async (t) => {
    const at = scene(t);
    const run = await openRun(at);
    await run.shells([at.leaves("x")]);
    const { approval, fingerprint, revision } = at.last("approval.opened", run.id);
    const by = { kind: "person", user: "u", name: "u", door: "test", pid: 1 } as const;
    const forged = (changed: object): Promise<unknown> => {
      const body = {
        approval,
        session: run.id,
        call: "c1",
        revision,
        outcome: "approved",
        fingerprint,
        by,
        reason: null,
        ...changed,
      } as const;
      return run.ledger.answer([{ type: "approval.answered", v: 1, at: new Date().toISOString(), body }]);
    };
    for (const changed of [{ fingerprint: flipped(fingerprint, 7) }, { revision: 2 }, { call: "c2" }, { session: "s_other" }])
      await assert.rejects(forged(changed), JSON.stringify(changed));
    assert.deepEqual([standings(await run.resume()), at.effects()], [["waiting"], []]);
    await forged({});
    assert.deepEqual([standings(await run.resume()), at.effects()], [["succeeded"], ["x"]]);
    await run.close();
  });
});

describe("an approval is for one request, once", () => {
  test("the call again with one argument changed, or unchanged, waits for an answer of its own", async (t) => {
    const at = scene(t);
    const approver = scriptedApprover({ c1: "approve" });
    const run = await openRun(at, { approver, onAsk: "deny" });
    assert.deepEqual(standings(await run.shells([at.leaves("x")])), ["succeeded"]);
    const first = at.last("approval.opened", run.id);
    approver.setAvailable(false);
    for (const change of [
      { command: at.leaves("y") },
      { command: at.leaves("x") },
      { command: at.leaves("x"), cwd: "." },
      { command: at.leaves("x"), timeout_ms: 1 },
    ])
      assert.deepEqual(standings(await run.process([{ name: "shell", arguments: change }])), ["denied denied_unattended"]);
    const again = await run.answer({ approval: first.approval, outcome: "approve" });
    assert.deepEqual([again.alreadyAnswered, at.effects()], [true, ["x"]]);
    assert.equal(at.rows("approval.answered").length, 1);
    await run.close();
  });

  test("the same request in another session, or in another directory, has an approval of its own", async (t) => {
    const at = scene(t);
    const [one, two] = [await park(at, at.leaves("x")), await park(at, at.leaves("x"))];
    assert.notEqual(one.approvalId, two.approvalId);
    await approve(at, one.approvalId);
    assert.equal((await at.resume(two.sessionId)).outcome, "waiting");
    assert.deepEqual(at.effects(), []);
    mkdirSync(at.path("sub"));
    const there = await at.resume(one.sessionId, ["--cwd", "sub"]);
    assert.deepEqual([there.outcome, at.effects()], ["waiting", []]);
  });

  test("an answer that was used is used up: resumed ten times from ten places, one effect", async (t) => {
    const at = scene(t);
    const { sessionId, approvalId } = await park(at, at.leaves("x"));
    await approve(at, approvalId);
    for (let time = 0; time < 10; time += 1) {
      await at.resume(sessionId);
      await approve(at, approvalId);
    }
    assert.deepEqual(at.effects(), ["x"]);
  });

  test("what a person rejected is not asked about again, however its input is spelled", async (t) => {
    const at = scene(t);
    const approver = scriptedApprover({ c1: "reject" });
    const run = await openRun(at, { approver, onAsk: "park" });
    const command = at.leaves("x");
    assert.deepEqual(standings(await run.shells([command])), ["rejected rejected_by_user"]);
    for (const arguments_ of [{ command }, JSON.stringify({ command }), ` {"command" : ${JSON.stringify(command)} }`, { cmd: command }])
      assert.deepEqual(standings(await run.process([{ name: "shell", arguments: arguments_ }])), ["rejected rejected_by_user"]);
    assert.deepEqual([approver.shown.length, at.effects()], [1, []]);
    await run.close();
  });
});

describe("what a request is bound to changes between the question and the run", () => {
  const SCRIPTS: readonly (readonly [command: string, file: string])[] = [
    ["sh build.sh", "build.sh"],
    ["./build.sh", "build.sh"],
    [". ./build.sh", "build.sh"],
    ["true && env sh -e ./build.sh arg | cat", "build.sh"],
    ["bash -c 'sh build.sh'", "build.sh"],
    ["sh link.sh", "build.sh"],
    ["cd sub && sh ../build.sh", "build.sh"],
    ["cd a && sh x.sh && cd ../b && sh x.sh", "a/x.sh"],
    ["cd a && sh x.sh && cd ../b && sh x.sh", "b/x.sh"],
    ["sh < build.sh", "build.sh"],
    ["node x.js", "x.js"],
    ["node -r ./x.js y.js", "y.js"],
    ["npm test", "package.json"],
  ];

  function scripts(at: Scene): void {
    for (const name of ["build.sh", "a/x.sh", "b/x.sh"]) written(at.path(name), `echo good >> ${at.world}\n`, 0o755);
    for (const name of ["x.js", "y.js"]) at.write(name, "// good\n");
    at.write("package.json", `{"scripts":{"test":"${at.leaves("good")}"}}`);
    mkdirSync(at.path("sub"));
    symlinkSync("build.sh", at.path("link.sh"));
  }

  function rewrite(at: Scene, file: string): void {
    const evil = file.endsWith(".json") ? `{"scripts":{"test":"${at.leaves("evil")}"}}` : `echo evil >> ${at.world}\n`;
    written(at.path(file), file.endsWith(".js") ? "// evil\n" : evil, 0o755);
  }

  for (const [command, file] of SCRIPTS) {
    test(`${command}: ${file} is rewritten while it waits, then approved: operand_changed, nothing runs`, async (t) => {
      const at = scene(t);
      scripts(at);
      const { sessionId, approvalId } = await park(at, command);
      rewrite(at, file);
      assert.equal((await approve(at, approvalId)).code, 0);
      const end = await at.resume(sessionId);
      assert.deepEqual([end.outcome, end.type, at.effects()], ["denied", "operand_changed", []]);
      assert.equal(at.rows("approval.closed").at(-1)?.body.outcome, "denied");
      assert.deepEqual(at.rows("call.claimed"), []);
    });
  }

  const CHANGES: readonly (readonly [name: string, change: (at: Scene) => void])[] = [
    ["gone", (at) => rmSync(at.path("build.sh"))],
    ["a link to another", (at) => renameSync(at.path("a/x.sh"), at.path("build.sh"))],
    ["a FIFO", (at) => execFileSync("sh", ["-c", "rm build.sh && mkfifo build.sh"], { cwd: at.workspace })],
    ["longer by a blank", (at) => written(at.path("build.sh"), `echo good >> ${at.world}\n `, 0o755)],
  ];
  for (const [name, change] of CHANGES) {
    test(`approved and parked, then the script is ${name}: operand_changed, nothing runs`, async (t) => {
      const at = scene(t);
      scripts(at);
      if (name.startsWith("a link")) written(at.path("a/x.sh"), `echo evil >> ${at.world}\n`);
      const { sessionId, approvalId } = await park(at, "sh build.sh");
      await approve(at, approvalId);
      change(at);
      const end = await at.resume(sessionId);
      assert.deepEqual([end.outcome, end.type, at.effects()], ["denied", "operand_changed", []]);
    });
  }

  test("the same bytes again are the same script", async (t) => {
    const at = scene(t);
    scripts(at);
    const { sessionId, approvalId } = await park(at, "sh build.sh");
    rewrite(at, "build.sh");
    written(at.path("build.sh"), `echo good >> ${at.world}\n`, 0o755);
    await approve(at, approvalId);
    assert.deepEqual([(await at.resume(sessionId)).outcome, at.effects()], ["succeeded", ["good"]]);
  });

  test("proposed again, the new approval shows both digests", async (t) => {
    const at = scene(t);
    scripts(at);
    const approver = scriptedApprover(({ callId }) => {
      if (callId === "c1") rewrite(at, "build.sh");
      return callId === "c1" ? "approve" : "leave";
    });
    const run = await openRun(at, { approver });
    assert.deepEqual(standings(await run.shells(["sh build.sh"])), ["denied operand_changed"]);
    assert.deepEqual(standings(await run.process([{ id: "c2", name: "shell", arguments: { command: "sh build.sh" } }])), ["waiting"]);
    const [before, after] = at.rows("approval.opened", run.id).map(({ body }) => body.facts.scripts[0]);
    assert.notEqual(after.digest, before.digest);
    assert.deepEqual([after.file, after.before], ["build.sh", before.digest]);
    assert.deepEqual(at.effects(), []);
    await run.close();
  });

  test("rewritten by an earlier call of the same batch: asked under a higher revision; an answer to the older one is stale", async (t) => {
    const at = scene(t);
    at.user({ mode: "auto-edit" });
    const approver: Approver = { available: () => true, ask: () => new Promise(() => undefined) };
    const run = await openRun(at, { approver });
    const running = run.process([
      { id: "c1", name: "write", arguments: { file_path: "a.sh", content: `echo new >> ${at.world}\n` } },
      { id: "c2", name: "shell", arguments: { command: "sh a.sh" } },
    ]);
    await until("the second look", () => at.rows("approval.opened", run.id).length === 2);
    const [first, second] = at.rows("approval.opened", run.id).map(({ body }) => body);
    assert.deepEqual([second.approval, second.revision], [first.approval, 2]);
    assert.notEqual(second.fingerprint, first.fingerprint);
    const { approval, fingerprint } = first;
    await assert.rejects(run.answer({ approval, outcome: "approve", fingerprint }), { type: "stale_revision" });
    await assert.rejects(run.answer({ approval, outcome: "approve", revision: 1 }), { type: "stale_revision" });
    assert.deepEqual(at.effects(), []);
    await run.answer({ approval, outcome: "approve", fingerprint: second.fingerprint, revision: 2 });
    assert.deepEqual([standings(await running), at.effects()], [["succeeded", "succeeded"], ["new"]]);
    await run.close();
  });
});

describe("an approve that comes too late", () => {
  /** Ways in which an approval is over; each gives back what an approve is told then. */
  const ENDS: readonly (readonly [
    name: string,
    outcome: string,
    end: (at: Scene, run: Run, parked: { approval: string }) => Promise<void>,
  ])[] = [
    [
      "cancelled",
      "cancelled",
      async (at, run) => {
        const resuming = run.resume();
        await until("it waits", () => run.dispatcher.cancel("c1"));
        await resuming;
        assert.equal(at.last("call.ended", run.id).outcome, "cancelled");
      },
    ],
    [
      "rejected",
      "rejected",
      async (_at, run, { approval }) => {
        await run.answer({ approval, outcome: "reject" });
        await run.resume();
      },
    ],
    [
      "denied by a rule since",
      "denied",
      async (at, run) => {
        at.user({ permissions: { deny: ["Shell(echo)"] } });
        await run.resume();
      },
    ],
  ];
  for (const [name, outcome, end] of ENDS) {
    test(`${name}: told so, no effect, also after the session was closed and after a restart`, async (t) => {
      const at = scene(t);
      at.user({});
      const parked = await openRun(at);
      await parked.shells([at.leaves("x")]);
      const { approval } = at.last("approval.opened", parked.id);
      await parked.close();
      const waits: Approver = { available: () => true, ask: () => new Promise(() => undefined) };
      const run = await openRun(at, { session: parked.id, approver: waits });
      await end(at, run, { approval });
      assert.deepEqual(await approve(at, approval), { code: 1, said: outcome });
      await run.close();
      assert.deepEqual(await approve(at, approval), { code: 1, said: outcome });
      const { code, stdout } = await at.run(["approve", approval, "--json"]);
      assert.deepEqual([code, JSON.parse(stdout).outcome], [1, outcome]);
      const again = await openRun(at, { session: parked.id });
      assert.deepEqual(standings(await again.resume()), []);
      await again.close();
      assert.deepEqual([at.effects(), at.rows("call.claimed")], [[], []]);
    });
  }

  test("expired: told so at the deadline, after it, after a restart, and by a clock that was set back", async (t) => {
    const at = scene(t);
    const clock = manualClock();
    const run = await openRun(at, { clock, approvalTimeoutMs: 60_000 });
    await run.shells([at.leaves("x")]);
    const { approval } = at.last("approval.opened", run.id);
    await run.close();
    const late = (minutes: number): Promise<string> => {
      clock.jump(minutes * 60_000);
      return at.does(["approve", approval, "--json"], { overrides: { clock } }).then(({ stdout }) => JSON.parse(stdout).outcome);
    };
    assert.deepEqual([await late(1), await late(10), await late(-60 * 24)], ["expired", "expired", "expired"]);
    const again = await openRun(at, { clock, session: run.id });
    assert.deepEqual(standings(await again.resume()), ["expired approval_expired"]);
    await again.close();
    assert.deepEqual([at.effects(), at.rows("approval.answered")], [[], []]);
  });

  test("approved in time, taken up after the deadline: it was answered, so it runs, once", async (t) => {
    const at = scene(t);
    const clock = manualClock();
    const run = await openRun(at, { clock, approvalTimeoutMs: 60_000 });
    await run.shells([at.leaves("x")]);
    const { approval } = at.last("approval.opened", run.id);
    await run.answer({ approval, outcome: "approve" });
    await run.close();
    clock.jump(3_600_000);
    const again = await openRun(at, { clock, session: run.id });
    assert.deepEqual([standings(await again.resume()), at.effects()], [["succeeded"], ["x"]]);
    await again.close();
  });
});

describe("what is remembered is what was shown", () => {
  test("always for git log -5: the rule is shown before and said when saved; nothing beyond it passes", async (t) => {
    const at = scene(t);
    execFileSync("git", ["init", "-q"], { cwd: at.workspace });
    at.user({ permissions: { readOnlyHint: "ask" } });
    const { approvalId, sessionId } = await park(at, "git log -5");
    const shown = JSON.parse((await at.does(["approvals", "show", approvalId, "--json"])).stdout);
    assert.deepEqual(shown.suggestions, ["Shell(git log)"]);
    assert.match((await at.does(["approve", approvalId, "--remember", "user"])).stderr, /^Remembered for this user: Shell\(git log\)$/m);
    await at.resume(sessionId);
    const passes = async (command: string): Promise<boolean> => at.rows("call.claimed", (await at.shell(command)).sessionId).length === 1;
    assert.equal(await passes("git log --oneline"), true);
    const BEYOND = [
      ...[
        "git log --output=x",
        "git log --output x",
        "git log -p --ext-diff",
        "git log --textconv",
        "git log -O x",
        "git log --show-signature",
      ],
      ...[
        "git log --format=%G?",
        "git logx",
        "git show",
        "git -c core.pager=x log",
        "git log; touch x",
        "git log > x",
        "git log $X",
        "git log `id`",
      ],
      ...["./git log", "GIT_PAGER=x git log", "git log | tee x", "git log --outp=x", "git log /etc/passwd", "git log -- ../x"],
    ];
    for (const command of BEYOND) assert.equal(await passes(command), false, command);
    assert.ok(!existsSync(at.path("x")));
  });

  const NOT_OFFERED = [
    "python3 -c 'print(1)'",
    "ls $X",
    "rm -rf *",
    "echo a > b",
    "sh -c 'ls'",
    "FOO=1 make",
    "cat <<E\nx\nE",
    "make lint &",
  ];
  for (const command of NOT_OFFERED) {
    test(`${JSON.stringify(command)} is answered once: no rule is offered, and none is made`, async (t) => {
      const at = scene(t);
      const { approvalId } = await park(at, command);
      assert.deepEqual(JSON.parse((await at.does(["approvals", "show", approvalId, "--json"])).stdout).suggestions, []);
      assert.equal((await at.does(["approve", approvalId, "--remember", "user"])).code === 0 && at.rows("grant.created").length > 0, false);
      assert.deepEqual(at.rows("grant.created"), []);
      await at.does(["reject", approvalId]);
      await at.resume(at.rows("session.created")[0]?.session ?? "");
    });
  }

  for (const pattern of ["*", "**", "?*", "Shell", "Shell(*)", "shell", "[s]hell", "Shell(touch *)"]) {
    test(`a person may name the rule ${pattern}; for a user it never covers what no allow rule may cover`, async (t) => {
      const at = scene(t);
      const { approvalId, sessionId } = await park(at, "touch a");
      const { code } = await at.does(["approve", approvalId, "--remember", "user", "--pattern", pattern]);
      if (code !== 0) assert.deepEqual(at.rows("grant.created"), []);
      else await at.resume(sessionId);
      for (const command of [at.leaves("x"), "touch b; rm -rf c", "sh -c 'touch d'", "touch $HOME/e", "touch .git/hooks/f"])
        assert.equal((await at.shell(command)).type, "denied_unattended", command);
      assert.deepEqual(at.effects(), []);
      if (code === 0) return;
      await at.does(["reject", approvalId]);
      await at.resume(sessionId);
    });
  }
});

describe("many calls are answered", () => {
  test("each answer is one record, bound to the fingerprint of its own call", async (t) => {
    const at = scene(t);
    const approver: Approver = { available: () => true, ask: () => new Promise(() => undefined) };
    const run = await openRun(at, { approver });
    const words = ["a", "b", "c", "d"];
    const running = run.shells(words.map((word) => at.leaves(word)));
    await until("all are asked", () => run.dispatcher.pending().length === words.length);
    for (const { id, fingerprint } of run.dispatcher.pending().toReversed())
      await run.answer({ approval: id, outcome: "approve", fingerprint });
    assert.deepEqual(
      standings(await running),
      words.map(() => "succeeded"),
    );
    assert.deepEqual(at.effects(), words);
    const opened = new Map(at.rows("approval.opened").map(({ body }) => [body.approval, body]));
    const answered = at.rows("approval.answered").map(({ body }) => body);
    assert.equal(new Set(answered.map(({ fingerprint }) => fingerprint)).size, words.length);
    for (const { approval, call, fingerprint } of answered)
      assert.deepEqual([call, fingerprint], [opened.get(approval).call, opened.get(approval).fingerprint]);
    assert.equal(
      new Set(at.rows("call.claimed").map(({ body }) => body.answer.pos)).size,
      words.length,
      "each claim stands on its own answer",
    );
    await run.close();
  });

  test("a rule that one answer makes answers the others it covers, each on record; those that were asked for stay open", async (t) => {
    const at = scene(t);
    at.user({ shell: { path: [at.bin, "/usr/bin", "/bin"] }, permissions: { ask: ["Shell(effect ask)"] } });
    const approver: Approver = { available: () => true, ask: () => new Promise(() => undefined) };
    const run = await openRun(at, { approver });
    const running = run.shells(["effect a", "effect b", "effect ask", at.leaves("text")]);
    await until("all are asked", () => run.dispatcher.pending().length === 4);
    const first = run.dispatcher.pending().find(({ callId }) => callId === "c1");
    await run.answer({ approval: first?.id ?? "", outcome: "approve", remember: { scope: "session", rules: ["Shell(effect *)"] } });
    await until("two are left", () => run.dispatcher.pending().length === 2);
    assert.deepEqual(new Set(run.dispatcher.pending().map(({ callId }) => callId)), new Set(["c3", "c4"]));
    await until("the second has run", () => at.effects().length === 2);
    const answers = at.rows("approval.answered").map(({ body }) => [body.call, body.by.kind, body.fingerprint]);
    const shown = new Map(at.rows("approval.opened").map(({ body }) => [body.call, body.fingerprint]));
    assert.deepEqual(answers, [
      ["c1", "person", shown.get("c1")],
      ["c2", "grant", shown.get("c2")],
    ]);
    for (const { id } of run.dispatcher.pending()) await run.answer({ approval: id, outcome: "reject" });
    await running;
    assert.deepEqual(at.effects(), ["a", "b"]);
    await run.close();
  });

  test("no command line answers more than one at a time", async (t) => {
    const at = scene(t);
    const [one, two] = [await park(at, at.leaves("a")), await park(at, at.leaves("b"))];
    for (const argv of [[one.approvalId, two.approvalId], ["--all"], ["a_"], ["*"]])
      assert.notEqual((await at.does(["approve", ...argv])).code, 0, argv.join(" "));
    assert.deepEqual(at.rows("approval.answered"), []);
  });
});

describe("whoever is asked does not behave", () => {
  const nonsense =
    (answer: unknown): Approver["ask"] =>
    async () =>
      answer as Answer;
  const BAD: readonly (readonly [name: string, ask: Approver["ask"]])[] = [
    [
      "throws",
      () => {
        throw new Error("terminal gone");
      },
    ],
    ["rejects", () => Promise.reject(new Error("terminal gone"))],
    ["says true", nonsense(true)],
    ["says nothing", nonsense(undefined)],
    ["says null", nonsense(null)],
    ["says the word", nonsense("approve")],
    ["says an object without an outcome", nonsense({})],
    [
      "says yes in other words",
      ({ id }) => nonsense({ approval: id, outcome: "ALLOW", by: {} })({} as never, new AbortController().signal),
    ],
    [
      "says yes as nobody",
      ({ id, fingerprint, revision }) => Promise.resolve({ approval: id, outcome: "approve", fingerprint, revision } as Answer),
    ],
    [
      "says yes to another fingerprint",
      ({ id, revision }) =>
        Promise.resolve({ approval: id, outcome: "approve", fingerprint: "0".repeat(64), revision, by: SOMEBODY } as Answer),
    ],
    [
      "says yes to another revision",
      ({ id }) => Promise.resolve({ approval: id, outcome: "approve", revision: 7, by: SOMEBODY } as Answer),
    ],
    [
      "says yes with an input that does not fit",
      ({ id, revision }) =>
        Promise.resolve({ approval: id, outcome: "approve", revision, updatedInput: { nothing: 7 }, by: SOMEBODY } as unknown as Answer),
    ],
    ["never says anything", () => new Promise(() => undefined)],
  ];
  const SOMEBODY = { kind: "person", user: "u", name: "u", door: "test", pid: 1 } as const;
  for (const [name, ask] of BAD) {
    test(`an approver that ${name}: no effect; it waits until its time is over, and is then expired`, async (t) => {
      const at = scene(t);
      const clock = manualClock();
      const run = await openRun(at, { clock, approvalTimeoutMs: 60_000, approver: { available: () => true, ask } });
      const running = run.shells([at.leaves("x")]);
      await until("it is asked", () => at.rows("approval.opened", run.id).length === 1);
      await clock.advance(30_000);
      assert.deepEqual([at.effects(), at.rows("approval.answered"), at.rows("call.claimed")], [[], [], []]);
      await clock.advance(31_000);
      const [end] = standings(await running);
      assert.ok(end === "expired approval_expired" || end === "waiting", end);
      assert.deepEqual([at.effects(), at.rows("call.claimed")], [[], []]);
      await run.close();
    });
  }
});
