import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Facts, Policy } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { spawn } from "@lydell/node-pty";
import fc from "fast-check";
import { BIN, until } from "../../packages/cli/test/support/assent.ts";
import { openRun, type Scene, type SettingsText, scene, standings, type Told, written } from "./scene.ts";

const MODES = ["default", "auto-edit", "yolo"] as const;
const LAYERS = ["session", "project", "user"] as const;

/** Settings under which `effect` is found without a shell. */
function reachable(at: Scene, more: SettingsText = {}): SettingsText {
  return { shell: { path: [at.bin, "/usr/bin", "/bin"] }, ...more };
}

type Layer = "session" | "project" | "user" | "policy";

/** One rule and where it stands. */
type Placed = readonly [where: Layer, verdict: "allow" | "ask" | "deny", rule: string];

/** Writes the settings files; what belongs on the command line is given back. */
function place(at: Scene, placed: readonly Placed[]): readonly string[] {
  const of = (layer: Layer): readonly Placed[] => placed.filter(([where]) => where === layer);
  at.user(reachable(at, { permissions: permissionsOf(of("user")) }));
  if (of("project").length > 0) at.project({ permissions: permissionsOf(of("project")) });
  if (of("policy").length > 0) return ["--policy", at.policy(reachable(at, { permissions: permissionsOf(of("policy")) }))];
  return of("session").flatMap(([, verdict, rule]) => [`--${verdict}`, rule]);
}

/** In the order in which they were placed, the lists too. */
function permissionsOf(placed: readonly Placed[]): Record<string, readonly string[]> {
  const lists = Map.groupBy(placed, ([, verdict]) => verdict);
  return Object.fromEntries([...lists].map(([verdict, rules]) => [verdict, rules.map(([, , rule]) => rule)]));
}

async function trust(at: Scene): Promise<void> {
  assert.equal((await at.does(["trust", "--yes"])).code, 0);
}

/** What explain says of a command under the same settings. */
async function explained(at: Scene, command: string, flags: readonly string[] = []): Promise<ReturnType<typeof JSON.parse>> {
  const argv = ["explain", "--tool", "shell", "--input", JSON.stringify({ command }), "--json", ...flags];
  return JSON.parse((await at.does(argv)).stdout);
}

describe("what throws while a call is judged", () => {
  const broken: Facts = () => {
    throw new Error("the parser fell over");
  };
  const rejecting: Facts = () => Promise.reject(new Error("the resolver fell over"));
  for (const [name, facts] of [
    ["throws", broken],
    ["rejects", rejecting],
  ] as const) {
    test(`facts that ${name}: in yolo a person is asked, the error is on record, nothing runs`, async (t) => {
      const at = scene(t);
      at.user(reachable(at, { permissions: { allow: ["*"] } }));
      const run = await openRun(at, { mode: "yolo", facts: () => facts });
      assert.deepEqual(standings(await run.process([{ name: "shell", arguments: { command: "effect a" } }])), ["waiting"]);
      const judged = at.last("call.judged", run.id);
      assert.deepEqual([judged.verdict, judged.source, judged.explicitAsk], ["ask", "analysis-failed", true]);
      assert.match(JSON.stringify(judged.trace), /fell over/);
      assert.deepEqual(at.effects(), []);
      await run.close();
    });

    test(`facts that ${name}: a deny on the tool still denies`, async (t) => {
      const at = scene(t);
      at.user(reachable(at, { permissions: { deny: ["Shell"] } }));
      const run = await openRun(at, { mode: "yolo", facts: () => facts });
      assert.deepEqual(standings(await run.shells(["effect a"])), ["denied denied_by_rule"]);
      await run.close();
    });
  }

  for (const part of ["checkers", "safeguards"] as const) {
    test(`one of the ${part} throws: deny, the error on record, nothing runs`, async (t) => {
      const at = scene(t);
      at.user(reachable(at, { permissions: { allow: ["*"] } }));
      const check = (): never => {
        throw new Error("a check fell over");
      };
      const breaking = { checkers: { label: "odd one", scope: "user" as const, check }, safeguards: { id: "odd one", check } };
      const run = await openRun(at, {
        mode: "yolo",
        policy: (source) => ({
          ...source,
          current: (): Policy => ({ ...source.current(), [part]: [...source.current()[part], breaking[part]] }),
        }),
      });
      const [end] = standings(await run.shells(["effect a"]));
      assert.equal(end, part === "safeguards" ? "denied denied_by_guard" : "denied denied_by_rule");
      const { verdict, source, trace } = at.last("call.judged", run.id);
      assert.deepEqual([verdict, source], ["deny", "odd one"]);
      assert.ok(trace.some(({ opinion }: { opinion: string }) => opinion === "error"));
      assert.deepEqual(at.effects(), []);
      await run.close();
    });
  }

  test("a policy that cannot be had at all denies everything", async (t) => {
    const at = scene(t);
    const run = await openRun(at, {
      mode: "yolo",
      policy: (source) => ({
        ...source,
        current: () => {
          throw new Error("no policy");
        },
      }),
    });
    assert.deepEqual(standings(await run.process([{ name: "read", arguments: { file_path: "a.txt" } }])), ["denied denied_by_rule"]);
    await run.close();
  });
});

