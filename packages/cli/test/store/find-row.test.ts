import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Ledger, memoryLedger } from "@assent/core";
import { createdDraft } from "@assent/core/testing";
import { asFailure } from "../../src/io/failure.ts";
import { findRow } from "../../src/store/find-row.ts";

async function ledgerWith(...sessions: string[]): Promise<Ledger> {
  const ledger = memoryLedger();
  for (const session of sessions) {
    const lease = await ledger.acquire(session, { pid: 1, host: "h", processStart: "0", door: "test" });
    await ledger.append(lease, 0, { events: [createdDraft()], durability: "normal" });
  }
  return ledger;
}

async function refusal(ledger: Ledger, id: string): Promise<{ type: string; exit: number; message: string }> {
  const error = await findRow(ledger, "sessions", id).then(
    ({ id: found }) => assert.fail(`found ${found}`),
    (thrown: unknown) => thrown,
  );
  const { type, exit, message } = asFailure(error);
  return { type, exit, message };
}

describe("finding a row by the beginning of its id", () => {
  test("a beginning that several share is ambiguous_id, exit 2, and lists them", async () => {
    const ledger = await ledgerWith("s_aaaa11", "s_aaaa22", "s_bbbb33");
    assert.deepEqual(await refusal(ledger, "s_aaaa"), {
      type: "ambiguous_id",
      exit: 2,
      message: "'s_aaaa' matches several session ids: s_aaaa11, s_aaaa22",
    });
    assert.equal((await findRow(ledger, "sessions", "s_bbbb")).id, "s_bbbb33");
  });

  test("many matches are listed in part", async () => {
    const ledger = await ledgerWith(...Array.from({ length: 12 }, (_, at) => `s_aaaa${at}`));
    assert.match((await refusal(ledger, "s_aaaa")).message, /s_aaaa9, …$/);
  });

  test("a whole id is found although others begin with it", async () => {
    const ledger = await ledgerWith("s_aaaa", "s_aaaa22");
    assert.equal((await findRow(ledger, "sessions", "s_aaaa")).id, "s_aaaa");
  });

  for (const id of ["", "s_", "s_aaa"]) {
    test(`'${id}' is too short to mean anything`, async () => {
      assert.deepEqual([(await refusal(await ledgerWith("s_aaaa11"), id)).type], ["session_not_found"]);
    });
  }
});
