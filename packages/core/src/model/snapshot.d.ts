import { type SessionState } from "./fold.ts";
import { type Json } from "./json.ts";
/** The state as JSON, to shorten the next opening. */
export declare function toSnapshot(state: SessionState): Json;
/** The state a snapshot holds, or undefined when it is not one of ours and the events must be folded instead. */
export declare function fromSnapshot(value: Json): SessionState | undefined;