describe("what is made to exhaust the judge", () => {
  const HARD: readonly (readonly [name: string, command: string, verdict: string])[] = [
    ["a megabyte", `ls ${"a".repeat(1_000_000)}`, "ask"],
    ["500 nested substitutions", `echo ${"$(echo ".repeat(500)}ls${")".repeat(500)}`, "ask"],
    ["500 nested substitutions of nothing", `echo ${"$(".repeat(500)}ls${")".repeat(500)}`, "ask"],
    ["5,000 commands, the last denied", `${"true;".repeat(4_999)}effect x`, "deny"],
    ["5,000 commands, one in the middle denied", `${"true;".repeat(2_500)} effect x;${"true;".repeat(2_499)}`, "deny"],
    ["5,000 commands by line, the last denied", `${"true\n".repeat(4_999)}effect x`, "deny"],
    ["5,000 commands in the background, the last denied", `${"true& ".repeat(4_999)}effect x`, "deny"],
    ["5,000 commands in a row, the last denied", `${"true && ".repeat(4_999)}effect x`, "deny"],
    ["5,000 pipes, the last denied", `${"true | ".repeat(4_999)}effect x`, "deny"],
  ];
  for (const [name, command, verdict] of HARD) {
    test(`in yolo ${name}: ${verdict}, and nothing runs`, async (t) => {
      const at = scene(t);
      at.user({ permissions: { allow: ["*"], deny: ["Shell(effect)"] } });
      const told = await at.shell(command, ["--mode", "yolo"]);
      assert.equal(told.type, verdict === "deny" ? "denied_by_rule" : "denied_unattended");
      assert.equal(at.last("call.judged", told.sessionId).verdict, verdict);
      assert.deepEqual(at.effects(), []);
    });
  }

  test("a glob of 200 stars against 100 KB that almost fit decides all the same", async (t) => {
    const at = scene(t);
    at.user({ permissions: { deny: [`shell:description=${"*a".repeat(200)}b`, `write:content=${"*a".repeat(200)}b`] } });
    const almost = "a".repeat(100_000);
    assert.equal((await at.call("write", { file_path: "n", content: almost }, ["--mode", "yolo"])).outcome, "succeeded");
    assert.equal((await at.call("write", { file_path: "n", content: `${almost}b` }, ["--mode", "yolo"])).type, "denied_by_rule");
  });

  const EXPRESSIONS: readonly (readonly [rule: string, refused: boolean])[] = [
    ["Shell(git (push|pull).*)", true],
    ["/git.*/", true],
    ["Shell(git $)", true],
    ["shell:command=/git\\\\s+push/", false],
    ["shell:command=(a+)+$", false],
    ["Shell(^git.*)", false],
  ];
  for (const [rule, refused] of EXPRESSIONS) {
    test(`the regular expression ${rule} is ${refused ? "refused with its place" : "plain text"}`, async (t) => {
      const at = scene(t);
      const file = at.user(`{\n  "permissions": {\n    "deny": [${JSON.stringify(rule)}] } }`);
      const ran = await at.does(["policy", "check"]);
      const told = await at.shell("git push", ["--mode", "yolo"]);
      if (refused) {
        assert.ok(ran.stdout.includes(`${file}:3:14: `) || ran.stderr.includes(`${file}:3:14: `), ran.stdout + ran.stderr);
        assert.deepEqual([told.code, told.type], [2, "rule_syntax"]);
        assert.deepEqual(at.rows(), [], "nothing is recorded");
      } else assert.notEqual(told.type, "denied_by_rule", "git push is not spelled like this");
    });
  }
});

/** What a call that was stopped by a rule of this verdict is told, where nobody can be asked. */
const STOPPED = { deny: "denied_by_rule", ask: "denied_unattended" } as const;

