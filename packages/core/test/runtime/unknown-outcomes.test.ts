import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Draft, type Ledger, memoryLedger, openSession, type Session, unknownOutcomes } from "@assent/core";
import {
  answeredDraft,
  claimedDraft,
  countingIds,
  endedDraft,
  fingerprintOf,
  judgedDraft,
  manualClock,
  openedDraft,
  proposedDraft,
  TESTER,
} from "@assent/core/testing";
import { HOLDER } from "./harness.ts";

type Place = { readonly ledger: Ledger; readonly open: (above?: Session) => Promise<Session> };

function place(): Place {
  const ledger = memoryLedger();
  const ports = { ledger, clock: manualClock(), ids: countingIds() };
  const open = (above?: Session): Promise<Session> => {
    const parent = above ? { session: above.id, call: "c0", task: "t_c0" } : null;
    return openSession(ports, { holder: HOLDER, create: { cwd: "/workspace", parent } });
  };
  return { ledger, open };
}

/** A call of this fingerprint, from its proposal to its end. */
async function ran(
  session: Session,
  call: string,
  { outcome, of = call }: { outcome: "unknown" | "succeeded"; of?: string },
): Promise<void> {
  const fingerprint = fingerprintOf(of);
  const first: readonly Draft[] = [proposedDraft(call), judgedDraft(call, { fingerprint })];
  await session.record(first, "normal");
  await session.claim(claimedDraft(call, { fingerprint }));
  await session.record([endedDraft(call, { outcome })], "normal");
}

/** A call that waits, and the yes to it. */
async function approved(session: Session, call: string, by: typeof TESTER): Promise<void> {
  const asked = [proposedDraft(`${call}-again`), judgedDraft(`${call}-again`, { verdict: "ask", fingerprint: fingerprintOf(call) })];
  await session.record([...asked, openedDraft(`${call}-again`, { fingerprint: fingerprintOf(call) })], "normal");
  await session.ledger.answer([answeredDraft(session.id, `${call}-again`, { fingerprint: fingerprintOf(call), by })]);
  await session.refresh();
}

describe("what is unknown in one session of a run", () => {
  test("is unknown in all of them: what ended so before, and what does from now on", async () => {
    const { open } = place();
    const root = await open();
    await ran(root, "c1", { outcome: "unknown" });
    const outcomes = unknownOutcomes();
    outcomes.attend(root);
    const agent = await open(root);
    outcomes.attend(agent);
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1")]);
    await ran(agent, "c2", { outcome: "unknown" });
    await ran(agent, "c3", { outcome: "succeeded" });
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1"), fingerprintOf("c2")]);
  });

  test("is so until a person answers for it, in whichever of them", async () => {
    const { open } = place();
    const root = await open();
    const agent = await open(root);
    const outcomes = unknownOutcomes();
    outcomes.attend(root);
    outcomes.attend(agent);
    await ran(agent, "c1", { outcome: "unknown" });
    await ran(agent, "c2", { outcome: "unknown" });
    await approved(root, "c1", TESTER);
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c2")]);
  });

  test("is not known because a grant answers", async () => {
    const { open } = place();
    const root = await open();
    const outcomes = unknownOutcomes();
    outcomes.attend(root);
    await ran(root, "c1", { outcome: "unknown" });
    await approved(root, "c1", { ...TESTER, kind: "grant", name: "g_1" });
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1")]);
  });
});

describe("after a restart", () => {
  test("what agents left unknown counts, and agents of agents, but of no other run", async () => {
    const { ledger, open } = place();
    const root = await open();
    const agent = await open(root);
    const below = await open(agent);
    const stranger = await open();
    await ran(agent, "c1", { outcome: "unknown" });
    await ran(below, "c2", { outcome: "unknown" });
    await ran(below, "c3", { outcome: "succeeded" });
    await ran(stranger, "c4", { outcome: "unknown" });
    await ran(await open(stranger), "c5", { outcome: "unknown" });
    const outcomes = unknownOutcomes();
    await outcomes.restore(ledger, root.id);
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1"), fingerprintOf("c2")]);
  });

  test("a thousand other sessions hide none of them", async () => {
    const { ledger, open } = place();
    const root = await open();
    for (let at = 0; at < 1_000; at += 1) await open();
    await ran(await open(root), "c1", { outcome: "unknown" });
    const outcomes = unknownOutcomes();
    await outcomes.restore(ledger, root.id);
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1")]);
  });

  test("what a person answered for in the agent's own session stays answered", async () => {
    const { ledger, open } = place();
    const root = await open();
    const agent = await open(root);
    await ran(agent, "c1", { outcome: "unknown" });
    await approved(agent, "c1", TESTER);
    const outcomes = unknownOutcomes();
    await outcomes.restore(ledger, root.id);
    assert.deepEqual([...outcomes.fingerprints], []);
  });
});
