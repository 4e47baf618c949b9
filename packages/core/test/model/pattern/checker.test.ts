import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decide } from "../../../src/model/decide.ts";
import type { Scope } from "../../../src/model/decision.ts";
import { type CheckerRules, makeChecker, mergeCheckers } from "../../../src/model/pattern/checker.ts";
import type { Request } from "../../../src/model/request.ts";

type Lists = Pick<CheckerRules, "deny" | "ask" | "allow">;

const table: readonly (readonly [sentence: string, lists: Lists, request: Request, verdict: string, rule?: string])[] = [
  ["no rules, no opinion", {}, on("shell"), "none"],
  ["rules for other tools are no opinion", { deny: ["read"], allow: ["write"] }, on("shell"), "none"],
  ["a deny is found", { deny: ["shell"] }, on("shell"), "deny", "shell"],
  ["deny comes before ask and allow", { allow: ["shell"], ask: ["shell"], deny: ["sh*"] }, on("shell"), "deny", "sh*"],
  [
    "ask comes before allow, however specific",
    { allow: ["shell:command=git push"], ask: ["*"] },
    on("shell", { command: "git push" }),
    "ask",
    "*",
  ],
  ["of several rules of one list the first that matches is named", { deny: ["read", "s*", "shell"] }, on("shell"), "deny", "s*"],
  ["a rule's conditions are looked at", { deny: ["t:a=x"], allow: ["t"] }, on("t", { a: "y" }), "allow", "t"],
  ["an allow reads narrowly", { allow: ["t:a=x*"] }, on("t", { a: ["x", "y"] }), "none"],
  ["a deny reads broadly", { deny: ["t:a=x*"] }, on("t", { a: ["x", "y"] }), "deny", "t:a=x*"],
  ["an ask reads broadly", { ask: ["t:a=x*"] }, on("t", { a: ["x", "y"] }), "ask", "t:a=x*"],
  [
    "the tool's alias is folded in a deny",
    { deny: ["shell:cmd=*rm -rf*"] },
    on("shell", { command: "echo hi; rm -rf tmp" }),
    "deny",
    "shell:cmd=*rm -rf*",
  ],
  ["a command is allowed at a word boundary only", { allow: ["shell:command=ls*"] }, on("shell", { command: "lsblk" }), "none"],
  ["a command is allowed by its words", { allow: ["shell:command=ls*"] }, on("shell", { command: "ls -la" }), "allow", "shell:command=ls*"],
];

for (const [lists, denied] of [
  [{}, false],
  [{ deny: ["shell"] }, true],
  [{ deny: ["SH*"] }, true],
  [{ deny: ["read"] }, false],
  [{ deny: ["shell:command=rm*"] }, false],
  [{ ask: ["shell"] }, false],
  [{ allow: ["shell"] }, false],
] as const)
  test(`${JSON.stringify(lists)} ${denied ? "denies" : "does not deny"} the shell as a whole`, () => {
    const { checker } = makeChecker({ label: "user", scope: "user", ...lists });
    assert.equal(checker.deniesTool?.("shell", "execute"), denied);
  });

for (const [sentence, lists, request, verdict, rule] of table) {
  test(sentence, () => {
    const { checker, warnings } = makeChecker({ label: "l", scope: "user", tools: shapes, ...lists });
    for (const answer of [ask(checker, request), ask(checker, request)]) {
      assert.equal(answer.verdict, verdict);
      assert.equal(answer.rule?.text, rule);
    }
    assert.deepEqual(warnings, []);
  });
}

test("the rule is given back as it was written, with its place and reason", () => {
  const rule = { text: "shell", file: "a.json", line: 3, because: "not here" };
  const { checker } = makeChecker({ label: "user permissions", scope: "user", deny: [rule] });
  assert.deepEqual(ask(checker, on("shell")), { verdict: "deny", rule });
  assert.deepEqual([checker.label, checker.scope], ["user permissions", "user"]);
});

for (const list of ["deny", "ask"] as const) {
  test(`a broken ${list} refuses the policy as a whole and names file, line and text`, () => {
    assert.throws(() => makeChecker({ label: "l", scope: "team", allow: ["x"], [list]: ["ok", { text: "a[", file: "p.json", line: 7 }] }), {
      name: "PatternError",
      message: "p.json:7: unclosed class at column 2 of 'a['",
    });
  });
}

test("a broken allow is dropped with a warning, the others hold", () => {
  const broken = { text: "mcp:tracker", file: "p.json", line: 2 };
  const { checker, warnings } = makeChecker({ label: "l", scope: "team", allow: [broken, "a[", "shell"] });
  assert.equal(ask(checker, on("shell")).verdict, "allow");
  assert.deepEqual(
    warnings.map(({ rule }) => rule),
    [broken, { text: "a[" }],
  );
  assert.match(warnings[0]?.message ?? "", /^p\.json:2: colon in the tool part at column 4 of 'mcp:tracker'/);
});