describe("a deny and an explicit ask hold in every order, layer and mode", () => {
  const RULE = "Shell(effect push)";
  const ALLOWS = ["*", "Shell", "Shell(effect *)", "shell:command=effect*"];
  const pairs: readonly (readonly [strict: Layer, loose: Layer, order: "before" | "after"])[] = [
    ...LAYERS.flatMap((strict) => LAYERS.map((loose) => [strict, loose, "before"] as const)),
    ...LAYERS.map((layer) => [layer, layer, "after"] as const),
    ["policy", "policy", "before"],
    ["policy", "policy", "after"],
  ];

  function sorted(order: "before" | "after", placed: readonly Placed[]): readonly Placed[] {
    return order === "after" ? placed.toReversed() : placed;
  }

  async function stopsEverywhere(at: Scene, verdict: "deny" | "ask", flags: readonly string[]): Promise<void> {
    for (const mode of MODES) {
      const told = await at.shell("effect push x", ["--mode", mode, ...flags]);
      assert.equal(told.type, STOPPED[verdict], `${mode}: ${told.stderr}`);
      const judged = at.last("call.judged", told.sessionId);
      assert.deepEqual([judged.verdict, judged.rule.text, judged.explicitAsk], [verdict, RULE, verdict === "ask"]);
    }
    assert.deepEqual([at.rows("call.claimed"), at.effects()], [[], []]);
    assert.equal((await at.shell("effect pull", flags)).outcome, "succeeded", "what is not named still runs");
    assert.deepEqual(at.effects(), ["pull"]);
  }

  for (const verdict of ["deny", "ask"] as const) {
    for (const [strict, loose, order] of pairs) {
      test(`${verdict} in ${strict} ${order} allow in ${loose}: no effect, and explain names the rule`, async (t) => {
        const at = scene(t);
        const flags = place(at, sorted(order, [[strict, verdict, RULE], ...ALLOWS.map((rule): Placed => [loose, "allow", rule])]));
        if (existsSync(at.path(".assent"))) await trust(at);
        await stopsEverywhere(at, verdict, flags);
        const why = await explained(at, "effect push x", flags.includes("--policy") ? flags : []);
        const isThere = strict !== "session"; // explain knows no flags of a session
        assert.equal(why.rule?.text === RULE && why.verdict === verdict, isThere);
      });
    }
  }

  test("XDG_CONFIG_HOME names the user's file; a relative one does not count", async (t) => {
    const at = scene(t);
    at.user({ permissions: { deny: ["Shell(effect)"] } });
    written(join(at.root, "elsewhere/assent/settings.json"), JSON.stringify({ permissions: { ask: ["Shell(effect)"] } }));
    const there = { env: { XDG_CONFIG_HOME: join(at.root, "elsewhere") } };
    const astray = { env: { XDG_CONFIG_HOME: "../elsewhere" } };
    assert.equal((await at.shell("effect x", { flags: ["--mode", "yolo"], ...there })).type, "denied_unattended");
    assert.equal((await at.shell("effect x", { flags: ["--mode", "yolo"], ...astray })).type, "denied_by_rule");
    assert.deepEqual(at.effects(), []);
  });
});

