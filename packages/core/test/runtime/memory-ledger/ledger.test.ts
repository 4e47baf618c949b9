import { memoryLedger } from "../../../src/runtime/memory-ledger/ledger.ts";
import { testLedger } from "../../../testing/ledger-suite.ts";

const GONE = "a memory ledger ends with its object";
const NO_DISK = "a memory ledger has no disk that could be full";

testLedger(
  "memoryLedger",
  async () => {
    const ledger = memoryLedger();
    return { ledger, second: async () => ledger, close: () => ledger.close() };
  },
  {
    cannot: {
      "invalid-body": "a memory ledger keeps plain events by reference and makes no canonical form",
      "reopen-approvals": GONE,
      reopen: GONE,
      "reopen-proposals": GONE,
      second: "a memory ledger is known by its one object",
      "failed-append": NO_DISK,
      "failed-answer": NO_DISK,
      "failed-claim": NO_DISK,
    },
  },
);
