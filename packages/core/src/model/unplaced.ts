import type { Draft, EventBodies, EventType } from "./events.ts";
import { type Plain, plain } from "./plain.ts";

/** An event that has no place yet: whoever stores it may give it one, and keep it. */
export type Unplaced = Draft & { session: string; seq: number; pos: number; epoch: number };

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

/** The draft with room for its place. */
export function unplaced(draft: Draft): Unplaced {
  return new Made(draft) as Unplaced; // type and body stay the pair they are
}

/** Whether the draft has room for its place, and none yet. */
export function isUnplaced(draft: Draft): draft is Unplaced {
  return "seq" in draft && draft.seq === 0;
}
