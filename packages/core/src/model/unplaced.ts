import type { Draft, EventBodies, EventType } from "./events.ts";
import { type Plain, plain } from "./plain.ts";

/** An event that has no place yet: whoever stores it may give it one, and keep it. */
export type Unplaced<T extends EventType = EventType> = Draft<T> & { session: string; seq: number; pos: number; epoch: number };

type Fields = { type: EventType; v: 1; at: string; body: EventBodies[EventType] };

const Made: Plain<Fields, Fields & Omit<Unplaced, keyof Fields>> = plain(function (
  this: Fields & Omit<Unplaced, keyof Fields>,
  { type, v, at, body }: Fields,
) {
  this.type = type;
  this.v = v;
  this.at = at;
  this.body = body;
  this.session = "";
  this.seq = 0;
  this.pos = 0;
  this.epoch = 0;
});

/** The draft with room for its place, in an object of its own. */
export function unplaced<T extends EventType>(draft: Draft<T>): Unplaced<T> {
  return new Made(draft) as unknown as Unplaced<T>; // type and body stay the pair they are
}

/** The draft itself where it has room for its place, and none yet; else one that has. */
export function ownOf<T extends EventType>(draft: Draft<T>): Unplaced<T> {
  return isUnplaced(draft) ? draft : unplaced(draft);
}

function isUnplaced<T extends EventType>(draft: Draft<T>): draft is Unplaced<T> {
  return "seq" in draft && draft.seq === 0;
}
