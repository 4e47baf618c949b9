import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { manualClock } from "@assent/core/testing";
import { createHostFiles, createHostProcesses, createSystemClock } from "@assent/host";
import { FileLockedError } from "../../src/settings/file-lock.ts";
import { SettingsError } from "../../src/settings/problem.ts";
import { type PromotionOptions, promoteRule } from "../../src/settings/promote-rule.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { scratch } from "../scratch.ts";

function parts(): PromotionOptions {
  return { clock: createSystemClock(), processes: createHostProcesses(), files: createHostFiles({ outputDirectory: "/nowhere" }) };
}

function settingsFile(t: TestContext, text?: string): string {
  const file = join(scratch(t), "a", "settings.json");
  if (text === undefined) return file;
  mkdirSync(join(file, ".."));
  writeFileSync(file, text);
  return file;
}

describe("promoting a rule", () => {
  test("a missing file and its directory are made, for its owner to write alone", async (t) => {
    const file = settingsFile(t);
    const { line, before, after } = await promoteRule({ file, list: "allow", rule: "Shell(git log)" }, parts());
    assert.deepEqual([line, before, readFileSync(file, "utf8")], [4, "", after]);
    assert.equal(statSync(file).mode & 0o022, 0);
    assert.deepEqual(readdirSync(join(file, "..")), ["settings.json"]);
  });

  test("an existing file keeps its mode, mark and remarks", async (t) => {
    const file = settingsFile(t, '\uFEFF{ // mine\r\n  "permissions": { "allow": ["a"] } }\r\n');
    chmodSync(file, 0o600);
    const { after } = await promoteRule({ file, list: "allow", rule: "b" }, parts());
    assert.equal(after, '\uFEFF{ // mine\r\n  "permissions": { "allow": ["a", "b"] } }\r\n');
    assert.deepEqual([readFileSync(file, "utf8"), statSync(file).mode & 0o777], [after, 0o600]);
  });

  test("a rule that is there leaves the file untouched", async (t) => {
    const file = settingsFile(t, '{"permissions":{"allow":["a"]}}');
    const { ino, mtimeNs } = statSync(file, { bigint: true });
    const { before, after } = await promoteRule({ file, list: "allow", rule: "a" }, parts());
    const now = statSync(file, { bigint: true });
    assert.deepEqual([before, now.ino, now.mtimeNs], [after, ino, mtimeNs]);
  });

  test("a dry run writes nothing", async (t) => {
    const file = settingsFile(t);
    const { after, line } = await promoteRule({ file, list: "deny", rule: "a", dryRun: true }, parts());
    assert.match(after, /"deny"/);
    assert.deepEqual([line, existsSync(join(file, ".."))], [4, false]);
  });

  test("a link keeps being one", async (t) => {
    const file = settingsFile(t, "{}");
    const link = join(file, "..", "link.json");
    symlinkSync(file, link);
    await promoteRule({ file: link, list: "allow", rule: "a" }, parts());
    assert.match(readFileSync(file, "utf8"), /"a"/);
  });

  const broken: readonly [sentence: string, text: string, type: string][] = [
    ["a file that is not JSONC", "{", "settings_syntax"],
    ["a key twice", '{"permissions":{"allow":[],"allow":[]}}', "settings_duplicate_key"],
    ["an unknown key", '{"permission":{}}', "settings_unknown_key"],
    ["a file that would hold too many rules", JSON.stringify({ permissions: { allow: Array(10_000).fill("x") } }), "settings_type"],
  ];
  for (const [sentence, text, type] of broken) {
    test(`${sentence} is left as it is`, async (t) => {
      const file = settingsFile(t, text);
      await assert.rejects(
        promoteRule({ file, list: "allow", rule: "new" }, parts()),
        (error) => error instanceof SettingsError && error.code === type,
      );
      assert.equal(readFileSync(file, "utf8"), text);
      assert.deepEqual(readdirSync(join(file, "..")), ["settings.json"]);
    });
  }

  test("8 processes at once lose no rule", async (t) => {
    const file = settingsFile(t, '{\n  // mine\n  "permissions": {\n    "allow": [\n      "first" // stays\n    ]\n  }\n}\n');
    const names = Array.from({ length: 8 }, (_, child) => Array.from({ length: 3 }, (_, rule) => `tool_${child}_${rule}`));
    const children = names.map((rules) =>
      fork(join(import.meta.dirname, "promote-child.ts"), [file, ...rules], { execArgv: ["--conditions=@assent/source"] }),
    );
    t.after(() => {
      for (const child of children) child.kill("SIGKILL");
    });
    await Promise.all(children.map((child) => once(child, "message")));
    const ends = Promise.all(children.map(exitOf));
    for (const child of children) child.send("go");
    assert.deepEqual(await ends, Array(8).fill(0));
    const { rules, problems } = readSettings(file, readFileSync(file, "utf8"));
    assert.deepEqual(problems, []);
    assert.deepEqual(rules.map(({ rule }) => rule).toSorted(), ["first", ...names.flat()].toSorted());
    assert.match(readFileSync(file, "utf8"), /\/\/ mine[\s\S]*"first", \/\/ stays/);
    assert.deepEqual(readdirSync(join(file, "..")), ["settings.json"]);
  });
});

