import assert from "node:assert/strict";
import { test } from "node:test";
import type { GrantRow, SharedDraft } from "../../src/ledger-port.ts";
import type { LedgerEvent } from "../../src/model/events.ts";
import { IllegalEvent } from "../../src/model/fold.ts";
import { grantRefusal, grantRowAt, nextGrantRow } from "../../src/model/grant-row.ts";
import { DRAFTED_AT, draftOf, grantedDraft } from "../../testing/drafts.ts";

const NOW = "2026-06-01T00:00:00.000Z";
const LATER = "2026-06-01T00:00:00.001Z";

function rowAfter(...drafts: readonly SharedDraft[]): GrantRow {
  const events = drafts.map((draft, at) => ({ ...draft, session: "_store", seq: at + 1, pos: at + 1, epoch: 1 }) as LedgerEvent);
  const row = events.reduce<GrantRow | undefined>(nextGrantRow, undefined);
  assert.ok(row);
  return row;
}

const created = grantedDraft("g_1");
const counted = grantedDraft("g_1", { uses: 2 });
const used = draftOf("grant.used", { grant: "g_1", session: "s_1", call: "c1" });
const revoked = draftOf("grant.revoked", { grant: "g_1", by: "Tester" });

test("a grant is listed as it was made", () => {
  assert.deepEqual(rowAfter(grantedDraft("g_1", { scope: "session", session: "s_1", expiresAt: NOW, uses: 3 })), {
    id: "g_1",
    scope: "session",
    session: "s_1",
    rule: "note",
    tool: "note",
    madeBy: "Tester",
    madeAt: DRAFTED_AT,
    expiresAt: NOW,
    usesLeft: 3,
    fromApproval: "a_first",
    state: "active",
  });
  assert.equal("usesLeft" in rowAfter(created), false);
});

const STATES: readonly (readonly [string, readonly SharedDraft[], GrantRow["state"] | "illegal"])[] = [
  ["a use leaves the rest", [counted, used], "active"],
  ["the last use uses it up", [counted, used, used], "used_up"],
  ["no use follows the last", [counted, used, used, used], "illegal"],
  ["a grant of no uses is used up", [grantedDraft("g_1", { uses: 0 })], "used_up"],
  ["a grant without a count has no uses to take", [created, used], "illegal"],
  ["a revoked grant is revoked", [created, revoked], "revoked"],
  ["a used-up grant may be revoked", [counted, used, used, revoked], "revoked"],
  ["a grant is made once", [created, created], "illegal"],
  ["nothing happens to a grant that is not there", [revoked], "illegal"],
];

for (const [title, drafts, expected] of STATES) {
  test(title, () => {
    if (expected === "illegal") assert.throws(() => rowAfter(...drafts), IllegalEvent);
    else assert.equal(rowAfter(...drafts).state, expected);
  });
}

const EXPIRING = rowAfter(grantedDraft("g_1", { expiresAt: NOW, uses: 1 }));

const REFUSALS: readonly (readonly [string, GrantRow | undefined, SharedDraft, ReturnType<typeof grantRefusal>])[] = [
  ["a new grant", undefined, created, undefined],
  ["a grant that exists already", rowAfter(created), created, "too_late"],
  ["a use of a counted grant", rowAfter(counted), used, undefined],
  ["a use of one that is not there", undefined, used, "grant_not_found"],
  ["a use of a used-up one", rowAfter(counted, used, used), used, "too_late"],
  ["a use of a revoked one", rowAfter(counted, revoked), used, "too_late"],
  ["a use of an expired one", EXPIRING, used, "too_late"],
  ["revoking", rowAfter(created), revoked, undefined],
  ["revoking one that is not there", undefined, revoked, "grant_not_found"],
  ["revoking twice", rowAfter(created, revoked), revoked, "too_late"],
  ["revoking an expired one", EXPIRING, revoked, undefined],
];

for (const [title, row, event, expected] of REFUSALS) {
  test(`may be stored: ${title}: ${expected ?? "yes"}`, () => assert.equal(grantRefusal(row, event, NOW), expected));
}

test("a deadline expires a grant without an event, and only an active one", () => {
  assert.equal(grantRowAt(EXPIRING, NOW).state, "expired");
  assert.equal(grantRowAt({ ...EXPIRING, expiresAt: LATER }, NOW).state, "active");
  assert.equal(grantRowAt({ ...EXPIRING, state: "revoked" }, NOW).state, "revoked");
});
