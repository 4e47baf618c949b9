import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OpenApproval } from "@assent/core";
import { ruleOffers } from "../../src/desk/approvals/remember.ts";

const ASKED = {
  ...{ tool: "fetch", explicitAsk: false, suggestions: ["fetch(host:a)"], details: { type: "info", title: "", prompt: "" } },
} as unknown as OpenApproval; // only these fields decide

describe('what "always" offers', () => {
  const rows: readonly (readonly [name: string, change: Partial<OpenApproval>, keys: string])[] = [
    ["a main session may remember for the session, the project and the user", {}, "s t p u"],
    ["an answer to a background agent is remembered for that agent alone", { agentName: "reviewer" }, "s t"],
    ["an explicit ask is never remembered", { explicitAsk: true }, ""],
    ["without a rule nothing is offered", { suggestions: [] }, ""],
  ];
  for (const [name, change, keys] of rows)
    test(name, () =>
      assert.equal(
        ruleOffers({ ...ASKED, ...change })
          .map(({ key }) => key)
          .join(" "),
        keys,
      ),
    );
});