describe("no remembered answer outranks what is configured", () => {
  /** A grant of this scope for `effect push`, made while nothing stood against it. */
  async function granted(at: Scene, scope: "project" | "user"): Promise<void> {
    at.user(reachable(at));
    const { approvalId, sessionId } = await at.shell("effect push", ["--on-ask", "park"]);
    assert.equal((await at.does(["approve", approvalId, "--remember", scope, "--pattern", "Shell(effect *)"])).code, 0);
    assert.equal((await at.resume(sessionId)).outcome, "succeeded");
    assert.equal((await at.shell("effect push")).outcome, "succeeded", "the grant answers");
    assert.deepEqual(at.effects(), ["push", "push"]);
  }

  for (const scope of ["project", "user"] as const) {
    for (const verdict of ["deny", "ask"] as const) {
      test(`a grant of the ${scope} does not answer a configured ${verdict}, in any mode or layer`, async (t) => {
        const at = scene(t);
        await granted(at, scope);
        const everywhere = LAYERS.flatMap((layer) => MODES.map((mode) => [layer, mode] as const));
        for (const [layer, mode] of everywhere) {
          rmSync(at.path(".assent"), { recursive: true, force: true });
          const flags = place(at, [[layer, verdict, "Shell(effect push)"]]);
          const told = await at.shell("effect push", ["--mode", mode, ...flags]);
          assert.equal(told.type, STOPPED[verdict], `${layer} ${mode}`);
          assert.deepEqual(at.rows("call.answered", told.sessionId), []);
        }
        assert.equal(at.effects().length, 2);
      });
    }
  }

  test("a grant of the session, even of everything, answers neither an explicit ask nor a guard nor a deny", async (t) => {
    const at = scene(t);
    at.user(reachable(at, { permissions: { ask: ["Shell(effect ask)"], deny: ["Shell(effect deny)"] } }));
    const approver = scriptedApprover(({ callId }) =>
      callId === "c1" ? { outcome: "approve", remember: { scope: "session", rules: ["*"] } } : "leave",
    );
    const run = await openRun(at, { approver, onAsk: "deny" });
    assert.deepEqual(standings(await run.shells(["effect first"])), ["succeeded"]);
    approver.setAvailable(false);
    const lines = ["effect second", "effect ask", "effect deny", "echo x >> .git/hooks/pre-push", "echo x >> .assent/settings.json"];
    assert.deepEqual(standings(await run.process(lines.map((command) => ({ name: "shell", arguments: { command } })))), [
      ...["succeeded", "denied denied_unattended", "denied denied_by_rule", "denied denied_unattended", "denied denied_by_guard"],
    ]);
    assert.deepEqual(at.effects(), ["first", "second"]);
    assert.ok(!existsSync(at.path(".git/hooks/pre-push")) && !existsSync(at.path(".assent")));
    await run.close();
  });

  test("a use of a grant that ran out, was revoked or expired answers nothing", async (t) => {
    const at = scene(t);
    await granted(at, "user");
    const [grant] = JSON.parse((await at.does(["grants", "--json"])).stdout);
    await at.does(["grants", "revoke", grant.id]);
    assert.equal((await at.shell("effect push")).type, "denied_unattended");
    assert.equal(at.effects().length, 2);
  });

  test("promoted to a rule, an answer stays below a configured deny and ask", async (t) => {
    const at = scene(t);
    await granted(at, "user");
    const [grant] = JSON.parse((await at.does(["grants", "--json"])).stdout);
    assert.equal((await at.does(["grants", "promote", grant.id, "--to", "user"])).code, 0);
    for (const verdict of ["deny", "ask"] as const) {
      at.project({ permissions: { [verdict]: ["Shell(effect push)"] } });
      for (const mode of MODES) {
        const { type } = await at.shell("effect push", ["--mode", mode]);
        assert.equal(type, STOPPED[verdict]);
      }
    }
    assert.equal(at.effects().length, 2);
  });
});

describe("S05 as a law, over settings files at random", () => {
  const COMMANDS = [
    ...["effect push x", "true && effect push x", "sh -c 'effect push x'", "e'ff'ect push x", "env A=1 effect push x"],
    ...[
      "(effect push x)",
      "echo $(effect push x)",
      "nice -n 5 effect push x",
      "effect push x &",
      "{ effect push x; }",
      "while effect push x; do break; done",
      "f() { effect push x; }; f",
      "timeout 5 effect push x",
      "find . -maxdepth 0 -exec effect push x \\;",
      "eval effect push x",
      "\\effect push x",
      "effect\tpush\tx",
      "cat <(effect push x)",
      "sh <<E\neffect push x\nE",
      "true\neffect push x",
      "trap 'effect push x' EXIT",
      "effect \\\n push x",
      "echo `effect push x`",
      "[[ -n $(effect push x) ]]",
      `echo $${"{x:-$(effect push x)}"}`,
      "env -S 'effect push x'",
      "sh -c 'sh -c \"effect push x\"'",
      "echo 'effect push x' | bash",
      "coproc effect push x",
      "if true; then effect push x; fi",
    ],
  ];
  const ALLOWS = ["*", "Shell", "shell", "Shell(effect *)", "Shell(effect push x)", "shell:command=effect*", "Shell(sh *)"];
  const STRICT = ["Shell(effect push)", "Shell(effect)", "shell:cmd=*push x*", "SHELL", "Bash(effect)", "*", "Shell(effect * x)"];
  const layer = fc.constantFrom(...LAYERS);
  const cases = fc.record({
    command: fc.constantFrom(...COMMANDS),
    strict: fc.tuple(layer, fc.constantFrom(...STRICT)),
    loose: fc.array(fc.tuple(layer, fc.constantFrom(...ALLOWS)), { maxLength: 4 }),
    first: fc.boolean(),
    trusted: fc.boolean(),
    mode: fc.constantFrom(...MODES, "plan"),
    hooks: fc.boolean(),
  });
  for (const verdict of ["deny", "ask"] as const) {
    test(`whatever allows beside it, a configured ${verdict} leads to no effect`, async (t) => {
      const law = fc.asyncProperty(cases, async ({ command, mode, ...layout }) => {
        const at = scene(t);
        const flags = await laidOut(at, verdict, layout);
        const { type, content, stderr } = await at.shell(command, ["--mode", mode, ...flags]);
        const stops = mode === "plan" ? [STOPPED[verdict], "denied_by_mode"] : [STOPPED[verdict]];
        assert.ok(stops.includes(type ?? ""), `${type}: ${content} ${stderr}`);
        assert.deepEqual([at.effects(), at.rows("call.claimed")], [[], []]);
      });
      await fc.assert(law, { numRuns: 25, endOnFailure: true });
    });
  }
});

