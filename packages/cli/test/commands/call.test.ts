import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { describe, test } from "node:test";
import { settingsLocations } from "@assent/policy";
import { userHome } from "../../src/store/location.ts";
import { ended, groupRuns, place, until } from "../support/assent.ts";

const TOUCH = '{"command":"touch x"}';

describe("assent call", () => {
  test("a read succeeds, as JSON and as text", async () => {
    using at = place();
    at.write("a.txt", "hello\n");
    const { code, value, stderr } = await at.json(["call", "read", "--input", '{"file_path":"a.txt"}']);
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(value), ["sessionId", "callId", "outcome", "type", "content"]);
    assert.match(value.sessionId, /^s_[a-z2-7]{20}$/);
    assert.equal(value.outcome, "succeeded");
    assert.equal(value.type, null);
    assert.ok(value.content.includes("hello"));
    assert.equal(stderr, "");
    const text = await at.run(["call", "read", "--input", '{"file_path":"a.txt"}']);
    assert.deepEqual([text.code, text.stdout, text.stderr], [0, `${value.content}\n`, ""]);
  });

  test("an ask is parked: exit 75, waiting, an approval, no file, the three commands on stderr", async () => {
    using at = place();
    const { code, value, stderr } = await at.json(["call", "shell", "--input", TOUCH, "--on-ask", "park"]);
    assert.equal(code, 75);
    assert.deepEqual([value.outcome, value.type, value.content], ["waiting", null, null]);
    assert.match(value.approvalId, /^a_[a-z2-7]{20}$/);
    assert.ok(!existsSync(at.path("x")));
    for (const command of [`assent approve ${value.approvalId}`, `assent reject ${value.approvalId}`, `assent resume ${value.sessionId}`]) {
      assert.ok(stderr.includes(`${command}\n`), command);
    }
  });

  test("approved, then resumed three times: the effect happens once, each resume exits 0 with the same content", async () => {
    using at = place();
    const input = '{"command":"echo once >> x; cat x"}';
    const { value } = await at.json(["call", "shell", "--input", input, "--on-ask", "park"]);
    assert.equal((await at.run(["approve", value.approvalId])).code, 0);
    const ends = [];
    for (let time = 0; time < 3; time++) ends.push(await at.json(["resume", value.sessionId]));
    for (const end of ends) assert.deepEqual([end.code, end.value], [0, ends[0]?.value]);
    assert.deepEqual([ends[0]?.value.outcome, ends[0]?.value.callId], ["succeeded", value.callId]);
    assert.ok(ends[0]?.value.content.includes("once"));
    assert.equal(readFileSync(at.path("x"), "utf8"), "once\n");
  });

  test("rejected with a reason, then resumed: exit 1, rejected_by_user, the reason, nothing ran", async () => {
    using at = place();
    const { value } = await at.json(["call", "shell", "--input", TOUCH, "--on-ask", "park"]);
    assert.equal((await at.run(["reject", value.approvalId, "--reason", "no, thanks"])).code, 0);
    const end = await at.hereJson(["resume", value.sessionId]);
    assert.deepEqual([end.code, end.value.outcome, end.value.type], [1, "rejected", "rejected_by_user"]);
    assert.ok(end.value.content.includes("no, thanks"));
    assert.ok(!existsSync(at.path("x")));
  });

  test("an unknown tool is a recorded call that suggests the right one", async () => {
    using at = place();
    const { code, value } = await at.json(["call", "shel", "--input", "{}"]);
    assert.deepEqual([code, value.outcome, value.type], [4, "invalid", "tool_not_registered"]);
    assert.ok(value.content.includes("'shell'"));
    const sessions = await at.hereJson(["sessions"]);
    assert.deepEqual([sessions.value.length, sessions.value[0].id, sessions.value[0].state], [1, value.sessionId, "failed"]);
    assert.equal((await at.hereJson(["resume", value.sessionId])).code, 4);
  });

  test("an ask rule also asks in yolo, where no one can be asked", async () => {
    using at = place();
    const { code, value } = await at.json(["call", "shell", "--input", TOUCH, "--mode", "yolo", "--ask", "shell", "--on-ask", "deny"]);
    assert.deepEqual([code, value.outcome, value.type], [1, "denied", "denied_unattended"]);
    assert.ok(!existsSync(at.path("x")));
  });

  for (const onAsk of [[], ["--on-ask", "deny"], ["--on-ask", "fail"]]) {
    test(`without a terminal an ask is denied (${onAsk.join(" ") || "no flag"})`, async () => {
      using at = place();
      const { code, value } = await at.hereJson(["call", "shell", "--input", TOUCH, ...onAsk]);
      assert.deepEqual([code, value.outcome, value.type], [1, "denied", "denied_unattended"]);
      assert.deepEqual((await at.hereJson(["approvals"])).value, []);
    });
  }

  for (const [name, flags, says, silent] of [
    ["an ask that a rule could allow", [], ["in a terminal", "--on-ask park", "--allow RULE", "assent explain"], []],
    ["an ask rule, which no allow outweighs", ["--ask", "shell"], ["in a terminal", "--on-ask park"], ["allow"]],
    ["a policy file, which is read alone", ["--policy", "p.json"], ["an allow rule in the --policy file"], ["--allow RULE"]],
  ] as const) {
    test(`a call that no one could be asked about says what to do next: ${name}`, async () => {
      using at = place();
      at.write("p.json", "{}");
      for (const json of [[], ["--json"]]) {
        const { code, stderr } = await at.here(["call", "shell", "--input", TOUCH, ...flags, ...json]);
        assert.equal(code, 1);
        for (const text of says) assert.ok(stderr.includes(text), `${text} in ${stderr}`);
        for (const text of silent) assert.ok(!stderr.includes(text), `no ${text} in ${stderr}`);
      }
      const { value } = await at.hereJson(["call", "shell", "--input", TOUCH, ...flags]);
      assert.deepEqual(Object.keys(value), ["sessionId", "callId", "outcome", "type", "content"]);
    });
  }

  test("a call that was denied for another reason says nothing about asking", async () => {
    using at = place();
    const { stderr } = await at.here(["call", "shell", "--input", TOUCH, "--deny", "shell"]);
    assert.ok(!stderr.includes("--on-ask"), stderr);
  });

  for (const [name, said, told] of [
    ["the reason a hook stops the run for", { continue: false, stopReason: "quota\u001b[2J" }, "quota"],
    ["a hook that stops the run without a reason", { continue: false }, "post_tool_use"],
  ] as const) {
    test(`${name} is reported on stderr and in --json`, async () => {
      using at = place();
      at.write("said.json", JSON.stringify(said));
      const hook = { type: "command", command: `cat ${at.path("said.json")}` };
      mkdirSync(join(at.root, ".config", "assent"), { recursive: true });
      writeFileSync(join(at.root, ".config", "assent", "settings.json"), JSON.stringify({ hooks: { PostToolUse: [{ hooks: [hook] }] } }));
      const { code, value, stderr } = await at.hereJson(["call", "shell", "--input", TOUCH, "--mode", "yolo"]);
      assert.deepEqual([code, value.outcome], [0, "succeeded"]);
      assert.ok(value.stopReason.includes(told), JSON.stringify(value));
      assert.match(stderr, new RegExp(`^A hook stops the run: .*${told}`, "m"));
      assert.ok(!stderr.includes("\u001b"));
    });
  }

  test("a failed result goes to stderr, nothing to stdout", async () => {
    using at = place();
    const { code, stdout, stderr } = await at.run(["call", "shell", "--input", '{"command":"echo out; exit 3"}', "--mode", "yolo"]);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /out\n[\s\S]*\[exit code 3\]/);
  });

  test("yolo runs everything that is not denied, and a deny rule holds in it", async () => {
    using at = place();
    assert.equal((await at.hereJson(["call", "shell", "--input", TOUCH, "--mode", "yolo"])).value.outcome, "succeeded");
    assert.ok(existsSync(at.path("x")));
    const denied = await at.hereJson([
      "call",
      "shell",
      "--input",
      '{"command":"touch y"}',
      "--mode",
      "yolo",
      "--deny",
      "shell:command=touch*",
    ]);
    assert.deepEqual([denied.code, denied.value.outcome, denied.value.type], [1, "denied", "denied_by_rule"]);
    assert.ok(!existsSync(at.path("y")));
  });

  test("an alias of the input does not dodge a rule", async () => {
    using at = place();
    const denied = await at.hereJson(["call", "shell", "--input", '{"cmd":"touch y"}', "--mode", "yolo", "--deny", "shell:command=touch*"]);
    assert.equal(denied.value.type, "denied_by_rule");
  });

  test("an allow rule covers the command it names and nothing that a shell could add", async () => {
    using at = place();
    const rule = ["--allow", "shell:command=touch*"];
    assert.equal((await at.hereJson(["call", "shell", "--input", TOUCH, ...rule])).value.outcome, "succeeded");
    for (const command of ["touch x; rm y", "touch $HOME/y", "touch y > z", "FOO=1 touch y", "./touch y", "touchy"]) {
      const more = await at.hereJson(["call", "shell", "--input", JSON.stringify({ command }), ...rule]);
      assert.equal(more.value.type, "denied_unattended", command);
    }
    assert.ok(!existsSync(at.path("y")) && !existsSync(at.path("z")));
    const both = await at.hereJson(["call", "shell", "--input", '{"command":"touch x; touch y"}', ...rule]);
    assert.equal(both.value.outcome, "succeeded", "every part is allowed");
  });

  test("plan mode denies a write even if a rule allows it", async () => {
    using at = place();
    const { value } = await at.hereJson([
      "call",
      "write",
      "--input",
      '{"file_path":"n.txt","content":"x"}',
      "--mode",
      "plan",
      "--allow",
      "write",
    ]);
    assert.deepEqual([value.outcome, value.type], ["denied", "denied_by_mode"]);
    assert.ok(!existsSync(at.path("n.txt")));
  });

  test("auto-edit writes inside the workspace, and asks outside it", async () => {
    using at = place();
    const inside = await at.hereJson(["call", "write", "--input", '{"file_path":"n.txt","content":"x"}', "--mode", "auto-edit"]);
    assert.equal(inside.value.outcome, "succeeded");
    assert.equal(readFileSync(at.path("n.txt"), "utf8"), "x");
    symlinkSync(at.root, at.path("link"));
    const outside = await at.hereJson(["call", "write", "--input", '{"file_path":"link/n.txt","content":"x"}', "--mode", "auto-edit"]);
    assert.equal(outside.value.type, "denied_unattended");
    assert.ok(!existsSync(join(at.root, "n.txt")));
  });

  test("Assent's own store is closed to tools in every mode", async () => {
    using at = place();
    await at.here(["call", "read", "--input", "{}"]);
    const { code, value } = await at.hereJson([
      "call",
      "read",
      "--input",
      JSON.stringify({ file_path: join(at.store, "ledger.db") }),
      "--mode",
      "yolo",
    ]);
    assert.deepEqual([code, value.outcome, value.type], [1, "denied", "denied_by_guard"]);
  });

  test("--cwd and --workspace say where the call is made", async () => {
    using at = place();
    mkdirSync(at.path("sub"));
    const { value } = await at.json([
      "call",
      "shell",
      "--input",
      '{"command":"pwd"}',
      "--mode",
      "yolo",
      "--cwd",
      "sub",
      "--workspace",
      ".",
    ]);
    assert.equal(value.content.trim(), at.path("sub"));
    assert.equal((await at.hereJson(["sessions", "--cwd", "sub"])).value.length, 1);
    assert.equal((await at.hereJson(["sessions", "--cwd", "."])).value.length, 0);
  });

  test("a broken deny or ask stops everything; a broken allow is ignored with a warning", async () => {
    using at = place();
    for (const flag of ["--deny", "--ask"]) {
      const { code, value } = await at.hereJson(["call", "shell", "--input", TOUCH, "--mode", "yolo", flag, "a["]);
      assert.deepEqual([code, value.error.type], [2, "rule_bad_glob"]);
    }
    assert.ok(!existsSync(at.store) && !existsSync(at.path("x")));
    const allowed = await at.hereJson(["call", "shell", "--input", TOUCH, "--allow", "a["]);
    assert.deepEqual([allowed.code, allowed.value.type], [1, "denied_unattended"]);
    assert.match(allowed.stderr, /warning: Ignored --allow 'a\[': .+\.\n/);
    const open = await at.hereJson(["call", "shell", "--input", TOUCH, "--allow", "Shell("]);
    assert.match(open.stderr, /^assent: warning: Ignored --allow 'Shell\(': a rule that has a '\(' must end with '\)'\.\n/);
  });
});

