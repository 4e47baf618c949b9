import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Verdict } from "../../../src/model/decision.ts";
import { matchesPattern, parsePattern, type Subject } from "../../../src/model/pattern/pattern.ts";

type Row = readonly [sentence: string, pattern: string, how: Verdict | "both", on: Subject, matches: boolean];

const table: readonly Row[] = [
  ["a tool's name covers any input", "shell", "both", call("shell", { a: [1] }), true],
  ["a tool's name does not cover another tool", "shell", "both", call("shelly"), false],
  ["names compare without case", "SHELL", "both", call("shell"), true],
  ["read_*", "read_*", "both", call("read_file"), true],
  ["*_file", "*_file", "both", call("read_file"), true],
  ["read_???e", "read_???e", "both", call("read_file"), true],
  ["[rw]*_file", "[rw]*_file", "both", call("read_file"), true],
  ["??? is three characters", "???", "both", call("abcd"), false],
  ["all tools of a server", "mcp__tracker__*", "both", call("mcp__tracker__close_ticket"), true],
  ["ls* allows ls -la", "shell:command=ls*", "allow", shell("ls -la"), true],
  ["ls* allows ls", "shell:command=ls*", "allow", shell("ls"), true],
  ["ls* does not allow a call without arguments", "shell:command=ls*", "allow", command({}), false],
  ["ls* does not allow lsof", "shell:command=ls*", "allow", shell("lsof"), false],
  ["rm* denies rm -r out", "shell:command=rm*", "deny", shell("rm -r out"), true],
  ["rm* denies a part", "shell:command=rm*", "deny", shell("ls; rm x"), true],
  ["rm* asks for a part", "shell:command=rm*", "ask", shell("ls && rm x"), true],
  ["rm* denies behind a pipe", "shell:command=rm*", "deny", shell("ls |\trm x"), true],
  ["rm* denies inside a substitution", "shell:command=rm*", "deny", shell("echo $(rm x)"), true],
  ["rm* denies without case", "shell:command=rm*", "deny", shell("RM x"), true],
  ["rm* does not deny an argument", "shell:command=rm*", "deny", shell("echo rm"), false],
  ["an exact deny sees a part without its blanks", "shell:command=rm x", "deny", shell("ls ; rm x ; ls"), true],
  ["argument names compare with case", "shell:COMMAND=ls*", "both", shell("ls"), false],
  ["an alias in the pattern is folded", "shell:cmd=ls*", "both", shell("ls"), true],
  ["an alias in the input is folded", "shell:command=ls*", "both", command({ cmd: "ls" }), true],
  ["without the tool's aliases the spelling counts", "shell:cmd=ls*", "both", call("shell", { command: "ls" }), false],
  ["*rm -rf* denies on a second line", "shell:command=*rm -rf*", "deny", shell("echo hi\nrm -rf out"), true],
  ["all conditions must hold", "shell:command=ls*:cwd=/srv/*", "allow", command({ command: "ls", cwd: "/opt" }), false],
  ["all conditions hold", "shell:command=ls*:cwd=/srv/*", "allow", command({ command: "ls", cwd: "/srv/a" }), true],
  ["a number is plain decimal", "t:n=1000000", "both", call("t", { n: 1000000 }), true],
  ["a whole number has no fraction", "t:n=42", "both", call("t", { n: 42.0 }), true],
  ["a small number is plain decimal", "t:n=-0.00000015", "both", call("t", { n: -1.5e-7 }), true],
  ["a large number is plain decimal", "t:n=1500000000000000000000", "both", call("t", { n: 1.5e21 }), true],
  ["minus zero is 0", "t:n=0", "both", call("t", { n: -0 }), true],
  ["a boolean", "t:flag=true", "both", call("t", { flag: true }), true],
  ["a text that reads like it", "t:flag=true", "both", call("t", { flag: "true" }), true],
  ["null is null", "t:x=null", "both", call("t", { x: null }), true],
  ["an escaped star is a star", "foo\\*", "both", call("foo*"), true],
  ["an escaped star is only a star", "foo\\*", "both", call("foobar"), false],
  ["an allow needs every element", "t:paths=lib/*", "allow", call("t", { paths: ["lib/a", "/etc/b"] }), false],
  ["an allow with every element", "t:paths=lib/*", "allow", call("t", { paths: ["lib/a", "lib/b"] }), true],
  ["an empty list is not allowed", "t:paths=lib/*", "allow", call("t", { paths: [] }), false],
  ["a deny needs one element", "t:paths=lib/*", "deny", call("t", { paths: ["lib/a", "/etc/b"] }), true],
  ["an ask needs one element", "t:paths=lib/*", "ask", call("t", { paths: ["/etc/b", ["lib/a"]] }), true],
  ["a deny of none", "t:paths=lib/*", "deny", call("t", { paths: ["/etc/b"] }), false],
  ["a dot reaches into an object", "t:o.k=x", "both", call("t", { o: { k: "x" } }), true],
  ["own keys only", "t:o.constructor=*", "both", call("t", { o: {} }), false],
  ["own keys only, also where an inherited one would match", "t:o.k=x", "both", call("t", { o: Object.create({ k: "x" }) }), false],
  ["own arguments only", "t:constructor=*", "both", call("t"), false],
  ["a dot reaches through a list, any element for a deny", "t:o.k=x", "deny", call("t", { o: [{ k: "y" }, { k: "x" }] }), true],
  ["a dot reaches through a list, every element for an allow", "t:o.k=x", "allow", call("t", { o: [{ k: "x" }, {}] }), false],
  ["an object matches only through a dot", "t:o=*", "both", call("t", { o: { k: "x" } }), false],
  ["a missing argument does not match", "t:a=*", "both", call("t", { b: 1 }), false],
  ["an undefined argument does not match", "t:a=*", "both", call("t", { a: undefined }), false],
  ["composed matches decomposed", "nai\u0308ve*".normalize("NFC"), "both", call("nai\u0308ve x"), true],
  ["in a value too", "t:a=nai\u0308ve*", "both", call("t", { a: "na\u00efve x" }), true],
  ["a colon belongs to its glob", "fetch:url=https://api.test/*", "both", call("fetch", { url: "https://api.test/x" }), true],
  ["a drive's colon too", "x:dir=D:\\\\data\\\\*", "both", call("x", { dir: "D:\\data\\y" }), true],
  ["an escaped colon starts no condition", "t:a=x\\:b=y", "both", call("t", { a: "x:b=y" }), true],
  ["after an escaped backslash a colon starts one", "t:a=x\\\\:b=y", "both", call("t", { a: "x\\", b: "y" }), true],
  ["values compare without case", "t:a=Lib/*", "both", call("t", { a: "lib/X" }), true],
  ["an empty glob is the empty text", "t:a=", "both", call("t", { a: "" }), true],
];

