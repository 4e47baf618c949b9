// Prints how many bytes of old space many closed sessions have left behind. Run with --expose-gc; `asked`: every call is approved first.
import { createHash } from "node:crypto";
import { getHeapSpaceStatistics } from "node:v8";
import { type Approver, createDispatcher, createRegistry, defineTool, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { countingIds, manualClock } from "@assent/core/testing";
import { z } from "zod";

const SESSIONS = 400;
/** So many of them are young together. */
const TOGETHER = 20;
const CALLS = 5;
const TEXT = 2_000;
const clock = manualClock();
const ids = countingIds();
const digest = { sha256: (text: string) => createHash("sha256").update(text).digest("hex") };
const { signal } = new AbortController();
const isAsked = process.argv[2] === "asked";
const by = { kind: "person", user: "ann", name: "Ann", door: "test", pid: 1 } as const;
const approver: Approver = { available: () => true, ask: async ({ id }) => ({ approval: id, outcome: "approve", by }) };
const tools = createRegistry();
tools.add(
  defineTool({
    name: "look",
    description: "Looks.",
    kind: isAsked ? "other" : "read",
    input: z.object({ text: z.string() }),
    run: ({ text }) => text,
  }),
);

async function converse(): Promise<void> {
  const holder = { pid: 1, host: "h", processStart: "0", door: "test" };
  const session = await openSession({ ledger: memoryLedger({ clock, ids }), clock, ids }, { holder, create: { cwd: "/" } });
  const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy(), approver });
  const input = (at: number): string => JSON.stringify({ text: String(at).padEnd(TEXT, "x") });
  const calls = Array.from({ length: CALLS }, (_, at) => ({ id: `c${at}`, name: "look", arguments: input(at) }));
  const { results } = await dispatcher.process({ calls, tools, signal });
  if (results.some(({ outcome }) => outcome !== "succeeded")) throw new Error("a call did not succeed");
  await session.close("done", 0);
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => space_name === "old_space" || space_name === "large_object_space");
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

for (let warm = 0; warm < TOGETHER; warm += 1) await converse();
globalThis.gc?.();
const before = oldBytes();
for (let at = 1; at <= SESSIONS; at += 1) {
  await converse();
  if (at % TOGETHER > 0) continue;
  globalThis.gc?.({ type: "minor" });
  globalThis.gc?.({ type: "minor" });
}
console.log(JSON.stringify({ left: oldBytes() - before, held: SESSIONS * CALLS * TEXT }));
