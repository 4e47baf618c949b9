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

/** How a model is led to settle its pending proposals. */
export type SteeringMode = "force" | "remind-then-force" | "remind" | "none";

/** What one request carries because a proposal is pending or a person forced a tool. */
export type TurnSteering = {
  readonly choice: Choice | undefined;
  readonly reminder: string | undefined;
  /** The proposal this turn is about; undefined if there is none, or if a person's directive comes first. */
  readonly proposal: string | undefined;
};

/** What steering needs to know about a call of the turn. */
export type SteeredCall = { readonly tool: string; readonly outcome: string; readonly proposalId: string | undefined };

/** Leads a model through its pending proposals. Everything but the queue is derived from the record before every request. */
export type Steering = {
  /** Called once per turn. A retried turn reuses the result. */
  readonly next: (turn: { readonly active: readonly string[]; readonly newPrompt: boolean }) => TurnSteering;
  /** Called after each steered turn. Returns the proposals that were parked for a person because of it. */
  readonly endTurn: (next: TurnSteering, calls: readonly SteeredCall[]) => Promise<readonly ProposalRow[]>;
  readonly failTurn: (reason: "aborted" | "error") => void;
  /** True while a text-only answer must not end the run. */
  readonly hasPending: () => boolean;
  /** A person's own directive: this tool, then none. */
  readonly force: (tool: string) => void;
  /** The next turn must call a tool; false takes that back. */
  readonly requireCall: (must: boolean) => void;
  readonly clear: () => void;
};

/** True if the end of this turn must be reported to steering. */
export function isSteered({ choice, proposal }: TurnSteering): boolean {
  return choice !== undefined || proposal !== undefined;
}

const UNSTEERED: TurnSteering = Object.freeze({ choice: undefined, reminder: undefined, proposal: undefined });
const NONE: readonly ProposalRow[] = Object.freeze([]);
const LIMIT = 3;
const REQUEUE = { aborted: "requeue", error: "requeue", not_invoked: "requeue" } as const;
const USER = "user-force";
const PLAN = "plan-mode-decision";

/** Creates the steering of one session. */
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
    clear: () => {
      queue = EMPTY_QUEUE;
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
  if (queued.some(({ label }) => label === USER)) return updated; // a person's directive comes first
  for (const { id } of forcing) {
    if (queued.some(({ proposalId }) => proposalId === id)) continue;
    updated = pushOnce(updated, { tool: "resolve" }, { label: labelOf(id), now: true, onRejected: REQUEUE, proposalId: id });
  }
  return updated;
}

function mustRemind(row: ProposalRow, mode: SteeringMode, newPrompt: boolean): boolean {
  return mode !== "remind-then-force" || row.reminded === 0 || newPrompt;
}

/** Counts a turn that ignored a proposal. The third time, the proposal is parked for a person and the run continues. */
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
