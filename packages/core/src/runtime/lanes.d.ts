/**
 * The order in which the calls of one batch may run: a safe call waits only for earlier unsafe calls, an unsafe call waits for every earlier call,
 * and at most `limit` run at once, in call order.
 *
 * An entry is `open` until its call runs or ends. `parked` means it will not end in this process: what waits behind it is stuck.
 */
export type Lanes = {
  /** Says whether a call is safe; until then every later call waits. */
  readonly classify: (index: number, safe: boolean) => void;
  /** Resolves to true when the call may run, to false when it is stuck behind a parked one. */
  readonly enter: (index: number) => Promise<boolean> | true;
  /** The call ended. */
  readonly leave: (index: number) => void;
  /** The call waits for a person beyond this process. */
  readonly park: (index: number) => void;
  /** How many unsafe calls have run; a change means that facts may be old. */
  readonly unsafeRuns: () => number;
};
/** Lanes for a batch of `count` calls; `unsafeRan` is called after each unsafe call that ran. */
export declare function createLanes(count: number, limit: number, unsafeRan?: () => void): Lanes;