type Layout = {
  readonly strict: readonly [Layer, string];
  readonly loose: readonly (readonly [Layer, string])[];
  readonly first: boolean;
  readonly trusted: boolean;
  readonly hooks: boolean;
};

/** Writes the settings of one case; the flags that go with them. */
async function laidOut(at: Scene, verdict: "deny" | "ask", { strict, loose, first, trusted, hooks }: Layout): Promise<readonly string[]> {
  const allows = loose.map(([layer, rule]): Placed => [layer, "allow", rule]);
  const strictly: Placed = [strict[0], verdict, strict[1]];
  const flags = place(at, first ? [strictly, ...allows] : [...allows, strictly]);
  if (hooks) allowByHook(at);
  if (trusted) await trust(at);
  return flags;
}

/** Adds hooks to the user's settings that allow whatever they are asked about. */
function allowByHook(at: Scene): void {
  const hooks = [{ hooks: [{ type: "command", command: `cat > /dev/null; echo '{"decision":"approve"}'` }] }];
  const settings = JSON.parse(readFileSync(join(at.root, ".config/assent/settings.json"), "utf8"));
  at.user({ ...settings, hooks: { PreToolUse: hooks, PermissionRequest: hooks } });
}

describe("what an untrusted project may say", () => {
  const SYSTEM_ONLY: SettingsText = { shell: { path: ["/usr/bin"] } };
  const LOOSENING: readonly (readonly [name: string, user: SettingsText, project: SettingsText])[] = [
    ["allow everything", { permissions: { ask: ["Shell"] } }, { permissions: { allow: ["*"] } }],
    ["allow everything against nothing", {}, { permissions: { allow: ["*"] } }],
    ["the mode yolo", {}, { mode: "yolo" }],
    ["the mode auto-edit", {}, { mode: "auto-edit" }],
    ["yolo against the user's plan", { mode: "plan" }, { mode: "yolo" }],
    ["the default mode against the user's plan", { mode: "plan" }, { mode: "default" }],
    ["the hint, which the user does not honour", { permissions: { readOnlyHint: "ask" } }, { permissions: { readOnlyHint: "allow" } }],
    ["hooks that allow", {}, { hooks: { PreToolUse: [{ hooks: [{ type: "command", command: `echo '{"decision":"approve"}'` }] }] } }],
    ["another place for programs", { permissions: { allow: ["Shell(effect *)"] }, ...SYSTEM_ONLY }, { shell: { path: ["BIN"] } }],
    ["that nobody is asked but parked", {}, { onAsk: "park" }],
  ];
  for (const [name, user, project] of LOOSENING) {
    test(`${name}: nothing runs that the user's settings alone do not let run; one warning says why`, async (t) => {
      const at = scene(t);
      const named: SettingsText = JSON.parse(JSON.stringify(project).replace("BIN", at.bin));
      const command = name.startsWith("the hint") ? "pwd" : name === "another place for programs" ? "effect x" : at.leaves("x");
      at.user(user);
      const before = await at.shell(command);
      at.project(named);
      const after = await at.shell(command);
      assert.deepEqual([after.outcome, after.type], [before.outcome, before.type]);
      assert.notEqual(after.outcome, "succeeded");
      assert.deepEqual(at.effects(), []);
      assert.equal(after.stderr.match(/can only make rules stricter/g)?.length, 1, after.stderr);
      assert.match(after.stderr, /Ignored .*settings\.json:\d+:\d+: until you trust this workspace/);
    });
  }

  const TIGHTENING: readonly (readonly [name: string, project: SettingsText, type: string])[] = [
    ["a deny", { permissions: { deny: ["Shell(effect)"] } }, "denied_by_rule"],
    ["an ask", { permissions: { ask: ["Shell(effect)"] } }, "denied_unattended"],
    ["the mode plan", { mode: "plan" }, "denied_by_mode"],
    ["the default mode against the user's yolo", { mode: "default" }, "denied_unattended"],
  ];
  for (const [name, project, type] of TIGHTENING) {
    test(`${name} counts without trust`, async (t) => {
      const at = scene(t);
      at.user(reachable(at, { mode: "yolo" }));
      at.project(project);
      assert.equal((await at.shell("effect x")).type, type);
      assert.deepEqual(at.effects(), []);
    });
  }
});

