import { type Holder, type Ledger, LedgerError, type LedgerEvent, memoryLedger, type StoredEvent, type Subscription } from "@assent/core";
import type { Actor, Scheduler } from "./scheduler.ts";

/** What the next commits meet: no space, a lock, or a write that fails for good and may be on the disk all the same. */
export type DiskFault = "store_full" | "store_locked" | "store_io";

/**
 * A ledger on a disk that can lose power. What it holds is kept by the memory ledger; around it are the things a memory has not: operations take their time,
 * operations of one process are committed in order and in groups, who asked is told later and in any order, and a commit that is not synced can be lost.
 */
export type Disk = {
  /** The ledger as a process has it. */
  readonly open: (actor: Actor) => Ledger;
  /** What is committed now. Nobody's step. */
  readonly ledger: () => Ledger;
  /** The next commits fail. */
  readonly fail: (fault: DiskFault, times: number) => void;
  readonly heal: () => void;
  /** Cuts the connection of a process for a while. If `much` is 3, for longer than it waits: what is under way fails, and may be stored all the same. */
  readonly cut: (actor: Actor, much: number) => void;
  /** Everything after the last sync is kept, lost or torn, record by record; a log is read up to the first that is not whole. */
  readonly losePower: () => Promise<void>;
};

/** What a disk tells, and how it is broken on purpose. */
export type DiskOptions = {
  /** An event is committed. */
  readonly committed: (event: LedgerEvent) => void;
  /** True if another machine may take this session once the lease of a process that is stopped or cut off has ended. */
  readonly isRemote?: (session: string) => boolean;
  /** A bug to be found: what is said to be synced is not. */
  readonly skipsSync?: boolean;
};

const STORE = "store_simulated";

type Write = {
  readonly label: string;
  /** When it was issued. What one tick issues is one transaction. */
  readonly tick: number;
  readonly full: boolean;
  readonly run: (ledger: Ledger) => Promise<unknown>;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
};

/** How to write it again, and what time it was. */
type LogRecord = Pick<Write, "run"> & { readonly now: number };

type State = {
  readonly on: Scheduler;
  readonly options: DiskOptions;
  readonly world: Actor;
  log: LogRecord[];
  synced: number;
  memory: Ledger;
  fault: DiskFault | undefined;
  faults: number;
  /** Who keeps a session from changing hands. A process that is gone keeps nothing. */
  readonly holds: Hold[];
  /** Connections that are cut, with what waits for them. */
  readonly cuts: Map<Actor, (() => void)[]>;
  /** Writes of which a process was not told yet. */
  readonly unanswered: Map<Actor, Set<Write>>;
};

type Hold = { readonly session: string; readonly actor: Actor; readonly holder: Holder | undefined };

/** An empty disk. */
export function makeDisk(on: Scheduler, options: DiskOptions): Disk {
  const world = on.actor("disk");
  const clock = on.clock(world);
  const state: State = {
    on,
    options,
    world,
    log: [],
    synced: 0,
    memory: newMemory(clock.now),
    fault: undefined,
    faults: 0,
    holds: [],
    cuts: new Map(),
    unanswered: new Map(),
  };
  watch(state);
  return {
    open: (actor) => handle(state, actor),
    ledger: () => state.memory,
    fail: (fault, times) => {
      state.fault = fault;
      state.faults = times;
    },
    heal: () => {
      state.faults = 0;
    },
    cut: (actor, much) => cutOff(state, actor, much),
    losePower: () => losePower(state, clock.now),
  };
}

function cutOff({ on, world, cuts, unanswered }: State, actor: Actor, much: number): void {
  if (cuts.has(actor)) return;
  const waiting: (() => void)[] = [];
  cuts.set(actor, waiting);
  if (much === 3) {
    for (const { label, reject } of unanswered.get(actor) ?? [])
      on.submit(actor, `does not know whether ${label} is stored`, () => reject(failure("store_unreachable")));
    unanswered.delete(actor);
  }
  on.submit(world, `connects ${actor.name} again`, () => {
    cuts.delete(actor);
    for (const act of waiting) act();
  });
}

