import type { EventBodies, LedgerEvent } from "@assent/core";

/** What a background task came back with. */
export type TaskResult = {
  readonly task: string;
  /** An agent's report, or the end of what a command wrote; what went wrong stands before it. */
  readonly text: string;
  /** Of a command: where all it wrote is. */
  readonly outputFile?: string;
};

/** Background tasks whose end has not been told yet, in the order in which they began. */
export type TaskEnds = readonly (TaskResult & {
  /** What people are told of its end, once it is to be told. */
  readonly displayText?: string;
})[];

/** After something about a task came on record. */
export function applyTaskEvent(ends: TaskEnds, event: LedgerEvent): TaskEnds {
  switch (event.type) {
    case "task.started": {
      const { task, command } = event.body;
      return [...ends.filter((end) => end.task !== task), { task, text: "", ...(command && { outputFile: command.outputFile }) }];
    }
    case "task.ended":
      return changeTask(ends, event.body.task, { text: taskResultText(event.body) });
    case "notice.queued": {
      const { task, displayText } = event.body;
      return task === undefined ? ends : changeTask(ends, task, { displayText });
    }
    default:
      return ends;
  }
}

/** What a task came back with, in one text. */
export function taskResultText({ result, error }: Pick<EventBodies["task.ended"], "result" | "error">): string {
  return [error === null ? "" : `Error: ${error}`, result].filter((part) => part !== "").join("\n\n");
}

function changeTask(ends: TaskEnds, task: string, change: Partial<TaskEnds[number]>): TaskEnds {
  return ends.map((end) => (end.task === task ? { ...end, ...change } : end));
}

/** What the tasks brought whose end this text tells, line by line, and the ends that are still to be told. */
export function takeTaskResults(ends: TaskEnds, text: string): { readonly brought: readonly TaskResult[]; readonly rest: TaskEnds } {
  const brought: TaskResult[] = [];
  let rest = ends;
  for (const line of text.split("\n")) {
    const told = rest.find(({ displayText }) => displayText === line);
    if (!told) continue;
    rest = rest.filter((end) => end !== told);
    const { displayText: _told, ...what } = told;
    brought.push(what);
  }
  return { brought, rest };
}

/** Why a background agent is paused, in words. */
export function describePause(reason: string): string {
  return PAUSED[reason] ?? reason;
}

const PAUSED: Readonly<Record<string, string>> = {
  approval: "it needs an answer",
  restart: "Assent was restarted",
  transcript_missing: "its conversation is missing",
  cwd_missing: "its directory no longer exists",
  agent_changed: "its definition changed",
  fork_history_missing: "the conversation it was forked from is missing",
  execution_unknown: "a call may or may not have run",
};
