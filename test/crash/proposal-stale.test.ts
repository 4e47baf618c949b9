import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LONG } from "../support/long.ts";
import {
  DOORS,
  filesAt,
  isSettled,
  killAt,
  type Listed,
  lastEnd,
  person,
  proposals,
  resumeAll,
  runScript,
  STAGE_TURN,
  said,
  stage,
  stageTen,
  survey,
  temporaries,
  WORDS,
} from "./proposal-scene.ts";
import { makeScene, type Scene, stateOf, until } from "./scene.ts";
import { inodes, layTen, tree } from "./ten-files.ts";

const whole = await survey(DOORS.apply);

describe("staged by a process that is killed", { concurrency: 3 }, () => {
  const points = ["proposal.after_staged", "end.after", "effect.after", "close.before"] as const;
  for (const point of LONG ? points : points.slice(0, 2)) {
    test(`at ${point}: another process applies exactly what was shown`, async () => {
      using scene = makeScene();
      layTen(scene.path("."));
      await killAt(scene, ["call", "ten_staged", "--json"], point);
      const [proposal] = await proposals(scene);
      assert.equal(proposal?.state, "staged");
      const { code, value } = said(await scene.child(["apply", proposal.id, "--json"]));
      assert.deepEqual([code, value.outcome, filesAt(scene, whole)], [0, "applied", "after"]);
      await resumeAll(scene);
      assert.match(await lastEnd(scene), /^succeeded (null|recovered)$/);
      await isSettled(scene);
    });
  }

  test("by a conversation: what it staged is applied, and the conversation's record stays sound", async () => {
    using scene = makeScene();
    layTen(scene.path("."));
    await killAt(scene, runScript(scene, [STAGE_TURN, ...WORDS]), "end.after");
    const [proposal] = await proposals(scene);
    assert.equal((await person(scene, ["apply", proposal?.id ?? ""])).outcome, "applied");
    assert.equal(filesAt(scene, whole), "after");
    await resumeAll(scene);
    await isSettled(scene);
  });

  /** Only that process could have applied it: whoever comes first finds out, the model is told once, and nothing has an effect. */
  const LOST: readonly [sentence: string, first: (scene: Scene, proposal: Listed) => Promise<unknown>][] = [
    ["a person who applies it", (scene, { id }) => person(scene, ["apply", id])],
    ["whoever takes the session up", ({ json }, { sessionId }) => json(["resume", sessionId])],
    ["a person who discards it", (scene, { id }) => person(scene, ["discard", id])],
  ];
  for (const [sentence, first] of LOST) {
    test(`code of an ended process is lost: ${sentence} finds out`, async () => {
      using scene = makeScene();
      await killAt(scene, ["call", "pushed", "--mode", "yolo", "--json"], "end.after");
      const [proposal] = await proposals(scene);
      assert.equal(proposal?.state, "staged");
      await first(scene, proposal);
      assert.equal((await proposals(scene))[0]?.state, "stale");
      for (const again of [1, 2]) {
        const { error } = await person(scene, ["apply", proposal.id]);
        assert.deepEqual([error.type, error.message], ["proposal_lost", LOST_TEXT], `time ${again}`);
      }
      await resumeAll(scene);
      assert.equal(await notices(scene, LOST_TEXT), 1);
      assert.deepEqual(scene.lines(), []);
      await isSettled(scene);
    });
  }
  const LOST_TEXT = "Lost: Tell the world was staged by a process that has ended. Nothing was applied. Preview again.";

  test("a notice of what was found is queued once, however often the session is taken up", async () => {
    using scene = makeScene();
    await killAt(scene, await DOORS["run resolve"].command(scene), "file.link@2");
    for (const _ of [1, 2, 3]) await resumeAll(scene);
    assert.equal(await notices(scene, "The program stopped while"), 1);
    await isSettled(scene);
  });
});

async function notices(scene: Scene, text: string): Promise<number> {
  return (await scene.events()).filter(({ type, body }) => type === "notice.queued" && JSON.stringify(body).includes(text)).length;
}