describe("a rule that could never hold", () => {
  test("a deny of an argument that the tool does not take stops everything, and says what it takes", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["call", "shell", "--input", TOUCH, "--mode", "yolo", "--deny", "shell:comand=touch*"]);
    assert.deepEqual(
      [code, value.error.type, value.error.hint],
      [2, "rule_syntax", "It takes command, timeout_ms, description, cwd, pty, run_in_background, cmd."],
    );
    assert.ok(!existsSync(at.path("x")));
  });
});

describe("what --input may be", () => {
  test("@FILE, stdin and nothing", async () => {
    using at = place();
    at.write("a.txt", "hello");
    at.write("in.json", '\ufeff{"file_path":"a.txt"}');
    assert.equal((await at.hereJson(["call", "read", "--input", "@in.json"])).value.outcome, "succeeded");
    assert.equal((await at.hereJson(["call", "read", "--input", "-"], { input: '{"file_path":"a.txt"}' })).value.outcome, "succeeded");
    const none = await at.hereJson(["call", "read"]);
    assert.deepEqual([none.code, none.value.type], [1, "invalid_tool_params"]);
    assert.ok(none.value.content.includes("file_path"));
  });

  test("a file that cannot be read, or is not text, is a usage error, and nothing is recorded", async () => {
    using at = place();
    writeFileSync(at.path("bin"), Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    for (const input of ["@missing.json", "@.", "@bin"]) {
      const { code, stdout, stderr } = await at.run(["call", "read", "--input", input]);
      assert.deepEqual([code, stdout, stderr.split("\n").length], [2, "", 2], input);
      assert.match(stderr, /^assent call: cannot read the file /);
    }
    assert.ok(!existsSync(at.store));
  });

  const deep = 100_000;
  const rows: readonly (readonly [string, string, string])[] = [
    ["malformed JSON", "{oops", "invalid_json"],
    ["an array", "[]", "invalid_tool_params"],
    ["a property the schema does not know", '{"file_path":"a","path":"b"}', "invalid_tool_params"],
    ["a wrong type", '{"file_path":{"a":1}}', "invalid_tool_params"],
    ["a __proto__ key", '{"file_path":"a","__proto__":{"x":1}}', "invalid_tool_params"],
    ["a constructor key below the root", '{"file_path":{"constructor":1}}', "invalid_tool_params"],
    ["a number beyond all numbers", '{"file_path":"a","limit":1e400}', "invalid_tool_params"],
    ["an integer that would be rounded", '{"file_path":"a","limit":12345678901234567890}', "invalid_tool_params"],
    ["100,000 levels", `{"file_path":${"[".repeat(deep)}${"]".repeat(deep)}}`, "input_too_large"],
    ["50 MB", `{"file_path":"${"x".repeat(50_000_000)}"}`, "input_too_large"],
  ];
  for (const [name, text, type] of rows) {
    test(`${name} is a recorded, invalid call`, async () => {
      using at = place();
      const { code, value } = await at.hereJson(["call", "read", "--input", "-"], { input: text });
      assert.deepEqual([code, value.outcome, value.type], [1, "invalid", type]);
      const again = await at.hereJson(["resume", value.sessionId]);
      assert.deepEqual([again.code, again.value], [code, value]);
    });
  }

  const hints: readonly (readonly [sentence: string, tool: string, input: string, hint: string, exit?: number])[] = [
    ["text that is no JSON", "read", "{oops", "--input takes JSON, quoted for your shell. What this tool accepts: assent tools read"],
    ["JSON that does not fit", "read", "{}", "What this tool accepts: assent tools read"],
    ["a tool that is not there", "reed", "{}", "See: assent tools", 4],
  ];
  for (const [sentence, tool, input, hint, exit = 1] of hints) {
    test(`${sentence} is answered with where to look, but not to a program`, async () => {
      using at = place();
      const { code, stdout, stderr } = await at.here(["call", tool, "--input", input]);
      assert.deepEqual([code, stdout, stderr.trimEnd().split("\n").at(-1)], [exit, "", hint]);
      assert.equal((await at.hereJson(["call", tool, "--input", input])).stderr, "");
    });
  }

  test("a misspelled tool is answered with the one that was meant, in words for a person", async () => {
    using at = place();
    const { code, stderr } = await at.here(["call", "shel", "--input", "{}"]);
    assert.deepEqual([code, stderr], [4, "assent call: unknown tool 'shel'. Did you mean 'shell'?\nSee: assent tools\n"]);
    const { stderr: ofServer } = await at.here(["call", "mcp__calc__add"]);
    assert.match(ofServer, /unknown tool 'mcp__calc__add'\.\nassent call does not start MCP servers\./);
    const { value } = await at.hereJson(["call", "shel", "--input", "{}"]);
    assert.match(value.content, /^Tool 'shel' is not available\./);
  });

  test("a tool that is not there with --policy is answered with how custom ones are named", async () => {
    using at = place();
    const policy = at.write("p.json", '{ "version": 1 }');
    const { code, stderr } = await at.here(["call", "greet", "--input", "{}", "--policy", policy]);
    assert.equal(code, 4);
    assert.match(stderr, /if you name their file with --tool FILE\.\nSee: assent tools\n$/);
  });

  test("a lone surrogate in the input is refused or made whole, never recorded as it is", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["call", "read", "--input", '{"file_path":"\\ud800"}']);
    assert.equal(code, 1);
    assert.ok(["invalid", "failed"].includes(value.outcome));
    assert.equal((await at.hereJson(["verify"])).value.ok, true);
  });
});

