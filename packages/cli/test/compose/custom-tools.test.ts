import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LONG } from "../../../../test/support/long.ts";
import { type Place, place } from "../support/assent.ts";

const GREET = `export default () => ({
  name: "greet", description: "Greets.", parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  execute: async (id, { who }) => ({ content: [{ type: "text", text: "Hello, " + who + "." }] }),
});`;
const PENDING = `export default () => ({
  name: "tidy", description: "Tidies.", parameters: { type: "object" },
  execute: async (id, params, onUpdate, ctx) => {
    ctx.pushPendingAction({ label: "Tidy up", sourceToolName: "tidy", apply: () => ({ content: [{ type: "text", text: "Tidied." }] }) });
    return { content: [{ type: "text", text: "It would be tidied." }] };
  },
});`;

describe("custom tools on the command line", () => {
  test("a tool that is named is judged, asked about and run like any other, also after a resume", async () => {
    using at = place();
    const file = at.write("greet.mjs", GREET);
    const parked = await at.hereJson(["call", "greet", "--tool", file, "--input", '{"who":"you"}', "--on-ask", "park"]);
    assert.equal(parked.code, 75, JSON.stringify(parked.value));
    assert.equal((await at.here(["approve", parked.value.approvalId])).code, 0);
    const { code, value } = await at.hereJson(["resume", parked.value.sessionId]);
    assert.deepEqual([code, value.content], [0, "Hello, you."]);
  });

  test("a tool sees the mode that its call was judged in", async () => {
    using at = place();
    const file = at.write(
      "mode.mjs",
      `export default () => ({
        name: "mode", kind: "read", readOnly: true, description: "Says the mode.", parameters: { type: "object" },
        execute: async (id, params, onUpdate, ctx) => ({ content: [{ type: "text", text: ctx.mode }] }),
      });`,
    );
    const seen = async (...flags: readonly string[]): Promise<unknown> =>
      (await at.hereJson(["call", "mode", "--tool", file, "--input", "{}", "--allow", "mode", ...flags])).value.content;
    assert.deepEqual(
      [await seen(), await seen("--mode", "yolo"), await seen("--mode", "plan"), await seen("--mode", "auto-edit")],
      ["default", "yolo", "plan", "auto-edit"],
    );
  });

  test("a tool of its own that takes a command passes by no hint of the shell's, and a deny of commands reaches it", async () => {
    using at = place();
    const file = at.write(
      "remote.mjs",
      `export default () => ({
        name: "remote", kind: "execute", description: "Runs it far away.",
        parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
        execute: async () => ({ content: [{ type: "text", text: "ran" }] }),
      });`,
    );
    const type = async (tool: string, command: string, ...flags: readonly string[]): Promise<string | null> => {
      const input = JSON.stringify({ command });
      const { value } = await at.hereJson(["call", tool, "--tool", file, "--input", input, "--on-ask", "deny", ...flags]);
      return value.type;
    };
    assert.deepEqual(
      [
        await type("shell", "ls"),
        await type("remote", "ls"),
        await type("remote", "ls", "--mode", "plan"),
        await type("remote", "ls; git push", "--mode", "yolo", "--deny", "Shell(git push)"),
      ],
      [null, "denied_unattended", "denied_by_mode", "denied_by_rule"],
    );
  });

  test("tools of the user's folder are there without being named; a deny rule holds for them", async () => {
    using at = place();
    const folder = join(at.root, ".config", "assent", "tools");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "greet.mjs"), GREET);
    const { value } = await at.hereJson(["tools"]);
    assert.ok(value.tools.some(({ name, source }: { name: string; source: string }) => name === "greet" && source.endsWith("greet.mjs")));
    const { value: shown } = await at.hereJson(["tools", "greet"]);
    assert.equal(shown.source, join(folder, "greet.mjs"));
    assert.match((await at.here(["tools", "greet"])).stdout, /source +.*greet\.mjs/);
    const denied = await at.hereJson(["call", "greet", "--input", '{"who":"x"}', "--mode", "yolo", "--deny", "greet"]);
    assert.equal(denied.value.type, "denied_by_rule");
  });

  test("a project's tools are not even read before it is trusted", async () => {
    using at = place();
    mkdirSync(at.path(".assent/tools"), { recursive: true });
    at.write(
      ".assent/tools/bad.mjs",
      `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(join(at.root, "ran"))}, "");`,
    );
    const { value } = await at.hereJson(["tools"]);
    assert.deepEqual(
      value.failed.map(({ type, reason }: { type: string; reason: string }) => [type, reason]),
      [["untrusted", "1 custom tool in .assent/tools is not loaded: workspace not trusted."]],
    );
    assert.equal(existsSync(join(at.root, "ran")), false);
  });

  test("a module that cannot be loaded is reported and changes nothing else; --strict-tools does not start", async () => {
    using at = place();
    const file = at.write("bad.mjs", "export default 3;");
    const plain = await at.here(["call", "list", "--tool", file, "--input", '{"path":"."}']);
    assert.equal(plain.code, 0, plain.stderr);
    assert.match(plain.stderr, /bad\.mjs: Default export is not a factory function/);
    const strict = await at.hereJson(["call", "list", "--tool", file, "--strict-tools", "--input", '{"path":"."}']);
    assert.deepEqual([strict.code, strict.value.error.type], [2, "bad_export"]);
    assert.equal((await at.hereJson(["sessions"])).value.length, 1, "nothing was begun");
  });

  test("an object that a tool returned is text for the model, a value for programs, and laid out for people", async () => {
    using at = place();
    const file = at.write(
      "table.mjs",
      `export default () => ({ name: "table", description: "Lists rows.", kind: "other", parameters: { type: "object" },
         execute: async () => ({ rows: [{ id: 1 }] }) });`,
    );
    at.write("s.yaml", "turns:\n  - calls: [{ tool: table, id: c1, input: {} }]\n  - say: Done.\n");
    const run = ["run", "go", "--model", "script:s.yaml", "--tool", file, "--mode", "yolo"];
    const { code, stdout, stderr } = await at.here([...run, "--output-format", "stream-json"]);
    assert.equal(code, 0, stderr);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const [block] = lines.find(({ type, origin }) => type === "user" && origin === "tool").message.content;
    assert.deepEqual(block.content, [{ type: "text", text: '{"rows":[{"id":1}]}' }]);
    assert.deepEqual(block.value, { rows: [{ id: 1 }] });
    const exported = await at.here(["sessions", "export", lines[0].session_id]);
    assert.match(exported.stdout, /\n\{\n {2}"rows": \[\n {4}\{\n {6}"id": 1\n/);
    const called = await at.here(["call", "table", "--tool", file, "--mode", "yolo", "--input", "{}"]);
    assert.equal(called.stdout, '{"rows":[{"id":1}]}\n');
  });

  test("a pending action of a process that has ended is lost, and says so", async () => {
    using at = place();
    const file = at.write("tidy.mjs", PENDING);
    const done = await at.json(["call", "tidy", "--tool", file, "--mode", "yolo"]);
    assert.equal(done.code, 0, done.stderr);
    const [row] = (await at.hereJson(["proposals"])).value;
    assert.equal(row.label, "Tidy up");
    const late = await at.hereJson(["apply", row.id]);
    assert.deepEqual([late.code, late.value.error.type], [1, "proposal_lost"]);
    assert.match(late.value.error.message, /Lost: Tidy up was staged by a process that has ended\. Nothing was applied\. Preview again\./);
  });

  const SETTLE = `turns:
  - calls: [{ tool: tidy, id: c1, input: {} }]
  - calls: [{ tool: resolve, id: c2, input: { action: apply, reason: go } }]
  - say: done
`;
  const RULES: readonly (readonly [name: string, flags: readonly string[], ended: string])[] = [
    ["an allow of the tool lets its preview pass, and not the action", ["--allow", "tidy"], "denied denied_unattended"],
    ["an allow of every tool does not, either", ["--allow", "*"], "denied denied_unattended"],
    ["an allow of the action's own name lets it pass", ["--allow", "tidy", "--allow", "tidy.apply"], "succeeded applied"],
    ["a deny of the action's own name holds in yolo", ["--mode", "yolo", "--deny", "tidy.apply"], "denied denied_by_rule"],
    ["a deny of resolve holds in yolo", ["--mode", "yolo", "--deny", "resolve"], "denied denied_by_rule"],
    ["without a rule yolo lets it pass", ["--mode", "yolo"], "succeeded applied"],
  ];
  for (const [name, flags, settled] of RULES) {
    test(`a pending action: ${name}`, async () => {
      using at = place();
      const file = at.write("tidy.mjs", PENDING);
      at.write("s.yaml", SETTLE);
      const { stdout } = await at.here([
        "run",
        "go",
        "--model",
        "script:s.yaml",
        "--tool",
        file,
        ...flags,
        "--output-format",
        "stream-json",
      ]);
      assert.match(stdout, /"tool_use_id":"c1"/);
      const { value } = await at.hereJson(["sessions"]);
      const log = (await at.here(["log", value[0].id, "--call", "c2", "--json"])).stdout;
      const [end] = log.split("\n").flatMap((line) => (line.includes('"call.ended"') ? [JSON.parse(line)] : []));
      assert.equal(`${end.body.outcome} ${end.body.type}`, settled, log);
    });
  }

  test("the example previews a batch of renames and applies exactly that", async () => {
    using at = place();
    for (const name of ["draft-a.txt", "draft-b.txt", "final.txt"]) at.write(name, name);
    const tool = new URL("../../../../examples/custom-tools/rename.ts", import.meta.url).pathname;
    const { value: shown } = await at.hereJson(["tools", "rename_files", "--tool", tool]);
    assert.equal(shown.kind, "move");
    const input = JSON.stringify({ folder: ".", find: "draft", replace: "done" });
    const run = await at.hereJson(["call", "rename_files", "--tool", tool, "--input", input, "--mode", "yolo"]);
    assert.equal(run.code, 0, JSON.stringify(run.value));
    assert.deepEqual(
      readdirSync(at.workspace).filter((name) => name.endsWith(".txt")),
      ["done-a.txt", "done-b.txt", "final.txt"],
    );
    const [row] = (await at.hereJson(["proposals", "--all"])).value;
    assert.equal((await at.here(["undo", row.id])).code, 0);
    assert.ok(existsSync(at.path("draft-a.txt")));
  });
});

/** Writes the user's settings and tool modules. */
function settle(at: Place, settings: object, modules: Readonly<Record<string, string>>): string {
  const config = join(at.root, ".config", "assent");
  mkdirSync(join(config, "tools"), { recursive: true });
  writeFileSync(join(config, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(config, "tools", name), text);
  return join(config, "tools");
}

const SLOW = "export default () => new Promise(() => undefined);";

describe("tools.loadTimeout", () => {
  for (const command of [["tools"], ["call", "list", "--input", '{"path":"."}']]) {
    test(`a factory has as many seconds as the settings say, for assent ${command[0]}`, async () => {
      using at = place();
      settle(at, { tools: { loadTimeout: 0.05 } }, { "slow.mjs": SLOW, "greet.mjs": GREET });
      const { code, stdout, stderr } = await at.run(command);
      assert.equal(code, 0, stderr);
      assert.match(stdout + stderr, /Custom tool failed: \S*slow\.mjs: Factory did not finish in 0\.05 s/);
    });
  }
  test("an unreadable settings file is reported, not a tool", async () => {
    using at = place();
    settle(at, { tools: { loadTimeout: "soon" } }, { "greet.mjs": GREET });
    const { code, value } = await at.hereJson(["call", "greet", "--input", '{"who":"x"}', "--mode", "yolo"]);
    assert.deepEqual([code, value.error.type], [2, "settings_type"]);
  });
});

/** A tool that writes a module, like an author while the model works. */
const AUTHOR = `import { writeFileSync, rmSync } from "node:fs";
export default () => ({
  name: "author", description: "Writes a module.", parameters: { type: "object" },
  execute: async (id, { file, text }) => {
    if (text === undefined) rmSync(file); else writeFileSync(file, text);
    return { content: [{ type: "text", text: "written" }] };
  },
});`;

/** Turns that write one module each and then call the tool. */
function authoring(file: string, texts: readonly (string | null)[], outcomes: readonly string[]): string {
  const turns = texts.flatMap((text, index) => [
    { calls: [{ tool: "author", id: `w${index}`, input: { file, ...(text !== null && { text }) } }] },
    { calls: [{ tool: "greet", id: `g${index}`, input: { who: `you${index}` } }] },
  ]);
  const expected = turns.map((turn, index) => {
    const said = index > 0 && index % 2 === 0 ? outcomes[index / 2 - 1] : undefined;
    return said === undefined ? turn : { expect: { result: { call: `g${index / 2 - 1}`, contains: said } }, ...turn };
  });
  const last = { expect: { result: { call: `g${texts.length - 1}`, contains: outcomes.at(-1) } }, say: "Done." };
  return JSON.stringify({ turns: [...expected, last] });
}

describe("tools.watch: a module that is new, changed, broken or gone counts from the next turn on", () => {
  const HI = GREET.replace("Hello", "Hi");
  const ROWS: readonly [sentence: string, watch: boolean, texts: readonly (string | null)[], outcomes: readonly string[]][] = [
    ["on: new, changed, gone", true, [GREET, HI, null], ["Hello, you0.", "Hi, you1.", "is not available"]],
    ["on: a module that no longer loads has no tools", true, [GREET, "export default 3;"], ["Hello, you0.", "is not available"]],
    ["off: what was there at the start is there", false, [GREET], ["is not available"]],
  ];
  for (const [sentence, watch, texts, outcomes] of ROWS) {
    test(sentence, async () => {
      using at = place();
      const folder = settle(at, { tools: { watch }, permissions: { allow: ["greet"] } }, { "author.mjs": AUTHOR });
      at.write("s.json", authoring(join(folder, "greet.mjs"), texts, outcomes));
      const ran = await at.run(["run", "go", "--model", "script:s.json", "--mode", "yolo"]);
      assert.deepEqual([ran.code, ran.stdout], [0, "Done.\n"], ran.stderr);
      assert.equal(/Reloaded custom tools/.test(ran.stderr), watch, ran.stderr);
    });
  }

  test("a rule that names a tool holds from the moment the tool is there", async () => {
    using at = place();
    const settings = { tools: { watch: true }, permissions: { allow: ["greet", "author"] } };
    const folder = settle(at, settings, { "author.mjs": AUTHOR });
    at.write("s.json", authoring(join(folder, "greet.mjs"), [GREET], ["Hello, you0."]));
    const ran = await at.run(["run", "go", "--model", "script:s.json", "--on-ask", "deny"]);
    assert.deepEqual([ran.code, ran.stdout], [0, "Done.\n"], ran.stderr);
  });

  test("a deny that no longer reads, now that the tool is there, holds all the same", async () => {
    using at = place();
    const settings = { tools: { watch: true }, permissions: { deny: ["greet(**)"] } };
    const folder = settle(at, settings, { "author.mjs": AUTHOR });
    at.write("s.json", authoring(join(folder, "greet.mjs"), [GREET], ["requires approval, but no one can be asked"]));
    const ran = await at.run(["run", "go", "--model", "script:s.json", "--mode", "yolo"]);
    assert.deepEqual([ran.code, ran.stdout], [0, "Done.\n"], ran.stderr);
    assert.match(ran.stderr, /stays in effect/);
  });

  test("a changed module of a trusted project is not trusted, and its tools go away", async () => {
    using at = place();
    settle(at, { tools: { watch: true } }, { "author.mjs": AUTHOR });
    mkdirSync(at.path(".assent/tools"), { recursive: true });
    const file = at.write(".assent/tools/greet.mjs", GREET);
    assert.equal((await at.here(["trust", "--yes"])).code, 0);
    at.write("s.json", authoring(file, [GREET.replace("Hello", "Gotcha")], ["is not available"]));
    const ran = await at.run(["run", "go", "--model", "script:s.json", "--mode", "yolo"]);
    assert.deepEqual([ran.code, ran.stdout], [0, "Done.\n"], ran.stderr);
    assert.match(ran.stderr, /1 custom tool in \.assent\/tools is not loaded: workspace not trusted\./);
  });
});

/** Sends a mail and is killed before it reports; the server remembers keys. */
const MAIL = `import { appendFileSync, existsSync, readFileSync } from "node:fs";
export default ({ cwd }) => ({
  name: "mail", description: "Sends a mail.", parameters: { type: "object" },
  idempotencyKey: (params, { callKey }) => callKey,
  execute: async (id, params, onUpdate, { idempotencyKey }) => {
    const box = cwd + "/box";
    const sent = existsSync(box) && readFileSync(box, "utf8").includes(idempotencyKey);
    if (!sent) appendFileSync(box, idempotencyKey + "\\n");
    if (!sent) process.kill(process.pid, "SIGKILL");
    return { content: [{ type: "text", text: "sent once" }] };
  },
});`;

describe("recovery.retryIdempotent", () => {
  const SCRIPT = JSON.stringify({
    turns: [
      { calls: [{ tool: "mail", id: "m1", input: {} }] },
      { expect: { result: { call: "m1", contains: "sent once" } }, say: "Sent." },
    ],
  });
  const DOORS: readonly [door: string, argv: readonly string[]][] = [
    ["call", ["call", "mail"]],
    ["run", ["run", "go", "--model", "script:s.json"]],
  ];
  for (const [door, argv] of DOORS) {
    for (const retryIdempotent of LONG || door === "run" ? [true, false] : [true]) {
      test(`assent ${door}, killed after the claim: ${retryIdempotent ? "once more with the same key" : "unknown, and never again"}`, async () => {
        using at = place();
        settle(at, { recovery: { retryIdempotent } }, { "mail.mjs": MAIL });
        at.write("s.json", SCRIPT);
        assert.equal((await at.run([...argv, "--mode", "yolo"])).signal, "SIGKILL");
        const [{ id }] = (await at.hereJson(["sessions"])).value;
        await at.run(["resume", id]);
        const events: readonly { type: string; body: Record<string, unknown> }[] = (await at.here(["log", id, "--json"])).stdout
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line));
        const of = (type: string): readonly Record<string, unknown>[] =>
          events.filter((event) => event.type === type).map(({ body }) => body);
        const claims = of("call.claimed").map(({ attempt, idempotencyKey }) => [attempt, idempotencyKey]);
        const keys = readFileSync(at.path("box"), "utf8").trim().split("\n");
        assert.deepEqual(
          claims,
          retryIdempotent
            ? [
                [1, keys[0]],
                [2, keys[0]],
              ]
            : [[1, keys[0]]],
        );
        assert.deepEqual(
          of("call.ended").map(({ outcome }) => outcome),
          [retryIdempotent ? "succeeded" : "unknown"],
        );
        assert.equal(keys.length, 1, "one mail");
      });
    }
  }

  test("a tool's probe is asked before anything is run again", async () => {
    using at = place();
    const probe = 'probe: (params, { callKey }) => ({ state: "applied", content: "The post office has " + callKey.length }),';
    settle(at, { recovery: { retryIdempotent: true } }, { "mail.mjs": MAIL.replace("execute:", `${probe}\n  execute:`) });
    assert.equal((await at.run(["call", "mail", "--mode", "yolo"])).signal, "SIGKILL");
    const [{ id }] = (await at.hereJson(["sessions"])).value;
    const { value } = await at.hereJson(["resume", id]);
    assert.equal(value.content, "The post office has 64 (verified after a restart)");
  });

  test("the call of a background agent is not run again: a person looks first", async () => {
    using at = place();
    settle(at, { recovery: { retryIdempotent: true }, permissions: { allow: ["Agent", "mail"] } }, { "mail.mjs": MAIL });
    mkdirSync(join(at.root, ".config", "assent", "agents"));
    const postman = "---\nname: postman\ndescription: Sends mails.\ntools: [mail]\n---\nYou send mails.\n";
    writeFileSync(join(at.root, ".config", "assent", "agents", "postman.md"), postman);
    const start = { description: "send it", prompt: "Send it.", agent: "postman", run_in_background: true };
    const turns = [{ calls: [{ tool: "agent", id: "a1", input: start }] }, { say: "Meanwhile." }, { say: "Told." }];
    at.write(
      "s.json",
      JSON.stringify({ turns, agents: { postman: { turns: [{ calls: [{ tool: "mail", id: "m1", input: {} }] }, { say: "Sent." }] } } }),
    );
    assert.equal((await at.run(["run", "go", "--model", "script:s.json"])).signal, "SIGKILL");
    const [{ id }] = (await at.hereJson(["sessions"])).value;
    const went = await at.run(["resume", id, "--tasks"]);
    assert.match(went.stderr, /t_a1 .* is paused \(execution_unknown\)/);
    const lines = (await at.here(["log", "--json", "--type", "call.claimed"])).stdout.trim().split("\n");
    const mails = lines.map((line) => JSON.parse(line).body).filter(({ call }) => call === "m1");
    assert.deepEqual(
      mails.map(({ attempt }) => attempt),
      [1],
    );
    assert.equal(readFileSync(at.path("box"), "utf8").trim().split("\n").length, 1, "one mail");
  });
});

