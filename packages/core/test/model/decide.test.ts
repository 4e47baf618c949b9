import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decide, strictest } from "../../src/model/decide.ts";
import type { Circumstances, Decision, Hint, NamedChecker, Safeguard, Scope, Verdict } from "../../src/model/decision.ts";
import { KINDS, type Kind } from "../../src/model/kind.ts";
import type { Request } from "../../src/model/request.ts";

const LABELS: Readonly<Record<Scope, string>> = {
  session: "session permissions",
  project: "project permissions",
  user: "user permissions",
  team: "permissions configuration",
  policy: "policy file",
};

type Row = readonly [
  sentence: string,
  request: Request,
  circumstances: Circumstances,
  expected: Partial<Decision> & Pick<Decision, "verdict" | "reason" | "source">,
];

const shell = request("shell", "execute");
const edit = request("write_file", "edit");
const read = request("read_file", "read");
const other = request("notes", "other");
const confined: Request = { ...shell, containment: { confined: true, network: false } };
const revealing: Request = { ...shell, containment: { confined: true, network: false, secret: true } };
const connected: Request = { ...shell, containment: { confined: true, network: true } };
const outside: Request = { ...shell, containment: { confined: false, reason: "bubblewrap is missing" } };
const ALLOW_CONFINED: Hint = { allowConfined: true };

