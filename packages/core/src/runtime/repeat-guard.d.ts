/** Counts how many batches in a row one tool failed validation with one message. */
export type RepeatGuard = {
  /** Called once per invalid call; the text to append, empty before the third batch. */
  readonly failed: (tool: string, message: string) => string;
  readonly valid: (tool: string) => void;
  /** A batch begins; a tool absent from the last one starts anew. */
  readonly begin: () => void;
  readonly reset: () => void;
};
/** A guard for one session. */
export declare function createRepeatGuard(): RepeatGuard;
