import type { Call } from "./call.ts";
import type { EventBodies } from "./events.ts";
import { emptySession, type SessionState } from "./fold.ts";
import { isObject, type Json } from "./json.ts";

/** Raised whenever the shape of a stored state changes; an older snapshot is then ignored and the session folded from its first event. */
const SNAPSHOT_VERSION = 1;

/** The state as JSON, to shorten the next opening. */
export function toSnapshot(state: SessionState): Json {
  const { seq, shared, at, created, closed, mode, model, policy, turn } = state;
  const plain = {
    version: SNAPSHOT_VERSION,
    seq,
    shared,
    at,
    created: created ?? null,
    closed: closed ?? null,
    mode,
    model,
    policy,
    turn,
    calls: [...state.calls.values()],
    ids: [...state.ids],
    unknown: [...state.unknown],
    rejected: [...state.rejected],
  };
  return plain as unknown as Json;
}

/** The state a snapshot holds, or undefined when it is not one of ours and the events must be folded instead. */
export function fromSnapshot(value: Json): SessionState | undefined {
  if (!isObject(value) || value["version"] !== SNAPSHOT_VERSION) return undefined;
  if (!["calls", "ids", "unknown", "rejected"].every((key) => Array.isArray(value[key])) || !Number.isInteger(value["seq"]))
    return undefined;
  const stored = value as unknown as StoredState;
  return {
    ...emptySession(),
    seq: stored.seq,
    shared: stored.shared,
    at: stored.at,
    created: stored.created ?? undefined,
    closed: stored.closed ?? undefined,
    mode: stored.mode,
    model: stored.model,
    policy: stored.policy,
    turn: stored.turn,
    calls: new Map(stored.calls.map((call) => [call.callId, call])),
    ids: new Map(stored.ids),
    unknown: new Set(stored.unknown),
    rejected: new Set(stored.rejected),
  };
}

type StoredState = {
  readonly seq: number;
  readonly shared: number;
  readonly at: string;
  readonly created: EventBodies["session.created"] | null;
  readonly closed: EventBodies["session.closed"] | null;
  readonly mode: string;
  readonly model: string | null;
  readonly policy: string;
  readonly turn: number;
  readonly calls: readonly Call[];
  readonly ids: readonly (readonly [string, number])[];
  readonly unknown: readonly string[];
  readonly rejected: readonly string[];
};
