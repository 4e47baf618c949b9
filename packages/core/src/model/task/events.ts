/** How a task ended. */
export type TaskStatus = "completed" | "failed" | "cancelled";

/** What a task has used, as its notice reports it. */
export type TaskUsage = { readonly totalTokens: number; readonly toolUses: number; readonly durationMs: number };

/** A process, identified by pid and start time. */
export type TaskProcess = {
  readonly pid: number;
  readonly pgid: number;
  readonly processStart: string;
  /** A marker in its environment, inherited by its child processes. */
  readonly mark?: string;
  /** Processes started with it in their own groups, such as pipeline stages. */
  readonly others?: readonly Omit<TaskProcess, "others">[];
};

/** The latest process, with all earlier ones as `others`, because each may still be running. */
export function withEarlier(
  { pid, pgid, processStart, mark, others = [] }: TaskProcess,
  before: TaskProcess | null | undefined,
): TaskProcess {
  const process = { pid, pgid, processStart, ...(mark !== undefined && { mark }) };
  if (!before) return others.length > 0 ? { ...process, others } : process;
  const { others: earlier = [], ...last } = before;
  return { ...process, others: [...others, last, ...earlier] };
}

/** What is known of a background command before it begins. */
export type TaskCommand = {
  readonly outputFile: string;
  /** Of its request; null if it only reads. */
  readonly fingerprint: string | null;
};

/** The bodies of task events, on the chain of the session that started the task. */
export type TaskEventBodies = {
  "task.started": {
    readonly task: string;
    /** A definition's name or `fork`; for a command the tool's name. */
    readonly agent: string;
    readonly description: string;
    /** The instructions; for a command its text. */
    readonly prompt: string;
    /** The launching call; null if a person or a host started it. */
    readonly call: string | null;
    /** The agent's own session with its transcript; for a command the session of its call. */
    readonly session: string;
    readonly model: string | null;
    readonly mode: string;
    /** Of the agent definition; null for a fork or a command. */
    readonly digest: string | null;
    /** Set for commands only. */
    readonly command?: TaskCommand;
  };
  /** The command's new process; earlier ones may still be running. */
  "task.process": { readonly task: string } & TaskProcess;
  /** A message to a running agent, delivered as a notice with the same id in the agent's session. */
  "task.message": { readonly task: string; readonly message: string; readonly text: string; readonly by: string };
  /** A stop was requested, so a crash from here on does not restart it. */
  "task.cancelling": { readonly task: string; readonly by: string; readonly reason: string | null };
  /** Not running and not counted. `blocked` says why it cannot continue by itself; null if it can be resumed. */
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
    /** False if its body was still running. */
    readonly settled: boolean;
    /** Who ended it, if it did not end by itself. */
    readonly by: string | null;
    readonly remark?: string;
    /** The fingerprint of a command with an unknown outcome; a person is asked before it runs again. */
    readonly unknown?: string;
  };
};

/** The bodies of schedule events. */
export type ScheduleEventBodies = {
  "schedule.created": {
    readonly schedule: string;
    /** First fire time, ISO 8601 in UTC. */
    readonly due: string;
    /** Null: fires once. */
    readonly everyMs: number | null;
    readonly prompt: string;
    readonly recurring: boolean;
    readonly durable: boolean;
    /** Null: never. */
    readonly expiresAt: string | null;
  };
  /** `missed`: fires skipped since the previous one. */
  "schedule.fired": { readonly schedule: string; readonly due: string; readonly missed: number };
  "schedule.removed": { readonly schedule: string; readonly why: "deleted" | "done" | "expired" | "ended" };
};
