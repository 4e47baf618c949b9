import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { decide } from "@assent/core/parts";
import { type ManualClock, manualClock } from "@assent/core/testing";
import { createSystemClock } from "@assent/host";
import type { PolicyLocations } from "../../src/settings/locations.ts";
import { SettingsError, type SettingsProblem } from "../../src/settings/problem.ts";
import { type WatchedPolicy, type WatchOptions, watchPolicy } from "../../src/settings/watched-policy.ts";
import { call, type Files, PARTS, placesWith, projectFileOf, put } from "./policy-bench.ts";

type Bench = {
  readonly source: WatchedPolicy;
  readonly places: PolicyLocations;
  readonly clock: ManualClock;
  readonly warned: SettingsProblem[];
  readonly told: string[];
};

/** A watched policy with a clock that stands still; `told` are the revisions that `changed` was told. */
function watched(t: TestContext, files: Files, options: Partial<WatchOptions> = {}): Bench {
  const places = placesWith(t, files);
  const clock = manualClock();
  const warned: SettingsProblem[] = [];
  const told: string[] = [];
  const source = watchPolicy(places, PARTS, {
    clock,
    warn: (problem) => void warned.push(problem),
    changed: ({ policy }) => void told.push(policy.revision),
    ...options,
  });
  t.after(source.close);
  return { source, places, clock, warned, told };
}

function verdict(source: WatchedPolicy, tool = "deploy"): string {
  return decide(call(tool), { ...source.current(), hint: {} }).verdict;
}

const deny = { permissions: { deny: ["deploy"] } };
const allow = { permissions: { allow: ["deploy"] } };

describe("what is on disk holds at the next question, before the system tells", () => {
  const rows: readonly [sentence: string, before: Files, file: (places: PolicyLocations) => string][] = [
    ["a deny added to the user's file", { user: allow }, ({ userFile }) => userFile],
    ["a user's file that was not there, nor its directory", { team: allow }, ({ userFile }) => userFile],
    ["a team's file", { user: allow }, ({ teamFile }) => teamFile],
    ["a project's file", { user: allow }, projectFileOf],
  ];
  for (const [sentence, before, file] of rows) {
    test(sentence, (t) => {
      const { source, places, told } = watched(t, before);
      const { revision } = source.current();
      assert.equal(verdict(source), "allow");
      put(file(places), deny);
      assert.equal(verdict(source), "deny");
      assert.notEqual(source.current().revision, revision);
      assert.deepEqual(told, [source.current().revision]);
    });
  }

  test("of the same length, in the same moment, in the same file", (t) => {
    const { source, places } = watched(t, { user: '{"permissions":{"deny":["a"],"ask":[]}}' });
    const past = new Date(1_000_000);
    for (let i = 0; i < 50; i++) {
      const list = i % 2 === 0 ? '{"permissions":{"deny":["*"],"ask":[]}}' : '{"permissions":{"deny":["a"],"ask":[]}}';
      writeFileSync(places.userFile, list);
      utimesSync(places.userFile, past, past);
      assert.equal(verdict(source), i % 2 === 0 ? "deny" : "ask");
    }
  });

  test("later, when only stamps are compared", async (t) => {
    const { source, places, clock } = watched(t, { user: allow });
    await clock.advance(60_000);
    assert.equal(verdict(source), "allow");
    put(places.userFile, deny);
    assert.equal(verdict(source), "deny");
  });

  test("a file replaced by a rename", async (t) => {
    const { source, places, clock } = watched(t, { user: allow });
    await clock.advance(60_000);
    put(`${places.userFile}.new`, deny);
    renameSync(`${places.userFile}.new`, places.userFile);
    assert.equal(verdict(source), "deny");
  });

  test("a link that leads elsewhere now", async (t) => {
    const { source, places, clock } = watched(t, { user: undefined as never, team: allow });
    const [one, two] = [join(places.home, "one.json"), join(places.home, "two.json")];
    put(one, {});
    put(two, deny);
    mkdirSync(dirname(places.userFile), { recursive: true });
    symlinkSync(one, places.userFile);
    assert.equal(verdict(source), "allow");
    await clock.advance(60_000);
    rmSync(places.userFile);
    symlinkSync(two, places.userFile);
    assert.equal(verdict(source), "deny");
  });

  test("subscribers are notified once per revision, and not after they unsubscribe", (t) => {
    const { source, places } = watched(t, { user: allow });
    let [stays, leaves] = [0, 0];
    source.subscribe(() => (stays += 1));
    const leave = source.subscribe(() => (leaves += 1));
    put(places.userFile, deny);
    source.current();
    source.current();
    leave();
    put(places.userFile, allow);
    source.current();
    assert.deepEqual([stays, leaves], [2, 1]);
  });

  test("a change that judges nothing is taken over without a new revision", (t) => {
    const { source, places, told } = watched(t, { user: allow });
    let changed = 0;
    source.subscribe(() => (changed += 1));
    put(places.userFile, { ...allow, editor: "vi" });
    source.refresh();
    assert.deepEqual([source.settings().editor, changed, told.length], ["vi", 0, 1]);
  });

  test("the same content written again changes nothing", (t) => {
    const { source, places, told } = watched(t, { user: allow });
    const before = source.current();
    put(places.userFile, allow);
    source.refresh();
    assert.equal(source.current(), before);
    assert.deepEqual(told, []);
  });
});

