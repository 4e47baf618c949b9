import assert from "node:assert/strict";
import { hostname } from "node:os";
import { describe, test } from "node:test";
import type { Holder } from "../src/model/holder.ts";
import { ANSWERING_CASES } from "./ledger-answering-cases.ts";
import type { LedgerCase, LedgerUnderTest } from "./ledger-bench.ts";
import { CLAIMING_CASES } from "./ledger-claiming-cases.ts";
import { FAILING_CASES } from "./ledger-failing-cases.ts";
import { LISTING_CASES } from "./ledger-listing-cases.ts";
import { PROPOSAL_CASES } from "./ledger-proposal-cases.ts";
import { READING_CASES } from "./ledger-reading-cases.ts";
import { WRITING_CASES } from "./ledger-writing-cases.ts";

export const CASES: readonly LedgerCase[] = [
  ...WRITING_CASES,
  ...ANSWERING_CASES,
  ...CLAIMING_CASES,
  ...READING_CASES,
  ...LISTING_CASES,
  ...PROPOSAL_CASES,
  ...FAILING_CASES,
  {
    id: "second",
    title: "another handle is another object, as another process has its own",
    run: async ({ ledger, second }) => assert.notEqual(await second(), ledger),
  },
];

/** Running at most once and failing closed depend on these, so no ledger may skip them. */
const NEVER_LEFT_OUT: ReadonlySet<string> = new Set([...ANSWERING_CASES, ...CLAIMING_CASES].map(({ id }) => id));

/** Cases an implementation cannot meet, by id, each with a reason; answers and claims always run. */
export type LedgerSuiteOptions = { readonly cannot?: Readonly<Record<string, string>> };

/** Registers the contract of the `Ledger` port as tests; `make` creates an empty store for each case. */
export function testLedger(name: string, make: () => Promise<LedgerUnderTest>, { cannot = {} }: LedgerSuiteOptions = {}): void {
  describe(name, () => {
    for (const { id, title, run } of CASES) {
      const reason = NEVER_LEFT_OUT.has(id) ? undefined : cannot[id];
      if (reason !== undefined) {
        test(`cannot: ${id}: ${title} (${reason})`, () => assert.notEqual(reason.trim(), "", "say why it cannot"));
        continue;
      }
      test(title, { timeout: 60_000 }, () => runCase(make, id, run));
    }
    test("it says that it is durable exactly where it can be opened again", () => saysWhetherDurable(make));
    test("answers and claims are among what it can do", () => {
      const left = Object.keys(cannot).filter((id) => NEVER_LEFT_OUT.has(id));
      assert.deepEqual(left, [], "Every ledger must store an answer once and start an effect once: remove these from `cannot`.");
    });
    test("what cannot be done is a case of the suite", () => {
      const ids = new Set(CASES.map(({ id }) => id));
      assert.deepEqual(
        Object.keys(cannot).filter((id) => !ids.has(id)),
        [],
      );
    });
  });
}

async function saysWhetherDurable(make: () => Promise<LedgerUnderTest>): Promise<void> {
  const { ledger, reopen, close } = await make();
  try {
    const what = ledger.durable ? "give `reopen`" : "say `durable: true`, or give no `reopen`";
    assert.equal(ledger.durable, reopen !== undefined, `A durable ledger outlives its process: ${what}.`);
  } finally {
    await close();
  }
}

async function runCase(make: () => Promise<LedgerUnderTest>, id: string, run: LedgerCase["run"]): Promise<void> {
  const made = await make();
  const {
    ledger,
    holder = madeUp(),
    reopen = missing("reopen", id),
    second = missing("second", id),
    fail = missing("fail", id),
    close,
  } = made;
  try {
    await run({ ledger, holder, reopen, second, fail });
  } finally {
    await close();
  }
}

function madeUp(): Holder {
  return { pid: process.pid, host: hostname(), processStart: "0", door: "test" };
}

function missing(what: string, id: string): () => Promise<never> {
  return () => Promise.reject(new Error(`This case needs \`${what}\`: provide it, or add "${id}" to \`cannot\` with the reason.`));
}
