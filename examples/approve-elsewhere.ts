// Park a call, answer it from another process, resume: the effect happens once.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  answerApproval,
  createDispatcher,
  createRegistry,
  createRequestReader,
  defineTool,
  openSession,
  patternRules,
  staticPolicy,
} from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { openLedger } from "@assent/store";
import { z } from "zod";

const tools = createRegistry();
const paid: number[] = [];
const run = ({ amount }: { amount: number }): string => `Paid ${paid.push(amount) && amount}.`;
tools.add(defineTool({ name: "pay", description: "Pays an amount.", kind: "other", input: z.object({ amount: z.number() }), run }));
const policy = staticPolicy();
const directory = process.argv[2] ?? mkdtempSync(join(tmpdir(), "assent-example-"));
const { clock, ids, digest } = createHostPorts({ stateDirectory: directory });
const ledger = await openLedger({ directory });
const signal = new AbortController().signal;
const holder = currentHolder("example");

if (process.argv[2]) {
  // The other process: it needs no session, only the ledger.
  const by = { kind: "person", user: "ann", name: "Ann", door: "example", pid: process.pid } as const;
  const ports = { ledger, clock, ids, rules: patternRules, requests: createRequestReader({ ledger, tools, digest }) };
  for (const { id, title } of await ledger.pending("approvals")) {
    const { outcome } = await answerApproval(ports, { approval: id, outcome: "approve", by });
    console.log(`elsewhere: ${title}: ${outcome}`);
  }
} else {
  const session = await openSession({ ledger, clock, ids }, { holder, create: { cwd: "/" } });
  const first = createDispatcher({ session, clock, ids, digest, policy, onAsk: "park" });
  const parked = await first.process({ calls: [{ id: "c1", name: "pay", arguments: { amount: 5 } }], tools, signal });
  console.log(`here: ${parked.results[0]?.outcome}`);
  await session.close("parked", 75);

  // It starts as this one did, and what it says is seen here.
  spawnSync(process.execPath, [...process.execArgv, import.meta.filename, directory], { stdio: "inherit" });

  for (let time = 1; time <= 2; time += 1) {
    const again = await openSession({ ledger, clock, ids }, { holder, id: session.id });
    const { results } = await createDispatcher({ session: again, clock, ids, digest, policy, onAsk: "park" }).resume({ tools, signal });
    const told = results.map((call) => (call.outcome === "waiting" ? "waiting" : call.result.content));
    console.log(`resume ${time}: ${told.join(" ") || "nothing to do"}`);
    await again.close("done", 0);
  }
  console.log(`payments: ${paid.length}`);
}
await ledger.close();
if (!process.argv[2]) rmSync(directory, { recursive: true });