describe("a deny that is written while a call waits", () => {
  const CHANGED = "denied_policy_changed";
  const DENIES: readonly (readonly [name: string, write: (at: Scene) => unknown, type: string])[] = [
    ["in the user's file", (at) => at.user({ permissions: { deny: ["Shell(echo)"] } }), CHANGED],
    ["in a project file that nobody trusts", (at) => at.project({ permissions: { deny: ["Shell(echo)"] } }), CHANGED],
    ["by the mode plan", (at) => at.user({ mode: "plan" }), CHANGED],
    [
      "in a file that replaces the other",
      (at) => renameSync(written(join(at.root, "new.json"), `{"permissions":{"deny":["Shell"]}}`), at.user({})),
      CHANGED,
    ],
  ];
  for (const [name, write, type] of DENIES) {
    for (const approved of [false, true]) {
      test(`${name}, ${approved ? "approved and parked" : "parked"}: denied under the new revision, no effect`, async (t) => {
        const at = scene(t);
        if (!name.includes("project")) at.user({});
        const parked = await at.shell(at.leaves("x"), ["--on-ask", "park"]);
        if (approved) assert.equal((await at.does(["approve", parked.approvalId])).code, 0);
        const before = at.last("call.judged", parked.sessionId).policy;
        write(at);
        const end = await at.resume(parked.sessionId);
        assert.deepEqual([end.outcome, end.type], ["denied", type]);
        const { verdict, policy } = at.last("call.judged", parked.sessionId);
        assert.equal(verdict, "deny");
        assert.notEqual(policy, before);
        assert.equal(at.rows("approval.closed").at(-1)?.body.outcome, "denied");
        assert.deepEqual([at.effects(), at.rows("call.claimed")], [[], []]);
        const late = JSON.parse((await at.does(["approve", parked.approvalId, "--json"])).stdout);
        assert.deepEqual([late.outcome, late.alreadyAnswered], ["denied", true]);
        assert.equal((await at.resume(parked.sessionId)).type, type);
        assert.deepEqual(at.effects(), []);
      });
    }
  }

  test("a file that was broken since: nothing is taken up, nothing runs; mended, the call goes on", async (t) => {
    const at = scene(t);
    const parked = await at.shell(at.leaves("x"), ["--on-ask", "park"]);
    await at.does(["approve", parked.approvalId]);
    for (const text of ['{"permissions":{"deny":["Shell(a["]}}', "{"]) {
      at.user(text);
      assert.equal((await at.run(["resume", parked.sessionId])).code, 2, text);
      assert.deepEqual(at.effects(), []);
    }
    at.user({});
    assert.equal((await at.resume(parked.sessionId)).outcome, "succeeded");
    assert.deepEqual(at.effects(), ["x"]);
  });

  /** A real process that waits for a person at its own terminal. */
  async function waiting(at: Scene, command: string) {
    const argv = [BIN, "call", "shell", "--input", JSON.stringify({ command })];
    const pty = spawn(process.execPath, argv, { cols: 200, rows: 40, cwd: at.workspace, env: { ...at.env, TERM: "dumb" } });
    let text = "";
    pty.onData((data) => (text += data));
    const end = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
    await until(`the question; there is ${text}`, () => at.rows("approval.opened").length === 1 && text.includes("then Enter: "));
    return { end, approval: String(at.rows("approval.opened")[0]?.body.approval), text: () => text };
  }

  test("while another process waits at its terminal: it ends denied by itself, and says so", async (t) => {
    const at = scene(t);
    at.user({});
    const { end, text } = await waiting(at, at.leaves("x"));
    at.user({ permissions: { deny: ["Shell(echo)"] } });
    assert.equal(await end, 1);
    assert.match(text(), /the policy changed while the call was waiting/);
    assert.equal(at.rows("call.ended")[0]?.body.type, "denied_policy_changed");
    assert.deepEqual(at.effects(), []);
  });

  test("written, and in the same moment approved from another process: the deny holds", async (t) => {
    const at = scene(t);
    const { end, approval } = await waiting(at, at.leaves("x"));
    at.user({ permissions: { deny: ["Shell(echo)"] } });
    await at.does(["approve", approval]);
    assert.equal(await end, 1);
    assert.equal(at.rows("call.ended")[0]?.body.type, "denied_policy_changed");
    assert.deepEqual(at.effects(), []);
  });

  /** A batch whose first call runs until it is let go, and whose second waits for it with a yes on disk. */
  async function behindAnother(at: Scene, second: string, remember: boolean) {
    const gate = join(at.root, "gate");
    execFileSync("mkfifo", [gate]);
    at.program("hold", `#!/bin/sh\ncat ${gate}\n`);
    at.user(reachable(at, { permissions: { allow: ["Shell(hold)"] } }));
    if (remember) {
      const { approvalId, sessionId } = await at.shell("effect before", ["--on-ask", "park"]);
      await at.does(["approve", approvalId, "--remember", "user", "--pattern", "Shell(effect *)"]);
      await at.resume(sessionId);
    }
    const approver = scriptedApprover(remember ? {} : { c2: "approve" });
    const run = await openRun(at, { approver, onAsk: "park" });
    const running = run.shells(["hold", second]);
    const yes = remember ? "call.answered" : "approval.answered";
    const answered = (): boolean => at.rows(yes).some(({ body }) => body.call === "c2") && at.rows("call.started", run.id).length === 1;
    await until("the second call has its yes, the first has begun", answered);
    return { run, running, release: () => writeFileSync(gate, "") };
  }

  test("while an approved call waits for its lane: it ends denied, the one before it succeeded", async (t) => {
    const at = scene(t);
    const { run, running, release } = await behindAnother(at, "effect x", false);
    at.user(reachable(at, { permissions: { allow: ["Shell(hold)"], deny: ["Shell(effect)"] } }));
    release();
    assert.deepEqual(standings(await running), ["succeeded", "denied denied_policy_changed"]);
    assert.deepEqual(at.effects(), []);
    await run.close();
  });

  test("an ask that is written while a call waits for its lane takes back a grant's yes: a person is asked", async (t) => {
    const at = scene(t);
    const { run, running, release } = await behindAnother(at, "effect x", true);
    at.user(reachable(at, { permissions: { allow: ["Shell(hold)"], ask: ["Shell(effect)"] } }));
    release();
    assert.deepEqual(standings(await running), ["succeeded", "waiting"]);
    assert.deepEqual(at.effects(), ["before"]);
    await run.close();
  });

  test("a grant that is revoked while its call waits for the lane answers no more", async (t) => {
    const at = scene(t);
    const { run, running, release } = await behindAnother(at, "effect x", true);
    const [grant] = JSON.parse((await at.does(["grants", "--json"])).stdout);
    assert.equal((await at.does(["grants", "revoke", grant.id])).code, 0);
    release();
    assert.deepEqual(standings(await running), ["succeeded", "waiting"]);
    assert.deepEqual(at.effects(), ["before"]);
    await run.close();
  });
});