test("faults are reported one after another: a missing file, a directory, a file that others may write", (t) => {
  const { source, places, warned } = watched(t, { team: allow });
  mkdirSync(places.userFile, { recursive: true });
  source.refresh();
  rmSync(places.userFile, { recursive: true });
  put(places.userFile, {});
  chmodSync(places.userFile, 0o666);
  source.refresh();
  rmSync(places.userFile);
  source.refresh();
  mkdirSync(places.userFile, { recursive: true });
  source.refresh();
  assert.deepEqual(
    warned.map(({ type, effect }) => `${type} ${effect}`),
    ["settings_unreadable warning", "settings_insecure warning", "settings_unreadable warning"],
  );
  assert.equal(verdict(source), "allow");
});

describe("a file that is broken or gone at a reload", () => {
  const broken: readonly [sentence: string, content: string | object][] = [
    ["not JSONC", "{"],
    ["an empty file, as an editor leaves it for a moment", ""],
    ["a broken deny", { permissions: { deny: ["a["] } }],
    ["an unknown key", { moode: 1 }],
  ];
  for (const [sentence, content] of broken) {
    test(`${sentence}: its last good content stays, with a warning once the file is quiet`, async (t) => {
      const { source, places, clock, warned, told } = watched(t, { user: deny });
      put(places.userFile, content);
      assert.equal(verdict(source), "deny");
      assert.equal(verdict(source), "deny");
      assert.equal(warned.length, 0);
      await clock.advance(200);
      assert.equal(verdict(source), "deny");
      assert.deepEqual(
        warned.map(({ file, effect }) => [file, effect]),
        [[places.userFile, "warning"]],
      );
      assert.match(warned[0]?.message ?? "", /the previous content of this file stays in effect/);
      await clock.advance(10_000);
      source.refresh();
      assert.deepEqual([warned.length, told], [1, []]);
      put(places.userFile, allow);
      assert.equal(verdict(source), "allow");
    });
  }

  test("settings_insecure: its last good content stays", async (t) => {
    const { source, places, clock, warned } = watched(t, { user: deny });
    await clock.advance(10_000);
    chmodSync(places.userFile, 0o666);
    source.refresh();
    assert.deepEqual([verdict(source), warned.map(({ type }) => type)], ["deny", ["settings_insecure"]]);
  });

  test("the other files reload all the same", (t) => {
    const { source, places, warned } = watched(t, { user: allow, team: {} });
    put(places.userFile, "{");
    put(places.teamFile, deny);
    assert.equal(verdict(source), "deny");
    source.refresh();
    assert.deepEqual([verdict(source), warned.length], ["deny", 1]);
  });

  test("a new file that is broken from the start counts for nothing", (t) => {
    const { source, places, warned } = watched(t, { user: allow });
    put(projectFileOf(places), "{");
    source.refresh();
    assert.deepEqual([verdict(source), warned.length], ["allow", 1]);
  });

  test("a file that is gone for a moment only never loses its deny", async (t) => {
    const { source, places, clock } = watched(t, { user: deny });
    rmSync(places.userFile);
    assert.equal(verdict(source), "deny");
    await clock.advance(199);
    put(places.userFile, deny);
    assert.equal(verdict(source), "deny");
    await clock.advance(10_000);
    assert.equal(verdict(source), "deny");
  });

  test("a file that stays away is believed to be gone", async (t) => {
    const { source, places, clock, told } = watched(t, { user: deny });
    rmSync(dirname(places.userFile), { recursive: true });
    assert.equal(verdict(source), "deny");
    await clock.advance(200);
    assert.deepEqual([verdict(source), told.length], ["ask", 1]);
  });

  test("questions in quick succession do not put off what a quiet file means", async (t) => {
    const { source, places, clock } = watched(t, { user: deny });
    rmSync(places.userFile);
    for (let i = 0; i < 10; i++) {
      source.current();
      await clock.advance(50);
    }
    assert.equal(verdict(source), "ask");
  });

  test("what is wrong at the start refuses", (t) => assert.throws(() => watched(t, { user: "{" }), SettingsError));

  test("a new warning of a reloaded file is reported", (t) => {
    const { source, places, warned } = watched(t, { user: allow });
    put(places.userFile, { permissions: { allow: ["deploy", "b["] } });
    source.current();
    assert.deepEqual(
      warned.map(({ type }) => type),
      ["rule_bad_glob"],
    );
  });

  test("a mode that is locked meanwhile is left, with a warning", (t) => {
    const { source, places, warned } = watched(t, { flags: { mode: "yolo" } });
    assert.equal(verdict(source), "allow");
    put(places.teamFile, { permissions: { lock: ["yolo"] } });
    assert.equal(verdict(source), "ask");
    assert.deepEqual([source.current().mode, warned.map(({ type, effect }) => [type, effect])], ["default", [["mode_locked", "warning"]]]);
  });

  test("a locked mode that a file chooses at a reload is not taken", (t) => {
    const { source, places, warned } = watched(t, { team: { permissions: { lock: ["yolo"] } }, user: deny });
    put(places.userFile, { mode: "yolo" });
    source.refresh();
    assert.deepEqual([verdict(source), source.current().mode, warned[0]?.type], ["deny", "default", "mode_locked"]);
  });
});