describe("usage of call", () => {
  const rows: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["no TOOL", ["call"], /^assent call: TOOL is missing\. See: assent tools\. Usage: assent call TOOL \[options\]\n$/],
    ["an unknown option", ["call", "read", "--inptu", "{}"], /^assent call: unknown option '--inptu'\. Did you mean '--input'\?\n$/],
    ["an unknown value", ["call", "read", "--on-ask", "parc"], /'parc'\. Did you mean 'park'\?\n$/],
    ["a --cwd that is none", ["call", "read", "--cwd", "nowhere"], /^assent call: option '--cwd' must be a directory, but .*\n$/],
    ["a --cwd of a run that is none", ["run", "hi", "--cwd", "nowhere"], /^assent run: option '--cwd' must be a directory, but .*\n$/],
    ["a --workspace that is none", ["call", "read", "--workspace", "nowhere"], /^assent: .*nowhere.*--workspace/],
  ];
  for (const [name, argv, message] of rows) {
    test(`${name}: exit 2, one line, nothing started`, async () => {
      using at = place();
      const { code, stdout, stderr } = await at.run(argv);
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, message);
      assert.equal(stderr.trimEnd().split("\n").length, 1);
      assert.ok(!existsSync(at.store));
    });
  }

  test("with --json a usage error is JSON on stdout", async () => {
    using at = place();
    const { code, value, stderr } = await at.json(["call", "read", "--qqqqqq"]);
    assert.deepEqual([code, stderr], [2, ""]);
    assert.deepEqual(value, {
      error: { type: "usage", message: "assent call: unknown option '--qqqqqq'. See: assent call --help", hint: "" },
    });
  });
});

