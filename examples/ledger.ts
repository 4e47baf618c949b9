// Put something around a ledger and let the contract suite say what it broke: node --test examples/ledger.ts
// This is a mirror and no store of its own: the file is written after the fact and never read, and everything ends with the process.
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ledger, memoryLedger, type StoredEvent } from "@assent/core";
import { testLedger } from "@assent/core/testing";

/** The memory ledger, with every event also written to a file of JSON lines that other programs can follow. */
function mirroredLedger(file: string): Ledger {
  const inner = memoryLedger();
  let written = Promise.resolve();
  const mirror = (event: StoredEvent): void => {
    written = written.then(() => appendFile(file, `${JSON.stringify(event)}\n`));
  };
  const subscription = inner.subscribe({ pos: 0 }, {}, mirror);
  return {
    ...inner,
    close: async () => {
      subscription.close();
      await written;
      await inner.close();
    },
  };
}

testLedger(
  "a ledger mirrored to a file",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "assent-example-"));
    const file = join(directory, "events.jsonl");
    const ledger = mirroredLedger(file);
    return {
      ledger,
      second: async () => ledger,
      close: async () => {
        const head = await ledger.head();
        await ledger.close();
        const lines = head === 0 ? [] : (await readFile(file, "utf8")).trimEnd().split("\n");
        if (lines.length !== head) throw new Error(`the mirror has ${lines.length} of ${head} events`);
        await rm(directory, { recursive: true });
      },
    };
  },
  {
    cannot: {
      "invalid-body": "events are kept as they are, in memory",
      "reopen-approvals": "nothing survives the process",
      reopen: "nothing survives the process",
      "reopen-proposals": "nothing survives the process",
      second: "no other process can open it",
      "failed-append": "the file is only a mirror: it cannot fail a write",
      "failed-answer": "the file is only a mirror: it cannot fail a write",
      "failed-claim": "the file is only a mirror: it cannot fail a write",
    },
  },
);
