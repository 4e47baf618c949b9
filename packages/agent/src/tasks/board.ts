import {
  type Hooks,
  messageOf,
  type Processes,
  type Session,
  type Subscription,
  type TaskCommand,
  type TaskProcess,
  type TaskStatus,
  type TaskUsage,
  ToolError,
} from "@assent/core";
import type { LoadedAgent } from "../agents/load.ts";
import type { ConversationDeps } from "../loop/conversation-state.ts";
import { asFork } from "./fork.ts";
import type { AgentHost, AgentNode, OpenedAgent } from "./open-agent.ts";
import type { AgentProgress } from "./progress.ts";

/** An agent or background command, as others see it. */
export type TaskView = {
  readonly id: string;
  /** The agent's name, or `shell` for a command. */
  readonly agent: string;
  readonly description: string;
  readonly callId: string | null;
  /** The session with its transcript; for a command, the session of its call. */
  readonly session: string;
  readonly status: "running" | "cancelling" | "paused" | TaskStatus;
  /** Its call waits for it, so there is no notice. */
  readonly foreground: boolean;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly model: string | null;
  readonly mode: string;
  readonly usage: TaskUsage;
  /** For a paused task: whether it can be resumed, and why not. */
  readonly resumable?: boolean;
  readonly blockedReason?: string;
  /** For a command: the file with its whole output. */
  readonly outputFile?: string;
};

/** An event about a task. */
export type TaskEvent = {
  readonly type: "task_started" | "task_notification" | "task_paused";
  readonly task: TaskView;
  readonly summary?: string;
  readonly reason?: string;
};

/** Why a request about a task was refused. */
export type TaskRefusal = { readonly type: string; readonly message: string };

/** What the tasks of a session need. */
export type TasksDeps = AgentHost & {
  readonly session: Session;
  /** The dependencies of the main conversation. */
  readonly conversationDeps: () => ConversationDeps;
  readonly definitions: () => readonly LoadedAgent[];
  readonly hooks?: Hooks;
  readonly maxRunning: () => number;
  /** Ends leftover processes of commands. Without it they are only reported. */
  readonly processes?: Pick<Processes, "endLeftOver" | "endWithUs">;
  readonly wake: () => void;
  /** True if a directory exists. Default: true. */
  readonly isDirectory?: (path: string) => boolean;
  readonly observe?: (event: TaskEvent) => void;
  readonly warn?: (message: string) => void;
};

export type TaskEntry = Omit<TaskView, "usage" | "status" | "endedAt" | "resumable" | "blockedReason" | "outputFile"> & {
  /** Set for a command, which has no session of its own and takes no messages. */
  readonly command: TaskCommand | undefined;
  readonly prompt: string;
  readonly maxTurns: number | undefined;
  readonly maxTimeMs: number | undefined;
  readonly insideFork: boolean;
  status: TaskView["status"];
  endedAt: string | undefined;
  /** Why it is paused and cannot be resumed; null if it can. */
  blocked: string | null;
  progress: AgentProgress;
  /** Set once the agent is built in this process. */
  opened: OpenedAgent | undefined;
  readonly controller: AbortController;
  /** Set while it waits for an answer. */
  watching: Subscription | undefined;
  isRunning: boolean;
  /** Set by `endTask` before anything else. */
  ended: boolean;
  /** It has received every message and is about to end. */
  finishing: boolean;
  /** Serializes the records about it. */
  writing: Promise<unknown>;
  readonly completion: PromiseWithResolvers<void>;
};

/** All agents and background commands of a session. */
export type TaskBoard = {
  readonly deps: TasksDeps;
  readonly main: AgentNode;
  readonly entries: Map<string, TaskEntry>;
  /** Agents that can start other agents, by session. */
  readonly nodes: Map<string, AgentNode>;
  readonly ids: Set<string>;
  reserved: number;
  /** Set if the end of a task could not be stored. */
  failure: { readonly error: unknown } | undefined;
  readonly waiting: Set<() => void>;
  /** Closes sessions of ended agents that the store did not accept at once. */
  readonly unclosed: Set<() => Promise<void>>;
  /** Ended commands whose processes may still run. */
  readonly leftovers: { readonly process: TaskProcess; readonly released: () => void }[];
};

const KEPT_ENDED = 32;
const ENDED: readonly TaskView["status"][] = ["completed", "failed", "cancelled"];