/** Like `submit`, but what needs the connection happens once there is one. */
function submitConnected(state: State, actor: Actor, label: string, act: () => void): void {
  state.on.submit(actor, label, () => {
    const waiting = state.cuts.get(actor);
    if (waiting) waiting.push(() => submitConnected(state, actor, label, act));
    else act();
  });
}

function newMemory(now: () => number): Ledger {
  return memoryLedger({ clock: { now }, ids: { next: () => STORE } });
}

function watch({ memory, options }: State): void {
  memory.subscribe({ pos: 0 }, {}, (event) => options.committed(event as LedgerEvent));
}

async function losePower(state: State, now: () => number): Promise<void> {
  const { on, log } = state;
  let kept = state.synced;
  while (kept < log.length && on.random(4) > 0) kept += 1; // the first that is lost or torn ends what can be read
  on.note(() => `disk: power is lost; ${kept} of ${log.length} records are read, ${state.synced} were synced`);
  state.log = log.slice(0, kept);
  state.synced = kept;
  state.faults = 0;
  let time = 0;
  const replaying = newMemory(() => time || now());
  for (const record of state.log) {
    time = record.now;
    await record.run(replaying);
  }
  time = 0;
  state.memory = replaying;
  replaying.subscribe({ pos: await replaying.head() }, {}, (event) => state.options.committed(event as LedgerEvent));
}

/** One process's way to the disk. A process that met `store_io` writes no more. */
function handle(state: State, actor: Actor): Ledger {
  const { on } = state;
  const queue: Write[] = [];
  const self: Self = { readOnly: false, holder: undefined };
  const write = <T>(label: string, full: boolean, run: (ledger: Ledger) => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (queue.length === 0) submitConnected(state, actor, "commits", () => commitSome(state, { actor, queue, self }));
      queue.push({ label, tick: on.tick(), full, run, resolve, reject });
    });
  const look = <T>(label: string, read: (ledger: Ledger) => Promise<T>): Promise<T> =>
    new Promise<void>((resolve) => submitConnected(state, actor, label, resolve)).then(() => {
      const reading = read(state.memory);
      on.during(reading);
      return reading;
    });
  return {
    durable: true,
    storeId: STORE,
    acquire: (session, holder, takeOver) => {
      self.holder = holder;
      return write("acquire", true, async (ledger) => {
        refuseBusy(state, actor, session);
        return await ledger.acquire(session, holder, takeOver);
      });
    },
    hold: async ({ session, ...lease }) => {
      for (;;) {
        await on.step(actor, `holds ${session}`);
        const check = await state.memory.hold({ session, ...lease });
        check();
        if (otherHold(state, actor, session)) continue;
        const hold = { session, actor, holder: self.holder };
        state.holds.push(hold);
        return () => {
          const at = state.holds.indexOf(hold);
          if (at >= 0) state.holds.splice(at, 1); // it may have ended
        };
      }
    },
    append: (lease, expected, batch) => write("append", batch.durability === "full", (ledger) => ledger.append(lease, expected, batch)),
    answer: (events) => write("answer", true, (ledger) => ledger.answer(events)),
    claim: (lease, expected, claimed) =>
      write("claim", claimed.body.durability !== "normal", (ledger) => ledger.claim(lease, expected, claimed)),
    snapshot: (session, seq, kept) => write("snapshot", false, (ledger) => ledger.snapshot(session, seq, kept)),
    read: async function* (from, filter) {
      yield* await look("reads events", (ledger) => collect(ledger.read(from, filter)));
    },
    subscribe: (from, filter, sink) => follow(state, actor, (tell) => state.memory.subscribe(from, filter, tell))(sink),
    pending: (kind, query) => look(`lists ${kind}`, (ledger) => ledger.pending(kind, query)),
    latest: (session) => look("reads a snapshot", (ledger) => ledger.latest(session)),
    resolve: (value) => look("resolves", (ledger) => ledger.resolve(value)),
    blob: (sha) => look("reads a content", (ledger) => ledger.blob(sha)),
    head: () => look("reads the head", (ledger) => ledger.head()),
    close: () => on.step(actor, "closes the ledger"),
  };
}

function otherHold({ holds }: State, actor: Actor, session: string): Hold | undefined {
  return holds.find((hold) => hold.session === session && hold.actor !== actor && hold.actor.alive);
}