const table: readonly Row[] = [
  ["yolo does not open a team deny", shell, given("yolo", [says("team", "deny")]), byChecker("deny", "team")],
  ["an ask rule holds in yolo", shell, given("yolo", [says("session", "ask")]), { ...byChecker("ask", "session"), explicitAsk: true }],
  [
    "a deny holds against the read-only hint",
    shell,
    given("default", [says("session", "deny")], { readOnly: true }),
    byChecker("deny", "session"),
  ],
  [
    "a team deny beats a session allow",
    shell,
    given("default", [says("session", "allow"), says("team", "deny")]),
    byChecker("deny", "team"),
  ],
  [
    "also when the team's checker is passed first",
    shell,
    given("default", [says("team", "deny"), says("session", "allow")]),
    byChecker("deny", "team"),
  ],
  ["a checker allows", read, given("default", [says("session", "allow")]), { ...byChecker("allow", "session"), explicitAsk: false }],
  [
    "an ask rule beats the read-only hint",
    read,
    given("default", [says("team", "ask")], { readOnly: true }),
    { ...byChecker("ask", "team"), explicitAsk: true },
  ],
  [
    "session asks, team allows",
    shell,
    given("default", [says("session", "ask"), says("team", "allow")]),
    { ...byChecker("ask", "session"), explicitAsk: true },
  ],
  [
    "session allows, team asks",
    shell,
    given("default", [says("session", "allow"), says("team", "ask")]),
    { ...byChecker("ask", "team"), explicitAsk: true },
  ],
  [
    "the read-only hint allows with silent checkers",
    read,
    given("default", [says("session", "none")], { readOnly: true }),
    by("allow", "readonly_hint"),
  ],
  ["with an empty list of checkers", read, given("default", [], { readOnly: true }), by("allow", "readonly_hint")],
  ["without checkers", read, { mode: "default", hint: { readOnly: true } }, by("allow", "readonly_hint")],
  ["what runs confined is allowed if the settings say so", confined, given("default", [], ALLOW_CONFINED), by("allow", "confined")],
  ["what runs confined asks if the settings say nothing", confined, given("default", []), by("ask", "default")],
  ["what runs confined and names a secret asks", revealing, given("default", [], ALLOW_CONFINED), by("ask", "default")],
  ["what runs confined with network asks", connected, given("default", [], ALLOW_CONFINED), by("ask", "default")],
  ["what would run outside asks", outside, given("default", [], ALLOW_CONFINED), by("ask", "default")],
  ["what is not known to be confined asks", shell, given("default", [], ALLOW_CONFINED), by("ask", "default")],
  [
    "confinement does not answer an ask rule",
    confined,
    given("default", [says("user", "ask")], ALLOW_CONFINED),
    { ...byChecker("ask", "user"), explicitAsk: true },
  ],
  ["confinement does not lift a deny", confined, given("default", [says("user", "deny")], ALLOW_CONFINED), byChecker("deny", "user")],
  [
    "confinement does not answer a safeguard",
    confined,
    { ...given("default", [], ALLOW_CONFINED), safeguards: [{ id: "g", check: () => ({ verdict: "ask" }) }] },
    { ...by("ask", "guard", "g"), explicitAsk: true },
  ],
  [
    "confinement does not answer a hook that asks",
    confined,
    given("default", [], { ...ALLOW_CONFINED, hook: { verdict: "ask", name: "h" } }),
    { ...by("ask", "hook", "h"), explicitAsk: true },
  ],
  ["confinement does not answer a tool that asks", confined, given("default", [], { ...ALLOW_CONFINED, tool: "ask" }), by("ask", "tool")],
  ["confinement does not open plan mode", confined, given("plan", [], ALLOW_CONFINED), by("deny", "mode", "plan")],
  ["without an opinion it asks", shell, { mode: "default" }, { ...by("ask", "default"), explicitAsk: false, unit: 0, units: 1 }],
  ["an allow rule does not open plan mode", edit, given("plan", [says("session", "allow")]), by("deny", "mode", "plan")],
  ["a command proven read-only passes in plan", shell, given("plan", [], { safe: true, readOnly: true }), by("allow", "readonly_hint")],
  ["the plan file may be written in plan", edit, given("plan", [], { planFile: true }), by("allow", "mode", "plan")],
  [
    "auto-edit allows an edit inside the workspace though the tool asks",
    edit,
    given("auto-edit", [], { insideWorkspace: true, tool: "ask" }),
    by("allow", "mode", "auto-edit"),
  ],
  [
    "auto-edit leaves an edit outside to the tool",
    edit,
    given("auto-edit", [], { insideWorkspace: false, tool: "ask" }),
    { ...by("ask", "tool"), explicitAsk: false },
  ],
  ["auto-edit does not cover a delete", request("rm", "delete"), given("auto-edit", [], { insideWorkspace: true }), by("ask", "default")],
  ["the tool's deny holds in yolo", shell, given("yolo", [], { tool: "deny" }), by("deny", "tool")],
  [
    "a hook's ask beats an allow rule",
    shell,
    given("default", [says("session", "allow")], { hook: { verdict: "ask", name: "h" } }),
    { ...by("ask", "hook", "h"), explicitAsk: true },
  ],
  [
    "a hook's allow does not lift an ask rule",
    shell,
    given("default", [says("team", "ask")], { hook: { verdict: "allow", name: "h" } }),
    { ...byChecker("ask", "team"), explicitAsk: true },
  ],
  [
    "a hook's allow lifts the tool's ask",
    shell,
    given("default", [], { hook: { verdict: "allow", name: "h" }, tool: "ask" }),
    by("allow", "hook", "h"),
  ],
  [
    "a hook's deny holds in yolo",
    shell,
    given("yolo", [], { hook: { verdict: "deny", name: "h", reason: "no" } }),
    { ...by("deny", "hook", "h"), note: "no" },
  ],
  ["an unknown mode adds nothing", shell, { mode: "bogus" }, by("ask", "default")],
  [
    "the tool's ask beats the read-only hint",
    read,
    given("default", [], { readOnly: true, tool: "ask" }),
    { ...by("ask", "tool"), explicitAsk: false },
  ],
  ["a checker that throws denies", read, given("default", [throws("user")], { readOnly: true }), byChecker("deny", "user")],
  [
    "a guard that throws denies",
    read,
    { mode: "default", safeguards: [{ id: "g", check: fail }], hint: { readOnly: true } },
    by("deny", "guard", "g"),
  ],
  [
    "a checker that answers nonsense denies",
    read,
    given("yolo", [says("user", "Allow" as Verdict)], { readOnly: true }),
    byChecker("deny", "user"),
  ],
  [
    "a guard that allows answers nonsense",
    read,
    { mode: "yolo", safeguards: [{ id: "g", check: () => ({ verdict: "allow" as "ask" }) }] },
    by("deny", "guard", "g"),
  ],
  [
    "a guard's ask holds in yolo",
    edit,
    { mode: "yolo", safeguards: [guard("control-file", "ask")] },
    { ...by("ask", "guard", "control-file"), explicitAsk: true, rule: { text: "safeguard:control-file" } },
  ],
  ["kind other is denied in plan", other, { mode: "plan" }, by("deny", "mode", "plan")],
  [
    "an ask rule holds in auto-edit",
    edit,
    given("auto-edit", [says("user", "ask")], { insideWorkspace: true }),
    { ...byChecker("ask", "user"), explicitAsk: true },
  ],
  ["in yolo an allow rule is still named", shell, given("yolo", [says("user", "allow")]), byChecker("allow", "user")],
  ["the runtime's own tool passes in plan", other, given("plan", [], { ownTool: true, tool: "allow" }), by("allow", "tool")],
  [
    "each unit may be allowed by another checker",
    two(shell),
    given("default", [onUnit(0, "user", "allow"), onUnit(1, "session", "allow")]),
    { ...by("allow", "checker", LABELS.user), unit: 0, units: 2 },
  ],
  [
    "a deny of one unit denies the request in yolo",
    two(shell),
    given("yolo", [onUnit(1, "team", "deny")]),
    { ...byChecker("deny", "team"), unit: 1, units: 2 },
  ],
  [
    "a unit without an opinion asks",
    two(shell),
    given("default", [onUnit(0, "user", "allow")]),
    { ...by("ask", "default"), unit: 1, units: 2, explicitAsk: false },
  ],
  [
    "an explicit ask of a later unit is stricter than a plain ask",
    two(shell),
    given("default", [onUnit(1, "user", "ask")]),
    { ...byChecker("ask", "user"), unit: 1, explicitAsk: true },
  ],
  ["of equally strict units the first is named", two(shell), { mode: "default" }, { ...by("ask", "default"), unit: 0, units: 2 }],
  [
    "a request without units is judged whole",
    { ...shell, units: [] },
    given("default", [says("user", "deny")]),
    { ...byChecker("deny", "user"), unit: 0, units: 1 },
  ],
  [
    "the note of the guard is kept",
    edit,
    { mode: "yolo", safeguards: [guard("g", "deny", "its own files")] },
    { ...by("deny", "guard", "g"), note: "its own files" },
  ],
  ["planFile opens nothing outside of plan", edit, given("default", [], { planFile: true }), by("ask", "default")],
  ["planFile opens an edit only", read, given("plan", [], { planFile: true }), by("ask", "default")],
  ["yolo allows what is left", shell, { mode: "yolo" }, by("allow", "yolo")],
  ["the tool allows", shell, given("default", [], { tool: "allow" }), by("allow", "tool")],
  ["plan lets kind other pass with the read-only hint", other, given("plan", [], { readOnly: true }), by("allow", "readonly_hint")],
  [
    "plan denies an edit that is not of the plan file",
    edit,
    given("plan", [], { insideWorkspace: true, readOnly: true }),
    by("deny", "mode", "plan"),
  ],
  ["plan does not take planFile for a delete", request("rm", "delete"), given("plan", [], { planFile: true }), by("deny", "mode", "plan")],
  [
    "plan: a hook's allow does not lift the deny",
    edit,
    given("plan", [], { hook: { verdict: "allow", name: "h" } }),
    by("deny", "mode", "plan"),
  ],
  [
    "plan: an ask rule holds for the plan file",
    edit,
    given("plan", [says("user", "ask")], { planFile: true }),
    { ...byChecker("ask", "user"), explicitAsk: true },
  ],
  [
    "of two denies the guard is named before the checker, the hook, the tool and the mode",
    edit,
    {
      ...given("plan", [says("session", "deny")], { tool: "deny", hook: { verdict: "deny", name: "h" } }),
      safeguards: [guard("g", "deny")],
    },
    by("deny", "guard", "g"),
  ],
  [
    "of two denies the hook is named before the tool and the mode",
    edit,
    given("plan", [], { tool: "deny", hook: { verdict: "deny", name: "h" } }),
    by("deny", "hook", "h"),
  ],
  [
    "of two denies the tool is named before the mode",
    edit,
    given("plan", [], { tool: "deny", toolNote: "not today" }),
    { ...by("deny", "tool"), note: "not today" },
  ],
  [
    "of two denying checkers project is named before user and team",
    shell,
    given("default", [says("policy", "deny"), says("team", "deny"), says("user", "deny"), says("project", "deny")]),
    byChecker("deny", "project"),
  ],
  [
    "the note of the tool's ask is kept",
    shell,
    given("default", [], { tool: "ask", toolNote: "tool permission failed: x" }),
    { ...by("ask", "tool"), note: "tool permission failed: x" },
  ],
];

