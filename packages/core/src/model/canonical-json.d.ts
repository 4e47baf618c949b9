/** A value that has no canonical form. It is refused rather than repaired, so that what was fingerprinted is what is stored. */
export declare class EventInvalid extends Error {
  readonly type: "event_invalid";
  constructor(what: string, key: string | number);
}
/** The one text of a value after RFC 8785, whatever order its keys were written in. Throws `EventInvalid` for what JSON would lose or change. */
export declare function canonicalJson(value: unknown): string;