describe("trust is bound to what was trusted", () => {
  test("one changed byte and the project may only tighten", (t) => {
    const { source, places, warned } = watched(t, { project: allow, trusted: true });
    assert.equal(verdict(source), "allow");
    appendFileSync(projectFileOf(places), "\n");
    assert.equal(verdict(source), "ask");
    assert.deepEqual(
      warned.map(({ type }) => type),
      ["rule_project_untrusted"],
    );
  });
  test("back to what was trusted", (t) => {
    const { source, places } = watched(t, { project: allow, trusted: true });
    put(projectFileOf(places), { ...allow, editor: "vi" });
    assert.equal(verdict(source), "ask");
    put(projectFileOf(places), allow);
    assert.equal(verdict(source), "allow");
  });
  test("another file's change does not touch it", (t) => {
    const { source, places } = watched(t, { project: allow, trusted: true });
    put(places.userFile, { editor: "vi" });
    assert.equal(verdict(source), "allow");
  });
  test("who knows better is asked at every reload and at a refresh", (t) => {
    let trusted = true;
    const { source } = watched(t, { project: allow, trusted: true }, { trusted: () => trusted });
    assert.equal(verdict(source), "allow");
    trusted = false;
    source.refresh();
    assert.equal(verdict(source), "ask");
    trusted = true;
    source.refresh();
    assert.equal(verdict(source), "allow");
  });
});