for (const [sentence, of, circumstances, expected] of table) {
  test(sentence, () => {
    const decision = decide(of, circumstances);
    assert.partialDeepStrictEqual(decision, expected);
    if (expected.verdict !== "ask") assert.equal(decision.explicitAsk, false);
    if (expected.reason !== "checker") assert.equal(decision.scope, undefined);
  });
}

for (const kind of ["read", "search", "fetch", "think"] as const) {
  test(`plan lets kind ${kind} pass, judged as usual`, () => {
    assert.partialDeepStrictEqual(decide(request("t", kind), { mode: "plan" }), by("ask", "default"));
  });
}

for (const kind of ["edit", "delete", "move", "execute", "other"] as const) {
  test(`plan denies kind ${kind} when nothing is known`, () => {
    assert.partialDeepStrictEqual(decide(request("t", kind), { mode: "plan" }), by("deny", "mode", "plan"));
  });
}

type Trace = readonly (readonly [layer: string, opinion: string, more?: object])[];

const traces: readonly (readonly [string, Request, Circumstances, Trace])[] = [
  [
    "the trace of the default ask has every layer",
    shell,
    { ...given("default", [says("team", "none"), says("session", "none")]), safeguards: [guard("g", "none")] },
    [
      ["safeguard:g", "none"],
      [LABELS.session, "none"],
      [LABELS.team, "none"],
      ["hook", "none"],
      ["tool", "none"],
      ["mode", "none", { note: "default" }],
      ["readonly_hint", "none"],
      ["default", "ask"],
    ],
  ],
  [
    "after a deny the mode, the hint and the default are not reached",
    shell,
    given("yolo", [says("user", "deny")], { tool: "allow", hook: { verdict: "allow", name: "h", reason: "fine" } }),
    [
      [LABELS.user, "deny", { rule: "user rule" }],
      ["hook", "allow", { note: "h: fine" }],
      ["tool", "allow"],
      ["mode", "not_reached", { note: "yolo" }],
      ["readonly_hint", "not_reached"],
      ["default", "not_reached"],
    ],
  ],
  [
    "what throws is an error in the trace, with its message",
    read,
    { ...given("default", [throws("user")], { readOnly: true }), safeguards: [{ id: "g", check: throwSomethingOdd }] },
    [
      ["safeguard:g", "error", { note: "failed: unknown error" }],
      [LABELS.user, "error", { note: "failed: broken" }],
      ["hook", "none"],
      ["tool", "none"],
      ["mode", "not_reached", { note: "default" }],
      ["readonly_hint", "not_reached"],
      ["default", "not_reached"],
    ],
  ],
  [
    "a mode that denies is shown also when a guard is named",
    edit,
    { mode: "plan", safeguards: [guard("g", "deny", "its own files")] },
    [
      ["safeguard:g", "deny", { note: "its own files" }],
      ["hook", "none"],
      ["tool", "none"],
      ["mode", "deny", { note: "plan" }],
      ["readonly_hint", "not_reached"],
      ["default", "not_reached"],
    ],
  ],
  [
    "an unknown mode is named",
    read,
    { mode: "bogus", hint: { readOnly: true, tool: "ask", toolNote: "why" } },
    [
      ["hook", "none"],
      ["tool", "ask", { note: "why" }],
      ["mode", "none", { note: "unknown mode 'bogus'" }],
      ["readonly_hint", "none"],
      ["default", "ask"],
    ],
  ],
  [
    "the hint that allows is shown as the speaker",
    read,
    { mode: "auto-edit", hint: { readOnly: true } },
    [
      ["hook", "none"],
      ["tool", "none"],
      ["mode", "none", { note: "auto-edit" }],
      ["readonly_hint", "allow"],
      ["default", "not_reached"],
    ],
  ],
  [
    "the mode that allows is shown as the speaker",
    shell,
    { mode: "yolo" },
    [
      ["hook", "none"],
      ["tool", "none"],
      ["mode", "allow", { note: "yolo" }],
      ["readonly_hint", "not_reached"],
      ["default", "not_reached"],
    ],
  ],
];

