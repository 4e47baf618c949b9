import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { openSession } from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { openLedger } from "@assent/store";
import { type Place, place } from "../support/assent.ts";

const STAGE = { version: 1, proposals: { stage: ["Write", "Edit"] } };

/** A workspace in which writes are staged. */
function staging(policy: object = STAGE): Place & { readonly policy: string } {
  const at = place();
  mkdirSync(at.path("src"), { recursive: true });
  const file = join(at.root, "policy.json");
  writeFileSync(file, JSON.stringify(policy));
  return Object.assign(at, { policy: file });
}

type Staged = { readonly id: string; readonly sessionId: string };

async function stage(at: ReturnType<typeof staging>, path: string, content: string): Promise<Staged> {
  const { code, value } = await at.hereJson([
    "call",
    "write",
    "--input",
    JSON.stringify({ file_path: path, content }),
    "--policy",
    at.policy,
  ]);
  assert.equal(code, 0, JSON.stringify(value));
  const id = /staged as (p_\w+)/.exec(value.content)?.[1];
  assert.ok(id, value.content);
  return { id, sessionId: value.sessionId };
}

const read = (at: Place, name: string): string | undefined => (existsSync(at.path(name)) ? readFileSync(at.path(name), "utf8") : undefined);

describe("proposals, for people", () => {
  test("a preview leaves everything as it was, and is listed with what it would do", async () => {
    using at = staging();
    const { id, sessionId } = await stage(at, "src/a.txt", "one\n");
    assert.equal(read(at, "src/a.txt"), undefined);
    const { value } = await at.hereJson(["proposals"]);
    assert.deepEqual(value, [{ id, sessionId, tool: "write", label: "Write: src/a.txt", state: "staged", parked: false, files: 1 }]);
    const shown = await at.here(["proposals", "show", id]);
    assert.match(shown.stdout, /\+ one/);
    assert.match(shown.stdout, new RegExp(`assent apply ${id}`));
  });

  test("a call that was staged says how to apply or discard it", async () => {
    using at = staging();
    const { stderr, stdout } = await at.here([
      "call",
      "write",
      "--input",
      JSON.stringify({ file_path: "b.txt", content: "x" }),
      "--policy",
      at.policy,
    ]);
    const id = /staged as (p_\w+)/.exec(stdout)?.[1];
    assert.match(stderr, new RegExp(`assent apply ${id}.*\\n  assent discard ${id}`));
  });

  test("a call that would change an unread file says why a single call cannot", async () => {
    using at = staging();
    writeFileSync(at.path("old.txt"), "old\n");
    const { code, stderr } = await at.here([
      "call",
      "write",
      "--input",
      JSON.stringify({ file_path: "old.txt", content: "x" }),
      "--mode",
      "yolo",
    ]);
    assert.equal(code, 1);
    assert.match(stderr, /A single call cannot change an existing file/);
    assert.equal(read(at, "old.txt"), "old\n");
  });

  test("it is applied from another process, undone, and neither happens twice", async () => {
    using at = staging();
    const { id } = await stage(at, "src/a.txt", "one\n");
    const applied = await at.json(["apply", id]);
    assert.equal(applied.code, 0, applied.stderr);
    assert.equal(applied.value.outcome, "applied");
    assert.equal(read(at, "src/a.txt"), "one\n");
    const again = await at.hereJson(["apply", id]);
    assert.deepEqual([again.code, again.value.outcome, again.value.alreadyAnswered], [0, "applied", true]);
    const inWords = await at.here(["apply", id]);
    assert.equal(inWords.stdout, "");
    assert.match(inWords.stderr, /^Already answered: applied by .+ at .+\.\n$/);
    const undone = await at.hereJson(["undo", id]);
    assert.deepEqual([undone.code, undone.value], [0, { id, state: "undone", files: 1, alreadyUndone: false }]);
    assert.equal(read(at, "src/a.txt"), undefined);
    const twice = await at.hereJson(["undo", id]);
    assert.deepEqual([twice.code, twice.value], [0, { id, state: "undone", files: 1, alreadyUndone: true }]);
    const told = await at.here(["undo", id]);
    assert.deepEqual([told.code, told.stdout], [0, `${id}  undone\n`]);
    assert.match(told.stderr, /^Already undone at \d{4}-/);
  });

  for (const [action, state] of [
    ["apply", "applied"],
    ["undo", "undone"],
  ] as const)
    test(`${action} of a proposal whose process ends before it sees the request is done once, and reported as done`, async () => {
      using at = staging();
      const { id, sessionId } = await stage(at, "src/a.txt", "one\n");
      if (action === "undo") await at.here(["apply", id]);
      const ledger = await openLedger({ directory: at.store });
      const ports = createHostPorts({ stateDirectory: at.store });
      const deaf = await openSession({ ledger, ...ports }, { holder: currentHolder("test"), id: sessionId });
      const wished = new Promise<void>((resolve) => {
        ledger.subscribe({ pos: 0 }, { types: ["proposal.requested"] }, () => resolve());
      });
      const settling = at.json([action, id]);
      await wished;
      await deaf.close("done", 0);
      const { code, value } = await settling;
      await ledger.close();
      assert.equal(code, 0, JSON.stringify(value));
      assert.equal(value.outcome ?? value.state, state);
      assert.equal(read(at, "src/a.txt"), action === "apply" ? "one\n" : undefined);
    });

  const REFUSED: readonly [
    sentence: string,
    act: (at: ReturnType<typeof staging>, id: string) => Promise<unknown>,
    argv: (id: string) => readonly string[],
    code: number,
    type: string,
  ][] = [
    [
      "a file that appeared meanwhile makes it stale",
      async (at) => writeFileSync(at.path("src/a.txt"), "mine"),
      (id) => ["apply", id],
      1,
      "proposal_stale",
    ],
    [
      "an undo of a file that was edited since is refused",
      async (at, id) => {
        await at.here(["apply", id]);
        writeFileSync(at.path("src/a.txt"), "mine");
      },
      (id) => ["undo", id],
      1,
      "undo_conflict",
    ],
    ["what was discarded cannot be applied", async (at, id) => at.here(["discard", id]), (id) => ["apply", id], 1, "proposal_not_pending"],
    ["what was applied cannot be discarded", async (at, id) => at.here(["apply", id]), (id) => ["discard", id], 1, "proposal_not_pending"],
    ["an unknown id", async () => undefined, () => ["undo", "p_nobodyknows"], 4, "proposal_not_found"],
  ];
  for (const [sentence, act, argv, code, type] of REFUSED) {
    test(sentence, async () => {
      using at = staging();
      const { id } = await stage(at, "src/a.txt", "one\n");
      await act(at, id);
      const before = read(at, "src/a.txt");
      const refused = await at.hereJson(argv(id));
      assert.deepEqual([refused.code, refused.value.error.type], [code, type]);
      assert.equal(read(at, "src/a.txt"), before, "nothing is written");
    });
  }

  test("approve applies and reject discards by a proposal's id", async () => {
    using at = staging();
    const [one, two] = [await stage(at, "src/a.txt", "one\n"), await stage(at, "src/b.txt", "two\n")];
    assert.equal((await at.hereJson(["approve", one.id])).value.outcome, "applied");
    assert.equal((await at.hereJson(["reject", two.id, "--reason", "no"])).value.outcome, "discarded");
    assert.deepEqual([read(at, "src/a.txt"), read(at, "src/b.txt")], ["one\n", undefined]);
    const { value } = await at.hereJson(["proposals", "--all"]);
    assert.deepEqual(
      value.map(({ state }: { state: string }) => state),
      ["applied", "discarded"],
    );
  });

  test("a rule that denies the tool holds against a person's apply", async () => {
    using at = staging();
    const { id } = await stage(at, "src/a.txt", "one\n");
    writeFileSync(at.policy, JSON.stringify({ ...STAGE, permissions: { deny: ["Write"] } }));
    const refused = await at.hereJson(["apply", id]);
    assert.deepEqual([refused.code, refused.value.error.type], [1, "denied_by_rule"]);
    assert.equal(read(at, "src/a.txt"), undefined);
    assert.equal((await at.hereJson(["proposals"])).value[0].state, "staged");
  });

  test("an edit that ran at once can be undone too", async () => {
    using at = staging({ version: 1 });
    const done = await at.hereJson([
      "call",
      "write",
      "--input",
      JSON.stringify({ file_path: "src/a.txt", content: "x" }),
      "--mode",
      "auto-edit",
    ]);
    assert.equal(done.code, 0, JSON.stringify(done.value));
    const { value } = await at.hereJson(["proposals", "--all"]);
    assert.deepEqual(
      value.map(({ state, label }: { state: string; label: string }) => [state, label]),
      [["applied", "Write: src/a.txt"]],
    );
    assert.equal((await at.hereJson(["undo", value[0].id])).code, 0);
    assert.equal(read(at, "src/a.txt"), undefined);
  });

  test("the session is left as it was", async () => {
    using at = staging();
    const { id, sessionId } = await stage(at, "src/a.txt", "one\n");
    await at.here(["apply", id]);
    const { value } = await at.hereJson(["sessions"]);
    assert.deepEqual(
      value.map((row: { id: string; state: string; writer: unknown }) => [row.id, row.state, row.writer]),
      [[sessionId, "done", null]],
    );
    assert.equal((await at.here(["verify"])).code, 0);
  });
});
