/**
 * The order in which the calls of one batch may run: a safe call waits only for earlier unsafe calls, an unsafe call waits for every earlier call,
 * and at most `limit` run at once, in call order.
 *
 * An entry is `open` until its call runs or ends. `done`: its body has finished and its end is not recorded yet, so another body may run, but calls that
 * wait for its end still wait. `parked`: it will not end in this process, so the calls behind it cannot run.
 */
export type Lanes = {
  readonly entries: readonly Entry[];
  readonly limit: number;
  /** The first entry that has not ended. */
  first: number;
  running: number;
  /** How many unsafe calls have run; a change means that facts may be old. */
  unsafe: number;
  /** How many entries asked to run and wait. */
  waiting: number;
};

type Entry = { safe: boolean; state: "open" | "running" | "done" | "parked" | "ended"; resolve: ((may: boolean) => void) | undefined };

/** Lanes for a batch of `count` calls. */
export function createLanes(count: number, limit: number): Lanes {
  const entries: Entry[] = [openEntry()]; // most batches are of one call
  while (entries.length < count) entries.push(openEntry());
  return { entries, limit, first: 0, running: 0, unsafe: 0, waiting: 0 };
}

function openEntry(): Entry {
  return { safe: false, state: "open", resolve: undefined };
}

/** Says whether a call is safe; until then every later call waits. */
export function classifyLane(lanes: Lanes, index: number, safe: boolean): void {
  const entry = lanes.entries[index];
  if (!entry || entry.safe === safe) return;
  entry.safe = safe;
  if (entry.state === "running") {
    entry.state = "open"; // what became unsafe waits like any unsafe call
    lanes.running -= 1;
  }
  advance(lanes);
}

/** Resolves to true when the call may run, and to false if it is behind a parked one. */
export function enterLane(lanes: Lanes, index: number): Promise<boolean> | true {
  const entry = lanes.entries[index];
  if (!entry || entry.state === "running") return true;
  if (index !== lanes.first || lanes.running >= lanes.limit || entry.state !== "open") return waitInLane(lanes, entry);
  begin(lanes, entry);
  return true;
}

function waitInLane(lanes: Lanes, entry: Entry): Promise<boolean> {
  return new Promise((resolve) => {
    entry.resolve = resolve;
    lanes.waiting += 1;
    advance(lanes);
  });
}

function begin(lanes: Lanes, entry: Entry): void {
  entry.state = "running";
  lanes.running += 1;
}

/** Frees the lane of a finished body while its end is being recorded, so that the next intents are stored together with that end. */
export function releaseLane(lanes: Lanes, index: number): void {
  const entry = lanes.entries[index];
  if (entry?.state !== "running") return;
  entry.state = "done";
  lanes.running -= 1;
  advance(lanes);
}

/** Ends the call's entry. True if it was unsafe and ran, so facts that other calls gathered may be old. */
export function leaveLane(lanes: Lanes, index: number): boolean {
  return finish(lanes, index, "ended");
}

/** Parks the call's entry; returns the same as `leaveLane`. */
export function parkLane(lanes: Lanes, index: number): boolean {
  return finish(lanes, index, "parked");
}

function finish(lanes: Lanes, index: number, state: "ended" | "parked"): boolean {
  const entry = lanes.entries[index];
  if (!entry || entry.state === "parked") return false; // a parked call does not end in this process
  const ran = entry.state === "running" || entry.state === "done";
  if (entry.state === "running") lanes.running -= 1;
  entry.state = state;
  const unsafe = ran && !entry.safe;
  if (unsafe) lanes.unsafe += 1;
  advance(lanes);
  return unsafe;
}

/** What is known about the entries before one. */
type Before = { open: boolean; unsafe: boolean; parked: boolean; parkedUnsafe: boolean };

/** Starts every waiting call that may run now. */
function advance(lanes: Lanes): void {
  const { entries } = lanes;
  while (entries[lanes.first]?.state === "ended") lanes.first += 1;
  const before: Before = { open: false, unsafe: false, parked: false, parkedUnsafe: false };
  for (let index = lanes.first; lanes.waiting > 0 && !before.unsafe; index += 1) {
    const entry = entries[index];
    if (!entry) return;
    if (entry.resolve && !isBlocked(entry, before)) admit(lanes, entry, before);
    note(entry, before);
    if (lanes.running >= lanes.limit && !before.parked) return;
  }
}

function isBlocked(entry: Entry, before: Before): boolean {
  return entry.safe ? before.unsafe : before.open;
}

function admit(lanes: Lanes, entry: Entry, before: Before): void {
  const stuck = entry.safe ? before.parkedUnsafe : before.parked;
  if (!stuck && lanes.running >= lanes.limit) return;
  if (stuck) entry.state = "parked";
  else begin(lanes, entry);
  const { resolve } = entry;
  entry.resolve = undefined;
  lanes.waiting -= 1;
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
