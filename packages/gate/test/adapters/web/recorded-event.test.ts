import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EVENT_TYPES, type LedgerEvent } from "@assent/core";
import { recordedEvent } from "../../../src/adapters/web/recorded-event.ts";

/** Any body: a row says what it reads of it. */
function told(type: string, body: object): unknown {
  const event = { type, v: 1, at: "2026-01-01T00:00:00.000Z", session: "s", seq: 1, pos: 9, epoch: 1, body };
  return recordedEvent(event as unknown as LedgerEvent, { name: "a" });
}

describe("recorded events for a front end", () => {
  const proposal = { proposal: "p_1" };
  const rows: readonly [type: string, body: object, expected: object][] = [
    ["turn.started", { turn: 1, model: "m" }, { type: "turn", turn: 1, model: "m" }],
    [
      "message.assistant",
      {
        turn: 1,
        content: [
          { type: "reasoning", text: "x" },
          { type: "text", text: "Hi" },
        ],
      },
      { type: "message", turn: 1, text: "Hi" },
    ],
    ["notice.queued", { displayText: "A task ended.", modelText: "<x/>" }, { type: "notice", text: "A task ended." }],
    [
      "question.asked",
      { question: "q_1", callId: "c1", questions: [] },
      { type: "question", questionId: "q_1", callId: "c1", questions: [] },
    ],
    ["call.proposed", { call: "c1", turn: 1, tool: "write" }, { type: "proposed", callId: "c1", turn: 1, tool: "write" }],
    [
      "call.judged",
      { call: "c1", tool: "write", input: {}, cwd: "/", verdict: "ask", reason: "default", source: "", rule: null },
      { type: "decided", callId: "c1", tool: "write", input: {}, cwd: "/", verdict: "ask", reason: "default", source: "", rule: null },
    ],
    [
      "approval.opened",
      {
        approval: "a_1",
        call: "c1",
        revision: 2,
        fingerprint: "f",
        tool: "write",
        title: "T",
        details: { type: "info", prompt: "p" },
        suggestions: ["write"],
        expiresAt: null,
      },
      {
        ...{ type: "waiting", approvalId: "a_1", callId: "c1", revision: 2, fingerprint: "f", tool: "write", title: "T" },
        ...{ input: { name: "a" }, details: { type: "info", prompt: "p" }, suggestions: ["write"], expiresAt: null },
      },
    ],
    [
      "approval.answered",
      { approval: "a_1", call: "c1", outcome: "rejected", by: { name: "Ann" }, reason: "no" },
      { type: "answered", approvalId: "a_1", callId: "c1", outcome: "rejected", by: "Ann", reason: "no" },
    ],
    [
      "approval.closed",
      { approval: "a_1", call: "c1", outcome: "expired", by: "clock" },
      { type: "answered", approvalId: "a_1", callId: "c1", outcome: "expired", by: "clock", reason: null },
    ],
    [
      "call.answered",
      { call: "c1", by: { kind: "grant", id: "g_1" } },
      { type: "answered", approvalId: null, callId: "c1", outcome: "approved", by: "grant g_1", reason: null },
    ],
    ["call.claimed", { call: "c1" }, { type: "running", callId: "c1" }],
    [
      "call.ended",
      { call: "c1", outcome: "failed", type: "t", content: [{ type: "text", text: "no" }], durationMs: 3 },
      { type: "ended", callId: "c1", outcome: "failed", outcomeType: "t", text: "no", display: null, durationMs: 3 },
    ],
    [
      "proposal.staged",
      { ...proposal, callId: "c1", tool: "edit", label: "L", files: 2, digest: "d" },
      { type: "staged", proposalId: "p_1", callId: "c1", tool: "edit", label: "L", files: 2, digest: "d" },
    ],
    ["proposal.apply_failed", proposal, { type: "settled", proposalId: "p_1", state: "staged" }],
    ...["applied", "discarded", "stale", "superseded", "unknown", "undone"].map((state): [string, object, object] => [
      `proposal.${state}`,
      proposal,
      { type: "settled", proposalId: "p_1", state },
    ]),
  ];
  for (const [type, body, expected] of rows) test(type, () => assert.deepEqual(told(type, body), { pos: 9, ...expected }));

  test("no other event is converted", () => {
    const rest = EVENT_TYPES.filter((type) => !rows.some(([known]) => known === type));
    assert.ok(rest.length > 0);
    assert.deepEqual(
      rest.filter((type) => told(type, {}) !== undefined),
      [],
    );
  });
});
