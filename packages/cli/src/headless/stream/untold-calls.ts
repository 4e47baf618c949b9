import { knownEvent, type Session } from "@assent/core";
import { resultBlock } from "./content.ts";
import type { UntoldCall } from "./turn-lines.ts";

/** The calls of a turn that was cut short, from the first that has not ended: what came before was told. */
export async function untoldCalls({
  id: session,
  state,
  ledger,
}: Pick<Session, "id" | "state" | "ledger">): Promise<readonly UntoldCall[]> {
  const open = [...state.calls.values()].filter(({ index }) => index >= 0).map(({ seq }) => seq);
  if (open.length === 0) return [];
  const calls: UntoldCall[] = [];
  const from = Math.min(...open) - 1;
  for await (const stored of ledger.read({ session, seq: from }, { session, types: ["call.proposed", "call.ended"] })) {
    const event = knownEvent(stored);
    if (event?.type === "call.proposed" && event.body.index >= 0) calls.push({ callId: event.body.call, ended: undefined });
    if (event?.type !== "call.ended") continue;
    const call = calls.find(({ callId }) => callId === event.body.call);
    // Parsing: what the ledger gives back is what it was given.
    if (call) call.ended = resultBlock((await ledger.resolve(event.body as never)) as typeof event.body);
  }
  return calls;
}
