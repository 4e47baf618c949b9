// A process of its own that works on a store: `store-worker.ts DIRECTORY JOB`. It says "ready", waits for a line, does its job and prints the outcome as JSON.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { answeredDraft, claimedDraft } from "@assent/core/testing";
import { openLedger } from "../src/open/open-ledger.ts";
import { A, begin, noise, thisHolder } from "./made-store.ts";

const [, , directory = "", job = ""] = process.argv;

async function work(): Promise<unknown> {
  const ledger = await openLedger({ directory });
  try {
    switch (job) {
      case "open":
        return ledger.storeId;
      case "yes":
      case "no": {
        const outcome = await ledger.answer([answeredDraft(A, "c1", { outcome: job === "yes" ? "approved" : "rejected" })]);
        return "won" in outcome ? { won: outcome.won[0] } : outcome;
      }
      case "claim": {
        const holder = { ...thisHolder(), door: "worker" };
        const lease = await ledger.acquire(A, holder, true);
        return await ledger.claim(lease, lease.head, claimedDraft("c1"));
      }
      case "append-and-stay": {
        const writer = await begin(ledger, `s_${String(process.pid).padStart(20, "p")}`);
        for await (const line of createInterface({ input: process.stdin })) await writer.full(noise(Number(line)));
        return undefined;
      }
      case "append": {
        const writer = await begin(ledger, `s_${String(process.pid).padStart(20, "p")}`);
        for (let at = 0; at < 50; at += 1) await writer.full(noise(at));
        return writer.lease.epoch;
      }
      default:
        throw new Error(`no job '${job}'`);
    }
  } catch (error) {
    return { error: error instanceof Error && "type" in error ? error.type : String(error) };
  } finally {
    await ledger.close();
  }
}

process.stdout.write("ready\n");
await once(process.stdin, "data");
process.stdin.pause();
process.stdout.write(`${JSON.stringify(await work())}\n`);
process.stdin.destroy();