/** What happened to the files since they were shown, and which of them are named. */
const CHANGED: readonly [sentence: string, change: (path: (name: string) => string) => void, named: readonly string[]][] = [
  ["one of them was edited", (path) => writeFileSync(path("set/b/run.sh"), "mine\n"), ["set/b/run.sh"]],
  ["one that is to be made has appeared", (path) => writeFileSync(path("set/i.txt"), "mine\n"), ["set/i.txt"]],
  ["one that is to be made has appeared, with the very bytes", (path) => writeFileSync(path("set/i.txt"), "I\n"), ["set/i.txt"]],
  ["one was deleted", (path) => rmSync(path("set/c.txt")), ["set/c.txt"]],
  ["one that is to be deleted is gone", (path) => rmSync(path("set/e/gone.txt")), ["set/e/gone.txt"]],
  ["the place where one is to be moved is taken", (path) => put(path("set/moved/f.txt"), "mine\n"), ["set/moved/f.txt"]],
  ["one became a link to the same bytes", (path) => linkTo(path("set/a.txt"), path("elsewhere.txt")), ["set/a.txt"]],
  ["one became a directory", (path) => instead(path("set/d.txt"), mkdirSync), ["set/d.txt"]],
  ["one became a pipe", (path) => instead(path("set/d.txt"), (name) => spawnSync("mkfifo", [name])), ["set/d.txt"]],
  ["a directory on the way became a file", (path) => writeFileSync(path("set/new"), "mine\n"), ["set/new/deep/g.txt", "set/new/h.txt"]],
];

function put(file: string, text: string): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
}

function instead(name: string, make: (name: string) => unknown): void {
  rmSync(name);
  make(name);
}

function linkTo(name: string, target: string): void {
  renameSync(name, target);
  symlinkSync(target, name);
}

describe("files that changed since the preview", { concurrency: 3 }, () => {
  for (const [sentence, change, named] of CHANGED) {
    test(`${sentence}: stale, and nothing is written`, async () => {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      change(scene.path);
      const files = inodesOf(scene);
      const { code, value } = said(await scene.here(["apply", id, "--json"]));
      const count = named.length === 1 ? "1 file" : `${named.length} files`;
      const message = `Stale: ${count} changed since the preview: ${named.join(", ")}. Nothing was written. Preview again.`;
      assert.deepEqual([code, value.error.type, value.error.message], [1, "proposal_stale", message]);
      assert.deepEqual([inodesOf(scene), temporaries(scene)], [files, []]);
      assert.equal((await proposals(scene))[0]?.state, "stale");
      await scene.holds();
    });
  }

  /** A pipe has no bytes to read. */
  function inodesOf(scene: Scene): unknown {
    return spawnSync("find", [scene.path("set"), "-printf", "%p %i %s %T@ %m\\n"], { encoding: "utf8" })
      .stdout.split("\n")
      .toSorted();
  }

  test("the same number of matches in another file is another file", async () => {
    using scene = makeScene();
    const { id } = await stagedEdit(scene, "one\ntwo\none\n");
    writeFileSync(scene.path("notes.txt"), "zero\none\ntwo\none\n");
    const { error } = await scene.json(["apply", id]);
    assert.deepEqual([error.type, readFileSync(scene.path("notes.txt"), "utf8")], ["proposal_stale", "zero\none\ntwo\none\n"]);
    await isSettled(scene);
  });

  test("the same bytes in another file on the disk are the same", async () => {
    using scene = makeScene();
    const { id } = await stagedEdit(scene, "one\ntwo\none\n");
    const old = inodes(scene.path("."))["notes.txt"];
    writeFileSync(scene.path("copy"), "one\ntwo\none\n");
    renameSync(scene.path("copy"), scene.path("notes.txt"));
    assert.notEqual(inodes(scene.path("."))["notes.txt"], old);
    assert.equal((await scene.json(["apply", id])).outcome, "applied");
    assert.equal(readFileSync(scene.path("notes.txt"), "utf8"), "ONE\ntwo\nONE\n");
    await isSettled(scene);
  });

  test("ten files written anew with their bytes, and other modes, are changed and keep those modes", async () => {
    using scene = makeScene();
    const { id } = await stageTen(scene);
    rmSync(scene.path("set"), { recursive: true });
    layTen(scene.path("."));
    chmodSync(scene.path("set/a.txt"), 0o600);
    assert.equal((await scene.json(["apply", id])).outcome, "applied");
    assert.deepEqual(tree(scene.path(".")), { ...whole.after, "set/a.txt": whole.after["set/a.txt"]?.replace(/^\d+/, "600") });
    await isSettled(scene);
  });

  /** An edit of every match, staged by a setting. */
  async function stagedEdit(scene: Scene, text: string): Promise<Listed> {
    const policy = join(scene.root, "policy.json");
    writeFileSync(policy, JSON.stringify({ version: 1, proposals: { stage: ["Edit"], steering: "none" } }));
    writeFileSync(scene.path("notes.txt"), text);
    const edit = { file_path: "notes.txt", old_string: "one", new_string: "ONE", replace_all: true };
    const turns = [{ calls: [{ tool: "read", input: { file_path: "notes.txt" } }] }, { calls: [{ tool: "edit", input: edit }] }, ...WORDS];
    const { code, stdout, stderr } = await scene.here(runScript(scene, turns, ["--policy", policy]));
    assert.equal(code, 0, stdout + stderr);
    const [proposal] = await proposals(scene);
    assert.equal(proposal?.state, "staged", JSON.stringify(await scene.ended()));
    return proposal;
  }
});

