import {
  type Hooks,
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
import type { Progress } from "./progress.ts";

/** An agent or a background command of a session, as it stands now. */
export type TaskView = {
  readonly id: string;
  /** An agent's name, or `shell` of a command. */
  readonly agent: string;
  readonly description: string;
  readonly callId: string | null;
  /** The session that holds its transcript; of a command the one of its call. */
  readonly session: string;
  readonly status: "running" | "cancelling" | "paused" | TaskStatus;
  /** Its call waits for it; nobody is told of its end. */
  readonly foreground: boolean;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly model: string | null;
  readonly mode: string;
  readonly usage: TaskUsage;
  /** Of one that is paused: whether somebody may let it go on, and why not. */
  readonly resumable?: boolean;
  readonly blockedReason?: string;
  /** Of a command: where all it writes is. */
  readonly outputFile?: string;
};

/** What is heard of tasks. */
export type TaskEvent = {
  readonly type: "task_started" | "task_notification" | "task_paused";
  readonly task: TaskView;
  readonly summary?: string;
  readonly reason?: string;
};

/** Why nothing was done about a task. */
export type TaskRefusal = { readonly type: string; readonly message: string };

/** What the agents of one root session stand on. */
export type TasksDeps = AgentHost & {
  readonly session: Session;
  /** What the main conversation stands on. */
  readonly talk: () => ConversationDeps;
  readonly definitions: () => readonly LoadedAgent[];
  readonly hooks?: Hooks;
  readonly maxRunning: () => number;
  /** Ends what commands left running; absent: that is only told. */
  readonly processes?: Pick<Processes, "endLeftOver" | "endWithUs">;
  /** A notice is queued. */
  readonly wake: () => void;
  /** Whether a directory is there; absent: it is. */
  readonly isDirectory?: (path: string) => boolean;
  readonly observe?: (event: TaskEvent) => void;
  readonly warn?: (message: string) => void;
};

/** One agent or command in the registry. */
export type TaskEntry = Omit<TaskView, "usage" | "status" | "endedAt" | "resumable" | "blockedReason" | "outputFile"> & {
  /** Undefined: an agent. A command has no session of its own, asks nobody and cannot be spoken to. */
  readonly command: TaskCommand | undefined;
  readonly prompt: string;
  readonly maxTurns: number | undefined;
  readonly maxTimeMs: number | undefined;
  readonly insideFork: boolean;
  status: TaskView["status"];
  endedAt: string | undefined;
  /** Why it is paused and cannot go on by itself; null: somebody may let it go on. */
  blocked: string | null;
  progress: Progress;
  /** Built in this process. */
  opened: OpenedAgent | undefined;
  readonly controller: AbortController;
  /** While it waits for an answer. */
  watching: Subscription | undefined;
  /** Its body runs: whoever ends it waits for that. */
  hasBody: boolean;
  /** Set by the one way out, before anything else. */
  ended: boolean;
  /** It has heard everything that was said to it, and has nothing more to say. */
  finishing: boolean;
  /** What is written about it on the root's chain, one after the other. */
  writing: Promise<unknown>;
  /** Settles with its end. */
  readonly over: PromiseWithResolvers<void>;
};

/** The registry: the agents and background commands of one root session. */
export type TaskBoard = {
  readonly deps: TasksDeps;
  readonly main: AgentNode;
  readonly entries: Map<string, TaskEntry>;
  /** Agents that can start others, by session. */
  readonly nodes: Map<string, AgentNode>;
  /** Every id that was ever given. */
  readonly ids: Set<string>;
  reserved: number;
  /** Set when an end could not be stored. */
  failure: { readonly error: unknown } | undefined;
  readonly waiting: Set<() => void>;
  /** Closes sessions of agents that are over, where the store did not take that at once. */
  readonly unclosed: Set<() => Promise<void>>;
  /** Commands that have ended: something of them may still run. */
  readonly remains: { readonly process: TaskProcess; readonly released: () => void }[];
};

const KEPT_ENDED = 32;
const ENDED: readonly TaskView["status"][] = ["completed", "failed", "cancelled"];

/** The entry as others see it. */
export function viewOf({ deps }: TaskBoard, entry: TaskEntry): TaskView {
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

/** A new entry, running. */
export function enter(
  board: TaskBoard,
  about: Omit<
    TaskEntry,
    "status" | "endedAt" | "blocked" | "controller" | "watching" | "hasBody" | "ended" | "finishing" | "writing" | "over"
  >,
): TaskEntry {
  const over = Promise.withResolvers<void>();
  over.promise.catch(() => undefined); // who waits hears of it; nobody must
  const entry: TaskEntry = {
    ...about,
    status: "running",
    endedAt: undefined,
    blocked: null,
    controller: new AbortController(),
    watching: undefined,
    hasBody: false,
    ended: false,
    finishing: false,
    writing: Promise.resolve(),
    over,
  };
  board.entries.set(entry.id, entry);
  board.ids.add(entry.id);
  return entry;
}

/** Tasks that run, or are being ended. */
export function runningOf({ entries }: TaskBoard): readonly TaskEntry[] {
  return [...entries.values()].filter(({ foreground, status }) => !foreground && (status === "running" || status === "cancelling"));
}

/** Something about an entry changed: whoever waits looks again. */
export function changed(board: TaskBoard): void {
  for (const look of [...board.waiting]) look();
}

/** Forgets the oldest of those that have ended and been told. */
export function prune({ entries, deps }: TaskBoard): void {
  const over = [...entries.values()].filter(({ status }) => ENDED.includes(status));
  const untold = new Set([...deps.session.state.notices.values()].map(({ task }) => task));
  const told = over.filter(({ id }) => !untold.has(id));
  for (const { id } of told.slice(0, Math.max(0, over.length - KEPT_ENDED))) entries.delete(id);
}

/** All tasks that have not ended, and the newest of those that have; oldest first. */
export function listTasks(board: TaskBoard): readonly TaskView[] {
  prune(board);
  return [...board.entries.values()].map((entry) => viewOf(board, entry));
}

/** Writes about a task one thing after the other, and nothing once it has ended. False: it had. */
export async function writeInOrder(entry: TaskEntry, write: () => Promise<unknown>): Promise<boolean> {
  const done = entry.writing.then(async () => {
    if (entry.ended) return false;
    await write();
    return true;
  });
  entry.writing = done.catch(() => undefined);
  return await done;
}

/** Tells whoever looks on; one that throws is said and skipped. */
export function tell(board: TaskBoard, event: TaskEvent): void {
  try {
    board.deps.observe?.(event);
  } catch (error) {
    board.deps.warn?.(`an observer of tasks failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Wakes the main conversation; what it does then is nobody's fork's work. */
export function wake({ deps }: TaskBoard): void {
  asFork(false, deps.wake);
}

const USABLE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Takes a slot before anything else; the returned function gives it back, once the task itself is in the registry or nothing came of it. */
export function reserve(board: TaskBoard): () => void {
  const most = board.deps.maxRunning();
  if (runningOf(board).length + board.reserved >= most) {
    const text = `${most} background tasks are already running. Wait for one to end, stop one, or run in the foreground.`;
    throw new ToolError(text, "task_limit");
  }
  board.reserved += 1;
  return () => {
    board.reserved -= 1;
    changed(board);
  };
}

/** After the launching call where that can be a name and is free, else at random: never after the clock. From now on it is taken. */
export function takeId({ ids, deps }: TaskBoard, callId: string): string {
  const named = `t_${callId}`;
  const id = USABLE_ID.test(callId) && !ids.has(named) ? named : deps.ids.next("t_");
  ids.add(id);
  return id;
}

/** What is started in a task must not outlive it unseen. */
export function refuseInTask(background: boolean): void {
  if (background) throw new ToolError("A background task cannot start background tasks.", "task_nested");
}