for (const [sentence, of, circumstances, expected] of traces) {
  test(sentence, () => {
    assert.deepEqual(
      decide(of, circumstances).trace,
      expected.map(([layer, opinion, more]) => ({ layer, opinion, ...more })),
    );
  });
}

test("the trace is that of the deciding unit", () => {
  const { trace } = decide(two(shell), given("default", [onUnit(0, "user", "allow"), onUnit(1, "session", "ask")]));
  assert.deepEqual(trace.slice(0, 2), [
    { layer: LABELS.session, opinion: "ask" },
    { layer: LABELS.user, opinion: "none" },
  ]);
});

test("the scope and the rule of the checker that decided are given", () => {
  const { scope, rule } = decide(shell, given("default", [says("policy", "allow")]));
  assert.equal(scope, "policy");
  assert.deepEqual(rule, { text: "policy rule" });
});

test("a checker is called as a method, with the request and the unit", () => {
  const checker = {
    label: "mine",
    scope: "user" as const,
    seen: [] as unknown[],
    check(...seen: unknown[]) {
      this.seen.push(...seen);
      return { verdict: "none" as const };
    },
  };
  decide(shell, given("default", [checker]));
  assert.deepEqual(checker.seen, [shell, shell.units[0]]);
});

test("strictest: of equally strict opinions the first, of none none", () => {
  const ask = { verdict: "ask", reason: "checker", source: "a" } as const;
  const deny = { verdict: "deny", reason: "guard", source: "b" } as const;
  assert.equal(strictest([]), undefined);
  assert.equal(strictest([ask, { ...ask, source: "c" }]), ask);
  assert.equal(strictest([ask, deny, { ...deny, source: "d" }]), deny);
});