for (const [sentence, pattern, how, on, matches] of table) {
  for (const verdict of how === "both" ? (["allow", "ask", "deny"] as const) : [how]) {
    test(`${sentence} (${verdict})`, () => assert.equal(matchesPattern(parsePattern(pattern), verdict, on), matches));
  }
}

const allowedCommands: readonly (readonly [pattern: string, command: unknown, matches: boolean])[] = [
  ["shell:command=git status*", "git  status\t-s", true],
  ["shell:command=git status*", "git status", true],
  ["shell:command=git status*", "git statusx", false],
  ["shell:command=git status*", "git", false],
  ["shell:command=git status", "git status -s", false],
  ["shell:command=git status", "git status", true],
  ["shell:command=git status", "Git status", false],
  ["shell:command=git show*", "git show HEAD~1", true],
  ["shell:command=*", "make lint", true],
  ["shell:command=*", "", false],
  ["shell:command=*", "  ", false],
  ["shell:command=g?t*", "git status", false],
  ["shell:command=git * x", "git a x", false],
  ["shell:command=ls*", "ls; rm x", false],
  ["shell:command=ls*", "ls\nrm x", false],
  ["shell:command=ls*", "ls && rm x", false],
  ["shell:command=ls*", "ls | sh", false],
  ["shell:command=ls*", "ls $HOME", false],
  ["shell:command=ls*", "ls `x`", false],
  ["shell:command=ls*", "ls 'x'", false],
  ["shell:command=ls*", 'ls "x"', false],
  ["shell:command=ls*", "ls \\x", false],
  ["shell:command=ls*", "ls > x", false],
  ["shell:command=ls*", "ls *", false],
  ["shell:command=ls*", "ls {a,b}", false],
  ["shell:command=ls*", "ls # x", false],
  ["shell:command=ls*", "ls ~", false],
  ["shell:command=ls*", "ls x=~", false],
  ["shell:command=ls*", "ls a:~/b", false],
  ["shell:command=ls*", "ls é", false],
  ["shell:command=ls*", "ls\u00a0-la", false],
  ["shell:command=ls*", `ls ${"a".repeat(4094)}`, false],
  ["shell:command=ls*", `ls ${"a".repeat(4093)}`, true],
  ["shell:command=ls*", ["ls"], false],
  ["shell", "ls -la", true],
  ["shell", "ls | sh", false],
  ["*", "ls $(x)", false],
  ["shell:cwd=/srv", "ls; rm x", false],
];

