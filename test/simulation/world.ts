import {
  type Clock,
  type Dispatcher,
  type Hooks,
  type Ledger,
  type LedgerEvent,
  makeChecker,
  type OpenApproval,
  type Policy,
  type PolicySource,
} from "@assent/core";
import { countingIds } from "@assent/core/testing";
import { type Disk, makeDisk } from "./disk.ts";
import type { Plan, PlannedCall, PlannedSession } from "./plan.ts";
import { randomOf } from "./random.ts";
import { type Actor, makeScheduler, type Scheduler } from "./scheduler.ts";
import type { Shown } from "./settlers.ts";
import type { Effect, Things } from "./tools.ts";

/** A bug that is put in on purpose, at a port, to see that it is found. */
export type Planted = {
  /** The ledger as processes have it. */
  readonly ledger?: (ledger: Ledger) => Ledger;
  readonly skipsSync?: boolean;
  /** Files are replaced whatever they are. */
  readonly appliesBlindly?: boolean;
  /** The hooks as a process has them; `reopened`: its session is one of an earlier process. */
  readonly hooks?: (hooks: Hooks, reopened: boolean) => Hooks;
};

/** One session of the plan and how far it has come. `idle`: nobody has it. */
export type Standing = {
  readonly name: string;
  readonly plan: PlannedSession;
  id: string | undefined;
  state: "idle" | "running" | "parked" | "done";
  runner: Process | undefined;
  starts: number;
};

/** A process of ours that has a session. */
export type Process = {
  readonly actor: Actor;
  readonly standing: Standing;
  readonly pid: number;
  /** Somebody else takes its session. */
  fenced: boolean;
  settled: boolean;
  cancel: AbortController;
};

/** What somebody was told and may rely on: an answer that stands, a call that is parked. */
export type Told =
  | { readonly what: "answer"; readonly approval: string; readonly call: string; readonly outcome: string }
  | { readonly what: "reply"; readonly question: string; readonly call: string; readonly outcome: string }
  | { readonly what: "wished"; readonly proposal: string; readonly action: string }
  | { readonly what: "settled"; readonly proposal: string; readonly state: string }
  | { readonly what: "parked"; readonly call: string; readonly session: string };

/** What was asked of a model: the roles and parts of its history, in order. */
export type Heard = { readonly session: string; readonly prompt: readonly { readonly role: string; readonly content: unknown }[] };

/** What hooks were told of the final verdict on a call. */
export type Decided = { readonly pid: number; readonly session: string; readonly call: string; readonly decision: string };

/** Something that must not be. */
export type Violation = { readonly rule: string; readonly message: string };

/** Everything there is. */
export type World = {
  readonly plan: Plan;
  readonly planted: Planted;
  readonly on: Scheduler;
  readonly self: Actor;
  readonly disk: Disk;
  readonly things: Things;
  readonly policy: MutablePolicy;
  readonly ids: ReturnType<typeof countingIds>;
  readonly calls: ReadonlyMap<string, PlannedCall>;
  readonly standings: readonly Standing[];
  readonly processes: Process[];
  readonly terminals: Actor[];
  readonly told: Told[];
  readonly heard: Heard[];
  readonly decisions: Decided[];
  /** Proposals as they were staged, by id. */
  readonly proposals: Map<string, Shown>;
  /** Who has a session open, by the session's id. */
  readonly desks: Map<string, { readonly process: Process; readonly dispatcher: Dispatcher }>;
  /** How often each schedule has fired. */
  readonly fired: Map<string, number>;
  /** What has ended its process, and does so once. */
  readonly died: Set<string>;
  readonly violations: Violation[];
  readonly ledgerOf: (actor: Actor) => Ledger;
  pids: number;
};

/** Settings that change while sessions run. */
export type MutablePolicy = PolicySource & { readonly toggle: () => void };

/** What a world is made with. */
export type Making = {
  readonly plan: Plan;
  readonly planted?: Planted;
  readonly isRecording?: boolean;
  /** Something that people may act on is on record. */
  readonly attend: (world: World, event: LedgerEvent<Attended>) => void;
  /** Called before each step. */
  readonly before: (world: World, step: number) => void;
};

/** What people act on. */
export type Attended = (typeof ATTENDED)[number];

const ATTENDED = ["approval.opened", "question.asked", "proposal.staged", "proposal.applied"] as const;

function isAttended(event: LedgerEvent): event is LedgerEvent<Attended> {
  return ATTENDED.some((type) => type === event.type);
}

/** A workspace is on one machine, so only processes there take such a session, and end its old holder first. */
export function changesFiles(standing: Standing | undefined): boolean {
  return standing?.plan.batches.flat().some(({ tool }) => ["stage", "edit", "resolve"].includes(tool)) ?? true;
}