describe("stopping a call", () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`${signal} while a command runs: its group is gone, the call is recorded cancelled, exit 130`, async () => {
      using at = place();
      const child = at.start(["call", "shell", "--input", '{"command":"echo $$ > pid; sleep 60; touch late"}', "--mode", "yolo", "--json"]);
      const end = ended(child);
      await until("the command has started", () => existsSync(at.path("pid")) && readFileSync(at.path("pid"), "utf8").includes("\n"));
      const pid = Number(readFileSync(at.path("pid"), "utf8"));
      child.kill(signal);
      const { code, stdout } = await end;
      assert.equal(code, 130);
      const value = JSON.parse(stdout);
      assert.deepEqual([value.outcome, value.type], ["cancelled", "cancelled"]);
      assert.equal(groupRuns(pid), false);
      const recorded = await at.hereJson(["resume", value.sessionId]);
      assert.deepEqual([recorded.code, recorded.value], [130, value]);
      assert.equal((await at.hereJson(["sessions"])).value[0].state, "cancelled");
    });
  }

  test("a reader that is gone: exit 130, no stack trace, the end is on record", async () => {
    using at = place();
    at.write("a.txt", "x\n".repeat(900));
    const child = at.start(["call", "read", "--input", '{"file_path":"a.txt"}']);
    child.stdout?.destroy();
    const { code, stderr } = await ended(child);
    assert.deepEqual([code, stderr], [130, ""]);
    assert.equal((await at.hereJson(["sessions"])).value[0].state, "done");
  });
});

