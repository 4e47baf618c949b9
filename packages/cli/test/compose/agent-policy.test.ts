import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Mode, memoryLedger, openSession, type Policy, type PolicySource } from "@assent/core";
import { countingIds, manualClock } from "@assent/core/testing";
import { createAgentPolicy } from "../../src/compose/agent-policy.ts";

const HOLDER = { pid: 1, host: "here", processStart: "then", door: "test" };

function above(mode: string): PolicySource & { readonly change: (mode: string) => void } {
  let policy: Policy = { revision: "r1", mode, checkers: [], safeguards: [], honourReadOnlyHint: true };
  const listeners = new Set<() => void>();
  return {
    current: () => policy,
    subscribe: (changed) => {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
    change: (to) => {
      policy = { ...policy, mode: to, revision: `${policy.revision}+` };
      for (const listener of listeners) listener();
    },
  };
}

describe("the policy of an agent", () => {
  const CASES: readonly [sentence: string, built: string, defined: Mode | null, modes: readonly string[], seen: readonly string[]][] = [
    ["follows what is tightened above", "yolo", null, ["yolo", "default", "plan"], ["yolo", "default", "plan"]],
    ["is loosened above no further than it began", "default", null, ["default", "yolo", "auto-edit"], ["default", "default", "default"]],
    ["comes back to what it began with", "default", null, ["default", "plan", "yolo"], ["default", "plan", "default"]],
    [
      "keeps auto-edit beside default, and not beside plan",
      "auto-edit",
      "auto-edit",
      ["default", "plan", "yolo"],
      ["auto-edit", "plan", "auto-edit"],
    ],
    ["keeps the stricter mode of its definition", "plan", "plan", ["yolo", "default"], ["plan", "plan"]],
  ];
  for (const [sentence, built, defined, modes, seen] of CASES) {
    test(`${sentence}: ${modes.join(", ")}`, async () => {
      const ports = { clock: manualClock(), ids: countingIds() };
      const ledger = memoryLedger(ports);
      const session = await openSession({ ledger, ...ports }, { holder: HOLDER, create: { cwd: "/w", mode: built } });
      const root = above(modes[0] ?? "");
      const warnings: string[] = [];
      const policy = createAgentPolicy({ session, above: root, defined, warn: (message) => warnings.push(message) });
      const revisions = new Set<string>();
      let rung = 0;
      policy.subscribe(() => {
        rung += 1;
      });
      for (const [at, mode] of modes.entries()) {
        if (at > 0) root.change(mode);
        assert.equal(policy.current().mode, seen[at]);
        assert.equal(policy.current(), policy.current(), "made anew only when something changed");
        revisions.add(policy.current().revision);
        for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
        assert.equal(session.state.mode, seen[at], "on record");
      }
      assert.deepEqual([revisions.size, rung, warnings], [modes.length, modes.length - 1, []]);
      policy.close();
    });
  }
});