describe("a module that loops, throws or exits neither hangs nor ends a run", () => {
  /** Blocks its thread for good. Waiting costs no processor time; one row spins instead. */
  const LOOP = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
  const DONE = '{ content: [{ type: "text", text: "done" }] }';
  const faulty = (fields: string, before = ""): string => `export default ({ zod }) => { ${before} return {
    name: "faulty", description: "Fails.", parameters: { type: "object" }, execute: async () => (${DONE}), ${fields}
  }; };`;
  const LATER = `await new Promise((resolve) => setTimeout(resolve, 50)); return ${DONE};`;
  const STOPPED = /(?:blocked its thread for|did not answer within) 2 s and was stopped/;
  const EXIT = "process.exit(3);";
  const ROWS: readonly [sentence: string, text: string, ended: string, told: RegExp, stderr: RegExp][] = [
    ["loops at its top", LOOP, "invalid tool_not_registered", /is not available/, /Module did not finish loading in 2 s/],
    ["loops in its factory", faulty("", LOOP), "invalid tool_not_registered", /is not available/, /Factory did not finish in 2 s/],
    ["exits in its factory", faulty("", EXIT), "invalid tool_not_registered", /is not available/, /Module tried to exit the process/],
    ["loops in execute", faulty("execute: async () => { while (true) {} }"), "failed execution_failed", STOPPED, /^/],
    ["loops after an await", faulty(`execute: async () => { await null; ${LOOP} }`), "failed execution_failed", STOPPED, /^/],
    [
      "loops in a timer",
      faulty(`execute: () => { setTimeout(() => { ${LOOP} }, 1); return new Promise(() => {}); }`),
      "failed execution_failed",
      STOPPED,
      /^/,
    ],
    ["loops in a refinement", faulty(`parameters: zod.object({}).refine(() => { ${LOOP} })`), "invalid invalid_tool_params", STOPPED, /^/],
    ["loops in permission", faulty(`permission() { ${LOOP} }`), "succeeded null", /done/, /^/],
    ["loops in a preview", faulty(`preview() { ${LOOP} }, apply() {}`), "failed execution_failed", STOPPED, /^/],
    [
      "loops in an apply",
      faulty(`preview: () => ({ label: "x", changes: [] }), apply() { ${LOOP} }`),
      "failed proposal_apply_failed",
      STOPPED,
      /^/,
    ],
    [
      "throws in a timer",
      faulty(`execute: async () => { setTimeout(() => { throw new Error("late"); }, 1); ${LATER} }`),
      "succeeded null",
      /done/,
      /faulty\.mjs: Uncaught error: late/,
    ],
    [
      "forgets a promise that rejects",
      faulty(`execute: async () => { Promise.reject(new Error("late")); ${LATER} }`),
      "succeeded null",
      /done/,
      /faulty\.mjs: Uncaught error: late/,
    ],
    [
      "throws in a timer that its factory began",
      faulty(`execute: async () => { ${LATER} }`, 'setTimeout(() => { throw new Error("late"); }, 1);'),
      "succeeded null",
      /done/,
      /faulty\.mjs: Uncaught error: late/,
    ],
    ["exits in execute", faulty(`execute: async () => { ${EXIT} }`), "failed execution_failed", /Module tried to exit/, /^/],
    [
      "loops in a timer after its call, until the program ends",
      faulty(`execute: async () => { setTimeout(() => { ${LOOP} }, 1); return ${DONE}; }`),
      "succeeded null",
      /done/,
      /^/,
    ],
  ];
  // packages/tools/test/custom/misbehaving.test.ts has these faults without the program.
  for (const [sentence, text, ended, told, stderr] of LONG ? ROWS : ROWS.filter((_, at) => at % 3 === 1)) {
    test(sentence, async () => {
      using at = place();
      settle(at, { tools: { loadTimeout: 2, blockTimeout: 2 } }, { "faulty.mjs": text, "greet.mjs": GREET });
      const turns = [
        { calls: [{ tool: "faulty", id: "f1", input: {} }] },
        { calls: [{ tool: "greet", id: "g1", input: { who: "you" } }] },
        { expect: { result: { call: "g1", contains: "Hello, you." } }, say: "Done." },
      ];
      at.write("s.json", JSON.stringify({ turns }));
      const ran = await at.run(["run", "go", "--model", "script:s.json", "--mode", "yolo"]);
      assert.deepEqual([ran.code, ran.stdout], [0, "Done.\n"], ran.stderr);
      assert.match(ran.stderr, stderr);
      const { stdout } = await at.here(["log", "--json", "--type", "call.ended"]);
      const [body] = stdout.split("\n").flatMap((line) => (line.includes('"f1"') ? [JSON.parse(line).body] : []));
      assert.equal(`${body?.outcome} ${body?.type}`, ended, stdout);
      assert.match(JSON.stringify(body), told);
    });
  }

  test("a tool that ignores its time limit ends with it, and the program exits", async () => {
    using at = place();
    const file = at.write("faulty.mjs", faulty(`timeoutMs: 200, execute: async () => { await null; ${LOOP} }`));
    const { value } = await at.json(["call", "faulty", "--tool", file, "--mode", "yolo"]);
    assert.deepEqual([value.outcome, value.type], ["timed_out", "execution_timeout"]);
  });
});
