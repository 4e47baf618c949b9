/** What the model may choose in one turn. */
export type Choice = "auto" | "none" | "required" | { readonly tool: string };

/** Why a choice was not served. */
export type RejectReason = "aborted" | "error" | "cleared" | "removed" | "unavailable" | "not_invoked";

/** What happens to a rejected choice. */
export type OnReject = "requeue" | "drop" | "drop_sequence";

/** Forces or removes the model's choice of tool, one choice per turn. */
export type Directive = {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly onRejected: OnReject | Partial<Record<RejectReason, OnReject>>;
  readonly proposalId?: string;
  readonly requeued: number;
  /** The push it came from. */
  readonly sequence: number;
};

/** An immutable queue of directives. */
export type ToolChoiceQueue = {
  readonly entries: readonly Directive[];
  readonly inFlight?: InFlight;
  readonly lastServed?: string;
  readonly pushed: number;
};

type InFlight = { readonly directive: Directive; readonly choice: Choice; readonly invoked: boolean };

/** Options of a push. */
export type PushOptions = {
  readonly label?: string;
  /** Put it before all others, even before the rest of a sequence. */
  readonly now?: boolean;
  readonly onRejected?: Directive["onRejected"];
  readonly proposalId?: string;
};

/** The empty queue. */
export const EMPTY_QUEUE: ToolChoiceQueue = Object.freeze({ entries: Object.freeze([]), pushed: 0 });

/** Adds a directive; without choices, nothing changes. */
export function push(
  queue: ToolChoiceQueue,
  { choices, ...options }: PushOptions & { readonly choices: readonly Choice[] },
): ToolChoiceQueue {
  if (choices.length === 0) return queue;
  const { label = "anonymous", now = false, onRejected = "drop", proposalId } = options;
  const directive: Directive = {
    label,
    choices: [...choices],
    onRejected,
    ...(proposalId !== undefined && { proposalId }),
    requeued: 0,
    sequence: queue.pushed,
  };
  const entries = now ? [directive, ...queue.entries] : [...queue.entries, directive];
  return { ...queue, entries, pushed: queue.pushed + 1 };
}

/** Queues one choice for one turn. */
export function pushOnce(queue: ToolChoiceQueue, choice: Choice, options: PushOptions = {}): ToolChoiceQueue {
  return push(queue, { ...options, choices: [choice] });
}

/** Queues one choice per turn, in order. */
export function pushSequence(queue: ToolChoiceQueue, choices: readonly Choice[], options: PushOptions = {}): ToolChoiceQueue {
  return push(queue, { ...options, choices });
}

/** A queue and the choice it serves. */
export type ServedChoice = { readonly queue: ToolChoiceQueue; readonly choice: Choice | undefined };

/** Serves one choice until it is settled. An inactive tool is dropped with the rest of its sequence; without `active`, all are active. */
export function next(queue: ToolChoiceQueue, { active }: { readonly active?: readonly string[] } = {}): ServedChoice {
  if (queue.inFlight) return { queue, choice: queue.inFlight.choice };
  let { entries } = queue;
  for (let [first] = entries; first; [first] = entries) {
    const [choice, ...rest] = first.choices;
    if (choice !== undefined && isActive(choice, active)) {
      const left = rest.length > 0 ? [{ ...first, choices: rest, requeued: 0 }, ...entries.slice(1)] : entries.slice(1);
      return { queue: { ...queue, entries: left, inFlight: { directive: first, choice, invoked: false } }, choice };
    }
    entries = withoutSequence(entries, first.sequence);
  }
  return { queue: entries === queue.entries ? queue : { ...queue, entries }, choice: undefined };
}

function isActive(choice: Choice, active: readonly string[] | undefined): boolean {
  return typeof choice === "string" || active === undefined || active.includes(choice.tool);
}

function withoutSequence(entries: readonly Directive[], sequence: number): readonly Directive[] {
  return entries.filter((entry) => entry.sequence !== sequence);
}

/** Records that the model called the forced tool. */
export function markInvoked(queue: ToolChoiceQueue): ToolChoiceQueue {
  return queue.inFlight ? { ...queue, inFlight: { ...queue.inFlight, invoked: true } } : queue;
}

/** Ends the turn; a named tool that was not called is rejected as `not_invoked`. */
export function resolve(queue: ToolChoiceQueue): ToolChoiceQueue {
  if (!queue.inFlight) return queue;
  const { inFlight, ...rest } = queue;
  if (typeof inFlight.choice !== "string" && !inFlight.invoked) return reject(queue, "not_invoked");
  return { ...rest, lastServed: inFlight.directive.label };
}

const NEVER_AGAIN: readonly RejectReason[] = ["removed", "cleared", "unavailable"];

/** Rejects the served choice; its directive says what happens next. */
export function reject(queue: ToolChoiceQueue, reason: RejectReason): ToolChoiceQueue {
  const { inFlight, ...rest } = queue;
  if (!inFlight) return queue;
  const { directive, choice } = inFlight;
  const said = typeof directive.onRejected === "string" ? directive.onRejected : (directive.onRejected[reason] ?? "drop");
  if (said === "drop_sequence" || reason === "unavailable") return { ...rest, entries: withoutSequence(rest.entries, directive.sequence) };
  if (said === "drop" || NEVER_AGAIN.includes(reason)) return rest;
  return { ...rest, entries: [{ ...directive, choices: [choice], requeued: directive.requeued + 1 }, ...rest.entries] };
}

/** Removes all choices with this label, also the served one. */
export function removeByLabel(queue: ToolChoiceQueue, label: string): ToolChoiceQueue {
  const settled = queue.inFlight?.directive.label === label ? reject(queue, "removed") : queue;
  if (settled === queue && !queue.entries.some((entry) => entry.label === label)) return queue;
  return { ...settled, entries: settled.entries.filter((entry) => entry.label !== label) };
}

/** Removes every directive. */
export function clear({ pushed }: ToolChoiceQueue): ToolChoiceQueue {
  return { entries: [], pushed };
}

/** A queue as shown to a person. */
export type QueueView = {
  readonly inFlight?: { readonly label: string; readonly choice: Choice };
  readonly queued: readonly Pick<Directive, "label" | "choices" | "requeued">[];
};

/** Describes the queue for a person. */
export function inspect({ inFlight, entries }: ToolChoiceQueue): QueueView {
  const queued = entries.map(({ label, choices, requeued }) => ({ label, choices, requeued }));
  return inFlight ? { inFlight: { label: inFlight.directive.label, choice: inFlight.choice }, queued } : { queued };
}

/** Returns the label served last, once. */
export function consumeLastServedLabel(queue: ToolChoiceQueue): { readonly queue: ToolChoiceQueue; readonly label: string | undefined } {
  const { lastServed, ...rest } = queue;
  return { queue: lastServed === undefined ? queue : rest, label: lastServed };
}