const anyVerdict = fc.constantFrom<Verdict | "none">("allow", "ask", "deny", "none");
const anyMode = fc.constantFrom("default", "plan", "auto-edit", "yolo", "bogus");
const anyChecker = fc
  .record({
    scope: fc.constantFrom<Scope>("session", "project", "user", "team", "policy"),
    verdicts: fc.array(anyVerdict, { minLength: 3, maxLength: 3 }),
  })
  .map(
    ({ scope, verdicts }): NamedChecker => ({
      label: LABELS[scope],
      scope,
      check: (of, unit) => ({ verdict: verdicts[of.units.indexOf(unit)] ?? "none" }),
    }),
  );
const anyGuard = fc.constantFrom<"ask" | "deny" | "none">("none", "none", "ask", "deny").map((verdict) => guard("g", verdict));
const anyHint: fc.Arbitrary<Hint> = fc.record(
  {
    tool: fc.constantFrom<Verdict>("allow", "ask", "deny"),
    readOnly: fc.boolean(),
    safe: fc.boolean(),
    insideWorkspace: fc.boolean(),
    planFile: fc.boolean(),
    ownTool: fc.boolean(),
    hook: fc.record({ verdict: fc.constantFrom<Verdict>("allow", "ask", "deny"), name: fc.constant("h") }),
  },
  { requiredKeys: [] },
);
const anyRequest = fc
  .record({ kind: fc.constantFrom<Kind>(...KINDS), units: fc.integer({ min: 1, max: 3 }) })
  .map(({ kind, units }) => ({ ...request("t", kind), units: Array.from({ length: units }, (_, i) => ({ subject: `u${i}` })) }));
