/**
 * The order in which the calls of one batch may run: a safe call waits only for earlier unsafe calls, an unsafe call waits for every earlier call,
 * and at most `limit` run at once, in call order.
 *
 * An entry is `open` until its call ended. `parked` means it will not end in this process: what waits behind it is `stuck`.
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
  /** How many unsafe calls before this one have run so far; a change means facts may be old. */
  readonly unsafeRuns: () => number;
};

type Entry = { safe: boolean | undefined; state: "open" | "running" | "parked" | "ended"; resolve: ((may: boolean) => void) | undefined };

/** Lanes for a batch of `count` calls. */
export function createLanes(count: number, limit: number): Lanes {
  const entries: Entry[] = [];
  for (let index = 0; index < count; index += 1) entries.push({ safe: undefined, state: "open", resolve: undefined });
  let first = 0;
  let running = 0;
  let unsafe = 0;
  let waiting = 0;
  const entry = (index: number): Entry => entries[index] ?? { safe: false, state: "ended", resolve: undefined };

  const advance = (): void => {
    while (first < count && entry(first).state === "ended") first += 1;
    if (waiting === 0) return;
    const seen = { open: false, unsafe: false, parked: false, parkedUnsafe: false };
    for (let index = first; index < count && !seen.unsafe; index += 1) {
      const at = entry(index);
      if (at.resolve) admit(at, seen);
      note(at, seen);
      if (running >= limit && !seen.parked) return;
    }
  };

  const admit = (at: Entry, seen: Seen): void => {
    const blocked = at.safe === true ? seen.unsafe : seen.open;
    if (blocked) return;
    const stuck = at.safe === true ? seen.parkedUnsafe : seen.parked;
    if (!stuck && running >= limit) return;
    const { resolve } = at;
    at.resolve = undefined;
    waiting -= 1;
    at.state = stuck ? "parked" : "running";
    if (!stuck) start(at);
    resolve?.(!stuck);
  };

  const start = (at: Entry): void => {
    running += 1;
    if (at.safe !== true) unsafe += 1;
  };

  const end = (index: number, state: "ended" | "parked"): void => {
    const at = entry(index);
    if (at.state === "parked") return; // it does not end in this process
    if (at.state === "running") running -= 1;
    at.state = state;
    advance();
  };

  const immediate = (index: number): boolean => index === first && running < limit && entry(index).state === "open";

  return {
    classify: (index, safe) => {
      const at = entry(index);
      if (at.safe === safe) return;
      at.safe = safe;
      advance();
    },
    enter: (index) => {
      const at = entry(index);
      if (at.state === "running") return true;
      if (immediate(index)) {
        at.state = "running";
        start(at);
        return true;
      }
      return new Promise((resolve) => {
        at.resolve = resolve;
        waiting += 1;
        advance();
      });
    },
    leave: (index) => end(index, "ended"),
    park: (index) => end(index, "parked"),
    unsafeRuns: () => unsafe,
  };
}

type Seen = { open: boolean; unsafe: boolean; parked: boolean; parkedUnsafe: boolean };

/** What later entries meet: an unclassified call counts as unsafe. */
function note(at: Entry, seen: Seen): void {
  if (at.state === "ended") return;
  if (at.state === "parked") {
    seen.parked = true;
    if (at.safe !== true) seen.parkedUnsafe = true;
    return;
  }
  seen.open = true;
  if (at.safe !== true) seen.unsafe = true;
}
