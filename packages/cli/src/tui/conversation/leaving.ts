import type { TaskView } from "@assent/agent";
import type { Context } from "../../command-line/spec.ts";
import { type WaitingItem, waitingText } from "../../desk/approvals/waiting-list.ts";
import { oneLine } from "../../io/visible-text.ts";
import { storeFlag } from "../../store/location.ts";

export function endingTasks(tasks: readonly TaskView[]): readonly TaskView[] {
  return tasks.filter(({ status, foreground }) => !foreground && (status === "running" || status === "cancelling"));
}

type NamedTask = Pick<TaskView, "id" | "agent" | "description" | "outputFile">;

export function describeTask({ id, agent, description, outputFile }: NamedTask): string {
  return `${outputFile === undefined ? `${oneLine(agent)}: ` : ""}${oneLine(description)} (${id})`;
}

/** Leaves on the second request if background tasks would end. */
export type LeaveControl = {
  readonly leave: () => void;
  /** Something else happened in between. */
  readonly stay: () => void;
};

/** Warns before leaving ends background tasks. */
export function confirmLeaving(parts: {
  readonly tasks: () => readonly TaskView[];
  readonly hint: (text: string) => void;
  readonly leave: () => void;
}): LeaveControl {
  let warned = "";
  return {
    leave: () => {
      const words = endingTasks(parts.tasks()).map(describeTask).join(", ");
      if (words === warned) return parts.leave();
      warned = words;
      if (words === "") return parts.leave();
      parts.hint(`Leaving ends ${words}. Repeat to leave.`);
    },
    stay: () => {
      warned = "";
    },
  };
}

export type LeaveReport = {
  readonly exit: number;
  readonly session: string | undefined;
  readonly waiting: readonly WaitingItem[];
  readonly ended: readonly string[];
  /** Background agents that can be resumed. */
  readonly paused: readonly string[];
};

/** The text printed on leaving: what ended, what waits, and how to continue. */
export function farewellText(context: Pick<Context, "options">, { session, waiting, ended, paused }: LeaveReport): string {
  if (session === undefined) return "";
  const flags = storeFlag(context);
  const tasks = [...ended.map((task) => `Ended: ${task}\n`), ...paused.map((task) => `Paused: ${task}\n`)];
  const resume = `assent resume ${session}${paused.length > 0 ? " --tasks" : ""}${flags}`;
  return `${tasks.join("")}${waitingText(waiting, { resume, flags })}`;
}
