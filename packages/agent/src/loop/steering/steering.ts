import type { ProposalRow, Session } from "@assent/core";
import {
  type Choice,
  EMPTY_QUEUE,
  markInvoked,
  nextChoice,
  pushOnce,
  pushSequence,
  rejectChoice,
  removeByLabel,
  resolveChoice,
  type ToolChoiceQueue,
} from "@assent/core/parts";
import { resolveReminder } from "./reminder.ts";

/** How a model is steered to settle its proposals. */
export type SteeringMode = "force" | "remind-then-force" | "remind" | "none";

/** What steering adds to one turn. */
export type TurnSteering = {
  readonly choice: Choice | undefined;
  readonly reminder: string | undefined;
  /** The proposal this turn is about. Undefined also if a person's directive goes first. */
  readonly proposal: string | undefined;
};

export type SteeredCall = { readonly tool: string; readonly outcome: string; readonly proposalId: string | undefined };

/** Steers a model through its pending proposals. Everything except the queue is derived from the record. */
export type Steering = {
  /** Call once per turn; a retried turn reuses the result. */
  readonly next: (turn: { readonly active: readonly string[]; readonly newPrompt: boolean }) => TurnSteering;
  /** Ends a turn. Returns the proposals that were left to a person because the model ignored them. */
  readonly endTurn: (next: TurnSteering, calls: readonly SteeredCall[]) => Promise<readonly ProposalRow[]>;
  readonly failTurn: (reason: "aborted" | "error") => void;
  /** True if an answer without calls must not end the run. */
  readonly hasPending: () => boolean;
  /** Forces this tool in the next turn, and none after it. */
  readonly force: (tool: string) => void;
  /** Requires a call in the next turn; false lifts that. */
  readonly requireCall: (must: boolean) => void;
};

/** True if `endTurn` must be called for this turn. */
export function isSteered({ choice, proposal }: TurnSteering): boolean {
  return choice !== undefined || proposal !== undefined;
}

const UNSTEERED: TurnSteering = Object.freeze({ choice: undefined, reminder: undefined, proposal: undefined });
const NONE: readonly ProposalRow[] = Object.freeze([]);
const LIMIT = 3;
const REQUEUE = { aborted: "requeue", error: "requeue", not_invoked: "requeue" } as const;
const USER = "user-force";
const PLAN = "plan-mode-decision";

export function createSteering({ session, mode }: { readonly session: Session; readonly mode: () => SteeringMode }): Steering {
  let queue: ToolChoiceQueue = EMPTY_QUEUE;
  const pending = (): readonly ProposalRow[] => {
    const { proposals } = session.state;
    if (proposals.size === 0 || mode() === "none") return NONE;
    return [...proposals.values()].filter(({ state, parked }) => state === "staged" && !parked);
  };
  return {
    next: ({ active, newPrompt }) => {
      const rows = pending();
      if (rows.length === 0 && queue.entries.length === 0 && !queue.inFlight) return UNSTEERED;
      queue = withDirectives(queue, rows, mode());
      const served = nextChoice(queue, { active });
      queue = served.queue;
      const { directive } = queue.inFlight ?? {};
      if (directive && directive.proposalId === undefined) return { choice: served.choice, reminder: undefined, proposal: undefined };
      const about = rows.find(({ id }) => id === directive?.proposalId) ?? rows.at(-1);
      const reminder = about && mustRemind(about, mode(), newPrompt) ? resolveReminder(rows) : undefined;
      return { choice: served.choice, reminder, proposal: about?.id };
    },
    endTurn: async ({ choice, proposal }, calls) => {
      const forced = typeof choice === "object" ? choice.tool : undefined;
      if (calls.some(({ tool, outcome }) => tool === forced && outcome !== "invalid")) queue = markInvoked(queue);
      queue = resolveChoice(queue);
      const row = proposal === undefined ? undefined : session.state.proposals.get(proposal);
      if (row?.state !== "staged" || row.parked || calls.some(({ proposalId }) => proposalId === row.id)) return [];
      return await recordUnheeded(session, row);
    },
    failTurn: (reason) => {
      queue = rejectChoice(queue, reason);
    },
    hasPending: () => pending().length > 0,
    force: (tool) => {
      queue = pushSequence(queue, [{ tool }, "none"], { label: USER, now: true, onRejected: "drop_sequence" });
    },
    requireCall: (must) => {
      queue = removeByLabel(queue, PLAN);
      if (must) queue = pushOnce(queue, "required", { label: PLAN });
    },
  };
}

function labelOf(id: string): string {
  return `pending-action:${id}`;
}

/** Removes directives of settled proposals and adds missing ones, newest first. */
function withDirectives(queue: ToolChoiceQueue, rows: readonly ProposalRow[], mode: SteeringMode): ToolChoiceQueue {
  let updated = queue;
  const queued = [...queue.entries, ...(queue.inFlight ? [queue.inFlight.directive] : [])];
  const forcing = rows.filter((row) => mode === "force" || (mode === "remind-then-force" && row.reminded > 0));
  for (const { label, proposalId } of queued) {
    if (proposalId !== undefined && !forcing.some(({ id }) => id === proposalId)) updated = removeByLabel(updated, label);
  }
  if (queued.some(({ label }) => label === USER)) return updated; // a person's own directive goes first
  for (const { id } of forcing) {
    if (queued.some(({ proposalId }) => proposalId === id)) continue;
    updated = pushOnce(updated, { tool: "resolve" }, { label: labelOf(id), now: true, onRejected: REQUEUE, proposalId: id });
  }
  return updated;
}

function mustRemind(row: ProposalRow, mode: SteeringMode, newPrompt: boolean): boolean {
  return mode !== "remind-then-force" || row.reminded === 0 || newPrompt;
}

/** Counts on record that a proposal was ignored. The third time it is left to a person. */
async function recordUnheeded(session: Session, row: ProposalRow): Promise<readonly ProposalRow[]> {
  const { draft } = session;
  const turn = session.state.turn;
  const events = [draft("proposal.unheeded", { proposal: row.id, turn })];
  if (row.unheeded + 1 < LIMIT) {
    await session.record(events, "normal");
    return [];
  }
  await session.record([...events, draft("proposal.parked", { proposal: row.id, why: "unheeded" })], "full");
  return session.state.proposals.get(row.id)?.parked ? [row] : []; // a person may have settled it meanwhile
}
