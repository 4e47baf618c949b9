import type { EventBodies, LedgerEvent } from "@assent/core";

export type TaskResult = {
  readonly task: string;
  /** An agent's report or the end of a command's output, after any error. */
  readonly text: string;
  /** Where a command's full output is. */
  readonly outputFile?: string;
};

/** Background tasks whose end was not reported yet, in order of start. */
export type TaskEnds = readonly (TaskResult & {
  /** The text that reports its end. */
  readonly displayText?: string;
})[];

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

export function taskResultText({ result, error }: Pick<EventBodies["task.ended"], "result" | "error">): string {
  return [error === null ? "" : `Error: ${error}`, result].filter((part) => part !== "").join("\n\n");
}

function changeTask(ends: TaskEnds, task: string, change: Partial<TaskEnds[number]>): TaskEnds {
  return ends.map((end) => (end.task === task ? { ...end, ...change } : end));
}

/** Takes the results that this notice reports. */
export function takeTaskResults(ends: TaskEnds, text: string): { readonly brought: readonly TaskResult[]; readonly rest: TaskEnds } {
  const brought: TaskResult[] = [];
  let rest = ends;
  for (const line of text.split("\n")) {
    const match = rest.find(({ displayText }) => displayText === line);
    if (!match) continue;
    rest = rest.filter((end) => end !== match);
    const { displayText: _displayText, ...result } = match;
    brought.push(result);
  }
  return { brought, rest };
}

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