describe("what explain says is what runs", () => {
  /** An allow has no hazard; everything else names a rule or a hazard. */
  function isSaidWhy({ verdict, rule, plan }: Awaited<ReturnType<typeof explained>>): boolean {
    const hazards = [...plan.hazards, ...plan.commands.flatMap((one: { hazards: unknown[] }) => one.hazards)];
    return verdict === "allow" ? hazards.length === 0 : rule !== null || hazards.length > 0;
  }

  test("twenty commands are explained; those that are allowed run from the very plan that was shown", async (t) => {
    const at = scene(t);
    at.write("a.txt", "b\na\n");
    mkdirSync(at.path("src"));
    at.write("src/x.ts", "export {};\n");
    at.user(reachable(at, { permissions: { allow: ["Shell(effect *)"], deny: ["Shell(curl)"] } }));
    const LINES = [
      ...["ls", "ls -la src", "cat a.txt", "wc -l a.txt", "grep -n export src/x.ts", "sort a.txt | uniq -c", "pwd", "head -n 1 a.txt"],
      ...[
        "cat src/*.ts",
        "cd src && ls",
        "echo 'a b' \"c\"",
        "cat a.txt; ls src",
        "find . -name '*.ts'",
        "effect one",
        "effect 'two words'",
      ],
      ...["curl https://example.test", "rm -rf /.", "cat .env", "ls $HOME", "touch y > z"],
    ];
    for (const command of LINES) {
      const why = await explained(at, command);
      assert.ok(why.plan.commands.length > 0 && why.plan.digest.startsWith("sha256:"), command);
      assert.equal(isSaidWhy(why), true, command);
      const told = await at.shell(command);
      const judged = at.last("call.judged", told.sessionId);
      assert.deepEqual([judged.verdict, judged.planDigest, judged.policy], [why.verdict, why.plan.digest, why.revision], command);
      assert.equal(told.outcome, why.verdict === "allow" ? "succeeded" : "denied", `${command}: ${told.content}`);
    }
    assert.deepEqual([at.rows("call.claimed").length, at.effects()], [15, ["one", "two words"]]);
    assert.ok(!existsSync(at.path("y")) && !existsSync(at.path("z")));
  });
});

