import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Match } from "../../src/ast/match.ts";
import { applyChanges, type Change, type OpMatches, planChanges, readTemplate, variablesOf } from "../../src/ast/rewrite.ts";

const NOTHING: Match["captured"] = new Map();

/** A text, and operations that found places in it. */
const situations = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).chain((text) => {
  const place = fc
    .tuple(fc.nat(text.length - 1), fc.integer({ min: 1, max: text.length }))
    .map(([start, length]): Match => ({ start, end: Math.min(start + length, text.length), captured: NOTHING }));
  const found = fc.record({ out: fc.string({ maxLength: 8 }), matches: fc.array(place, { maxLength: 6 }) });
  return fc.record({ text: fc.constant(text), found: fc.array(found, { maxLength: 4 }) });
});

const asFound = (found: readonly { readonly out: string; readonly matches: readonly Match[] }[]): OpMatches[] =>
  found.map(({ out, matches }, op) => ({ op, template: [out], matches }));

/** The pieces of a text between changes. */
function outside(text: string, changes: readonly Change[]): string[] {
  const cuts = [0, ...changes.flatMap(({ start, end }) => [start, end]), text.length];
  return cuts.flatMap((cut, index) => (index % 2 === 0 ? [text.slice(cut, cuts[index + 1])] : []));
}

test("law: what lies outside of the changes stays as it is, character for character", () => {
  fc.assert(
    fc.property(situations, ({ text, found }) => {
      const plan = planChanges(text, asFound(found));
      if (plan.state !== "planned") return;
      const pieces = outside(text, plan.changes);
      const expected = pieces.map((piece, index) => piece + (plan.changes[index]?.after ?? "")).join("");
      assert.equal(applyChanges(text, plan.changes), expected);
    }),
  );
});

test("law: changes are sorted, within the text, without overlaps, name the original text, and change it", () => {
  fc.assert(
    fc.property(situations, ({ text, found }) => {
      const plan = planChanges(text, asFound(found));
      if (plan.state !== "planned") return;
      let end = 0;
      for (const change of plan.changes) {
        assert.ok(change.start >= end && change.end <= text.length);
        assert.equal(change.before, text.slice(change.start, change.end));
        assert.notEqual(change.after, change.before);
        end = change.end;
      }
    }),
  );
});

test("law: the order of operations changes their numbers and nothing else", () => {
  fc.assert(
    fc.property(situations, ({ text, found }) => {
      const last = found.length - 1;
      const [one, other] = [planChanges(text, asFound(found)), planChanges(text, asFound(found.toReversed()))];
      assert.equal(one.state, other.state);
      if (one.state !== "planned" || other.state !== "planned") return;
      assert.deepEqual(
        other.changes.map((change) => ({ ...change, op: last - change.op })),
        one.changes,
      );
    }),
  );
});

test("law: of one operation every match is taken, lies in one that is taken, or is dropped as no change", () => {
  fc.assert(
    fc.property(situations, ({ text, found }) => {
      for (const { out, matches } of found) {
        const plan = planChanges(text, asFound([{ out, matches }]));
        assert.equal(plan.state, "planned");
        if (plan.state !== "planned") return;
        const same = matches.length - plan.nestedSkipped - plan.changes.length;
        assert.ok(same >= 0 && same <= matches.filter(({ start, end }) => text.slice(start, end) === out).length);
      }
    }),
  );
});

test("law: a template without variables is its own text", () => {
  fc.assert(
    fc.property(fc.string(), (out) => {
      fc.pre(!/\$(?:[A-Z_]|\$\$)/.test(out));
      assert.deepEqual(readTemplate(out), out === "" ? [] : [out]);
    }),
  );
});

test("a template names its variables", () => {
  assert.deepEqual([...variablesOf(readTemplate("a($A, $$$REST) + $$OP$B_1 + $$$ + $x + $1 + $A"))], ["A", "$$$REST", "OP", "B_1", "$$$"]);
});

test("captures are put in as they are", () => {
  const captured = new Map([
    ["A", "$B $& $$$C"],
    ["$$$C", ""],
  ]);
  const plan = planChanges("xyz", [{ op: 0, template: readTemplate("<$A|$$$C>"), matches: [{ start: 1, end: 2, captured }] }]);
  assert.deepEqual(plan, {
    state: "planned",
    changes: [{ op: 0, start: 1, end: 2, before: "y", after: "<$B $& $$$C|>" }],
    nestedSkipped: 0,
  });
});

test("matches that touch are both taken, one that begins within another is not", () => {
  const places: readonly (readonly [number, number])[] = [
    [2, 4],
    [0, 2],
    [3, 6],
    [2, 3],
  ];
  const matches = places.map(([start, end]) => ({ start, end, captured: NOTHING }));
  const plan = planChanges("abcdef", [{ op: 0, template: ["-"], matches }]);
  assert.equal(plan.state === "planned" && applyChanges("abcdef", plan.changes), "--ef");
  assert.equal(plan.state === "planned" && plan.nestedSkipped, 2);
});
