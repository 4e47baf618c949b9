/** How a task ended. */
export type TaskStatus = "completed" | "failed" | "cancelled";

/** What a task has used. */
export type TaskUsage = { readonly totalTokens: number; readonly toolUses: number; readonly durationMs: number };

/** A process, identified by pid and start time. */
export type TaskProcess = {
  readonly pid: number;
  readonly pgid: number;
  readonly processStart: string;
  /** An environment variable that child processes inherit. */
  readonly mark?: string;
  /** Processes started with it, such as pipeline stages. */
  readonly others?: readonly Omit<TaskProcess, "others">[];
};

/** The latest process, with all earlier ones as `others`, because they may still run. */
export function withEarlier(
  { pid, pgid, processStart, mark, others = [] }: TaskProcess,
  before: TaskProcess | null | undefined,
): TaskProcess {
  const process = { pid, pgid, processStart, ...(mark !== undefined && { mark }) };
  if (!before) return others.length > 0 ? { ...process, others } : process;
  const { others: earlier = [], ...last } = before;
  return { ...process, others: [...others, last, ...earlier] };
}

/** A background command before it begins. */
export type TaskCommand = {
  readonly outputFile: string;
  /** Null if it only reads. */
  readonly fingerprint: string | null;
};

/** The bodies of task events, on the chain of the session that started the task. */
export type TaskEventBodies = {
  "task.started": {
    readonly task: string;
    /** The definition's name or `fork`; for a command, the tool's name. */
    readonly agent: string;
    readonly description: string;
    readonly prompt: string;
    /** Null if a person or a host started it. */
    readonly call: string | null;
    /** The agent's own session; for a command, the session of its call. */
    readonly session: string;
    readonly model: string | null;
    readonly mode: string;
    /** Of the agent definition; null for a fork or a command. */
    readonly digest: string | null;
    readonly command?: TaskCommand;
  };
  "task.process": { readonly task: string } & TaskProcess;
  /** A message to a running agent, delivered as the notice of the same id. */
  "task.message": { readonly task: string; readonly message: string; readonly text: string; readonly by: string };
  /** A crash after this event does not restart the task. */
  "task.cancelling": { readonly task: string; readonly by: string; readonly reason: string | null };
  /** `blocked`: why it cannot continue by itself; null if it can. */
  "task.paused": { readonly task: string; readonly reason: "restart" | "approval"; readonly blocked: string | null };
  "task.resumed": { readonly task: string; readonly by: string };
  "task.ended": {
    readonly task: string;
    readonly status: TaskStatus;
    /** The final text, or the text so far. */
    readonly result: string;
    readonly error: string | null;
    readonly partial: boolean;
    readonly usage: TaskUsage;
    /** False if its body was still running. */
    readonly settled: boolean;
    /** Null if it ended by itself. */
    readonly by: string | null;
    readonly remark?: string;
    /** The fingerprint of a command with an unknown outcome; a person must approve it before it runs again. */
    readonly unknown?: string;
  };
};

/** The bodies of schedule events. */
export type ScheduleEventBodies = {
  "schedule.created": {
    readonly schedule: string;
    readonly due: string;
    /** Null: fires once. */
    readonly everyMs: number | null;
    readonly prompt: string;
    readonly recurring: boolean;
    readonly durable: boolean;
    readonly expiresAt: string | null;
  };
  /** `missed`: times skipped since the previous one. */
  "schedule.fired": { readonly schedule: string; readonly due: string; readonly missed: number };
  "schedule.removed": { readonly schedule: string; readonly why: "deleted" | "done" | "expired" | "ended" };
};
