import assert from "node:assert/strict";
import { test } from "node:test";
import { type Lease, type Ledger, LedgerError } from "../../../src/ledger-port.ts";
import type { Holder } from "../../../src/model/holder.ts";
import { memoryLedger } from "../../../src/runtime/memory-ledger/ledger.ts";
import { acquireSession } from "../../../src/runtime/session/acquire.ts";
import { createdDraft, draftOf } from "../../../testing/drafts.ts";
import { manualClock } from "../../../testing/manual-clock.ts";

const OLD: Holder = { pid: 7, host: "here", processStart: "noon", door: "run", command: true };
const NEW: Holder = { pid: 8, host: "here", processStart: "later", door: "resume", command: true };
const [MINE, AGENT, OTHER] = ["s_mine", "s_agent", "s_other"];

/** A session that the old process holds for an effect, with others that it has open. */
async function held(ledger: Ledger, holder: Holder, others: readonly string[]): Promise<() => void> {
  const open = async (session: string): Promise<Lease> => {
    const lease = await ledger.acquire(session, holder);
    const parent = session === AGENT ? { parent: { session: MINE, call: "c1", task: "t_1" } } : {};
    const created = createdDraft();
    const events = [{ ...created, body: { ...created.body, ...parent } }, draftOf("session.opened", { ...holder, recovered: [] })];
    await ledger.append(lease, 0, { events, durability: "full" });
    return lease;
  };
  for (const session of others) await open(session);
  return await ledger.hold(await open(MINE));
}

const ROWS: readonly {
  readonly title: string;
  readonly holder?: Partial<Holder>;
  readonly others?: readonly string[];
  readonly takeOver?: boolean;
  readonly canEnd?: boolean;
  readonly expected: "ended and taken" | "busy";
}[] = [
  { title: "a command that holds nothing else is ended", expected: "ended and taken" },
  { title: "agents of the same conversation are part of it", others: [AGENT], expected: "ended and taken" },
  { title: "a command that holds another session is left alone", others: [OTHER], expected: "busy" },
  { title: "a process that is more than a command is left alone", holder: { command: false }, expected: "busy" },
  { title: "without a takeover no process is ended", takeOver: false, expected: "busy" },
  { title: "what cannot be ended keeps its session", canEnd: false, expected: "busy" },
];

for (const { title, holder, others = [], takeOver = true, canEnd = true, expected } of ROWS) {
  test(`a session in the middle of an effect: ${title}`, async () => {
    const clock = manualClock();
    const memory = memoryLedger({ clock });
    const old = { ...OLD, ...holder };
    const release = await held(memory, old, others);
    // A memory ledger has no dead holders: without a take-over the session would be in use.
    const ledger: Ledger = { ...memory, acquire: (session, who) => memory.acquire(session, who, true) };
    const ended: number[] = [];
    const endHolder = async ({ pid }: Holder): Promise<boolean> => {
      if (!canEnd) return false;
      ended.push(pid);
      release();
      return true;
    };
    const taking = acquireSession({ ledger, clock, endHolder }, MINE, { holder: NEW, takeOver }).then(
      () => "ended and taken",
      (error: unknown) => (error instanceof LedgerError && error.type === "session_busy" ? "busy" : error),
    );
    for (let tries = 0; tries < 12; tries += 1) await clock.advance(100);
    assert.equal(await taking, expected);
    assert.deepEqual(ended, expected === "busy" ? [] : [OLD.pid]);
  });
}

test("acquiring waits for a short effect and ends no process", async () => {
  const clock = manualClock();
  const ledger = memoryLedger({ clock });
  const release = await held(ledger, OLD, []);
  const endHolder = (): Promise<boolean> => assert.fail("it was ended");
  const taking = acquireSession({ ledger, clock, endHolder }, MINE, { holder: NEW, takeOver: true });
  await clock.advance(100);
  release();
  await clock.advance(100);
  assert.equal((await taking).unclosed, true);
});
