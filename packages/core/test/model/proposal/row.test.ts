import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Draft, type LedgerEvent, SHARED } from "../../../src/model/events.ts";
import type { ProposalEvent, ProposalRow, ProposalState } from "../../../src/model/proposal/proposal.ts";
import { isOpenProposal, isProposalEvent, nextProposal } from "../../../src/model/proposal/row.ts";
import { applyingDraft, draftOf, endedDraft, proposalDigestOf, requestedDraft, stagedDraft, TESTER } from "../../../testing/drafts.ts";

const SESSION = "s_1";
const LATER = "2026-01-02T00:00:00.000Z";
const discard = { action: "discard", by: "person", who: TESTER, reason: "no", at: LATER } as const;

function placed(draft: Draft, seq = 1): ProposalEvent {
  const event = { ...draft, session: draft.type === "proposal.requested" ? SHARED : SESSION, seq, pos: seq + 10, epoch: 1 } as LedgerEvent;
  assert.ok(isProposalEvent(event));
  return event;
}

const EVENTS = {
  "proposal.staged": stagedDraft("p_1"),
  "proposal.applying": applyingDraft("p_1"),
  "proposal.applied": draftOf("proposal.applied", { proposal: "p_1", superseded: [] }),
  "proposal.apply_failed": draftOf("proposal.apply_failed", { proposal: "p_1", type: "proposal_apply_failed", message: "disk full" }),
  "proposal.discarded": draftOf("proposal.discarded", { proposal: "p_1", resolution: discard }),
  "proposal.stale": draftOf("proposal.stale", { proposal: "p_1", cause: "changed", files: ["/workspace/a.txt"] }),
  "proposal.superseded": draftOf("proposal.superseded", { proposal: "p_1", by: "p_2" }),
  "proposal.unknown": draftOf("proposal.unknown", { proposal: "p_1", message: "half", files: [{ path: "/a", at: "other" }] }),
  "proposal.undoing": draftOf("proposal.undoing", { proposal: "p_1", by: TESTER }),
  "proposal.undone": draftOf("proposal.undone", { proposal: "p_1", by: TESTER, reason: null }),
  "proposal.reminded": draftOf("proposal.reminded", { proposal: "p_1", turn: 2 }),
  "proposal.unheeded": draftOf("proposal.unheeded", { proposal: "p_1", turn: 2 }),
  "proposal.parked": draftOf("proposal.parked", { proposal: "p_1", why: "unheeded" }),
  "proposal.refused": draftOf("proposal.refused", { proposal: "p_1", action: "apply", type: "undo_conflict", message: "changed" }),
  "proposal.requested": requestedDraft(SESSION, "p_1"),
} as const satisfies Record<ProposalEvent["type"], Draft>;

type Name = keyof typeof EVENTS;

function rowAfter(...names: readonly Name[]): ProposalRow | undefined {
  return names.reduce<ProposalRow | undefined>((row, name, at) => {
    const after = nextProposal(row, placed(EVENTS[name], at + 1));
    return after ?? assert.fail(`${name} is refused`);
  }, undefined);
}

const WAYS: Readonly<Record<ProposalState | "none", readonly Name[]>> = {
  none: [],
  staged: ["proposal.staged"],
  applying: ["proposal.staged", "proposal.applying"],
  applied: ["proposal.staged", "proposal.applying", "proposal.applied"],
  discarded: ["proposal.staged", "proposal.discarded"],
  stale: ["proposal.staged", "proposal.stale"],
  superseded: ["proposal.staged", "proposal.superseded"],
  unknown: ["proposal.staged", "proposal.applying", "proposal.unknown"],
  undone: ["proposal.staged", "proposal.applying", "proposal.applied", "proposal.undone"],
};

const IN_ANY: Partial<Record<ProposalState, ProposalState>> = {
  ...{ staged: "staged", applying: "applying", applied: "applied", discarded: "discarded" },
  ...{ stale: "stale", superseded: "superseded", unknown: "unknown", undone: "undone" },
};

/** Every pair that is not here is refused. The claim is recorded first, so staleness may be found while applying. */
const LEADS: Readonly<Record<Name, Partial<Record<ProposalState | "none", ProposalState>>>> = {
  "proposal.staged": { none: "staged" },
  "proposal.applying": { staged: "applying" },
  "proposal.applied": { applying: "applied" },
  "proposal.apply_failed": { applying: "staged" },
  "proposal.discarded": { staged: "discarded" },
  "proposal.stale": { staged: "stale", applying: "stale" },
  "proposal.superseded": { staged: "superseded" },
  "proposal.unknown": { applying: "unknown" },
  "proposal.undoing": { applied: "applied" },
  "proposal.undone": { applied: "undone" },
  "proposal.reminded": IN_ANY,
  "proposal.unheeded": IN_ANY,
  "proposal.parked": IN_ANY,
  "proposal.refused": IN_ANY,
  "proposal.requested": IN_ANY,
};

