import type { Write } from "./files.ts";
import type { Call, Event, Story } from "./story.ts";
import { plannedCall, type World } from "./world.ts";

// What the runtime is known not to hold yet. Whoever mends one of these takes it out here, and the rule that asks for it holds without exception.

/** The loop counts how often a proposal was not heeded, while a person settles it: what it meant to count ends the run. */
export function isOvertaken({ message }: Error): boolean {
  return /^Event proposal\.(reminded|unheeded|parked) /.test(message);
}

/** An undo needs no lease: a process that has lost its session puts files back all the same. */
export function isUnfencedUndo({ processes }: World, { actor, isBack }: Write): boolean {
  return isBack && processes.some((process) => process.actor === actor && process.fenced);
}

/** An undo that was done and not recorded, and a file that somebody wrote since: it is refused as if nothing had been done. */
export function isRefusedUndo(world: World, { type, body }: Event): boolean {
  const { call = "" } = world.proposals.get(String(body["proposal"])) ?? {};
  return type === "proposal.refused" && body["type"] === "undo_conflict" && plannedCall(world, call)?.settle?.meddles !== "no";
}

/** Only the newest wish is kept: an undo that a crash cut short is forgotten where somebody wished something else meanwhile. */
export function isReplacedUndo(events: readonly Event[]): boolean {
  const wishes = events.filter(({ type }) => type === "proposal.requested").map(({ body }) => body["action"]);
  return wishes.includes("undo") && wishes.at(-1) !== "undo";
}

/** An agent that a call waits for is not tried to be closed again where the store would not have it, and not waited for once its call is cancelled: what it left open waits for whoever opens its parent. */
export function isLeftOpen({ world, events }: Story, { session, id }: Pick<Call, "session" | "id">): boolean {
  const isWaitedFor = plannedCall(world, id)?.tool === "helper";
  const isCutShort = world.plan.faults.some(({ kind }) => kind.startsWith("store") || kind === "cancel");
  return isWaitedFor && isCutShort && events.findLast((event) => event.session === session)?.type !== "session.closed";
}

/** An agent that a call waits for leaves no mark under the lease of its parent: with a process that was stopped and lost its session it goes on. */
export function isUnfencedAgent({ processes }: World): boolean {
  return processes.some(({ fenced }) => fenced);
}