/** The clock of a process, which on another machine may be ahead or behind. */
export function clockOf({ on, plan }: World, { actor, pid }: Process): Clock {
  const clock = on.clock(actor);
  const skew = (plan.network?.skewMs ?? 0) * ((pid % 3) - 1);
  return { ...clock, now: () => clock.now() + skew };
}

const MOST_STEPS = 20_000;

/** The world before the first step. */
export function makeWorld({ plan, planted = {}, isRecording = false, attend, before }: Making): World {
  const on = makeScheduler({
    random: randomOf(plan.seed, 1),
    style: plan.style,
    hurry: plan.hurry,
    limit: MOST_STEPS,
    isRecording,
    before: (step) => before(world, step),
  });
  const committed = (event: LedgerEvent): void => {
    on.note(() => `  = ${event.session}:${event.seq} ${event.type} ${brief(event)}`);
    if (isAttended(event)) attend(world, event);
  };
  const isRemote = (session: string): boolean =>
    plan.network !== undefined && !changesFiles(world.standings.find(({ id }) => id === session));
  const disk = makeDisk(on, { committed, isRemote, ...(planted.skipsSync && { skipsSync: true }) });
  const effects: Effect[] = [];
  const world: World = {
    plan,
    planted,
    on,
    self: on.actor("world"),
    disk,
    things: { effects, files: new Map(), writes: [] },
    policy: makePolicy(),
    ids: countingIds(),
    calls: new Map(
      plan.sessions.flatMap(({ batches }, at) =>
        batches.flatMap((calls, turn) => calls.map((call, index) => [idOf(at, turn, index), call])),
      ),
    ),
    standings: plan.sessions.map((session, at) => ({
      ...{ name: `s${at}`, plan: session, id: undefined, state: "idle", runner: undefined, starts: 0 },
    })),
    processes: [],
    terminals: [],
    told: [],
    heard: [],
    decisions: [],
    proposals: new Map(),
    desks: new Map(),
    died: new Set(),
    fired: new Map(),
    violations: [],
    ledgerOf: (actor) => planted.ledger?.(disk.open(actor)) ?? disk.open(actor),
    pids: 0,
  };
  return world;
}

/** The id that the model gives a call of the plan. */
export function idOf(session: number, turn: number, index: number): string {
  return `c${session}_${turn}_${index}`;
}

/** What a schedule of a call says when it is due. */
export function wakeText(call: string): string {
  return `It is time for ${call}.`;
}

/** The call of the plan behind a call, an agent's or a nested one. */
export function plannedCall({ calls }: World, id: string): PlannedCall | undefined {
  return calls.get(/^c\d+_\d+_\d+/.exec(id)?.[0] ?? "");
}

/** A terminal of somebody's own. */
export function newTerminal(world: World): Actor {
  world.pids += 1;
  const actor = world.on.actor(`terminal${world.pids}`);
  world.terminals.push(actor);
  return actor;
}

/** Whoever answers. */
export const PERSON = { kind: "person", user: "somebody", name: "Somebody", door: "simulation", pid: 1 } as const;

/** What a person writes who changes the text of a call. */
export const EDITED = "five";

/** Who answers, by the plan. */
export function answerFor(
  world: World,
  { callId, id, revision, fingerprint }: Pick<OpenApproval, "callId" | "id" | "revision" | "fingerprint">,
) {
  const call = plannedCall(world, callId);
  const { says, remember, edits } = call?.person ?? { says: "approve", remember: false, edits: false };
  const remembered = remember && says === "approve" ? { remember: { scope: "session" } as const } : {};
  const edited = call && edits && says === "approve" ? { updatedInput: { text: EDITED, verdict: call.verdict, how: call.how } } : {};
  return { approval: id, revision, fingerprint, outcome: says, by: PERSON, ...remembered, ...edited };
}

function brief({ body }: LedgerEvent): string {
  const { call, approval, question, schedule, due, outcome, verdict, task, notice, ids, edited, proposal, action } = body as Readonly<
    Record<string, unknown>
  >;
  return [call, approval, question, schedule, due, proposal, action, verdict, outcome, task, notice, ids, edited && "edited"]
    .filter((part) => part !== undefined)
    .join(" ");
}

function makePolicy(): MutablePolicy {
  const changed = new Set<() => void>();
  let revision = 1;
  const build = (): Policy => {
    const deny = revision % 2 === 0 ? ["*:text=two"] : [];
    const { checker } = makeChecker({
      label: "permissions configuration",
      scope: "team",
      deny,
      ask: ["*:verdict=insist"],
      allow: ["agent", "schedule_create"],
    });
    return { revision: `r${revision}`, mode: "default", checkers: [checker], safeguards: [], honourReadOnlyHint: true };
  };
  let policy = build();
  return {
    current: () => policy,
    subscribe: (tell) => {
      changed.add(tell);
      return () => void changed.delete(tell);
    },
    toggle: () => {
      revision += 1;
      policy = build();
      for (const tell of changed) tell();
    },
  };
}
