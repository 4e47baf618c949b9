import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "@assent/core";
import { decide } from "@assent/core/parts";
import fc from "fast-check";
import { canonicalRules, createDoubtFinder, createRuleChecker } from "../../src/rules/checker.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { path, pathRequest, request, rule } from "./rule-bench.ts";
import { shellCall } from "./shell-bench.ts";

function checkerOf(...rules: readonly Rule[]): ReturnType<typeof createRuleChecker> {
  return createRuleChecker({ label: "user permissions", scope: "user", rules });
}

/** What one checker of these rules makes of a request, all units together. */
function verdictOf(rules: readonly Rule[], about: ReturnType<typeof request>): string {
  return decide(about, { mode: "default", checkers: [checkerOf(...rules)] }).verdict;
}

test("deny beats ask beats allow, regardless of order and specificity", () => {
  const rules = [rule("allow", "Shell(git *)"), rule("ask", "Shell(git fetch)"), rule("deny", "Shell(git push)")];
  for (const order of [rules, rules.toReversed()]) {
    assert.equal(verdictOf(order, shellCall("git status")), "allow");
    assert.equal(verdictOf(order, shellCall("git fetch")), "ask");
    assert.equal(verdictOf(order, shellCall("git push")), "deny");
    assert.equal(verdictOf(order, shellCall("git status && git push")), "deny");
  }
});

test("allow * and deny Shell(git push): deny, and its rule is named", () => {
  const about = shellCall("git push");
  const said = checkerOf(rule("allow", "*"), rule("deny", "Shell(git push)")).check(about, about.units[0]!);
  assert.deepEqual(said, { verdict: "deny", rule: { text: "Shell(git push)" } });
});

test("a tool that no rule is about gets no opinion", () => {
  const about = request("t");
  assert.deepEqual(checkerOf(rule("deny", "Shell"), rule("allow", "Read(x)")).check(about, about.units[0]!), { verdict: "none" });
});

test("a deny in doubt does not deny, it is found for the guard; an ask in doubt asks", () => {
  const about = shellCall("x=push; git $x");
  const deny = rule("deny", "Shell(git push)");
  const unit = about.units.find((one) => deny.test(about, one) === "doubt");
  assert.ok(unit);
  assert.equal(checkerOf(deny).check(about, unit).verdict, "none");
  assert.equal(createDoubtFinder([rule("deny", "Shell(curl)"), rule("deny", "Read(x)"), deny])(about, unit), deny);
  assert.equal(createDoubtFinder([rule("ask", "Shell(git push)")])(about, unit), undefined);
  assert.equal(checkerOf(rule("ask", "Shell(git push)")).check(about, unit).verdict, "ask");
});

test("a rule about other tools is never in doubt", () => {
  const about = pathRequest("read", path("/w/app/x", { real: null }));
  assert.equal(createDoubtFinder([rule("deny", "Edit(y)"), rule("deny", "Shell(curl)")])(about, about.units[0]!), undefined);
  assert.equal(createDoubtFinder([rule("deny", "Read(y)")])(about, about.units[0]!)?.at.text, "Read(y)");
});

test("a line too long to parse is denied by the words of a deny, asked by those of an ask, and never allowed", () => {
  const long = "true;".repeat(14_000);
  const rules = [
    rule("allow", "Shell"),
    rule("ask", "Shell(wget)"),
    rule("deny", "Shell(nc)"),
    rule("deny", "Shell(curl)"),
    rule("deny", "shell:command=*evil*"),
  ];
  const said = (command: string): unknown => {
    const about = shellCall(command);
    const { verdict, rule: spoken } = checkerOf(...rules).check(about, about.units[0]!);
    return [verdict, spoken?.text];
  };
  assert.deepEqual(said(`${long}\ncurl x`), ["deny", "Shell(curl)"]);
  assert.deepEqual(said(`${long}\nwget x`), ["ask", "Shell(wget)"]);
  assert.deepEqual(said(`${long}\nwget x; curl y`), ["deny", "Shell(curl)"]);
  assert.deepEqual(said(`${long}\necho evil`), ["deny", "shell:command=*evil*"]);
  assert.deepEqual(said(long), ["none", undefined]);
  const about = shellCall(long);
  assert.equal(createDoubtFinder(rules)(about, about.units[0]!), undefined);
});

test("the record of a policy tells rules apart, and not how they were written", () => {
  const one = [rule("deny", "Shell(git push)"), rule("allow", "Read(x)")];
  const same = [rule("deny", "shell:cmd=git push"), rule("allow", " read(x) ")];
  assert.equal(canonicalRules(one), canonicalRules(same));
  const others = [
    [rule("ask", "Shell(git push)"), rule("allow", "Read(x)")],
    [rule("deny", "Shell(git push *)"), rule("allow", "Read(x)")],
    [rule("deny", "Shell(git push)"), rule("allow", "Read(./x)")],
    [rule("deny", "Shell(git push)")],
    [rule("deny", "Shell"), rule("allow", "Read(x)")],
    [rule("deny", "shell:command=*git push"), rule("allow", "Read(x)")],
    [rule("deny", "Shell(git push)"), rule("allow", "Edit(x)")],
  ];
  assert.equal(new Set([one, ...others].map(canonicalRules)).size, others.length + 1);
});

const verdict = fc.constantFrom<Verdict>("allow", "ask", "deny");
const text = fc.constantFrom("Shell", "*", "Shell(git *)", "Shell(git push)", "Shell(ls)", "shell:command=git*", "Read(.env)", "Read", "t");
const call = fc.constantFrom(
  shellCall("git push"),
  shellCall("git log -5"),
  shellCall("ls; git status"),
  shellCall("git $x"),
  pathRequest("read", path("/w/app/.env")),
  request("t"),
);

test("the order of rules never matters", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(verdict, text), { maxLength: 6 }), call, (written, about) => {
      const rules = written.map(([how, of]) => rule(how, of));
      const sorted = rules.toSorted((a, b) => (a.record < b.record ? -1 : 1));
      for (const order of [rules.toReversed(), sorted]) assert.equal(verdictOf(order, about), verdictOf(rules, about));
    }),
  );
});

test("a matching deny wins over everything else", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(verdict, text), { maxLength: 6 }), text, call, (written, denied, about) => {
      const deny = rule("deny", denied);
      const holds = deny.concerns(about.tool, about.kind) && about.units.some((unit) => deny.test(about, unit) === "yes");
      if (holds) assert.equal(verdictOf([...written.map(([how, of]) => rule(how, of)), deny], about), "deny");
    }),
  );
});