describe("a directory that was replaced by a link to a place outside", { concurrency: 3 }, () => {
  const rows: readonly [sentence: string, directory: string, named: RegExp][] = [
    ["that of files that change", "set/b", /set\/b\/gone\.txt, set\/b\/run\.sh/],
    ["that of all of them", "set", /^Stale: 11 files/],
    ["one that was to be made", "set/new", /set\/new\/deep\/g\.txt, set\/new\/h\.txt/],
  ];
  for (const [sentence, directory, named] of rows) {
    test(`${sentence}: stale; the outside place is untouched`, async () => {
      using scene = makeScene();
      const { id } = await stageTen(scene);
      const { outside, looks } = leadOutside(scene, directory);
      const { error } = await scene.json(["apply", id]);
      assert.equal(error.type, "proposal_stale");
      assert.match(error.message, named);
      assert.deepEqual([tree(outside), temporaries(scene)], [looks, []]);
      await resumeAll(scene);
      assert.deepEqual(tree(outside), looks);
    });
  }

  const points = ["file.open@1", "file.rename@2", "file.rename@1", "file.link@1", "file.unlink@1"];
  for (const point of LONG ? points : points.slice(0, 2)) {
    test(`in the middle of the apply, before ${point}: the outside place is untouched`, async () => {
      using scene = makeScene();
      const argv = await DOORS.apply.command(scene);
      const child = scene.start(argv, { failpoint: `${point}=stop` });
      const finished = scene.finished(child);
      await until("the apply stands still", () => stateOf(child.pid ?? 0) === "T");
      const { outside, looks } = leadOutside(scene, "set/b");
      child.kill("SIGCONT");
      await finished;
      assert.deepEqual(tree(outside), looks);
      await resumeAll(scene);
      assert.deepEqual(tree(outside), looks);
    });
  }

  /** Puts a link where a directory was, to a place outside that looks the same. */
  function leadOutside(scene: Scene, directory: string): { readonly outside: string; readonly looks: unknown } {
    const [name, outside] = [scene.path(directory), join(scene.root, "outside")];
    if (existsSync(name)) {
      cpSync(name, outside, { recursive: true, preserveTimestamps: true });
      renameSync(name, join(scene.root, "was"));
    } else mkdirSync(outside);
    symlinkSync(outside, name);
    return { outside, looks: tree(outside) };
  }
});