const anyCase = fc.record({
  of: anyRequest,
  mode: anyMode,
  checkers: fc.array(anyChecker, { maxLength: 4 }),
  safeguards: fc.array(anyGuard, { maxLength: 2 }),
  hint: anyHint,
});

test("law: a deny anywhere is a deny in every mode", () => {
  fc.assert(
    fc.property(anyCase, fc.nat(), (drawn, place) => {
      const checkers = drawn.checkers.toSpliced(
        place % (drawn.checkers.length + 1),
        0,
        onUnit(place % drawn.of.units.length, "team", "deny"),
      );
      assert.equal(decide(drawn.of, { ...drawn, checkers }).verdict, "deny");
      assert.equal(decide(drawn.of, { ...drawn, safeguards: [...drawn.safeguards, guard("x", "deny")] }).verdict, "deny");
      assert.equal(decide(drawn.of, { ...drawn, hint: { ...drawn.hint, tool: "deny" } }).verdict, "deny");
      assert.equal(decide(drawn.of, { ...drawn, hint: { ...drawn.hint, hook: { verdict: "deny", name: "h" } } }).verdict, "deny");
    }),
  );
});

test("law: the order of checkers never changes a decision", () => {
  fc.assert(
    fc.property(anyCase, (drawn) => {
      const decision = decide(drawn.of, drawn);
      const turned = decide(drawn.of, { ...drawn, checkers: drawn.checkers.toReversed() });
      assert.deepEqual(
        [turned.verdict, turned.explicitAsk, turned.source, turned.unit],
        [decision.verdict, decision.explicitAsk, decision.source, decision.unit],
      );
    }),
  );
});

test("law: an explicit ask is never lifted by mode, hook, tool or hint", () => {
  fc.assert(
    fc.property(anyCase, anyMode, anyHint, (drawn, mode, hint) => {
      const insisting = { ...drawn, checkers: [...drawn.checkers, says("user", "ask")], mode, hint };
      const { verdict, explicitAsk } = decide(drawn.of, insisting);
      assert.ok(verdict === "deny" || (verdict === "ask" && explicitAsk));
    }),
  );
});

test("law: a request is never judged milder than any of its units alone", () => {
  const severity = (d: Decision): number => ["allow", "ask", "deny"].indexOf(d.verdict) * 2 + (d.explicitAsk ? 1 : 0);
  fc.assert(
    fc.property(anyCase, (drawn) => {
      const whole = decide(drawn.of, drawn);
      const alone = drawn.of.units.map((unit) =>
        decide(
          { ...drawn.of, units: [unit] },
          { ...drawn, checkers: drawn.checkers.map((c) => ({ ...c, check: () => c.check(drawn.of, unit) })) },
        ),
      );
      assert.equal(severity(whole), Math.max(...alone.map(severity)));
      assert.equal(
        whole.unit,
        alone.findIndex((d) => severity(d) === severity(whole)),
      );
    }),
  );
});