describe("rules that cannot be read", () => {
  const BROKEN: readonly (readonly [rule: unknown, type: string, why: string])[] = [
    ["Shell(git push", "rule_syntax", "is not closed"],
    ["Shell(effect $(x))", "rule_syntax", "holds a substitution"],
    ["a[", "rule_bad_glob", "has an open class"],
    ["", "rule_syntax", "is empty"],
    ["shell:=x", "rule_syntax", "names no argument"],
    ["mcp:tracker", "rule_syntax", "has a colon in the tool"],
    [7, "settings_type", "is a number"],
    [{ rule: "Shell(effect push)", match: ["effect pull"] }, "rule_example", "does not match its example"],
    [{ rule: "Shell(effect push)", notMatch: ["effect push"] }, "rule_example", "matches what it must not"],
    [{ rule: "Shell(effect push)", macth: ["effect push"] }, "settings_unknown_key", "has an unknown key"],
  ];
  for (const [rule, type, why] of BROKEN) {
    for (const layer of ["user", "project", "policy"] as const) {
      test(`a deny or an ask in ${layer} that ${why} stops the start with its place: nothing is recorded or run`, async (t) => {
        const at = scene(t);
        for (const verdict of ["deny", "ask"]) {
          const file = at[layer](`{\n"permissions": {\n "${verdict}": [\n  ${JSON.stringify(rule)}] } }`);
          const told = await at.shell(at.leaves("x"), ["--mode", "yolo", ...(layer === "policy" ? ["--policy", file] : [])]);
          assert.deepEqual([told.code, told.type], [2, type]);
          const { message } = (told as Told & { error: { message: string } }).error;
          assert.ok(message.startsWith(`${file}:4:`), message);
          assert.deepEqual([at.rows(), at.effects()], [[], []]);
        }
      });
    }
  }

  for (const [rule, , why] of BROKEN.filter(([, name]) => name !== "settings_unknown_key")) {
    test(`an allow that ${why} is left out with a warning, and allows nothing`, async (t) => {
      const at = scene(t);
      const file = at.user(`{\n"permissions": {\n "allow": [\n  ${JSON.stringify(rule)}] } }`);
      const told = await at.shell("effect push");
      assert.deepEqual([told.outcome, told.type], ["denied", "denied_unattended"]);
      assert.ok(told.stderr.includes(`Ignored ${file}:4:`), told.stderr);
      assert.deepEqual(at.effects(), []);
    });
  }

  const UNREADABLE: readonly (readonly [name: string, make: (file: string) => void])[] = [
    ["a FIFO", (file) => void execFileSync("mkfifo", [file])],
    ["a directory", (file) => mkdirSync(file)],
    ["a link to a device", (file) => symlinkSync("/dev/zero", file)],
    ["a link in a circle", (file) => symlinkSync("settings.json", file)],
    ["more than a megabyte", (file) => writeFileSync(file, `{}${" ".repeat(2 ** 20)}`)],
    ["no UTF-8", (file) => writeFileSync(file, Buffer.from([0x7b, 0xff, 0x7d]))],
    ["nested 200,000 deep", (file) => writeFileSync(file, `{"permissions":${"[".repeat(200_000)}`)],
    ["the same key twice", (file) => writeFileSync(file, `{"permissions":{"deny":["Shell"]},"permissions":{}}`)],
    ["a key __proto__", (file) => writeFileSync(file, `{"__proto__":{"permissions":{"deny":["Shell"]}}}`)],
    ["cut in the middle", (file) => writeFileSync(file, `{"permissions":{"deny":["Sh`)],
    ["of another version", (file) => writeFileSync(file, `{"version":2,"permissions":{"deny":["Shell"]}}`)],
  ];
  for (const mode of [0o666, 0o664, 0o646]) {
    test(`a user's file with the mode ${mode.toString(8)}, which others can write, refuses the start`, async (t) => {
      const at = scene(t);
      chmodSync(at.user({ mode: "yolo" }), mode);
      const told = await at.shell(at.leaves("x"));
      assert.deepEqual([told.code, told.type, at.effects()], [2, "settings_insecure", []]);
    });
  }

  for (const [name, make] of UNREADABLE) {
    for (const layer of ["user", "project"] as const) {
      test(`a settings file of the ${layer} that is ${name} refuses the start: it may hold a deny`, async (t) => {
        const at = scene(t);
        const file = at[layer]({});
        rmSync(file);
        make(file);
        const told = await at.shell(at.leaves("x"), ["--mode", "yolo"]);
        assert.equal(told.code, 2, told.content);
        assert.deepEqual([at.rows(), at.effects()], [[], []]);
      });
    }
  }
});