describe("where the store is", () => {
  test("--store wins over ASSENT_STORE, and printed commands carry it", async () => {
    using at = place();
    const { code, stderr } = await at.run(["call", "shell", "--input", TOUCH, "--on-ask", "park", "--store", "o ther"]);
    assert.equal(code, 75);
    assert.match(stderr, /assent approve a_\w+ --store 'o ther'\n/);
    assert.ok(existsSync(at.path("o ther/ledger.db")) && !existsSync(at.store));
  });

  test("a relative ASSENT_STORE is ignored with a warning; XDG_STATE_HOME counts if absolute; else the home", async () => {
    using at = place();
    const run = (env: Record<string, string>) => at.run(["call", "read", "--input", "{}"], { env });
    const relative = await run({ ASSENT_STORE: "rel", XDG_STATE_HOME: join(at.root, "xdg") });
    assert.match(relative.stderr, /warning: ASSENT_STORE is ignored/);
    assert.ok(existsSync(join(at.root, "xdg/assent/ledger.db")) && !existsSync(at.path("rel")));
    await run({ ASSENT_STORE: "", XDG_STATE_HOME: "rel" });
    assert.ok(existsSync(join(at.root, ".local/state/assent/ledger.db")));
  });

  test("an empty HOME is not the working directory", () => {
    const before = process.env["HOME"];
    process.env["HOME"] = "";
    try {
      assert.equal(userHome({ HOME: "" }), userInfo().homedir);
      assert.equal(settingsLocations({ HOME: "" }).home, userInfo().homedir);
      assert.ok(isAbsolute(userInfo().homedir));
    } finally {
      if (before !== undefined) process.env["HOME"] = before;
    }
  });

  test("looking at a store that is not there makes none", async () => {
    using at = place();
    for (const argv of [["approvals"], ["sessions"], ["grants"], ["log"]]) assert.equal((await at.here(argv)).code, 0, argv.join(" "));
    assert.ok(!existsSync(at.store));
  });
});