for (const state of Object.keys(WAYS) as (keyof typeof WAYS)[]) {
  for (const name of Object.keys(EVENTS) as Name[]) {
    const to = LEADS[name][state];
    test(`${name} in ${state} ${to === undefined ? "is refused" : `leads to ${to}`}`, () => {
      const before = rowAfter(...WAYS[state]);
      const kept = structuredClone(before);
      assert.equal(nextProposal(before, placed(EVENTS[name], 9))?.state, to);
      assert.deepEqual(before, kept);
    });
  }
}

test("a staged proposal says where it came from, and nothing of what it would do", () => {
  const event = placed(stagedDraft("p_1", { callId: "c1", label: "Write: b.txt", contents: ["aa"], manifest: { blocks: ["- a"] } }), 7);
  assert.deepEqual(nextProposal(undefined, event), {
    id: "p_1",
    session: SESSION,
    seq: 7,
    callId: "c1",
    tool: "edit",
    toolDigest: "digest",
    kind: "edit",
    cwd: "/workspace",
    label: "Write: b.txt",
    carrier: "data",
    owner: null,
    digest: proposalDigestOf("p_1"),
    files: 1,
    state: "staged",
    parked: false,
    reminded: 0,
    unheeded: 0,
    failures: 0,
    resolution: null,
    cause: null,
    changed: [],
    supersededBy: null,
    error: null,
    requested: null,
    stagedAt: event.at,
    updatedAt: event.at,
  });
});

type Change = readonly [sentence: string, way: readonly Name[], event: Draft, expected: Partial<ProposalRow>];

const applying = WAYS.applying;
const troubled: readonly Name[] = ["proposal.staged", "proposal.unheeded", "proposal.parked", "proposal.requested"];

const CHANGES: readonly Change[] = [
  ["a claim says who settles it", WAYS.staged, EVENTS["proposal.applying"], { resolution: EVENTS["proposal.applying"].body.resolution }],
  [
    "a failed apply counts, is reported, and resets ignored reminders",
    ["proposal.staged", "proposal.unheeded", "proposal.applying"],
    EVENTS["proposal.apply_failed"],
    { failures: 1, unheeded: 0, resolution: null, error: { type: "proposal_apply_failed", message: "disk full" } },
  ],
  [
    "a cancelled apply is not a failure",
    applying,
    draftOf("proposal.apply_failed", { proposal: "p_1", type: "cancelled", message: "", cancelled: true }),
    { failures: 0 },
  ],
  [
    "an apply that a crash cut short is not a failure",
    applying,
    draftOf("proposal.apply_failed", { proposal: "p_1", type: "not_applied", message: "", recovered: true }),
    { failures: 0 },
  ],
  ["the next claim forgets the error", [...applying, "proposal.apply_failed"], EVENTS["proposal.applying"], { failures: 1, error: null }],
  ["a reminder counts", ["proposal.staged", "proposal.reminded"], EVENTS["proposal.reminded"], { reminded: 2 }],
  ["an unheeded turn counts", ["proposal.staged", "proposal.unheeded"], EVENTS["proposal.unheeded"], { unheeded: 2 }],
  ["a parked one stays staged", WAYS.staged, EVENTS["proposal.parked"], { state: "staged", parked: true }],
  [
    "one that is parked while a person applies it waits for the person if that fails",
    [...applying, "proposal.parked"],
    EVENTS["proposal.apply_failed"],
    { state: "staged", parked: true },
  ],
  ["a parked one that was applied is parked no more", [...troubled, "proposal.applying"], EVENTS["proposal.applied"], { parked: false }],
  ["a discard settles the request and says who", troubled, EVENTS["proposal.discarded"], { requested: null, resolution: discard }],
  ["a stale one names the files that changed", WAYS.staged, EVENTS["proposal.stale"], { cause: "changed", changed: ["/workspace/a.txt"] }],
  ["a superseded one names the newer", WAYS.staged, EVENTS["proposal.superseded"], { supersededBy: "p_2" }],
  [
    "an unknown one names its files",
    applying,
    EVENTS["proposal.unknown"],
    { changed: ["/a"], error: { type: "apply_unknown", message: "half" } },
  ],
  [
    "files that are kept beside the event are not in the row",
    applying,
    { ...EVENTS["proposal.unknown"], body: { ...EVENTS["proposal.unknown"].body, files: { $blob: "aa", size: 2, json: true } as never } },
    { state: "unknown", changed: [] },
  ],
  [
    "a request is the newest one",
    [...WAYS.staged, "proposal.requested"],
    requestedDraft(SESSION, "p_1", { action: "discard" }),
    { requested: { action: "discard", pos: 19 } },
  ],
  [
    "a request that was refused waits no more, and the proposal is unchanged",
    [...WAYS.applied, "proposal.requested"],
    EVENTS["proposal.refused"],
    { requested: null, state: "applied" },
  ],
  [
    "a refusal does not concern a newer request for something else",
    [...WAYS.applied, "proposal.requested"],
    draftOf("proposal.refused", { proposal: "p_1", action: "undo", type: "undo_conflict", message: "changed" }),
    { requested: { action: "apply", pos: 14 } },
  ],
  [
    "an undo that was begun is known from its request",
    [...WAYS.applied, "proposal.requested"],
    EVENTS["proposal.undoing"],
    { state: "applied", requested: { action: "apply", pos: 14, begun: true } },
  ],
  [
    "an undo that was begun comes to its end before a newer request counts",
    [...WAYS.applied, "proposal.requested", "proposal.undoing"],
    requestedDraft(SESSION, "p_1", { action: "discard" }),
    { requested: { action: "apply", pos: 14, begun: true } },
  ],
  [
    "a request after a refusal begins anew",
    [...WAYS.applied, "proposal.requested", "proposal.undoing", "proposal.refused"],
    requestedDraft(SESSION, "p_1", { action: "undo" }),
    { requested: { action: "undo", pos: 19 } },
  ],
  ["an undo settles the request for it", [...WAYS.applied, "proposal.requested"], EVENTS["proposal.undone"], { requested: null }],
  [
    "every event says when it was",
    WAYS.staged,
    { ...EVENTS["proposal.reminded"], at: LATER },
    { updatedAt: LATER, stagedAt: stagedDraft("p").at },
  ],
];
for (const [sentence, way, event, expected] of CHANGES) {
  test(sentence, () => {
    const row = nextProposal(rowAfter(...way), placed(event, 9)) ?? assert.fail("refused");
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, row[key as keyof ProposalRow]])), expected);
  });
}

