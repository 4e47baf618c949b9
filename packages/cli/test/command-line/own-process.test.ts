import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { BIN, type Place, place, type RunOptions } from "../support/assent.ts";

/** A workspace with an open approval, and `assent` installed as by a package manager. */
async function waiting(): Promise<{ readonly at: Place; readonly id: string; readonly session: string }> {
  const at = place();
  at.env["ASSENT_STORE"] = join(at.root, ".local/state/assent"); // the default place, because a command does not get the variable
  mkdirSync(at.path("node_modules/.bin"), { recursive: true });
  symlinkSync(BIN, at.path("node_modules/.bin/assent"));
  symlinkSync(BIN, at.path("node_modules/.bin/harmless"));
  symlinkSync(process.execPath, at.path("node_modules/.bin/node"));
  at.write("go.sh", `#!/bin/sh\nexec node node_modules/.bin/harmless "$@"\n`);
  chmodSync(at.path("go.sh"), 0o755);
  at.write(
    "go.mjs",
    `import { spawnSync } from "node:child_process";
const { PATH, HOME } = process.env;
const { stdout, stderr } = spawnSync(process.execPath, ["node_modules/.bin/harmless", ...process.argv.slice(2)], { env: { PATH, HOME }, encoding: "utf8" });
console.log(stdout, stderr);
`,
  );
  const { value } = await at.hereJson(["call", "shell", "--input", '{"command":"touch made"}', "--on-ask", "park"]);
  return { at, id: value.approvalId, session: value.sessionId };
}

/** Runs a command of a session in `yolo` in a real process. */
async function commanded(at: Place, command: string, pty = false): Promise<string> {
  const { stdout, stderr } = await at.run(["call", "shell", "--input", JSON.stringify({ command, pty }), "--mode", "yolo"], {
    env: { PATH: `${at.path("node_modules/.bin")}:${process.env["PATH"]}` },
  });
  return `${stdout}${stderr}`;
}

const WAYS: readonly (readonly [name: string, command: (words: string) => string])[] = [
  ["the package manager's link", (words) => `node node_modules/.bin/assent ${words}`],
  ["a link of another name", (words) => `node node_modules/.bin/harmless ${words}`],
  ["a script", (words) => `./go.sh ${words}`],
  ["a file that a shell looks up", (words) => `node "$(which assent)" ${words}`],
  ["a program that starts it with a clean environment", (words) => `node go.mjs ${words}`],
  ["env that takes the mark away", (words) => `env -u ASSENT_MARK node node_modules/.bin/harmless ${words}`],
  ["env that takes everything away", (words) => `env -i PATH="$PATH" HOME="$HOME" node node_modules/.bin/harmless ${words}`],
  ["a session of its own", (words) => `setsid -w node node_modules/.bin/harmless ${words}`],
  [
    "a process without a mark that it leaves behind",
    (words) => `mkfifo said; (env -i PATH="$PATH" HOME="$HOME" node node_modules/.bin/harmless ${words} > said 2>&1 &); cat said`,
  ],
];

