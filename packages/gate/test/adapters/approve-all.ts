import { answerApproval, createRegistry, createRequestReader, patternRules } from "@assent/core";
import { openLedger } from "@assent/store";
import { ANN, PORTS } from "./embedded.ts";

const { clock, ids, digest } = PORTS;
const ledger = await openLedger({ directory: process.argv[2] ?? "" });
const pending = await ledger.pending("approvals");
const ports = { ledger, clock, ids, rules: patternRules, requests: createRequestReader({ ledger, tools: createRegistry(), digest }) };
for (const { id } of pending) await answerApproval(ports, { approval: id, outcome: "approve", by: ANN });
await ledger.close();
process.stdout.write(`approved ${pending.length}\n`);
