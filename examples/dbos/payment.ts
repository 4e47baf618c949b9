// A payment inside a DBOS workflow. DBOS repeats a step that was killed; the gate does not pay again.
import { appendFileSync } from "node:fs";
import { createGate, type Gate, type TurnOutcome } from "@assent/gate";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { z } from "zod";

const { DATABASE_URL: url = "", BOOK: book = "payments.txt", CRASH: crash, PLAIN: plain } = process.env;

/** Ends the process as a power cut would, for the tests. */
const crashAt = (point: string): void => {
  if (crash === point) process.kill(process.pid, "SIGKILL");
};

const pay = ({ amount }: { amount: number }): string => {
  crashAt("before");
  appendFileSync(book, `${amount}\n`);
  crashAt("during");
  return `Paid ${amount}.`;
};

async function withGate<T>(session: string | undefined, use: (gate: Gate) => Promise<T>): Promise<T> {
  const gate = await createGate({ store: url, approve: "park", ...(session && { session }) });
  gate.functions({ pay: { description: "Pays an amount.", input: z.object({ amount: z.number() }), run: pay } });
  try {
    return await use(gate);
  } finally {
    await gate.close();
  }
}

/** Asks for the payment. Killed, it may ask again, but it pays nothing. */
const propose = (amount: number) =>
  withGate(undefined, async (gate) => ({ session: gate.session, ...(await gate.run([{ id: "c1", name: "pay", arguments: { amount } }])) }));

/** Pays if a person has approved. Repeated, it returns what is on record: the result, or `unknown` if the payment may have happened. */
const settle = async (session: string, calls: TurnOutcome["calls"]): Promise<string> => {
  const turn = await withGate(session, (gate) => gate.resume(calls));
  crashAt("after");
  return turn.calls.map(({ outcome }) => outcome).join();
};

const retries = { retriesAllowed: true, maxAttempts: 5, intervalSeconds: 5 }; // another machine may hold the session for 15 seconds more

const payment = DBOS.registerWorkflow(
  async (amount: number): Promise<string> => {
    if (plain) return await DBOS.runStep(async () => pay({ amount }), { name: "pay" });
    const { session, calls } = await DBOS.runStep(() => propose(amount), { name: "propose", ...retries });
    for (;;) {
      const outcome = await DBOS.runStep(() => settle(session, calls), { name: "settle", ...retries });
      if (outcome !== "waiting") return outcome;
      await DBOS.sleep(1_000);
    }
  },
  { name: "payment" },
);

DBOS.setConfig({ name: "payments", systemDatabaseUrl: url.replace(/[?&]schema=\w+/, ""), logLevel: "error" });
await DBOS.launch();
const handle = await DBOS.startWorkflow(payment, { workflowID: process.argv[2] ?? "payment-1" })(5);
console.log(await handle.getResult());
await DBOS.shutdown();