test("a look-up of a tool that throws is a deny", () => {
  const { checker } = makeChecker({
    label: "l",
    scope: "user",
    allow: ["*"],
    tools: () => {
      throw new Error("no registry");
    },
  });
  const { verdict, source } = decide(on("shell"), { mode: "yolo", checkers: [checker] });
  assert.deepEqual([verdict, source], ["deny", "l"]);
});

const DENY_RM = ["exec:command=rm*"];
const ALLOW_LS = ["exec:command=ls*"];

/** Command lines for a tool that executes, where nothing but the checker reads them. */
const HOSTILE: readonly (readonly [sentence: string, command: string])[] = [
  ["a plain command", "rm -rf x"],
  ["after a semicolon", "ls; rm x"],
  ["after a semicolon without blanks", "ls;rm x"],
  ["after &&", "ls && rm x"],
  ["after ||", "ls||rm x"],
  ["in the background", "ls & rm x"],
  ["in a pipe", "ls | rm x"],
  ["in a pipe with standard error", "ls |& rm x"],
  ["in a substitution", "ls $(rm x)"],
  ["in a substitution in quotes", 'ls "$(rm x)"'],
  ["in backticks", "ls `rm x`"],
  ["in a process substitution", "ls <(rm x)"],
  ["in a subshell", "(rm x)"],
  ["in a group", "{ rm x; }"],
  ["on another line", "ls\nrm x"],
  ["after a carriage return", "ls\r\nrm x"],
  ["over two lines", "r\\\nm x"],
  ["in quotes", '"rm" x'],
  ["with quotes inside", "r''m x"],
  ["with an escape", "\\rm x"],
  ["with a folder", "/bin/rm x"],
  ["as text for a shell", 'bash -c "rm x"'],
  ["as text for a shell, in single quotes", "sh -c 'ls; rm x'"],
  ["as the argument of a wrapper", "sudo -n env rm x"],
  ["behind an assignment", "FOO=1 rm x"],
  ["behind a quoted assignment", "FOO='a b' rm x"],
  ["behind a redirection", ">out rm x"],
  ["with a redirection", "rm x >/dev/null 2>&1"],
  ["before a comment", "rm x # ls"],
  ["behind a comment", "ls # x\nrm x"],
  ["with a tab", "ls;\trm\tx"],
  ["with a blank of Unicode", "ls;\u00a0rm x"],
  ["with the field separator", "rm$IFS-r x"],
  ["in a here-document", "bash <<EOF\nrm x\nEOF"],
  ["in a here-string", 'bash <<< "rm x"'],
  ["in capitals", "RM x"],
];
for (const [sentence, command] of HOSTILE) {
  test(`without the policy package, a deny sees a command ${sentence}`, () => {
    for (const input of [{ command }, { cmd: command }]) {
      const { checker } = makeChecker({ label: "l", scope: "user", deny: DENY_RM, allow: ["*"] });
      assert.equal(checker.check(executing(input), { subject: "exec" }).verdict, "deny");
      const asking = makeChecker({ label: "l", scope: "user", ask: DENY_RM, allow: ["*"] }).checker;
      assert.equal(asking.check(executing(input), { subject: "exec" }).verdict, "ask");
    }
  });
}

const BEHIND_WORDS: readonly (readonly [sentence: string, input: Request["input"]])[] = [
  ["with a variable, behind an assignment", { command: "FOO=1 rm $HOME" }],
  ["with a quoted variable, behind a wrapper", { command: 'sudo rm "$X"' }],
  ["with a redirection, behind a wrapper", { command: "env rm <x" }],
  ["with a redirection and no blank", { command: "rm>x y" }],
  ["with a substitution, behind a wrapper", { command: "nice -n5 rm $(ls)" }],
  ["with a variable, as text for a shell", { command: 'bash -c "rm $X"' }],
  ["for each file that find finds", { command: "find . -exec rm {} +" }],
  ["whose arguments come from a pipe", { command: "ls | xargs rm" }],
  ["that a substitution names", { command: "$(echo rm) x" }],
  ["in braces", { command: "{rm,-rf,x}" }],
  ["with two variables as blanks", { command: "rm$IFS$9x" }],
  ["with its arguments apart", { command: "rm", args: ["x"] }],
  ["in the arguments of a shell", { command: "bash", args: ["-c", "rm x"] }],
  ["in a list", { command: ["bash", "-c", "rm x"] }],
];
for (const [sentence, input] of BEHIND_WORDS)
  test(`without the policy package, a deny of rm with arguments sees a command ${sentence}`, () => {
    const { checker } = makeChecker({ label: "l", scope: "user", deny: ["exec:command=rm *"], allow: ["*"] });
    assert.equal(checker.check(executing(input), { subject: "exec" }).verdict, "deny");
  });