function refuseBusy(state: State, actor: Actor, session: string): void {
  const hold = otherHold(state, actor, session);
  if (!hold) return;
  const { on, cuts, holds, options } = state;
  const mayEnd = options.isRemote?.(session) === true && (hold.actor.stopped || cuts.has(hold.actor));
  if (mayEnd && on.random(2) === 0) {
    on.note(() => `disk: the lease of ${hold.actor.name} on ${session} has ended`);
    holds.splice(holds.indexOf(hold), 1);
    return;
  }
  const holder = hold.holder && { ...hold.holder };
  throw new LedgerError("session_busy", `${hold.actor.name} is in the middle of something.`, { session, ...(holder && { holder }) });
}

async function collect(events: AsyncIterable<StoredEvent>): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

type Self = { readOnly: boolean; holder: Holder | undefined };
type Committing = { readonly actor: Actor; readonly queue: Write[]; readonly self: Self };

/** Commits what a process issued up to some tick as one transaction, as durable as its most demanding one. */
function commitSome(state: State, committing: Committing): void {
  const { on } = state;
  const { actor, queue, self } = committing;
  const { tick: last } = queue[on.random(queue.length)] ?? { tick: 0 };
  const group = queue.splice(0, queue.findLastIndex(({ tick }) => tick <= last) + 1);
  if (queue.length > 0) submitConnected(state, actor, "commits", () => commitSome(state, committing));
  const fault = self.readOnly ? "store_io" : takeFault(state);
  const mayBeThere = fault === "store_io" && !self.readOnly && on.random(2) === 0; // whether it reached the disk is not for the writer to know
  self.readOnly ||= fault === "store_io";
  on.note(() => `  ${group.map(({ label }) => label).join(", ")}${fault ? ` meets ${fault}` : ""}`);
  if (!fault) {
    on.during(commit(state, actor, group));
    return;
  }
  for (const { label, reject } of group) on.submit(actor, `is told that ${label} failed`, () => reject(failure(fault)));
  if (mayBeThere) on.during(commit(state, NOBODY, group));
}

const NOBODY: Actor = { name: "nobody", alive: false, stopped: false };

function takeFault(state: State): DiskFault | undefined {
  if (state.faults === 0) return undefined;
  state.faults -= 1;
  return state.fault;
}

function failure(fault: DiskFault | "store_unreachable"): LedgerError {
  return new LedgerError(fault, `The simulated store says ${fault}.`);
}

async function commit(state: State, actor: Actor, group: readonly Write[]): Promise<void> {
  const { on, memory, options } = state;
  const now = on.clock(actor).now();
  const unanswered = state.unanswered.get(actor) ?? new Set();
  state.unanswered.set(actor, unanswered);
  for (const write of group) {
    const { label, run, resolve, reject } = write;
    unanswered.add(write);
    const tell = (what: string, act: () => void): void =>
      submitConnected(state, actor, what, () => {
        unanswered.delete(write);
        act();
      });
    try {
      const value = await run(memory);
      state.log.push({ run, now });
      tell(`is told of ${label}`, () => resolve(value as never));
    } catch (error) {
      tell(`is told that ${label} failed`, () => reject(error));
    }
  }
  if (!options.skipsSync && group.some(({ full }) => full)) state.synced = state.log.length;
}

/** Tells one follower after the other commit, in order, when its time comes. */
function follow(
  state: State,
  actor: Actor,
  subscribe: (tell: (event: StoredEvent) => void) => Subscription,
): (sink: (event: StoredEvent) => void) => Subscription {
  const { on } = state;
  return (sink) => {
    const untold: StoredEvent[] = [];
    let open = true;
    const tellSome = (): void => {
      for (const event of untold.splice(0, 1 + on.random(untold.length))) {
        if (!open) return;
        on.note(() => `  ${event.type} of ${event.session}`);
        sink(event);
      }
      if (untold.length > 0) submitConnected(state, actor, "hears", tellSome);
    };
    const under = subscribe((event) => {
      if (untold.length === 0) submitConnected(state, actor, "hears", tellSome);
      untold.push(event);
    });
    return {
      close: () => {
        open = false;
        under.close();
      },
    };
  };
}