test("law: judging changes nothing and twice the same gives the same", () => {
  fc.assert(
    fc.property(anyCase, (drawn) => {
      deepFreeze(drawn);
      assert.deepEqual(decide(drawn.of, drawn), decide(drawn.of, drawn));
    }),
  );
});

function request(tool: string, kind: Kind): Request {
  return { tool, toolDigest: "d", kind, input: {}, cwd: "/w", binds: {}, units: [{ subject: tool }] };
}

function two(of: Request): Request {
  return { ...of, units: [{ subject: "first" }, { subject: "second" }] };
}

function given(mode: string, checkers: readonly NamedChecker[], hint: Hint = {}): Circumstances {
  return { mode, checkers, hint };
}

function says(scope: Scope, verdict: Verdict | "none"): NamedChecker {
  return { label: LABELS[scope], scope, check: () => (verdict === "none" ? { verdict } : { verdict, rule: { text: `${scope} rule` } }) };
}

function onUnit(index: number, scope: Scope, verdict: Verdict): NamedChecker {
  return { label: LABELS[scope], scope, check: (of, unit) => ({ verdict: of.units.indexOf(unit) === index ? verdict : "none" }) };
}

function throws(scope: Scope): NamedChecker {
  return { label: LABELS[scope], scope, check: fail };
}

function fail(): never {
  throw new Error("broken");
}

function throwSomethingOdd(): never {
  throw Object.create(null);
}

function guard(id: string, verdict: "ask" | "deny" | "none", note?: string): Safeguard {
  return { id, check: () => (note === undefined ? { verdict } : { verdict, note }) };
}

function by(verdict: Verdict, reason: Decision["reason"], source = ""): Pick<Decision, "verdict" | "reason" | "source"> {
  return { verdict, reason, source };
}

function byChecker(verdict: Verdict, scope: Scope): Pick<Decision, "verdict" | "reason" | "source"> & { scope: Scope } {
  return { verdict, reason: "checker", source: LABELS[scope], scope };
}

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
}

test("policy 4: a part that is proven to change nothing passes beside one that a rule allows, where hints are honoured", () => {
  const units = [{ subject: "make lint" }, { subject: "tail -5", readOnly: true }];
  const request = { tool: "shell", toolDigest: "", kind: "execute", input: {}, cwd: "/", binds: {}, units } as const;
  const allows = {
    label: "user permissions",
    scope: "user",
    check: (_request: unknown, { subject }: { subject: string }) => ({ verdict: subject === "make lint" ? "allow" : "none" }) as const,
  } as const;
  const judged = (readOnlyParts: boolean) => decide(request, { mode: "default", checkers: [allows], hint: { readOnlyParts } });
  assert.deepEqual([judged(true).verdict, judged(true).byRules, judged(false).verdict, judged(false).unit], ["allow", true, "ask", 1]);
  const plan = decide(request, { mode: "plan", checkers: [allows], hint: { readOnlyParts: true } });
  assert.equal(plan.verdict, "deny");
});

const passing: readonly (readonly [sentence: string, mode: string, hint: Hint, byRules: boolean, trace: readonly string[]])[] = [
  ["what the tool allows passes by rules", "default", { tool: "allow" }, true, ["none", "allow", "none", "not_reached", "not_reached"]],
  ["what the hint lets pass passes by rules", "default", { readOnly: true }, true, ["none", "none", "none", "allow", "not_reached"]],
  ["the mode lets it pass by choice", "yolo", {}, false, ["none", "none", "allow", "not_reached", "not_reached"]],
  ["a request without an opinion asks", "default", {}, false, ["none", "none", "none", "none", "ask"]],
];

for (const [sentence, mode, hint, byRules, trace] of passing) {
  test(`a trace says how far judging came: ${sentence}`, () => {
    const decision = decide(other, given(mode, [], hint));
    assert.deepEqual([decision.byRules, decision.trace.map(({ opinion }) => opinion)], [byRules, trace]);
  });
}