describe("several proposals on one file", { concurrency: 3 }, () => {
  /** Two changes of `set/a.txt` in one conversation. */
  async function both(scene: Scene): Promise<readonly [Listed, Listed]> {
    layTen(scene.path("."));
    const policy = join(scene.root, "policy.json");
    writeFileSync(policy, JSON.stringify({ version: 1, proposals: { steering: "none" } }));
    const turns = [STAGE_TURN, { calls: [{ tool: "two" }] }, ...WORDS];
    assert.equal((await scene.here(runScript(scene, turns, ["--policy", policy]))).code, 0);
    const [one, two] = await proposals(scene);
    assert.ok(one && two);
    return [one, two];
  }

  test("the other is superseded in the same commit, and cannot be applied", async () => {
    using scene = makeScene();
    const [ten, two] = await both(scene);
    assert.equal((await scene.json(["apply", two.id])).outcome, "applied");
    assert.deepEqual(await states(scene), ["superseded", "applied"]);
    assert.equal((await scene.json(["apply", ten.id])).error.type, "proposal_not_pending");
    await isSettled(scene);
    assert.equal((await scene.json(["undo", two.id])).state, "undone");
    assert.deepEqual(tree(scene.path(".")), whole.before);
  });

  test("had it been discarded, the first applies", async () => {
    using scene = makeScene();
    const [ten, two] = await both(scene);
    assert.equal((await scene.json(["discard", two.id])).outcome, "discarded");
    assert.equal((await scene.json(["apply", ten.id])).outcome, "applied");
    assert.equal(filesAt(scene, whole), "after");
    await isSettled(scene);
  });

  for (const [point, wanted] of [
    ["proposal.before_applied", ["superseded", "applied"]],
    ["file.rename@2", ["staged", "staged"]],
  ] as const) {
    test(`killed at ${point}, the other is ${wanted[0]}`, async () => {
      using scene = makeScene();
      const [ten, two] = await both(scene);
      await killAt(scene, ["apply", two.id, "--json"], point);
      await resumeAll(scene);
      assert.deepEqual(await states(scene), wanted);
      await isSettled(scene);
      const { error } = await scene.json(["apply", ten.id]);
      assert.equal(error?.type, wanted[0] === "superseded" ? "proposal_not_pending" : undefined);
      await isSettled(scene);
    });
  }

  test("proposals of two sessions do not know each other: the bytes decide", async () => {
    using scene = makeScene();
    const ten = await stageTen(scene);
    const two = await stage(scene, ["two"]);
    assert.equal((await scene.json(["apply", two.id])).outcome, "applied");
    const { error } = await scene.json(["apply", ten.id]);
    assert.equal(error.message, "Stale: 2 files changed since the preview: set/a.txt, set/b/run.sh. Nothing was written. Preview again.");
    await isSettled(scene);
  });

  test("what was changed again since is not undone over; in the other order both are", async () => {
    using scene = makeScene();
    const first = await stageTen(scene);
    assert.equal((await scene.json(["apply", first.id])).outcome, "applied");
    const second = await stage(scene, ["two", "--input", '{"note":"and more\\n"}']);
    assert.equal((await scene.json(["apply", second.id])).outcome, "applied");
    const [files, between] = [inodes(scene.path(".")), tree(scene.path("."))];
    const { error } = await scene.json(["undo", first.id]);
    assert.deepEqual(
      [error.type, error.message],
      ["undo_conflict", `Cannot undo ${first.id}: changed since: set/a.txt, set/b/run.sh. Nothing was written.`],
    );
    assert.deepEqual([inodes(scene.path(".")), tree(scene.path("."))], [files, between]);
    assert.equal((await scene.json(["undo", second.id])).state, "undone");
    assert.equal(filesAt(scene, whole), "after");
    assert.equal((await scene.json(["undo", first.id])).state, "undone");
    assert.deepEqual(onlyFiles(tree(scene.path("."))), onlyFiles(whole.before));
    await isSettled(scene);
  });

  function onlyFiles(files: Readonly<Record<string, string>>): unknown {
    return Object.entries(files).filter(([name]) => !name.endsWith("/"));
  }

  async function states(scene: Scene): Promise<readonly string[]> {
    return (await proposals(scene)).map(({ state }) => state);
  }
});