describe("what a session's own command may not do", () => {
  for (const [name, command] of WAYS) {
    test(`it cannot approve its own request through ${name}`, async () => {
      const { at, id } = await waiting();
      using _ = at;
      const said = await commanded(at, command(`approve ${id}`));
      assert.match(said, /started by a command of an Assent session/);
      assert.equal((await at.hereJson(["approvals", "show", id])).value.state, "open", said);
    });
  }

  test("nothing is approved if the store cannot be read to check who runs the command", async () => {
    const { at, id } = await waiting();
    using _ = at;
    let opened = 0;
    const openDatabase: RunOptions["openDatabase"] = (file, { readOnly, timeout }) => {
      opened += 1;
      if (opened === 1) throw Object.assign(new Error("database is locked"), { errcode: 5 });
      return new DatabaseSync(file, { readOnly, timeout });
    };
    const { code, stderr } = await at.here(["approve", id], { openDatabase });
    assert.equal(code, 1, stderr);
    assert.equal((await at.hereJson(["approvals", "show", id])).value.state, "open");
  });

  test("it cannot approve its own request after it has killed the process that holds the session", async () => {
    const { at, id } = await waiting();
    using _ = at;
    at.write("kill.sh", `kill -9 "$PPID"; node node_modules/.bin/harmless approve ${id} > said 2>&1\n`);
    execFileSync("mkfifo", [at.path("said")]);
    const said = readFile(at.path("said"), "utf8"); // the command waits for a reader before it approves
    await commanded(at, `exec env -i PATH="$PATH" HOME="$HOME" sh kill.sh`);
    assert.match(await said, /started by a command of an Assent session/);
    assert.equal((await at.hereJson(["approvals", "show", id])).value.state, "open");
  });

  const REFUSED: readonly (readonly [name: string, words: (id: string, session: string) => readonly string[]])[] = [
    ["reject", (id) => ["reject", id]],
    ["trust", () => ["trust", "--yes"]],
    ["take trust back", () => ["trust", "--revoke"]],
    ["apply", () => ["apply", "p_aaaaaaaaaaaaaaaaaaaa"]],
    ["discard", () => ["discard", "p_aaaaaaaaaaaaaaaaaaaa"]],
    ["undo", () => ["undo", "p_aaaaaaaaaaaaaaaaaaaa"]],
    ["revoke a grant", () => ["grants", "revoke", "g_aaaaaaaaaaaaaaaaaaaa"]],
    ["promote a grant", () => ["grants", "promote", "g_aaaaaaaaaaaaaaaaaaaa", "--to", "user"]],
    ["release a task", () => ["tasks", "release", "t_aaaaaaaaaaaaaaaaaaaa"]],
    ["repair the record", () => ["verify", "--repair"]],
    ["resume with a looser mode", (_, session) => ["resume", session, "--mode", "yolo"]],
    ["resume with a rule", (_, session) => ["resume", session, "--allow", "*"]],
    ["resume with another policy", (_, session) => ["resume", session, "--policy", "p.json"]],
    [
      "resume and answer as its host",
      (_, session) => ["resume", session, "--input-format", "stream-json", "--output-format", "stream-json"],
    ],
    ["run as the host of a new session", () => ["run", "--input-format", "stream-json", "--output-format", "stream-json"]],
    ["run as the host of another agent's SDK", () => ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]],
    ["run with a looser mode", () => ["run", "go", "--mode", "auto-edit", "--model", "script:none.yaml"]],
    ["call with a looser mode", () => ["call", "shell", "--input", '{"command":"touch made"}', "--mode", "yolo"]],
    ["open the terminal interface", () => ["tui", "--plain"]],
  ];
  test("it cannot answer, trust, grant, apply or loosen", async () => {
    const { at, id, session } = await waiting();
    using _ = at;
    at.write("p.json", '{"version":1,"mode":"yolo"}');
    const loosened = await commanded(at, `node node_modules/.bin/harmless resume ${session} --mode yolo`);
    assert.match(loosened, /--mode yolo[^\n]*started by a command of an Assent session/);
    for (const [name, words] of REFUSED) {
      const { code, stderr } = await at.here(words(id, session), { env: { ASSENT_MARK: "0".repeat(32) } });
      assert.equal(code, 1, `${name}: ${stderr}`);
      assert.match(stderr, /started by a command of an Assent session[\s\S]*from a terminal of your own/, name);
    }
    assert.equal((await at.hereJson(["approvals", "show", id])).value.state, "open");
  });

  test("it may read and resume with the session's own options; no one at its terminal is asked", async () => {
    const { at, id, session } = await waiting();
    using _ = at;
    assert.match(await commanded(at, `node node_modules/.bin/harmless approvals show ${id}`), new RegExp(`approval +${id}`));
    assert.match(await commanded(at, `node node_modules/.bin/harmless trust --show`), /not trusted/);
    assert.match(await commanded(at, `node node_modules/.bin/harmless resume ${session} --json`, true), /"outcome":"waiting"/);
    assert.equal((await at.hereJson(["approvals", "show", id])).value.state, "open");
  });

  test("the refusal has a type, and from outside the same command works", async () => {
    const { at, id } = await waiting();
    using _ = at;
    const refused = await at.json(["approve", id], { env: { ASSENT_MARK: "0".repeat(32) } });
    assert.deepEqual([refused.code, refused.value.error.type], [1, "started_by_session"]);
    assert.equal((await at.json(["approve", id])).code, 0);
  });
});