export function viewTask({ deps }: TaskBoard, entry: TaskEntry): TaskView {
  const { id, agent, description, callId, session, status, foreground, startedAt, endedAt, model, mode, blocked, progress, command } =
    entry;
  const until = endedAt === undefined ? deps.clock.now() : Date.parse(endedAt);
  return {
    ...{ id, agent, description, callId, session, status, foreground, startedAt, model, mode },
    ...(endedAt !== undefined && { endedAt }),
    usage: progress.usage(Math.max(0, until - Date.parse(startedAt))),
    ...(status === "paused" && { resumable: blocked === null || blocked === "approval" }),
    ...(status === "paused" && blocked !== null && { blockedReason: blocked }),
    ...(command && { outputFile: command.outputFile }),
  };
}

export function addTask(
  board: TaskBoard,
  about: Omit<
    TaskEntry,
    "status" | "endedAt" | "blocked" | "controller" | "watching" | "isRunning" | "ended" | "finishing" | "writing" | "completion"
  >,
): TaskEntry {
  const over = Promise.withResolvers<void>();
  over.promise.catch(() => undefined); // callers that wait get the rejection
  const entry: TaskEntry = {
    ...about,
    status: "running",
    endedAt: undefined,
    blocked: null,
    controller: new AbortController(),
    watching: undefined,
    isRunning: false,
    ended: false,
    finishing: false,
    writing: Promise.resolve(),
    completion: over,
  };
  board.entries.set(entry.id, entry);
  board.ids.add(entry.id);
  return entry;
}

/** Background tasks that run or are being cancelled. */
export function listRunning({ entries }: TaskBoard): readonly TaskEntry[] {
  return [...entries.values()].filter(({ foreground, status }) => !foreground && (status === "running" || status === "cancelling"));
}

export function notifyWaiting(board: TaskBoard): void {
  for (const look of [...board.waiting]) look();
}

/** Removes the oldest tasks that have ended and whose notice was delivered. */
export function pruneEnded({ entries, deps }: TaskBoard): void {
  const ended = [...entries.values()].filter(({ status }) => ENDED.includes(status));
  const undelivered = new Set([...deps.session.state.notices.values()].map(({ task }) => task));
  const delivered = ended.filter(({ id }) => !undelivered.has(id));
  for (const { id } of delivered.slice(0, Math.max(0, ended.length - KEPT_ENDED))) entries.delete(id);
}

/** All tasks that have not ended and the newest ended ones, oldest first. */
export function listTasks(board: TaskBoard): readonly TaskView[] {
  pruneEnded(board);
  return [...board.entries.values()].map((entry) => viewTask(board, entry));
}

/** Records something about a task, in order. Returns false if the task has ended. */
export async function writeInOrder(entry: TaskEntry, write: () => Promise<unknown>): Promise<boolean> {
  const done = entry.writing.then(async () => {
    if (entry.ended) return false;
    await write();
    return true;
  });
  entry.writing = done.catch(() => undefined);
  return await done;
}

/** Calls `observe`. An observer that throws only causes a warning. */
export function emitTaskEvent(board: TaskBoard, event: TaskEvent): void {
  try {
    board.deps.observe?.(event);
  } catch (error) {
    board.deps.warn?.(`an observer of tasks failed: ${messageOf(error)}`);
  }
}

/** Wakes the main conversation, outside of any fork. */
export function wakeConversation({ deps }: TaskBoard): void {
  asFork(false, deps.wake);
}

const USABLE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Reserves a slot. The returned function releases it. */
export function reserveSlot(board: TaskBoard): () => void {
  const most = board.deps.maxRunning();
  if (listRunning(board).length + board.reserved >= most) {
    const text = `${most} background tasks are already running. Wait for one to end, stop one, or run in the foreground.`;
    throw new ToolError(text, "task_limit");
  }
  board.reserved += 1;
  return () => {
    board.reserved -= 1;
    notifyWaiting(board);
  };
}

/** Chooses an id: after the call if possible, otherwise random. */
export function chooseTaskId({ ids, deps }: TaskBoard, callId: string): string {
  const named = `t_${callId}`;
  const id = USABLE_ID.test(callId) && !ids.has(named) ? named : deps.ids.next("t_");
  ids.add(id);
  return id;
}

/** Background tasks must not start others. */
export function refuseInTask(background: boolean): void {
  if (background) throw new ToolError("A background task cannot start background tasks.", "task_nested");
}