for (const state of ["applied", "discarded", "stale", "superseded", "unknown", "undone"] as const) {
  for (const name of ["proposal.reminded", "proposal.unheeded", "proposal.parked"] as const) {
    test(`${name} is void if it was settled first: ${state}`, () => {
      const row = rowAfter(...WAYS[state]);
      assert.deepEqual(nextProposal(row, placed({ ...EVENTS[name], at: LATER }, 9)), row);
    });
  }
}

const REFUSED: readonly (readonly [sentence: string, event: ProposalEvent])[] = [
  ["a claim of another content than was shown", placed(applyingDraft("p_1", { digest: "another" }))],
  ["a request for another content than was shown", placed(requestedDraft(SESSION, "p_1", { digest: "another" }))],
  ["a request that names another session", placed(requestedDraft("s_2", "p_1"))],
  ["an event of another session", { ...placed(EVENTS["proposal.discarded"]), session: "s_2" }],
];
for (const [sentence, event] of REFUSED)
  test(`${sentence} is refused`, () => assert.equal(nextProposal(rowAfter("proposal.staged"), event), undefined));

test("open is what is staged or being applied", () => {
  const open = Object.entries(WAYS).filter(([, way]) => {
    const row = rowAfter(...way);
    return row !== undefined && isOpenProposal(row);
  });
  assert.deepEqual(
    open.map(([state]) => state),
    ["staged", "applying"],
  );
});

test("an event of a call is not an event of a proposal", () => {
  assert.equal(isProposalEvent({ ...endedDraft("c1"), session: SESSION, seq: 1, pos: 1, epoch: 1 }), false);
});

test("law: a proposal is applied at most once, only after its claim, and what has ended stays so", () => {
  const ended: readonly string[] = ["discarded", "stale", "superseded", "unknown", "undone"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...(Object.keys(EVENTS) as Name[])), { maxLength: 30 }), (names) => {
      let row: ProposalRow | undefined;
      const states: string[] = ["none"];
      for (const [at, name] of names.entries()) {
        const after = nextProposal(row, placed(EVENTS[name], at + 1));
        if (!after || after.state === row?.state) continue;
        assert.ok(row === undefined || !ended.includes(row.state));
        if (after.state === "applied") assert.equal(states.at(-1), "applying");
        states.push(after.state);
        row = after;
      }
      assert.ok(states.filter((state) => state === "applied").length <= 1);
    }),
  );
});