test("without the policy package, an allow covers a command only together with its arguments", () => {
  const { checker } = makeChecker({ label: "l", scope: "user", allow: ["exec:command=git log*", "exec:command=ls"] });
  const verdict = (input: Request["input"]) => checker.check(executing(input), { subject: "exec" }).verdict;
  assert.equal(verdict({ command: "git", args: ["log", "-1"] }), "allow");
  for (const args of [["-a"], ["; rm x"], [["x"]]]) assert.equal(verdict({ command: "ls", args }), "none");
});

const NOT_SIMPLE: readonly string[] = [
  ...["ls; id", "ls && id", "ls || id", "ls & id", "ls | sh", "ls $(id)", "ls `id`", "ls <(id)", "(ls)", "{ ls; }", "ls\nid", "ls\r\nid"],
  ...["'ls'", 'ls "a"', "l\\s", "ls a\\ b", "ls $HOME", "ls ~", "ls *", "ls [a]", "ls a?", "ls {a,b}", "ls !!", "ls > out", "ls < in"],
  ...["ls 2>&1", "ls # note", "ls <<EOF\na\nEOF", "ls\u00a0-a", "ls \u202e", "lѕ", "bash -c ls", "FOO=1 ls", "sudo ls", "/tmp/ls", "lsof"],
  ...["ls \0", "ls \u0007", ""],
];
for (const command of NOT_SIMPLE) {
  test(`without the policy package, an allow of ls does not match ${JSON.stringify(command)}`, () => {
    const { checker } = makeChecker({ label: "l", scope: "user", allow: ALLOW_LS });
    for (const input of [{ command }, { cmd: command }]) assert.equal(checker.check(executing(input), { subject: "exec" }).verdict, "none");
  });
}

test("without the policy package, an allow matches a simple command, and a bare allow nothing but simple commands", () => {
  const { checker } = makeChecker({ label: "l", scope: "user", allow: ALLOW_LS });
  assert.equal(checker.check(executing({ command: "ls -la src" }), { subject: "exec" }).verdict, "allow");
  const bare = makeChecker({ label: "l", scope: "user", allow: ["exec"] }).checker;
  assert.equal(bare.check(executing({ command: "make all" }), { subject: "exec" }).verdict, "allow");
  assert.equal(bare.check(executing({ command: "make all; id" }), { subject: "exec" }).verdict, "none");
  assert.equal(bare.check(executing({ target: "a; b" }), { subject: "exec" }).verdict, "allow");
});

test("the command of a tool of another kind is plain text", () => {
  const { checker } = makeChecker({ label: "l", scope: "user", deny: DENY_RM, allow: ALLOW_LS });
  assert.equal(checker.check(on("exec", { command: "ls; rm x" }), { subject: "exec" }).verdict, "allow");
});

function executing(input: Request["input"]): Request {
  return { ...on("exec", input), kind: "execute" };
}

test("lists of checkers are joined in order, absent and empty ones skipped", () => {
  const [a, b, c] = ["a", "b", "c"].map((label) => makeChecker({ label, scope: "user" }).checker);
  assert.ok(a && b && c);
  assert.deepEqual(mergeCheckers([a], undefined, [], [b, c]), [a, b, c]);
  assert.deepEqual(mergeCheckers(), []);
});

test("allow * with a deny or an ask, in every order of rules and layers, in every mode but plan", () => {
  const place = fc.record({
    scope: fc.constantFrom<Scope>("session", "project", "user", "team"),
    reversed: fc.boolean(),
    together: fc.boolean(),
  });
  fc.assert(
    fc.property(
      place,
      fc.constantFrom("default", "auto-edit", "yolo"),
      fc.constantFrom("deny" as const, "ask" as const),
      (where, mode, list) => {
        const strict = ["x", "shell:command=git push*"];
        const rules = { label: "strict", scope: where.scope, [list]: where.reversed ? strict.toReversed() : strict };
        const wide = { label: "wide", scope: "session" as const, allow: ["*"] };
        const layers = where.together ? [{ ...rules, allow: ["*"] }] : [rules, wide];
        const checkers = (where.reversed ? layers : layers.toReversed()).map((layer) => makeChecker({ ...layer, tools: shapes }).checker);
        const { verdict, rule, explicitAsk } = decide(on("shell", { command: "git push" }), { mode, checkers });
        assert.deepEqual([verdict, rule?.text, explicitAsk], [list, "shell:command=git push*", list === "ask"]);
      },
    ),
  );
});

function shapes(name: string): { aliases: Record<string, string>; commandArg: string } | undefined {
  return name === "shell" ? { aliases: { cmd: "command" }, commandArg: "command" } : undefined;
}

function on(tool: string, input: Request["input"] = {}): Request {
  return { tool, toolDigest: "d", kind: "other", input, cwd: "/w", binds: {}, units: [{ subject: tool }] };
}

function ask(checker: ReturnType<typeof makeChecker>["checker"], request: Request): ReturnType<typeof checker.check> {
  return checker.check(request, { subject: request.tool });
}
