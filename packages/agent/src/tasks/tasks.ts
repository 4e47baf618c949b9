import type { BackgroundCommands, RuntimeHandler } from "@assent/core";
import type { Conversation } from "../loop/conversation.ts";
import { listTasks, runningOf, type TaskBoard, type TaskRefusal, type TasksDeps, type TaskView, viewOf } from "./board.ts";
import { closeLeftAgents } from "./close-agent.ts";
import { endRemains, startCommand } from "./commands.ts";
import { taskHandlers } from "./handlers.ts";
import type { AgentNode } from "./open-agent.ts";
import { type Restoring, reconsiderTasks, restoreTasks } from "./restore.ts";
import { type Releasing, releaseTask, resumeTask } from "./resume.ts";
import { sendToTask } from "./send.ts";
import { cancelTask, parkTask } from "./stop-task.ts";

/** The agents of one root session, those in the background and those that calls wait for, and its background commands. */
export type Tasks = {
  /** Oldest first: all that have not ended, and the newest of those that have. */
  readonly list: () => readonly TaskView[];
  readonly get: (id: string) => TaskView | undefined;
  /** The texts of an agent, or what a command wrote, the last 1 MiB of them. */
  readonly output: (id: string) => string | undefined;
  /** How many tasks run; paused ones do not. */
  readonly running: () => number;
  /** Resolves when none runs. Rejects when the end of one could not be stored. */
  readonly idle: () => Promise<void>;
  /** Resolves when the wish is on record; `idle` when it is done. */
  readonly cancel: (id: string, by: string, reason?: string) => Promise<TaskRefusal | undefined>;
  /** Ends all that run, at once; resolves when each has its notice, after at most 5 s. */
  readonly cancelAll: (by: string) => Promise<void>;
  /** Pauses the agents that wait for a person, for a later process, and ends all others. */
  readonly parkAll: (by: string) => Promise<void>;
  readonly send: (id: string, text: string, by: string) => Promise<TaskRefusal | undefined>;
  /** After a restart, before the first call. */
  readonly restore: (how?: Restoring) => Promise<void>;
  /** There are other definitions than before: what was blocked for the want of its own may go on. */
  readonly reconsider: () => Promise<void>;
  /** A person has looked at what a blocked task may have done: it may go on, and hears what they say of it. */
  readonly release: (id: string, releasing: Releasing) => Promise<TaskRefusal | undefined>;
  readonly resume: (id: string, by: string) => Promise<TaskRefusal | undefined>;
  /** The main conversation, once there is one: a fork begins with it. */
  readonly attend: (conversation: Conversation) => void;
  /** Lets a command of a call go on behind it. */
  readonly commands: BackgroundCommands;
  /** The bodies of the model's own tools. */
  readonly handlers: Readonly<Record<string, RuntimeHandler>>;
};

/** The registry of a root session. */
export function createTasks(deps: TasksDeps): Tasks {
  const { session } = deps;
  let conversation: Conversation | undefined;
  const main: AgentNode = { session, path: ["main"], above: [], background: false, talk: deps.talk, conversation: () => conversation };
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
    remains: [],
  };
  session.onClose(() => closePaused(board));
  session.onClose(() => endRemains(board));
  session.onClose(() => closeLeftAgents(board));
  const cancel: Tasks["cancel"] = (id, by, reason) => cancelTask(board, id, { by, reason });
  return {
    list: () => listTasks(board),
    get: (id) => {
      const entry = board.entries.get(id);
      return entry && viewOf(board, entry);
    },
    output: (id) => board.entries.get(id)?.progress.output(),
    running: () => underWay(board),
    idle: () => idle(board),
    cancel,
    cancelAll: async (by) => {
      const all = runningOf(board);
      await Promise.all(all.map(async ({ id, over }) => ((await cancel(id, by)) ? undefined : await over.promise)));
    },
    parkAll: async (by) => {
      await Promise.all(
        runningOf(board).map(async (entry) => {
          if (await parkTask(board, entry)) return;
          if (!(await cancel(entry.id, by))) await entry.over.promise;
        }),
      );
    },
    send: (id, text, by) => sendToTask(board, id, { text, by }),
    restore: (how) => restoreTasks(board, how),
    reconsider: () => reconsiderTasks(board),
    release: (id, releasing) => releaseTask(board, id, releasing),
    resume: async (id, by) => {
      const entry = board.entries.get(id);
      return entry ? await resumeTask(board, entry, by) : { type: "task_stop_not_found", message: `No task "${id}".` };
    },
    attend: (talk) => {
      conversation = talk;
    },
    commands: { start: (launch, signal) => startCommand(board, launch, signal) },
    handlers: taskHandlers(board),
  };
}

/** Those that run, and those that are being started. */
function underWay(board: TaskBoard): number {
  return runningOf(board).length + board.reserved;
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

/** The process ends: those that wait for a person are closed as they are, and go on in a later one. */
async function closePaused({ entries }: TaskBoard): Promise<void> {
  for (const { status, opened, watching } of entries.values()) {
    if (status !== "paused" || !opened) continue;
    watching?.close();
    await opened.close("parked", 75);
  }
}
