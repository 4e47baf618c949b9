import type { EventType, LedgerEvent, StoredEvent } from "./events.ts";
/** Every event type this version reads and writes, as they stand on disk. */
export declare const EVENT_TYPES: readonly EventType[];
/** What a session's writer may append to its chain. A claim is none of these: it has a door of its own, and no way around it. */
export declare function isAppendable(type: string): boolean;
/** What any process may append to the shared chain. */
export declare function isAnswerable(type: string): boolean;
/** The event if this program understands its type and version; a newer one is kept by the store and skipped by the fold. */
export declare function knownEvent(stored: StoredEvent): LedgerEvent | undefined;
/** The session that an event of the shared chain names: its fold takes the event in. */
export declare function naming(event: { readonly type: string; readonly body: object }): string | undefined;
/** The call an event speaks of, whichever chain it is in. */
export declare function callOf(event: { readonly body: object }): string | undefined;
