import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { z } from "zod";
import { type Approve, createGate, type Gate, type GateAnswer, type GateEvent, type GateOptions, GateUsageError } from "../src/index.ts";
import { newStore, withGate } from "./gate-scene.ts";

const input = z.object({ to: z.string() });

/** A gate's tools: `mail` asks, `look` reads. */
function addTools(gate: Gate): string[] {
  const ran: string[] = [];
  gate.tool({ name: "mail", description: "Sends.", kind: "other", input, run: ({ to }) => `sent ${ran.push(to)}` });
  gate.tool({ name: "look", description: "Looks.", kind: "read", input, run: ({ to }) => `saw ${ran.push(`look ${to}`)}` });
  return ran;
}

const mail = (id: string, to = "b") => ({ id, name: "mail", arguments: { to } });

describe("options of createGate", () => {
  const rows: readonly [sentence: string, options: unknown, message: RegExp][] = [
    ["not an object", 5, /takes an object of options/],
    ["an unknown option, with the one that was meant", { rule: {} }, /no option 'rule'\. Did you mean 'rules'\?/],
    ["an unknown option, with the list", { database: "x" }, /no option 'database'\. It has store, session/],
    ["park without a store", { approve: "park" }, /'approve' of createGate is "park", which needs store: give a directory/],
    ["an unknown way to ask", { approve: "always" }, /must be a function, "park" or "deny"/],
    ["a session without a store", { session: "s_1" }, /'session' of createGate needs store/],
    ["an empty store", { store: "" }, /must be the path of a directory/],
    ["another server as store", { store: "mysql://host/db" }, /must be a directory or a postgres:\/\/ URL/],
    ["an unknown mode", { mode: "fast" }, /must be one of default, plan, auto-edit, yolo/],
    ["rules as a list", { rules: ["mail"] }, /must be an object such as/],
    ["an unknown list of rules", { rules: { alow: [] } }, /no list 'alow'; it has allow, ask and deny/],
    ["a rule that is no text", { rules: { deny: [5] } }, /needs a list of rules in 'deny'/],
    ["a rule that cannot be read", { rules: { deny: ["mail:to"] } }, /mail:to/],
    ["an allow rule with an operator", { rules: { allow: ["Shell(ls; rm *)"] } }, /rules' of createGate has a rule that cannot be used/],
    ["a settings file that is not there", { settings: "/nowhere/settings.json" }, /does not exist/],
    ["a directory that is not there", { cwd: "/nowhere" }, /'cwd' of createGate must be a directory/],
    ["a hook for an unknown event", { hooks: { before: () => undefined } }, /no event 'before'; the events are/],
    ["a hook that is no function", { hooks: { pre_tool_use: 1 } }, /needs a function for pre_tool_use/],
    ["handlers that are no functions", { handlers: { transfer: 1 } }, /must be an object of functions/],
    ["a loop detector that would always trip", { loop: { threshold: 0 } }, /threshold must be an integer of at least 1/],
    ["an observer that is no function", { observe: 1 }, /'observe' of createGate must be a function/],
    ["a signal that is none", { signal: {} }, /must be an AbortSignal/],
    ["schemas without compile", { schemas: {} }, /must have the function compile/],
  ];
  for (const [sentence, options, message] of rows)
    test(`${sentence} is a clear error`, async () => {
      await assert.rejects(
        createGate(options as GateOptions),
        (error) => error instanceof GateUsageError && error.type === "bad_option" && message.test(error.message),
      );
    });

  test("a session that does not exist is the ledger's error", async () => {
    await assert.rejects(createGate({ store: newStore(), session: "s_none" }), { name: "LedgerError", type: "session_not_found" });
  });

  const stores: readonly (readonly [sentence: string, make: (directory: string) => void, message: RegExp])[] = [
    ["a file", (at) => writeFileSync(at, ""), /x is not a directory\. Choose another directory for the store\.$/],
    ["a link", (at) => symlinkSync("/tmp", at), /is a symbolic link\. Choose another directory for the store\.$/],
    [
      "the database of another program",
      (at) => {
        mkdirSync(at);
        const database = new DatabaseSync(join(at, "ledger.db"));
        database.exec("create table t (x)");
        database.close();
      },
      /is the database of another program\. Choose another directory for the store\.$/,
    ],
  ];
  for (const [sentence, make, message] of stores)
    test(`a store that is ${sentence} is refused in words that fit a program`, async () => {
      const store = join(newStore(), "x");
      make(store);
      await assert.rejects(createGate({ store }), { name: "LedgerError", message });
    });

  test("a session that another gate uses says who has it, and what to do", async () => {
    const store = newStore();
    await withGate({ store, approve: "park" }, async (gate) => {
      addTools(gate);
      await gate.run([mail("1")]);
      await assert.rejects(createGate({ store, session: gate.session }), {
        type: "session_in_use",
        message: new RegExp(`is in use by pid ${process.pid} \\(gate\\) on .*\\. Try again after it has closed the session, or end it\\.$`),
      });
    });
  });

  test("a mode that the settings file locks is refused", async () => {
    const settings = join(newStore(), "policy.json");
    writeFileSync(settings, JSON.stringify({ permissions: { lock: ["yolo"] } }));
    await assert.rejects(createGate({ settings, mode: "yolo" }), {
      message: "createGate cannot use its rules or settings: The mode yolo is locked by your team's settings. Choose another mode.",
    });
  });

  test("a rule may name a tool that comes later, and is checked against it", async () => {
    await withGate({ rules: { deny: ["mail:too=x"] } }, async (gate) => {
      const strict = { type: "object", properties: { to: { type: "string" } }, additionalProperties: false };
      assert.throws(
        () => gate.tool({ name: "mail", description: "Sends.", kind: "other", input: strict, run: () => "" }),
        /the tool has no argument 'too'/,
      );
    });
  });
});

describe("a gate", () => {
  test("decides, runs, and reports every call once", async () => {
    await withGate({ rules: { allow: ["mail:to=*@example.test"], deny: ["mail:to=eve*"] } }, async (gate) => {
      const ran = addTools(gate);
      const { calls, stop } = await gate.run([
        mail("1", "a@example.test"),
        mail("2", "eve@example.test"),
        mail("3", "b"),
        { id: "4", name: "look", arguments: '{"to":"x"}' },
        { id: "5", name: "lok", arguments: {} },
      ]);
      assert.deepEqual(
        calls.map(({ id, outcome }) => `${id} ${outcome}`),
        ["1 succeeded", "2 denied", "3 denied", "4 succeeded", "5 invalid"],
      );
      assert.equal(stop, undefined);
      assert.deepEqual(ran, ["a@example.test", "look x"]);
    });
  });

  const answers: readonly [sentence: string, answer: unknown, outcome: string][] = [
    ["approve", "approve", "succeeded"],
    ["reject", "reject", "rejected"],
    ["a reason", { reject: "not now" }, "rejected"],
    ["the long form", { outcome: "approve", by: "Ann" }, "succeeded"],
    ["no answer", undefined, "denied"],
  ];
  for (const [sentence, answer, outcome] of answers)
    test(`an approver answers with ${sentence}`, async (context) => {
      context.mock.method(console, "warn", () => undefined);
      await withGate({ approve: async () => answer as never }, async (gate) => {
        addTools(gate);
        const { calls } = await gate.run([mail("1")]);
        assert.equal(calls[0]?.outcome, outcome);
      });
    });

  const missing: readonly (readonly [sentence: string, approve: () => unknown, warning: RegExp])[] = [
    ["an unknown word", () => "yes", /'yes' is not an answer\. Answer with "approve"/],
    ["true", () => true, /true is not an answer/],
    ["null", () => null, /null is not an answer/],
    ["an unknown outcome", () => ({ outcome: "approved" }), /The outcome 'approved' is not an answer/],
    ["a misspelled field", () => ({ outcome: "approve", updatedinput: { to: "x" } }), /no field 'updatedinput'; it can have remember/],
    ["an input that is not an object", () => ({ outcome: "approve", updatedInput: "x" }), /'updatedInput' of an answer must be the whole/],
    ["a number as name", () => ({ outcome: "approve", by: 5 }), /'by' of an answer must be the name of a person/],
    ["a reason and an outcome", () => ({ reject: "no", outcome: "approve" }), /'reject' has a reason and nothing else/],
    [
      "an unknown scope",
      () => ({ outcome: "approve", remember: { scope: "day" } }),
      /remembered for a session, project or user, not 'day'/,
    ],
    [
      "an exception",
      () => {
        throw new Error("no line");
      },
      /the approver failed: no line/,
    ],
  ];
  for (const [sentence, approve, warning] of missing)
    test(`an approver that answers with ${sentence} is reported to the program, and the model learns that asking failed`, async (context) => {
      const warn = context.mock.method(console, "warn", () => undefined);
      await withGate({ approve: async () => approve() as never }, async (gate) => {
        const ran = addTools(gate);
        const { calls } = await gate.run([mail("1")]);
        assert.deepEqual(
          [calls[0]?.outcome, calls[0]?.content, ran],
          ["denied", "Tool 'mail' requires approval, but asking for it failed. It was not run.", []],
        );
      });
      assert.match(String(warn.mock.calls[0]?.arguments[0]), warning);
    });

  test("an answer can be remembered, and its input changed", async () => {
    let asked = 0;
    const approve: GateOptions["approve"] = async ({ input: given }) => {
      asked += 1;
      if (given["to"] === "typo") return { outcome: "approve", updatedInput: { to: "right" } };
      return { outcome: "approve", remember: { scope: "session" } };
    };
    await withGate({ approve }, async (gate) => {
      const ran = addTools(gate);
      await gate.run([mail("1", "typo")]);
      await gate.run([mail("2"), mail("3")]);
      await gate.run([mail("4")]);
      assert.deepEqual(ran, ["right", "b", "b", "b"]);
    });
    assert.ok(asked < 4, `asked ${asked} times`);
  });

  test("a settings file counts together with rules", async () => {
    const file = join(newStore(), "policy.json");
    writeFileSync(file, JSON.stringify({ permissions: { allow: ["mail"] } }));
    await withGate({ settings: file, rules: { deny: ["mail:to=eve"] } }, async (gate) => {
      addTools(gate);
      const { calls } = await gate.run([mail("1"), mail("2", "eve")]);
      assert.deepEqual(
        calls.map(({ outcome }) => outcome),
        ["succeeded", "denied"],
      );
    });
  });

  test("hooks as functions check, rewrite and are recorded", async () => {
    const hooks = {
      pre_tool_use: ({ tool_input: given }: { tool_input?: unknown }) => {
        const to = String(Reflect.get(given as object, "to"));
        if (to === "eve") return { decision: "deny", reason: "not to Eve" };
        return { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput: { to: `${to}@example.test` } } };
      },
    };
    const told: string[] = [];
    await withGate({ hooks, rules: { allow: ["mail"] } }, async (gate) => {
      const ran = addTools(gate);
      gate.on("hookBlocked", ({ message }) => void told.push(message));
      const { calls } = await gate.run([mail("1", "ann"), mail("2", "eve")]);
      assert.deepEqual([calls.map(({ outcome }) => outcome), ran], [["succeeded", "denied"], ["ann@example.test"]]);
      assert.match(String(calls[1]?.content), /not to Eve/);
    });
    assert.equal(told.length, 1);
  });

  test("hooks of a settings file run", async () => {
    const directory = newStore();
    const file = join(directory, "policy.json");
    const hook = { type: "command", command: "echo 'not today' >&2; exit 2" };
    writeFileSync(file, JSON.stringify({ permissions: { allow: ["mail"] }, hooks: { PreToolUse: [{ matcher: "mail", hooks: [hook] }] } }));
    await withGate({ settings: file }, async (gate) => {
      const ran = addTools(gate);
      const { calls } = await gate.run([mail("1")]);
      assert.deepEqual([calls[0]?.outcome, ran], ["denied", []]);
      assert.match(String(calls[0]?.content), /not today/);
    });
    await withGate({ settings: file, hooks: { consult: async () => undefined, tell: () => undefined } }, async (gate) => {
      addTools(gate);
      await assert.rejects(gate.run([mail("1")]), /Give an object of functions instead/);
    });
  });

  test("a deny that names a group of tools also holds for a tool of another kind with that name", async () => {
    await withGate({ rules: { deny: ["bash"], allow: ["Read"] }, approve: async () => "approve" }, async (gate) => {
      gate.tool({ name: "bash", description: "Runs.", kind: "other", input, run: () => "ran" });
      gate.tool({ name: "read", description: "Reads.", kind: "other", input, run: () => "read" });
      const { calls } = await gate.run(["bash", "read"].map((name) => ({ id: name, name, arguments: { to: "x" } })));
      assert.deepEqual(
        calls.map(({ outcome }) => outcome),
        ["denied", "succeeded"],
      );
    });
  });

  // docs/rules.md: "What a star does not cover" and "What no rule can allow".
  const broad: readonly [rule: string, allowed: readonly string[], asked: readonly string[]][] = [
    ["*", ["ls", "pwd"], ["rm x", "npm test", "bash x.sh", "sudo ls", "cat .env", "ls > x"]],
    ["Shell(*)", ["ls", "pwd"], ["rm x", "npm test", "bash x.sh", "sudo ls", "cat .env", "ls > x"]],
    [
      "Shell(bash *)",
      ["bash x.sh"],
      ["bash -c ls", "bash -lc ls", "echo ls | bash", "bash /etc/x.sh", "bash x.sh $X", "X=1 bash x.sh", "rm x"],
    ],
    ["Shell(sudo *)", [], ["sudo ls", "sudo rm x", "sudo -u root ls", "ls | sudo tee x"]],
  ];
  for (const [rule, allowed, asked] of broad)
    test(`the allow rule ${rule} allows ${allowed.join(" and ") || "nothing"}, and never code, other commands or secrets`, async () => {
      await withGate({ rules: { allow: [rule] } }, async (gate) => {
        const command = z.object({ command: z.string() });
        gate.tool({ name: "terminal", description: "Runs.", kind: "execute", input: command, run: () => "ran" });
        const verdicts = async (lines: readonly string[]) => {
          const explained = lines.map(async (line) => {
            const { verdict } = await gate.explain({ name: "terminal", arguments: { command: line } });
            return `${verdict} ${line}`;
          });
          return Promise.all(explained);
        };
        assert.deepEqual(await verdicts([...allowed, ...asked, "rm -rf /"]), [
          ...allowed.map((line) => `allow ${line}`),
          ...asked.map((line) => `ask ${line}`),
          "deny rm -rf /",
        ]);
      });
    });

  test("explains a call without running or recording it", async () => {
    await withGate({ rules: { deny: ["mail:to=eve"] } }, async (gate) => {
      const ran = addTools(gate);
      const { verdict, rule } = await gate.explain(mail("1", "eve"));
      assert.deepEqual([verdict, rule?.text, ran], ["deny", "mail:to=eve", []]);
      await assert.rejects(gate.explain({ name: "none", arguments: {} }), /has no tool 'none'/);
      await assert.rejects(gate.explain({ name: "mail", arguments: {} }), /is not valid/);
    });
  });

  test("tells observers and listeners what happens, until they stop listening", async () => {
    const seen: string[] = [];
    const observe = (event: GateEvent): void => void seen.push(event.type);
    await withGate({ rules: { allow: ["mail"] }, observe }, async (gate) => {
      addTools(gate);
      const decided: string[] = [];
      const off = gate.on("decided", ({ toolName, decision }) => void decided.push(`${toolName} ${decision}`));
      await gate.run([mail("1")]);
      off();
      await gate.run([mail("2")]);
      assert.deepEqual(decided, ["mail allow"]);
      assert.ok(seen.filter((type) => type === "response").length === 2 && seen.includes("toolCall"), seen.join());
    });
  });

  test("a repeated call is warned about, then stops the run", async () => {
    await withGate({ rules: { allow: ["mail"] }, loop: { threshold: 2 } }, async (gate) => {
      addTools(gate);
      assert.equal((await gate.run([mail("1")])).warning, undefined);
      assert.match((await gate.run([mail("2")])).warning ?? "", /same tool call 2 times/);
      const { stop } = await gate.run([mail("3")]);
      assert.deepEqual([stop?.reason, gate.stopped()?.reason], ["loop", "loop"]);
    });
  });

  test("runtime handlers are the bodies of tools that declare them", async () => {
    let active = "Desk";
    const transfer = async (_session: unknown, _call: unknown, { invocation }: { invocation: { input: object } }) => {
      active = String(Reflect.get(invocation.input, "to"));
      return `You are now ${active}.`;
    };
    await withGate({ handlers: { transfer }, rules: { allow: ["transfer"] } }, async (gate) => {
      gate.tool({ name: "transfer", description: "Hands over.", kind: "other", input, runtimeHandler: "transfer" });
      const { calls } = await gate.run([{ id: "1", name: "transfer", arguments: { to: "Billing" } }]);
      assert.deepEqual([calls[0]?.content, active], ["You are now Billing.", "Billing"]);
    });
  });

  test("a preview is staged and applied by a person", async () => {
    const directory = newStore();
    const path = join(directory, "note.txt");
    await withGate({ cwd: directory, rules: { allow: ["note"] } }, async (gate) => {
      gate.tool({
        name: "note",
        description: "Writes a note.",
        kind: "edit",
        input: z.object({ text: z.string() }),
        locations: () => [{ path }],
        alwaysStages: true,
        preview: ({ text }) => ({
          label: "Note",
          blocks: [text],
          changes: [{ path, realPath: path, before: null, after: Buffer.from(text) }],
        }),
        apply: () => "Written.",
      });
      await gate.run([{ id: "1", name: "note", arguments: { text: "milk" } }]);
      const proposals = await gate.proposals();
      const [staged] = proposals.list();
      assert.equal(staged?.state, "staged");
      const report = await proposals.apply(staged?.id ?? "");
      assert.deepEqual([report.ok, report.state], [true, "applied"]);
    });
  });

  test("a person sees what a call would do, and writes exactly that", async () => {
    const directory = newStore();
    const path = join(directory, "note.txt");
    const states: unknown[] = [];
    const approve: Approve = async ({ details: { effect } }) => {
      states.push(effect?.state);
      return effect?.state === "shown" ? { outcome: "approve", write: effect.id } : { outcome: "preview" };
    };
    await withGate({ cwd: directory, approve }, async (gate) => {
      gate.tool({
        name: "note",
        description: "Writes a note.",
        kind: "execute",
        input: z.object({ text: z.string() }),
        run: () => "It ran.",
        effectPreview: {
          unavailable: () => undefined,
          run: async ({ text }) => ({
            ...{ label: "Note", ended: "exit code 0", succeeded: true, output: "", result: "It ran on a copy.", notes: [], blocks: [] },
            changes: [{ path: "note.txt", what: "created" }],
            planned: [{ path, realPath: path, before: null, after: Buffer.from(text) }],
          }),
        },
      });
      const { calls } = await gate.run([{ id: "1", name: "note", arguments: { text: "milk" } }]);
      assert.deepEqual([states, readFileSync(path, "utf8")], [["offered", "shown"], "milk"]);
      assert.match(String(calls[0]?.content), /^It ran on a copy\.\n\[The command ran once, on a copy/);
    });
  });

  test("a late answer says what was not saved", async () => {
    await withGate({ store: newStore(), approve: "park" }, async (gate) => {
      const ran = addTools(gate);
      await gate.run([mail("1")]);
      const [{ id, fingerprint } = { id: "", fingerprint: "" }] = await gate.approvals();
      await assert.rejects(gate.answer(id, { outcome: "approve", fingerprint: "other" }), { type: "stale_revision" });
      await gate.answer(id, { outcome: "approve", updatedInput: { to: "ann" }, by: "Ann", fingerprint });
      const late: readonly (readonly [GateAnswer, RegExp])[] = [
        [{ outcome: "approve", updatedInput: { to: "bob" } }, /was approved before by Ann\. Your edit was not saved\.$/],
        [{ outcome: "approve", updatedInput: { to: "ann" }, remember: { scope: "session" } }, /Your rule was not saved\.$/],
        ["approve", /by Ann\. It runs as that answer says\.$/],
        ["reject", /by Ann\. That answer cannot be changed\.$/],
      ];
      for (const [answer, message] of late)
        await assert.rejects(gate.answer(id, answer), { name: "AnswerError", type: "already_answered", message });
      const again = await gate.answer(id, { outcome: "approve", updatedInput: { to: "ann" } });
      assert.deepEqual([again.alreadyAnswered, again.dropped], [true, []]);
      await gate.resume();
      assert.deepEqual(ran, ["ann"]);
      await gate.run([mail("2")]);
      const [cancelled] = await gate.approvals();
      await gate.resume(undefined, AbortSignal.abort());
      await assert.rejects(gate.answer(cancelled?.id ?? "", "approve"), { message: /was cancelled\. It can no longer be answered\.$/ });
      await assert.rejects(gate.answer("a_none", "approve"), { message: "There is no approval 'a_none'." });
    });
  });

  test("closing twice is the same as once, and nothing works afterwards", async () => {
    const gate = await createGate({ store: newStore() });
    addTools(gate);
    await gate.run([mail("1")]);
    await Promise.all([gate.close(), gate.close()]);
    await gate.close();
    await assert.rejects(gate.run([mail("2")]), (error) => error instanceof GateUsageError && error.type === "closed");
    await assert.rejects(gate.resume(), /is closed/);
    await assert.rejects(gate.approvals(), /is closed/);
    await assert.rejects(gate.answer("a_1", "approve"), /is closed/);
  });

  test("closing ends a wait for a person, keeps the approval in the store, and another gate resumes it", async () => {
    const store = newStore();
    const asked = Promise.withResolvers<void>();
    const gate = await createGate({
      store,
      approve: () => {
        asked.resolve();
        return new Promise<never>(() => undefined);
      },
    });
    const ran = addTools(gate);
    const running = gate.run([mail("1")]);
    await asked.promise;
    await gate.close();
    assert.equal((await running).calls[0]?.outcome, "waiting");
    await withGate({ store, session: gate.session, approve: "park" }, async (later) => {
      const again = addTools(later);
      const [open] = await later.approvals();
      await later.answer(open?.id ?? "", "approve");
      const { calls } = await later.resume();
      assert.deepEqual([calls.map(({ outcome }) => outcome), ran, again], [["succeeded"], [], ["b"]]);
    });
  });

  for (const calls of [undefined, "mail", [null]])
    test(`${JSON.stringify(calls)} is not a list of calls`, async () => {
      await withGate({}, async (gate) => {
        await assert.rejects(gate.run(calls as never), (error) => error instanceof GateUsageError && error.type === "bad_call");
      });
    });

  test("a signal cancels what runs", async () => {
    const controller = new AbortController();
    await withGate({ signal: controller.signal, approve: () => new Promise<never>(() => controller.abort()) }, async (gate) => {
      addTools(gate);
      assert.equal((await gate.run([mail("1")])).calls[0]?.outcome, "cancelled");
    });
  });

  test("a gate in memory loads neither SQLite nor the shell reader, zod or ajv; one that only answers leaves no session", async () => {
    const source = `
      import { registerHooks } from "node:module";
      const files = [];
      registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
      const { createGate } = await import("@assent/gate");
      const gate = await createGate({ rules: { allow: ["mail:to=*@example.test"], deny: ["shell:command=rm*"] } });
      await gate.close();
      const loaded = [...files, ...process.moduleLoadList];
      console.log(["node:sqlite", "NativeModule sqlite", "/zod/", "/ajv/"].filter((name) => loaded.some((file) => file.includes(name))).join());`;
    const node = ["--conditions=@assent/source", "--input-type=module", "-e", source];
    assert.equal(execFileSync(process.execPath, node, { cwd: import.meta.dirname, encoding: "utf8" }), "\n");
    const store = newStore();
    await withGate({ store }, async (gate) => {
      await gate.approvals();
    });
    const { openLedger } = await import("@assent/store");
    const ledger = await openLedger({ directory: store });
    assert.deepEqual(await ledger.pending("sessions", { all: true }), []);
    await ledger.close();
  });
});