for (const [pattern, text, matches] of allowedCommands) {
  test(`as an allow, ${pattern} ${matches ? "matches" : "does not match"} the command ${JSON.stringify(text).slice(0, 40)}`, () => {
    assert.equal(matchesPattern(parsePattern(pattern), "allow", command({ command: text, cwd: "/srv" })), matches);
  });
}

test("a deny sees a command given as a list, element by element and joined", () => {
  for (const pattern of ["shell:command=rm -rf*", "shell:command=-rf"]) {
    assert.equal(matchesPattern(parsePattern(pattern), "deny", command({ command: ["rm", "-rf", "out"] })), true);
  }
});

test("where an input has both spellings, a deny looks at each and an allow needs both", () => {
  const both = command({ command: "ls", cmd: "rm x" });
  assert.equal(matchesPattern(parsePattern("shell:command=rm*"), "deny", both), true);
  assert.equal(matchesPattern(parsePattern("shell:command=ls*"), "allow", both), false);
});

const broken: readonly (readonly [sentence: string, pattern: string, column: number])[] = [
  ["an unclosed class", "a[", 2],
  ["an empty text", "", 1],
  ["an empty tool", ":command=x", 1],
  ["an empty argument name", "shell:=x", 6],
  ["a colon in the tool part", "mcp:tracker", 4],
  ["a colon before the first condition", "mcp:x:a=b", 4],
  ["an escaped colon in the tool part", "a\\:b", 3],
  ["a dangling backslash", "a\\", 2],
  ["a dangling backslash in a value", "t:a=x\\", 6],
  ["an unclosed class in a value", "t:a=x:b=[y", 9],
  ["a repeated argument", "t:a=x:b=y:a=z", 11],
  ["an empty step of a path", "t:a..b=x", 3],
  ["the other notation", "Shell(git status)", 6],
  ["the other notation with a colon", "WebFetch(domain:example.com)", 9],
  ["the other notation with what looks like a condition", "Shell(npm run a:b=c)", 6],
  ["a blank", "shell x", 6],
  ["a blank behind an escaped character", "a\\*b c", 5],
];

for (const [sentence, pattern, column] of broken) {
  test(`error at load: ${sentence}`, () => {
    assert.throws(
      () => parsePattern(pattern),
      (error) => {
        assert.ok(error instanceof Error && error.name === "PatternError" && "about" in error);
        assert.partialDeepStrictEqual(error.about, { text: pattern, column });
        assert.ok(error.message.includes(`column ${column} of '${pattern}'`));
        return true;
      },
    );
  });
}

test("a rule in the other notation is reported with its reader", () => {
  assert.throws(() => parsePattern("Shell(git push)"), /tool:argument=glob; Tool\(specifier\) is read by @assent\/policy/);
});

test("law: what an allow covers, a deny of the same text covers too", () => {
  const pattern = fc.constantFrom("t", "t:a=x*", "t:a=*", "t:a.b=x", "t:cmd=ls*", "t:command=ls", "*:a=[xy]", "t:a=x:b=y");
  const value = fc.oneof(
    fc.constantFrom("x", "y", "xx", 1, true, null),
    fc.array(fc.constantFrom("x", "y")),
    fc.record({ b: fc.constant("x") }),
  );
  const text = fc.string({ unit: fc.constantFrom("l", "s", " ", ";", "x") });
  fc.assert(
    fc.property(pattern, fc.record({ a: value, b: value, command: text, cmd: text }, { requiredKeys: [] }), (written, input) => {
      const on = { tool: "t", input, aliases: { cmd: "command" }, commandArg: "command" };
      if (matchesPattern(parsePattern(written), "allow", on)) assert.equal(matchesPattern(parsePattern(written), "deny", on), true);
    }),
  );
});

test("law: any text is a pattern or a PatternError, and matching never throws", () => {
  const text = fc.string({ unit: fc.constantFrom("a", ":", "=", "*", "[", "]", "!", "-", "\\", ".", "?", "é") });
  fc.assert(
    fc.property(text, (written) => {
      try {
        matchesPattern(parsePattern(written), "deny", call("a", { a: "a" }));
      } catch (error) {
        assert.equal((error as Error).name, "PatternError");
      }
    }),
  );
});

function call(tool: string, input: Record<string, unknown> = {}): Subject {
  return { tool, input };
}

function command(input: Record<string, unknown>): Subject {
  return { tool: "shell", input, aliases: { cmd: "command" }, commandArg: "command" };
}

function shell(text: string): Subject {
  return command({ command: text });
}
