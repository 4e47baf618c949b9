// Prints how many bytes of old space many conversations that are over have left behind. Run with --expose-gc.
import { createHash } from "node:crypto";
import { getHeapSpaceStatistics } from "node:v8";
import { createConversation, playScript } from "@assent/agent";
import { createDispatcher, createRegistry, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { countingIds, manualClock } from "@assent/core/testing";

const CONVERSATIONS = 400;
/** So many of them are young together. */
const TOGETHER = 20;
const TEXT = 10_000;
const clock = manualClock();
const ids = countingIds();
const digest = { sha256: (text: string) => createHash("sha256").update(text).digest("hex") };
const { signal } = new AbortController();
const tools = createRegistry();
const script = { turns: [{ say: "ok" }] };

async function converse(): Promise<void> {
  const holder = { pid: 1, host: "h", processStart: "0", door: "test" };
  const session = await openSession({ ledger: memoryLedger({ clock, ids }), clock, ids }, { holder, create: { cwd: "/" } });
  const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy() });
  const player = playScript(script, clock);
  const { send } = createConversation({
    ...{ session, dispatcher, clock, ids, tools: () => tools, model: () => player.model(), system: () => "You are tested." },
    ...{ steering: () => "none" as const, contextSize: () => Number.MAX_SAFE_INTEGER },
  });
  const { reason } = await send(ids.next("").padEnd(TEXT, "x"), signal);
  if (reason !== "done") throw new Error(`the run ended as ${reason}`);
  await session.close("done", 0);
}

function oldBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => space_name === "old_space" || space_name === "large_object_space");
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

for (let warm = 0; warm < TOGETHER; warm += 1) await converse();
globalThis.gc?.();
const before = oldBytes();
for (let at = 1; at <= CONVERSATIONS; at += 1) {
  await converse();
  if (at % TOGETHER > 0) continue;
  globalThis.gc?.({ type: "minor" });
  globalThis.gc?.({ type: "minor" });
}
console.log(JSON.stringify({ left: oldBytes() - before, held: CONVERSATIONS * TEXT }));
