import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CASES } from "../../testing/ledger-suite.ts";

const GONE = "it cannot be opened again";
const ONE = "it is one object without a disk";
const MEMORY = {
  ...{ "invalid-body": "it keeps plain events", "reopen-approvals": GONE, reopen: GONE, "reopen-proposals": GONE },
  ...{ second: ONE, "failed-append": ONE, "failed-answer": ONE, "failed-claim": ONE },
};
const { "reopen-approvals": _unsaid, ...SOME } = MEMORY;
const { second: _waived, ...OTHERS } = MEMORY;
const { second: _second, "failed-append": _append, "failed-answer": _answer, "failed-claim": _claim, ...DISK } = MEMORY;

/** Faulty memory ledgers, and the case that must detect each. */
const FAULTS: readonly (readonly [fault: string, change: string, caughtBy: string])[] = [
  [
    "an append that ignores what the writer expects",
    `append: async (lease, _, batch) => {
      let head = 0;
      for await (const { seq } of ledger.read({ session: lease.session, seq: 0 })) head = seq;
      return ledger.append(lease, head, batch);
    }`,
    "append-other-head",
  ],
  [
    "a claim that never loses",
    `claim: async (lease, expected, claimed) => {
      const outcome = await ledger.claim(lease, expected, claimed);
      return "won" in outcome ? outcome : { won: claimed };
    }`,
    "claim-other-fingerprint",
  ],
  [
    "an answer that always wins",
    `answer: async (events) => {
      const outcome = await ledger.answer(events);
      return "won" in outcome ? outcome : { won: events };
    }`,
    "concurrent-answers",
  ],
  [
    "a reader that starts at its cursor",
    `read: (from, filter) => ledger.read("pos" in from ? { pos: Math.max(0, from.pos - 1) } : from, filter)`,
    "cursor",
  ],
  [
    "a subscription that tells everything twice",
    "subscribe: (from, filter, sink) => ledger.subscribe(from, filter, (event) => { sink(event); sink(event); })",
    "subscribe",
  ],
  ["a list that shows what is settled", "pending: (kind, query) => ledger.pending(kind, { ...query, all: true })", "proposal-life"],
  ["missing contents", "blob: async () => new Uint8Array()", "contents"],
  [
    "a request that is not stored",
    "answer: async (events) => (events[0].type === 'proposal.requested' ? { won: events } : ledger.answer(events))",
    "proposal-requested",
  ],
  [
    "an append that overtakes one with contents",
    `append: async (lease, expected, batch) => {
      if (batch.blobs?.length) await new Promise((resolve) => setImmediate(resolve));
      return ledger.append(lease, expected, batch);
    }`,
    "contents-order",
  ],
  ["a list without pages", "pending: (kind, query) => ledger.pending(kind, { ...query, limit: undefined })", "approvals-a-first-page"],
];

const source = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)));

function suiteOn(name: string, change: string, cannot: Readonly<Record<string, string>>): string {
  return `testLedger(${JSON.stringify(name)}, async () => {
    const ledger = memoryLedger();
    const changed = { ...ledger, ${change} };
    return { ledger: changed, second: async () => changed, close: () => ledger.close() };
  }, { cannot: ${JSON.stringify(cannot)} });
  `;
}

const TELLS_TOO_EARLY = `subscribe: (from, filter, sink) => {
  early = (event) => filter.types?.includes(event.type) && sink({ ...event, pos: 0 });
  return ledger.subscribe(from, filter, sink);
},`;

/** Runs the suite on a ledger whose disk is full on demand. */
function failing(name: string, change: string): string {
  return `testLedger(${JSON.stringify(name)}, async () => {
    const ledger = memoryLedger();
    let isFull = false;
    let early = () => undefined;
    const full = (write) => async (...given) => {
      for (const event of given[2]?.events ?? []) early(event);
      if (!isFull) return write(...given);
      isFull = false;
      throw new LedgerError("store_full", "full");
    };
    const changed = { ...ledger, append: full(ledger.append), answer: full(ledger.answer), claim: full(ledger.claim), ${change} };
    return { ledger: changed, second: async () => ledger, fail: () => { isFull = true; }, close: () => ledger.close() };
  }, { cannot: ${JSON.stringify(DISK)} });
  `;
}

