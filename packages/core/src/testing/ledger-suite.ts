import assert from "node:assert/strict";
import { hostname } from "node:os";
import { describe, test } from "node:test";
import type { Holder } from "../model/events.ts";
import { ANSWERING_CASES } from "./ledger-answering-cases.ts";
import type { LedgerCase, LedgerUnderTest } from "./ledger-bench.ts";
import { CLAIMING_CASES } from "./ledger-claiming-cases.ts";
import { LISTING_CASES } from "./ledger-listing-cases.ts";
import { PROPOSAL_CASES } from "./ledger-proposal-cases.ts";
import { READING_CASES } from "./ledger-reading-cases.ts";
import { WRITING_CASES } from "./ledger-writing-cases.ts";

const CASES: readonly LedgerCase[] = [
  ...WRITING_CASES,
  ...ANSWERING_CASES,
  ...CLAIMING_CASES,
  ...READING_CASES,
  ...LISTING_CASES,
  ...PROPOSAL_CASES,
];

/** Cases an implementation cannot meet, by case id, each with the reason; they are reported, never silently left out. */
export type LedgerSuiteOptions = { readonly cannot?: Readonly<Record<string, string>> };

/** Registers the contract of the `Ledger` port as tests. `make` gives every case an empty store of its own. */
export function testLedger(name: string, make: () => Promise<LedgerUnderTest>, { cannot = {} }: LedgerSuiteOptions = {}): void {
  describe(name, () => {
    for (const { id, title, run } of CASES) {
      const reason = cannot[id];
      if (reason !== undefined) {
        test(`cannot: ${id}: ${title} (${reason})`, () => assert.notEqual(reason.trim(), "", "say why it cannot"));
        continue;
      }
      test(`${id}: ${title}`, { timeout: 60_000 }, () => runCase(make, run));
    }
    test("what cannot be done is a case of the suite", () => {
      const ids = new Set(CASES.map(({ id }) => id));
      assert.deepEqual(
        Object.keys(cannot).filter((id) => !ids.has(id)),
        [],
      );
    });
  });
}

async function runCase(make: () => Promise<LedgerUnderTest>, run: LedgerCase["run"]): Promise<void> {
  const { ledger, holder = madeUp(), reopen = missing("reopen"), second = missing("second"), close } = await make();
  try {
    await run({ ledger, holder, reopen, second });
  } finally {
    await close();
  }
}

function madeUp(): Holder {
  return { pid: process.pid, host: hostname(), processStart: "0", door: "test" };
}

function missing(what: string): () => Promise<never> {
  return () => Promise.reject(new Error(`This case needs \`${what}\`: give it, or name the case in \`cannot\` with the reason.`));
}
