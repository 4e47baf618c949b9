/**
 * The order in which the calls of one batch may run: a safe call waits only for earlier unsafe calls, an unsafe call waits for every earlier call,
 * and at most `limit` run at once, in call order.
 *
 * An entry is `open` until its call runs or ends. `done` means its body is over and its end is not on record yet: another body may run in its place, and
 * whatever waits for its end still waits. `parked` means it will not end in this process: what waits behind it is stuck.
 */
export type Lanes = {
  /** Says whether a call is safe; until then every later call waits. */
  readonly classify: (index: number, safe: boolean) => void;
  /** Resolves to true when the call may run, to false when it is stuck behind a parked one. */
  readonly enter: (index: number) => Promise<boolean> | true;
  /** The call's body is over, its end on its way to the ledger: so the next intents are stored together with the ends before them. */
  readonly release: (index: number) => void;
  /** The call ended. */
  readonly leave: (index: number) => void;
  /** The call waits for a person beyond this process. */
  readonly park: (index: number) => void;
  /** How many unsafe calls have run; a change means that facts may be old. */
  readonly unsafeRuns: () => number;
};

type Entry = { safe: boolean; state: "open" | "running" | "done" | "parked" | "ended"; resolve: ((may: boolean) => void) | undefined };

/** `first` is the first entry that has not ended, `waiting` the number of entries that asked to run. */
type Batch = {
  readonly entries: readonly Entry[];
  readonly limit: number;
  readonly unsafeRan: () => void;
  first: number;
  running: number;
  unsafe: number;
  waiting: number;
};

/** Lanes for a batch of `count` calls; `unsafeRan` is called after each unsafe call that ran. */
export function createLanes(count: number, limit: number, unsafeRan: () => void = () => undefined): Lanes {
  const entries: Entry[] = [];
  for (let index = 0; index < count; index += 1) entries.push({ safe: false, state: "open", resolve: undefined });
  const batch: Batch = { entries, limit, unsafeRan, first: 0, running: 0, unsafe: 0, waiting: 0 };
  return {
    classify: (index, safe) => {
      const entry = entries[index];
      if (!entry || entry.safe === safe) return;
      entry.safe = safe;
      if (entry.state === "running") {
        entry.state = "open"; // what became unsafe waits like any unsafe call
        batch.running -= 1;
      }
      advance(batch);
    },
    enter: (index) => enter(batch, index),
    release: (index) => release(batch, index),
    leave: (index) => finish(batch, index, "ended"),
    park: (index) => finish(batch, index, "parked"),
    unsafeRuns: () => batch.unsafe,
  };
}

function enter(batch: Batch, index: number): Promise<boolean> | true {
  const entry = batch.entries[index];
  if (!entry || entry.state === "running") return true;
  if (index === batch.first && batch.running < batch.limit && entry.state === "open") {
    begin(batch, entry);
    return true;
  }
  return new Promise((resolve) => {
    entry.resolve = resolve;
    batch.waiting += 1;
    advance(batch);
  });
}

function begin(batch: Batch, entry: Entry): void {
  entry.state = "running";
  batch.running += 1;
}

function release(batch: Batch, index: number): void {
  const entry = batch.entries[index];
  if (entry?.state !== "running") return;
  entry.state = "done";
  batch.running -= 1;
  advance(batch);
}

function finish(batch: Batch, index: number, state: "ended" | "parked"): void {
  const entry = batch.entries[index];
  if (!entry || entry.state === "parked") return; // a parked call does not end in this process
  const ran = entry.state === "running" || entry.state === "done";
  if (entry.state === "running") batch.running -= 1;
  entry.state = state;
  if (ran && !entry.safe) {
    batch.unsafe += 1;
    batch.unsafeRan();
  }
  advance(batch);
}

/** What the entries before one are: still on their way, or parked for good. */
type Before = { open: boolean; unsafe: boolean; parked: boolean; parkedUnsafe: boolean };

/** Lets run whatever may; nothing after an unsafe call that is still on its way can. */
function advance(batch: Batch): void {
  const { entries } = batch;
  while (entries[batch.first]?.state === "ended") batch.first += 1;
  const before: Before = { open: false, unsafe: false, parked: false, parkedUnsafe: false };
  for (let index = batch.first; batch.waiting > 0 && !before.unsafe; index += 1) {
    const entry = entries[index];
    if (!entry) return;
    if (entry.resolve && !isBlocked(entry, before)) admit(batch, entry, before);
    note(entry, before);
    if (batch.running >= batch.limit && !before.parked) return;
  }
}

function isBlocked(entry: Entry, before: Before): boolean {
  return entry.safe ? before.unsafe : before.open;
}

function admit(batch: Batch, entry: Entry, before: Before): void {
  const stuck = entry.safe ? before.parkedUnsafe : before.parked;
  if (!stuck && batch.running >= batch.limit) return;
  if (stuck) entry.state = "parked";
  else begin(batch, entry);
  const { resolve } = entry;
  entry.resolve = undefined;
  batch.waiting -= 1;
  resolve?.(!stuck);
}

function note(entry: Entry, before: Before): void {
  if (entry.state === "ended") return;
  if (entry.state === "parked") {
    before.parked = true;
    before.parkedUnsafe ||= !entry.safe;
    return;
  }
  before.open = true;
  before.unsafe ||= !entry.safe;
}