/** Runs the suite on all of them in another process and returns the output for each. */
function runSuites(): ReadonlyMap<string, string> {
  const directory = mkdtempSync(join(tmpdir(), "assent-suite-"));
  const file = join(directory, "suites.test.mjs");
  const imports = `import { memoryLedger } from ${source("runtime/memory-ledger/ledger.ts")};
    import { LedgerError } from ${source("ledger-port.ts")};
    import { testLedger } from ${source("../testing/ledger-suite.ts")};\n`;
  const suites = FAULTS.map(([fault, change]) => suiteOn(fault, change, MEMORY));
  writeFileSync(
    file,
    imports +
      [
        ...[...suites, suiteOn("whole", "", MEMORY), suiteOn("unsaid", "", { ...SOME, "no-such-case": "no such case" })],
        ...[suiteOn("durable", "durable: true", MEMORY), suiteOn("excused", "", { ...MEMORY, "concurrent-answers": "it would be hard" })],
        ...[suiteOn("same", "", OTHERS), failing("failing", ""), failing("telling", TELLS_TOO_EARLY)],
      ].join(""),
  );
  try {
    const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
    const { stdout } = spawnSync(process.execPath, ["--test-reporter=tap", file], { encoding: "utf8", env, maxBuffer: 2 ** 26 });
    return new Map(stdout.split(/^# Subtest: /m).map((part) => [part.slice(0, part.indexOf("\n")), part]));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function titleOf(id: string): string {
  const { title } = CASES.find((each) => each.id === id) ?? assert.fail(`there is no case ${id}`);
  return title;
}

function failed(id: string): RegExp {
  return new RegExp(`not ok \\d+ - ${titleOf(id)}`);
}

describe("testLedger", () => {
  let said: ReadonlyMap<string, string> = new Map();
  before(() => {
    said = runSuites();
  });

  for (const [fault, , caughtBy] of FAULTS) {
    test(`finds ${fault} by case ${caughtBy}`, () => assert.match(said.get(fault) ?? "", failed(caughtBy)));
  }

  test("reports skipped cases by name and reason", () => {
    const output = said.get("whole") ?? "";
    assert.doesNotMatch(output, /not ok/);
    for (const [id, reason] of Object.entries(MEMORY)) assert.match(output, new RegExp(`ok \\d+ - cannot: ${id}: .*\\(${reason}\\)`));
  });

  const LAWS: readonly (readonly [sentence: string, suite: string, fails: RegExp | undefined])[] = [
    [
      "a ledger that can be opened again and says it cannot, or the other way",
      "durable",
      /not ok \d+ - it says that it is durable exactly/,
    ],
    ["an excuse for answers or claims", "excused", /not ok \d+ - answers and claims are among what it can do/],
    ["a second handle that is the first", "same", failed("second")],
    ["a subscriber that hears of what was never stored", "telling", failed("failed-append")],
    ["nothing wrong with one whose disk is full for a moment", "failing", undefined],
  ];
  for (const [sentence, suite, fails] of LAWS)
    test(`finds ${sentence}`, () => {
      const output = said.get(suite) ?? "";
      assert.match(output, new RegExp(`ok \\d+ - ${titleOf("concurrent-answers")}`), "cases about answers always run");
      if (fails) assert.match(output, fails);
      else assert.doesNotMatch(output, /not ok/);
    });

  test("fails a case that needs what was not given, and a reason for no case", () => {
    assert.match(said.get("unsaid") ?? "", failed("reopen-approvals"));
    assert.match(said.get("unsaid") ?? "", /not ok \d+ - what cannot be done is a case of the suite/);
  });
});
