import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Draft, type Ledger, memoryLedger, openSession, type Session } from "@assent/core";
import { createUnknownOutcomes } from "@assent/core/parts";
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
import { HOLDER } from "../harness.ts";

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

type Family = { readonly root: Session; readonly agent: Session; readonly other: Session; readonly stranger: Session };

/** A run with two agents, and another run. */
async function familyOf(): Promise<Family & { readonly ledger: Ledger }> {
  const { ledger, open } = place();
  const root = await open();
  return { ledger, root, agent: await open(root), other: await open(root), stranger: await open() };
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
async function approved(session: Session, of: string, by: typeof TESTER): Promise<void> {
  const call = `${of}-${session.id}`;
  const fingerprint = fingerprintOf(of);
  const asked = [proposedDraft(call), judgedDraft(call, { verdict: "ask", fingerprint })];
  await session.record([...asked, openedDraft(call, { fingerprint })], "normal");
  await session.ledger.answer([answeredDraft(session.id, call, { fingerprint, by })]);
  await session.refresh();
}

describe("what is unknown in one session of a run", () => {
  test("is unknown in all of them: what ended so before, and what does from now on", async () => {
    const { open } = place();
    const root = await open();
    await ran(root, "c1", { outcome: "unknown" });
    const outcomes = createUnknownOutcomes();
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
    const outcomes = createUnknownOutcomes();
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
    const outcomes = createUnknownOutcomes();
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
    const outcomes = createUnknownOutcomes();
    await outcomes.restore(ledger, root.id);
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1"), fingerprintOf("c2")]);
  });

  test("a thousand other sessions hide none of them", async () => {
    const { ledger, open } = place();
    const root = await open();
    for (let at = 0; at < 1_000; at += 1) await open();
    await ran(await open(root), "c1", { outcome: "unknown" });
    const outcomes = createUnknownOutcomes();
    await outcomes.restore(ledger, root.id);
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1")]);
  });

  test("what a person answered for in the agent's own session stays answered", async () => {
    const { ledger, open } = place();
    const root = await open();
    const agent = await open(root);
    await ran(agent, "c1", { outcome: "unknown" });
    await approved(agent, "c1", TESTER);
    const outcomes = createUnknownOutcomes();
    await outcomes.restore(ledger, root.id);
    assert.deepEqual([...outcomes.fingerprints], []);
  });

  for (const [where, pick] of [
    ["the root session", ({ root }) => root],
    ["the session of another agent", ({ other }) => other],
  ] as readonly (readonly [string, (of: Family) => Session])[]) {
    test(`what a person answered for in ${where} stays answered, also when the agent's session is opened again`, async () => {
      const { ledger, ...family } = await familyOf();
      const { root, agent } = family;
      await ran(agent, "c1", { outcome: "unknown" });
      await ran(agent, "c2", { outcome: "unknown" });
      await approved(pick(family), "c1", TESTER);
      const outcomes = createUnknownOutcomes();
      outcomes.attend(root);
      await outcomes.restore(ledger, root.id);
      outcomes.attend(agent);
      assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c2")]);
    });
  }

  test("what is unknown in the root session and was answered for in an agent's is answered", async () => {
    const { ledger, root, agent } = await familyOf();
    await ran(root, "c1", { outcome: "unknown" });
    await approved(agent, "c1", TESTER);
    const outcomes = createUnknownOutcomes();
    outcomes.attend(root);
    await outcomes.restore(ledger, root.id);
    assert.deepEqual([...outcomes.fingerprints], []);
  });

  for (const [name, by] of [
    ["an answer from before it ended unknown", TESTER],
    ["a grant's answer", { ...TESTER, kind: "grant", name: "g_1" }],
  ] as const) {
    test(`${name}, in another session, is no answer for it`, async () => {
      const { ledger, root, agent } = await familyOf();
      if (by === TESTER) await approved(root, "c1", by);
      await ran(agent, "c1", { outcome: "unknown" });
      if (by !== TESTER) await approved(root, "c1", by);
      const outcomes = createUnknownOutcomes();
      await outcomes.restore(ledger, root.id);
      assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1")]);
    });
  }

  test("an answer in an agent's session from before the root's call ended unknown is no answer for it", async () => {
    const { ledger, root, agent } = await familyOf();
    await approved(agent, "c1", TESTER);
    await ran(root, "c1", { outcome: "unknown" });
    const outcomes = createUnknownOutcomes();
    outcomes.attend(root);
    await outcomes.restore(ledger, root.id);
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1")]);
  });

  test("an answer in a session of another run is no answer for it", async () => {
    const { ledger, root, agent, stranger } = await familyOf();
    await ran(agent, "c1", { outcome: "unknown" });
    await approved(stranger, "c1", TESTER);
    const outcomes = createUnknownOutcomes();
    await outcomes.restore(ledger, root.id);
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1")]);
  });
});

describe("an answer for what is unknown in another session", () => {
  test("stands when something else ends unknown there", async () => {
    const { root, agent } = await familyOf();
    const outcomes = createUnknownOutcomes();
    outcomes.attend(root);
    outcomes.attend(agent);
    await ran(agent, "c1", { outcome: "unknown" });
    await approved(root, "c1", TESTER);
    await ran(agent, "c2", { outcome: "unknown" });
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c2")]);
  });

  test("is over when the same ends unknown again", async () => {
    const { root, agent, other } = await familyOf();
    const outcomes = createUnknownOutcomes();
    for (const session of [root, agent, other]) outcomes.attend(session);
    await ran(agent, "c1", { outcome: "unknown" });
    await approved(root, "c1", TESTER);
    await ran(agent, "c2", { outcome: "unknown", of: "c1" });
    assert.deepEqual([...outcomes.fingerprints], [fingerprintOf("c1")]);
    await approved(other, "c1", TESTER);
    assert.deepEqual([...outcomes.fingerprints], []);
  });

  test("is over when the same ends unknown in a session that was attended only after its claim", async () => {
    const { root, agent } = await familyOf();
    const outcomes = createUnknownOutcomes();
    outcomes.attend(root);
    await ran(root, "c1", { outcome: "unknown" });
    await approved(root, "c1", TESTER);
    const fingerprint = fingerprintOf("c1");
    await agent.record([proposedDraft("c2"), judgedDraft("c2", { fingerprint })], "normal");
    await agent.claim(claimedDraft("c2", { fingerprint }));
    outcomes.attend(agent);
    assert.deepEqual([...outcomes.fingerprints], []);
    await agent.record([endedDraft("c2", { outcome: "unknown" })], "normal");
    assert.deepEqual([...outcomes.fingerprints], [fingerprint]);
  });
});
