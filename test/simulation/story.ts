import type { LedgerEvent } from "@assent/core";
import type { Violation, World } from "./world.ts";

/** The chain that all sessions share. */
export const SHARED = "_store";

/** An event as the rules look at it. */
export type Event = Pick<LedgerEvent, "type" | "session" | "seq" | "pos" | "epoch"> & { readonly body: Body };
/** What any rule looks at. */
export type Body = Readonly<Record<string, unknown>> & {
  readonly call?: string;
  readonly session?: string;
  readonly approval?: string;
  readonly outcome?: string;
  readonly fingerprint?: string;
  readonly edited?: { readonly fingerprint: string };
  readonly by?: { readonly kind: string };
  readonly input?: { readonly text?: string };
  readonly answer?: { readonly pos: number } | null;
};

/** One call's events, of its own chain and of the shared one, in the order of the store. */
export type Call = { readonly id: string; readonly session: string; readonly events: readonly Event[] };

/** Everything that is left when all has come to rest. */
export type Story = {
  readonly world: World;
  readonly events: readonly Event[];
  readonly calls: readonly Call[];
  readonly byPos: ReadonlyMap<number, Event>;
};

/** What happened, call by call. */
export function storyOf(world: World, stored: readonly LedgerEvent[]): Story {
  const events = stored as readonly Event[];
  return { world, events, calls: callsOf(events), byPos: new Map(events.map((event) => [event.pos, event])) };
}

/** Events that name a call without being part of its life. */
const MENTIONS: readonly string[] = ["task.started", "notice.queued"];

function callsOf(events: readonly Event[]): readonly Call[] {
  const calls = new Map<string, { id: string; session: string; events: Event[] }>();
  for (const event of events) {
    const { call: id } = event.body;
    const session = event.session === SHARED ? event.body.session : event.session;
    if (id === undefined || session === undefined || MENTIONS.includes(event.type)) continue;
    const call = calls.get(`${session} ${id}`) ?? { id, session, events: [] };
    call.events.push(event);
    calls.set(`${session} ${id}`, call);
  }
  return [...calls.values()];
}

/** The events of one type in the life of a call. */
export function of({ events }: Call, type: string): readonly Event[] {
  return events.filter((event) => event.type === type);
}

/** True for an event that lets a call run. */
export function isYes({ type, body }: Event): boolean {
  return type === "call.answered" || (type === "approval.answered" && body.outcome === "approved");
}

/** Something that must not be, by its rule. */
export function violation(rule: string, message: string): Violation {
  return { rule, message };
}
