import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "../support/assent.ts";

type Lists = {
  readonly mode?: string;
  readonly allow?: readonly unknown[];
  readonly ask?: readonly unknown[];
  readonly deny?: readonly unknown[];
};

function policy(at: Place, name: string, { mode, ...permissions }: Lists): string {
  const file = join(at.root, name);
  writeFileSync(file, JSON.stringify({ version: 1, ...(mode && { mode }), permissions }));
  return file;
}

type ShownRule = { readonly list: string; readonly text: string };

function named({ list, text }: ShownRule): string {
  return `${list} ${text}`;
}

describe("assent policy diff", () => {
  const rows: readonly (readonly [
    string,
    Lists,
    Lists,
    { readonly added?: readonly string[]; readonly removed?: readonly string[]; readonly changed?: readonly string[] },
  ])[] = [
    ["equal files differ in nothing", { deny: ["Shell(rm)"] }, { deny: ["Shell(rm)"] }, {}],
    [
      "the notation and the order do not count",
      { allow: ["Shell(git status *)", "Read(a)"] },
      { allow: ["Read(a)", "shell:command=git status*"] },
      {},
    ],
    ["a rule more", { deny: ["Shell(rm)"] }, { deny: ["Shell(rm)", "Shell(curl)"] }, { added: ["deny Shell(curl)"] }],
    ["a rule less", { deny: ["Shell(rm)", "Shell(curl)"] }, { deny: ["Shell(rm)"] }, { removed: ["deny Shell(curl)"] }],
    [
      "another verdict for the same",
      { ask: ["Edit(docs/**)"] },
      { deny: ["Edit(docs/**)"] },
      { changed: ["ask Edit(docs/**) -> deny Edit(docs/**)"] },
    ],
  ];
  for (const [name, old, next, expected] of rows)
    test(name, async () => {
      using at = place();
      const { code, value } = await at.hereJson(["policy", "diff", policy(at, "old.json", old), policy(at, "new.json", next)]);
      const { added, removed, changed } = value.rules;
      assert.equal(code, 0);
      assert.deepEqual(
        {
          added: added.map(named),
          removed: removed.map(named),
          changed: changed.map((pair: { old: ShownRule; new: ShownRule }) => `${named(pair.old)} -> ${named(pair.new)}`),
        },
        { added: [], removed: [], changed: [], ...expected },
      );
      assert.equal("calls" in value, false);
    });

  test("other settings are compared too, and every rule has its place", async () => {
    using at = place();
    const [old, next] = [policy(at, "old.json", { deny: ["Shell(rm)"] }), policy(at, "new.json", { mode: "plan", allow: ["Shell(ls)"] })];
    const { value } = await at.hereJson(["policy", "diff", old, next]);
    assert.deepEqual(value.settings, [{ key: "mode", old: "default", new: "plan" }]);
    assert.deepEqual(value.rules.removed, [{ list: "deny", text: "Shell(rm)", file: old, line: 1, column: 37 }]);
    const { stdout } = await at.here(["policy", "diff", old, next]);
    assert.equal(stdout, `- deny   Shell(rm)  (${old}:1:37)\n+ allow  Shell(ls)  (${next}:1:52)\n~ mode: "default" is now "plan"\n`);
    assert.equal((await at.here(["policy", "diff", old, old])).stdout, "The rules and settings are the same.\n");
  });

  test("a broken file is reported with its problems, exit 2", async () => {
    using at = place();
    const [old, next] = [policy(at, "old.json", {}), policy(at, "new.json", { deny: ["Shell(git"] })];
    const text = await at.here(["policy", "diff", old, next]);
    assert.deepEqual([text.code, text.stdout], [2, ""]);
    assert.match(text.stderr, new RegExp(`^${next}:1:\\d+: `));
    const { code, value } = await at.hereJson(["policy", "diff", old, next]);
    assert.deepEqual([code, value.error.type], [2, "rule_syntax"]);
    assert.equal((await at.here(["policy", "diff", old])).code, 2);
  });
});

describe("assent policy diff --ledger", () => {
  async function record(at: Place, command: string): Promise<{ readonly sessionId: string; readonly callId: string }> {
    return (await at.hereJson(["call", "shell", "--input", JSON.stringify({ command }), "--on-ask", "deny"])).value;
  }

  test("every recorded call is judged again, newest form only; those that differ are listed", async () => {
    using at = place();
    await record(at, "make lint");
    const pushed = await record(at, "git push");
    const parked = (await at.hereJson(["call", "shell", "--input", '{"command":"curl x"}', "--on-ask", "park"])).value;
    writeFileSync(at.path("edit.json"), '{"command":"git push --all"}');
    await at.here(["approve", parked.approvalId, "--edit", "edit.json"]);
    await at.here(["resume", parked.sessionId, "--deny", "Shell(git push)"]);
    const before = (await at.here(["log", "--json"])).stdout;
    const files = [policy(at, "old.json", {}), policy(at, "new.json", { deny: ["Shell(git push)", "Shell(curl)"] })];
    const { code, value } = await at.hereJson(["policy", "diff", ...files, "--ledger"]);
    assert.equal(code, 0);
    assert.deepEqual(value.calls, [
      { session: pushed.sessionId, call: pushed.callId, tool: "shell", subject: "git push", old: "ask", new: "deny" },
      { session: parked.sessionId, call: parked.callId, tool: "shell", subject: "git push --all", old: "ask", new: "deny" },
    ]);
    assert.deepEqual([value.judged, value.unjudged], [3, 0]);
    assert.equal((await at.here(["log", "--json"])).stdout, before);
    const { stdout } = await at.here(["policy", "diff", ...files, "--ledger"]);
    assert.match(stdout, new RegExp(`^${pushed.sessionId} +${pushed.callId} +shell +ask +deny +git push$`, "m"));
    assert.match(stdout, /^2 of 3 recorded calls would be decided differently, by the files as they are now\.$/m);
  });

  test("a call whose workspace is gone is counted, not judged", async () => {
    using at = place();
    const gone = join(at.root, "gone");
    mkdirSync(join(gone, ".git"), { recursive: true });
    await at.hereJson(["call", "shell", "--input", '{"command":"git push"}', "--on-ask", "deny"], { cwd: gone });
    rmSync(gone, { recursive: true });
    const { value } = await at.hereJson([
      "policy",
      "diff",
      policy(at, "old.json", {}),
      policy(at, "new.json", { deny: ["*"] }),
      "--ledger",
    ]);
    assert.deepEqual([value.calls, value.judged, value.unjudged], [[], 0, 1]);
  });

  test("without a store there is nothing to judge, and none is made", async () => {
    using at = place();
    const { code, value } = await at.hereJson(["policy", "diff", policy(at, "old.json", {}), policy(at, "new.json", {}), "--ledger"]);
    assert.deepEqual([code, value.calls, value.judged, value.unjudged, existsSync(at.store)], [0, [], 0, 0, false]);
  });
});