describe("the system's notice", () => {
  /** Waits until the policy changed by itself, at most ten seconds. */
  async function changes(t: TestContext, files: Files, act: (places: PolicyLocations) => void): Promise<string> {
    const places = placesWith(t, files);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const source = watchPolicy(places, PARTS, { clock: createSystemClock(), warn: () => undefined, changed: () => resolve() });
    t.after(source.close);
    const deadline = setTimeout(() => reject(new Error("nobody was told")), 10_000);
    act(places);
    await promise.finally(() => clearTimeout(deadline));
    return decide(call("deploy"), { ...source.loaded().policy, hint: {} }).verdict;
  }

  const rows: readonly [sentence: string, files: Files, act: (places: PolicyLocations) => void, expected: string][] = [
    ["a file is written", { user: allow }, ({ userFile }) => put(userFile, deny), "deny"],
    [
      "a file is replaced",
      { user: allow },
      ({ userFile }) => {
        put(`${userFile}.new`, deny);
        renameSync(`${userFile}.new`, userFile);
      },
      "deny",
    ],
    ["a file and two directories above it are made", { team: allow }, ({ userFile }) => put(userFile, deny), "deny"],
    ["a project's first settings", { team: allow }, (places) => put(projectFileOf(places), deny), "deny"],
    ["a file is removed", { user: allow }, ({ userFile }) => rmSync(userFile), "ask"],
    ["its directory is removed", { user: allow }, ({ userFile }) => rmSync(dirname(userFile), { recursive: true }), "ask"],
  ];
  for (const [sentence, files, act, expected] of rows) {
    test(`${sentence}: told without a question`, async (t) => assert.equal(await changes(t, files, act), expected));
  }

  test("a directory made step by step is followed down", async (t) => {
    const places = placesWith(t, { team: allow });
    const source = watchPolicy(places, PARTS, { clock: createSystemClock(), warn: () => undefined, changed: () => told.resolve() });
    t.after(source.close);
    const told = Promise.withResolvers<void>();
    const deadline = setTimeout(() => told.reject(new Error("nobody was told")), 10_000);
    let at = places.home;
    for (const name of [".config", "assent"]) {
      at = join(at, name);
      mkdirSync(at);
      await new Promise((resolve) => setImmediate(resolve));
    }
    put(places.userFile, deny);
    await told.promise.finally(() => clearTimeout(deadline));
    assert.equal(decide(call("deploy"), { ...source.loaded().policy, hint: {} }).verdict, "deny");
  });

  test("a directory that is removed and made again is followed again", async (t) => {
    const places = placesWith(t, { user: allow });
    const told: (() => void)[] = [];
    const source = watchPolicy(places, PARTS, { clock: createSystemClock(), warn: () => undefined, changed: () => told.shift()?.() });
    t.after(source.close);
    const next = async (act: () => void): Promise<void> => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      told.push(resolve);
      const deadline = setTimeout(() => reject(new Error("nobody was told")), 10_000);
      act();
      await promise.finally(() => clearTimeout(deadline));
    };
    await next(() => {
      rmSync(dirname(places.userFile), { recursive: true });
      mkdirSync(dirname(places.userFile));
    });
    await next(() => put(places.userFile, deny));
    assert.equal(decide(call("deploy"), { ...source.loaded().policy, hint: {} }).verdict, "deny");
  });

  test("watching keeps no process alive", async (t) => {
    const places = placesWith(t, { user: allow });
    const child = fork(join(import.meta.dirname, "watch-child.ts"), [JSON.stringify(places)], {
      execArgv: ["--conditions=@assent/source"],
    });
    t.after(() => child.kill("SIGKILL"));
    const [code] = await once(child, "exit");
    assert.equal(code, 0);
  });

  test("nothing is reported after close", async (t) => {
    const { source, places, clock, told } = watched(t, { user: deny });
    rmSync(places.userFile);
    source.current();
    source.current();
    source.close();
    await clock.advance(10_000);
    assert.deepEqual([clock.pending(), told], [0, []]);
  });
});

describe("when tools come and go, rules are understood anew", () => {
  /** Tools that are there once they are named here. */
  function growing(
    t: TestContext,
    user: object,
  ): { source: WatchedPolicy; names: string[]; warned: SettingsProblem[]; told: () => number } {
    const names: string[] = [];
    const warned: SettingsProblem[] = [];
    const tools = { get: (name: string) => (names.includes(name) ? { kind: "other" } : undefined), names: () => names };
    const options = { clock: manualClock(), warn: (problem: SettingsProblem) => void warned.push(problem), changed: () => undefined };
    const source = watchPolicy(placesWith(t, { user }), { ...PARTS, tools }, options);
    t.after(source.close);
    let told = 0;
    source.subscribe(() => {
      told += 1;
    });
    return { source, names, warned, told: () => told };
  }

  test("an allow that was left out applies, and subscribers are notified once", (t) => {
    const { source, names, told } = growing(t, allow);
    assert.equal(verdict(source), "ask");
    names.push("deploy");
    source.compile();
    assert.equal(verdict(source), "allow");
    source.compile();
    assert.equal(told(), 1);
  });

  test("a deny that cannot be understood any more stays as it was", (t) => {
    const { source, names, warned } = growing(t, { permissions: { deny: ["deploy(x)"] } });
    const before = source.loaded().rules;
    names.push("deploy");
    source.compile();
    assert.equal(source.loaded().rules, before);
    assert.deepEqual(
      warned.map(({ type, effect, message }) => [type, effect, /stays in effect/.test(message)]),
      [["rule_syntax", "warning", true]],
    );
  });
});
