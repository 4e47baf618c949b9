/** How a task ended. */
export type TaskStatus = "completed" | "failed" | "cancelled";

/** What a task has used, as its notice says it. */
export type TaskUsage = { readonly totalTokens: number; readonly toolUses: number; readonly durationMs: number };

/** A process as the system knows it: pid and start time together name it. */
export type TaskProcess = {
  readonly pid: number;
  readonly pgid: number;
  readonly processStart: string;
  /** What is in its environment, and in that of all it starts. */
  readonly mark?: string;
  /** Those that were started together with it, each in a group of its own, as the stages of a pipeline are. */
  readonly others?: readonly Omit<TaskProcess, "others">[];
};

/** The process that was told last, and as its others all that are known besides: of each of them something may still run. */
export function withEarlier(
  { pid, pgid, processStart, mark, others = [] }: TaskProcess,
  before: TaskProcess | null | undefined,
): TaskProcess {
  const told = { pid, pgid, processStart, ...(mark !== undefined && { mark }) };
  if (!before) return others.length > 0 ? { ...told, others } : told;
  const { others: earlier = [], ...last } = before;
  return { ...told, others: [...others, last, ...earlier] };
}

/** What is known of a background command before it begins. */
export type TaskCommand = {
  /** Takes all it writes. */
  readonly outputFile: string;
  /** Of its request; null: it only reads. */
  readonly fingerprint: string | null;
};

/** The bodies of a task's events, on the chain of the session that started it. */
export type TaskEventBodies = {
  "task.started": {
    readonly task: string;
    /** A definition's name, or `fork`; of a command the tool's name. */
    readonly agent: string;
    readonly description: string;
    /** What it was told to do; of a command its text. */
    readonly prompt: string;
    /** The launching call; null where a person or a host started it. */
    readonly call: string | null;
    /** The agent's own session, which holds its transcript; of a command the session of its call. */
    readonly session: string;
    readonly model: string | null;
    readonly mode: string;
    /** Of the definition it was built from; null for a fork and for a command. */
    readonly digest: string | null;
    /** There where it is a command, and no agent. */
    readonly command?: TaskCommand;
  };
  /** What a command runs in from now on; something of the earlier ones may still run. */
  "task.process": { readonly task: string } & TaskProcess;
  /** Something said to a running agent. It is delivered as a notice of the agent's own session, under the same id. */
  "task.message": { readonly task: string; readonly message: string; readonly text: string; readonly by: string };
  /** A stop was requested: a crash from here on does not restart it. */
  "task.cancelling": { readonly task: string; readonly by: string; readonly reason: string | null };
  /** It neither runs nor counts. `blocked`: why it cannot go on by itself; null: it may be resumed. */
  "task.paused": { readonly task: string; readonly reason: "restart" | "approval"; readonly blocked: string | null };
  "task.resumed": { readonly task: string; readonly by: string };
  "task.ended": {
    readonly task: string;
    readonly status: TaskStatus;
    /** The final text, the text so far, or nothing. */
    readonly result: string;
    readonly error: string | null;
    readonly partial: boolean;
    readonly usage: TaskUsage;
    /** False: its body had not come to rest. */
    readonly settled: boolean;
    /** Who ended it, where it did not end by itself. */
    readonly by: string | null;
    readonly remark?: string;
    /** The fingerprint of a command with an unknown outcome: a person is asked before the same runs again. */
    readonly unknown?: string;
  };
};

/** The bodies of a schedule's events. */
export type ScheduleEventBodies = {
  "schedule.created": {
    readonly schedule: string;
    /** When it fires first, ISO 8601 in UTC. */
    readonly due: string;
    /** Milliseconds between fires; null: once. */
    readonly everyMs: number | null;
    readonly prompt: string;
    readonly recurring: boolean;
    readonly durable: boolean;
    /** When it ends by itself; null: never. */
    readonly expiresAt: string | null;
  };
  /** `missed`: how many fires were counted instead of told since the one before. */
  "schedule.fired": { readonly schedule: string; readonly due: string; readonly missed: number };
  "schedule.removed": { readonly schedule: string; readonly why: "deleted" | "done" | "expired" | "ended" };
};