async function exitOf(child: ChildProcess): Promise<unknown> {
  const [code] = await once(child, "exit");
  return code;
}

describe("the lock", () => {
  const left = (file: string, holder: unknown): void =>
    writeFileSync(`${file}.lock`, typeof holder === "string" ? holder : JSON.stringify(holder));

  test("a lock of a process that has ended is broken", async (t) => {
    const file = settingsFile(t, "{}");
    const child = fork(join(import.meta.dirname, "promote-child.ts"), [file], { execArgv: ["--conditions=@assent/source"] });
    await once(child, "message");
    const ended = exitOf(child);
    child.send("go");
    await ended;
    left(file, { host: hostname(), pid: child.pid, start: "then" });
    await promoteRule({ file, list: "allow", rule: "a" }, parts());
    assert.match(readFileSync(file, "utf8"), /"a"/);
    assert.deepEqual(readdirSync(join(file, "..")), ["settings.json"]);
  });

  test("a lock of this very process, begun at another time, is that of an earlier one", async (t) => {
    const file = settingsFile(t, "{}");
    left(file, { host: hostname(), pid: process.pid, start: "long ago" });
    await promoteRule({ file, list: "allow", rule: "a" }, parts());
    assert.match(readFileSync(file, "utf8"), /"a"/);
  });

  test("a lock that is held is waited for", async (t) => {
    const file = settingsFile(t, "{}");
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
    const { promise: release, resolve: leave } = Promise.withResolvers<void>();
    const slow = parts();
    const first = promoteRule(
      { file, list: "allow", rule: "first" },
      {
        ...slow,
        files: {
          replace: async (...write) => {
            enter();
            await release;
            await slow.files.replace(...write);
          },
        },
      },
    );
    await entered;
    const second = promoteRule({ file, list: "allow", rule: "second" }, parts());
    leave();
    await Promise.all([first, second]);
    assert.deepEqual(
      readSettings(file, readFileSync(file, "utf8")).rules.map(({ rule }) => rule),
      ["first", "second"],
    );
  });

  test("waiting ends after a limit, and the error names the lock", async (t) => {
    const file = settingsFile(t, "{}");
    const { processes } = parts();
    left(file, { host: hostname(), pid: process.pid, start: processes.startOf(process.pid) });
    const clock = manualClock(statSync(`${file}.lock`).mtimeMs);
    const refused = assert.rejects(promoteRule({ file, list: "allow", rule: "a" }, { ...parts(), clock }), (error) => {
      assert.ok(error instanceof FileLockedError);
      return error.message.includes(`${file}.lock`);
    });
    await clock.advance(30_000);
    await refused;
    assert.equal(readFileSync(file, "utf8"), "{}");
  });

  test("a lock of another machine counts as left behind after a while, and not before", async (t) => {
    const file = settingsFile(t, "{}");
    left(file, { host: "another-machine.invalid", pid: 1, start: "x" });
    const clock = manualClock(statSync(`${file}.lock`).mtimeMs);
    const promoted = promoteRule({ file, list: "allow", rule: "a" }, { ...parts(), clock });
    await clock.advance(10_000);
    assert.equal(readFileSync(file, "utf8"), "{}");
    await clock.advance(1_000);
    await promoted;
    assert.match(readFileSync(file, "utf8"), /"a"/);
  });

  test("a lock that says nothing about its holder counts as left behind after a while", async (t) => {
    const file = settingsFile(t, "{}");
    left(file, "");
    const clock = manualClock(statSync(`${file}.lock`).mtimeMs + 10_001);
    await promoteRule({ file, list: "allow", rule: "a" }, { ...parts(), clock });
    assert.match(readFileSync(file, "utf8"), /"a"/);
  });

  test("the lock is let go when the writing fails", async (t) => {
    const file = settingsFile(t, "{}");
    const failing: PromotionOptions = { ...parts(), files: { replace: () => Promise.reject(new Error("disk")) } };
    await assert.rejects(promoteRule({ file, list: "allow", rule: "a" }, failing), /disk/);
    assert.deepEqual([readFileSync(file, "utf8"), existsSync(`${file}.lock`)], ["{}", false]);
  });
});
