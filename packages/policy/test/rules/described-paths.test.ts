import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject, PathUse, Request, Unit, Verdict } from "@assent/core";
import { createPathUnit } from "../../src/facts/units.ts";
import { createGrantRules } from "../../src/rules/grants.ts";
import type { RuleTool } from "../../src/rules/rule.ts";
import { createSafeguards } from "../../src/safeguards/safeguards.ts";
import { OPTIONS, path, rule } from "./rule-bench.ts";

const SERVER_TOOLS: Readonly<Record<string, RuleTool>> = {
  mcp__fs__read: { kind: "other", pathArgs: ["path"], pathUses: ["read"] },
  mcp__fs__write: { kind: "other", pathArgs: ["path"], pathUses: ["write"] },
  mcp__fs__move: { kind: "other", pathArgs: ["source", "destination"], pathUses: ["remove", "write"] },
};
const options = {
  ...OPTIONS,
  tools: { get: (name: string) => SERVER_TOOLS[name] ?? OPTIONS.tools.get(name), names: () => Object.keys(SERVER_TOOLS) },
};

type Touched = readonly [argument: string, written: string, use: PathUse, more?: object];

function call(tool: string, touched: readonly Touched[]): Request {
  const input: JsonObject = Object.fromEntries(touched.map(([argument, written]) => [argument, written]));
  const units: readonly Unit[] = touched.map(([argument, written, use, more]) =>
    createPathUnit({ ...path(written.startsWith("/") ? written : `/w/app/${written}`), ...more, use, argument }),
  );
  return { tool, toolDigest: "d", kind: "other", input, cwd: "/w/app", binds: {}, units };
}

const applies = (verdict: Verdict, text: string, request: Request): boolean => {
  const read = rule(verdict, text, options);
  const answers = request.units.map((unit) => read.test(request, unit));
  const covers = verdict === "allow" ? answers.every((answer) => answer === "yes") : answers.includes("yes");
  return read.concerns(request.tool, request.kind) && covers;
};

describe("rules about files and tools of servers that touch files", () => {
  const read = call("mcp__fs__read", [["path", "src/a.ts", "read"]]);
  const write = call("mcp__fs__write", [["path", "/w/app/src/a.ts", "write"]]);
  const move = call("mcp__fs__move", [
    ["source", "/w/app/src/a.ts", "remove"],
    ["destination", "/tmp/b", "write"],
  ]);
  const climbing = call("mcp__fs__write", [["path", "/w/app/src/../../../etc/x", "write", { lexical: "/etc/x", real: "/etc/x" }]]);
  const linked = call("mcp__fs__write", [["path", "/w/app/src/link", "write", { real: "/etc/x" }]]);
  const rows: readonly [sentence: string, verdict: Verdict, text: string, request: Request, applies: boolean][] = [
    ["a deny of reads covers a tool that reads", "deny", "Read(src/**)", read, true],
    ["a deny of edits covers a tool that writes", "deny", "Edit(src/**)", write, true],
    ["a deny of edits does not cover a tool that reads", "deny", "Edit(src/**)", read, false],
    ["a deny of edits covers the file that goes away", "deny", "Edit(src/**)", move, true],
    ["a deny of edits covers where a link leads", "deny", "Edit(//etc/**)", linked, true],
    ["an ask covers a tool that writes", "ask", "Edit", write, true],
    ["an allow of edits does not cover a server's tool", "allow", "Edit(src/**)", write, false],
    ["an allow of reads does not cover a server's tool", "allow", "Read", read, false],
    ["an allow names the argument", "allow", "mcp__fs__write:path=/w/app/src/**", write, true],
    ["an allow does not follow ..", "allow", "mcp__fs__write:path=/w/app/src/**", climbing, false],
    ["an allow does not follow a link", "allow", "mcp__fs__write:path=/w/app/src/**", linked, false],
    ["a deny of an argument follows ..", "deny", "mcp__fs__write:path=/etc/**", climbing, true],
    ["an allow of one path does not cover the other", "allow", "mcp__fs__move:source=/w/app/**:destination=/w/app/**", move, false],
  ];
  for (const [sentence, verdict, text, request, expected] of rows)
    test(sentence, () => assert.equal(applies(verdict, text, request), expected));
});

describe("safeguards and tools of servers that touch files", () => {
  const own = {
    stateDirectory: "/s/assent",
    settingsFiles: ["/home/u/.config/assent/settings.json"],
    workspace: "/w/app",
    home: "/home/u",
  };
  const safeguards = createSafeguards({ own, rules: [] });
  const rows: readonly [sentence: string, touched: Touched, verdict: string][] = [
    ["reading the state directory is denied", ["path", "/s/assent/ledger.db", "read"], "own-files deny"],
    ["writing settings is denied", ["path", "/home/u/.config/assent/settings.json", "write"], "own-files deny"],
    ["removing a directory above them is denied", ["path", "/home/u/.config", "remove"], "own-files deny"],
    ["writing a control file asks", ["path", "/w/app/.git/config", "write", { control: true }], "control-file ask"],
    ["reading a control file does not ask", ["path", "/w/app/.git/config", "read", { control: true }], ""],
    ["writing where a path cannot be resolved asks", ["path", "/w/app/x", "write", { real: null }], "deny-in-doubt ask"],
    ["writing another file is left to the rules", ["path", "/w/app/x", "write"], ""],
  ];
  for (const [sentence, touched, expected] of rows)
    test(sentence, () => {
      const request = call("mcp__fs__write", [touched]);
      const answers = safeguards.flatMap(({ id, check }) =>
        request.units.flatMap((unit) => {
          const { verdict } = check(request, unit);
          return verdict === "none" ? [] : [`${id} ${verdict}`];
        }),
      );
      assert.equal(answers.join(), expected);
    });
});

describe("what 'always' remembers for a tool of a server that touches files", () => {
  const grants = createGrantRules(options);
  const bound = (text: string): string => JSON.stringify({ rule: text, bind: { tool: "d" } });
  const rows: readonly [sentence: string, request: Request, offered: readonly string[]][] = [
    ["the file alone", call("mcp__fs__write", [["path", "src/a.ts", "write"]]), [bound("mcp__fs__write:path=src/a.ts")]],
    [
      "both files of a move",
      call("mcp__fs__move", [
        ["source", "/w/app/a", "remove"],
        ["destination", "/w/app/b", "write"],
      ]),
      [bound("mcp__fs__move:source=/w/app/a:destination=/w/app/b")],
    ],
    ["nothing for a secret", call("mcp__fs__read", [["path", "/w/app/.env", "read", { sensitive: true }]]), []],
    ["nothing for a path through a link", call("mcp__fs__write", [["path", "/w/app/l", "write", { real: "/etc/x" }]]), []],
    ["nothing for a path that looks like a rule", call("mcp__fs__write", [["path", "/w/app/a:path=*", "write"]]), []],
  ];
  for (const [sentence, request, offered] of rows) test(sentence, () => assert.deepEqual(grants.offer(request), offered));

  test("the remembered file does not cover another one; the wider choice covers both", () => {
    const [one, other] = ["a", "b"].map((name) => call("mcp__fs__write", [["path", `/w/app/${name}`, "write"]]));
    assert.ok(one && other);
    const covers = (text: string, request: Request): boolean => request.units.every((unit) => grants.parse(text).covers(request, unit));
    assert.equal(covers(grants.offer(one)[0] ?? "", other), false);
    const wider = grants.offerWider?.(one);
    assert.equal(covers(wider?.rules[0] ?? "", other), true);
    assert.match(wider?.risk ?? "", /all files that the server can reach/);
  });
});
