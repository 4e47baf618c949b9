import type { TaskView } from "@assent/agent";
import type { Context } from "../../command-line/spec.ts";
import { type WaitingItem, waitingText } from "../../desk/approvals/waiting-list.ts";
import { oneLine } from "../../io/visible-text.ts";
import { storeFlag } from "../../store/location.ts";

/** Those that end when the person leaves: no process would be left to see to them. */
export function endingTasks(tasks: readonly TaskView[]): readonly TaskView[] {
  return tasks.filter(({ status, foreground }) => !foreground && (status === "running" || status === "cancelling"));
}

/** A background task in a few words: a command is its own, an agent has a name. */
export function describeTask({
  id,
  agent,
  description,
  outputFile,
}: Pick<TaskView, "id" | "agent" | "description" | "outputFile">): string {
  return `${outputFile === undefined ? `${oneLine(agent)}: ` : ""}${oneLine(description)} (${id})`;
}

/** Leaves, but says first what would end by it: whoever wants that wants it twice. */
export type LeaveControl = {
  readonly leave: () => void;
  /** Something else was wanted in between. */
  readonly stay: () => void;
};

/** Makes sure that nobody ends a background task without knowing. */
export function confirmLeaving(parts: {
  readonly tasks: () => readonly TaskView[];
  readonly hint: (text: string) => void;
  readonly leave: () => void;
}): LeaveControl {
  let told = "";
  return {
    leave: () => {
      const words = endingTasks(parts.tasks()).map(describeTask).join(", ");
      if (words === told) return parts.leave();
      told = words;
      if (words === "") return parts.leave();
      parts.hint(`Leaving ends ${words}. Repeat to leave.`);
    },
    stay: () => {
      told = "";
    },
  };
}

/** How a conversation was left. */
export type LeaveReport = {
  readonly exit: number;
  /** The session, where one was open. */
  readonly session: string | undefined;
  /** What waits in it for a person. */
  readonly waiting: readonly WaitingItem[];
  /** Background tasks that ended by it, in a few words each. */
  readonly ended: readonly string[];
  /** Background agents that are paused, and go on when somebody wants them to. */
  readonly paused: readonly string[];
};

/** The last words to a person who leaves: what ended by it, what waits for them, and how the conversation goes on. */
export function farewellText(context: Pick<Context, "options">, { session, waiting, ended, paused }: LeaveReport): string {
  if (session === undefined) return "";
  const flags = storeFlag(context);
  const tasks = [...ended.map((task) => `Ended: ${task}\n`), ...paused.map((task) => `Paused: ${task}\n`)];
  const resume = `assent resume ${session}${paused.length > 0 ? " --tasks" : ""}${flags}`;
  return `${tasks.join("")}${waitingText(waiting, { resume, flags })}`;
}
