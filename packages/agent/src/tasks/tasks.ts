import type { BackgroundCommands, RuntimeHandler } from "@assent/core";
import type { Conversation } from "../loop/conversation.ts";
import { listRunning, listTasks, type TaskBoard, type TaskRefusal, type TasksDeps, type TaskView, viewTask } from "./board.ts";
import { closeLeftAgents } from "./close-agent.ts";
import { endLeftovers, startCommand } from "./commands.ts";
import { taskHandlers } from "./handlers.ts";
import type { AgentNode } from "./open-agent.ts";
import { type RestoreOptions, recheckBlockedTasks, restoreTasks } from "./restore.ts";
import { releaseTask, resumeTask, type TaskRelease } from "./resume.ts";
import { sendToTask } from "./send.ts";
import { cancelTask, parkTask } from "./stop-task.ts";

/** The agents and background commands of a session. */
export type Tasks = {
  /** Oldest first: all active tasks, and the newest ended ones. */
  readonly list: () => readonly TaskView[];
  readonly get: (id: string) => TaskView | undefined;
  /** The texts of an agent or the output of a command, at most the last 1 MiB. */
  readonly output: (id: string) => string | undefined;
  /** How many tasks run. Paused ones do not count. */
  readonly running: () => number;
  /** Resolves when none runs. Rejects if an end could not be stored. */
  readonly idle: () => Promise<void>;
  /** Resolves when the request is recorded. */
  readonly cancel: (id: string, by: string, reason?: string) => Promise<TaskRefusal | undefined>;
  /** Cancels all tasks. Resolves when each has its notice, after at most 5 s. */
  readonly cancelAll: (by: string) => Promise<void>;
  /** Pauses agents that wait for a person, and cancels all others. */
  readonly parkAll: (by: string) => Promise<void>;
  readonly send: (id: string, text: string, by: string) => Promise<TaskRefusal | undefined>;
  /** Call after a restart, before the first call. */
  readonly restore: (how?: RestoreOptions) => Promise<void>;
  /** Call when definitions changed: resumes tasks that were blocked by that. */
  readonly recheckBlocked: () => Promise<void>;
  /** Releases a task that was blocked by a call with an unknown outcome. */
  readonly release: (id: string, releasing: TaskRelease) => Promise<TaskRefusal | undefined>;
  readonly resume: (id: string, by: string) => Promise<TaskRefusal | undefined>;
  /** Sets the main conversation, which forks start from. */
  readonly setConversation: (conversation: Conversation) => void;
  /** Runs commands in the background. */
  readonly commands: BackgroundCommands;
  /** Implements the model's task tools. */
  readonly handlers: Readonly<Record<string, RuntimeHandler>>;
};

/** Creates the tasks of a session. */
export function createTasks(deps: TasksDeps): Tasks {
  const { session } = deps;
  let conversation: Conversation | undefined;
  const main: AgentNode = {
    session,
    path: ["main"],
    above: [],
    background: false,
    conversationDeps: deps.conversationDeps,
    conversation: () => conversation,
  };
  const board: TaskBoard = {
    deps,
    main,
    entries: new Map(),
    nodes: new Map([[session.id, main]]),
    ids: new Set(),
    reserved: 0,
    failure: undefined,
    waiting: new Set(),
    unclosed: new Set(),
    leftovers: [],
  };
  session.onClose(() => closePaused(board));
  session.onClose(() => endLeftovers(board));
  session.onClose(() => closeLeftAgents(board));
  const cancel: Tasks["cancel"] = (id, by, reason) => cancelTask(board, id, by, reason);
  return {
    list: () => listTasks(board),
    get: (id) => {
      const entry = board.entries.get(id);
      return entry && viewTask(board, entry);
    },
    output: (id) => board.entries.get(id)?.progress.output(),
    running: () => underWay(board),
    idle: () => idle(board),
    cancel,
    cancelAll: async (by) => {
      const all = listRunning(board);
      await Promise.all(all.map(async ({ id, completion }) => ((await cancel(id, by)) ? undefined : await completion.promise)));
    },
    parkAll: async (by) => {
      await Promise.all(
        listRunning(board).map(async (entry) => {
          if (await parkTask(board, entry)) return;
          if (!(await cancel(entry.id, by))) await entry.completion.promise;
        }),
      );
    },
    send: (id, text, by) => sendToTask(board, id, text, by),
    restore: (how) => restoreTasks(board, how),
    recheckBlocked: () => recheckBlockedTasks(board),
    release: (id, releasing) => releaseTask(board, id, releasing),
    resume: async (id, by) => {
      const entry = board.entries.get(id);
      return entry ? await resumeTask(board, entry, by) : { type: "task_stop_not_found", message: `No task "${id}".` };
    },
    setConversation: (talk) => {
      conversation = talk;
    },
    commands: { start: (launch, signal) => startCommand(board, launch, signal) },
    handlers: taskHandlers(board),
  };
}

/** Running tasks and those being started. */
function underWay(board: TaskBoard): number {
  return listRunning(board).length + board.reserved;
}

function idle(board: TaskBoard): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (!board.failure && underWay(board) > 0) return;
      board.waiting.delete(look);
      if (board.failure) reject(board.failure.error);
      else resolve();
    };
    board.waiting.add(look);
    look();
  });
}

/** Closes paused agents so that a later process can resume them. */
async function closePaused({ entries }: TaskBoard): Promise<void> {
  for (const { status, opened, watching } of entries.values()) {
    if (status !== "paused" || !opened) continue;
    watching?.close();
    await opened.close("parked", 75);
  }
}
