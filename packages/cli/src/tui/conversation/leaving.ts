import type { TaskView } from "@assent/agent";
import { oneLine } from "../../io/visible-text.ts";

/** Those that end when the person leaves: no process would be left to see to them. */
export function endingTasks(tasks: readonly TaskView[]): readonly TaskView[] {
  return tasks.filter(({ status, foreground }) => !foreground && (status === "running" || status === "cancelling"));
}

/** A background task in a few words: a command is its own, an agent has a name. */
export function taskWords({ id, agent, description, outputFile }: Pick<TaskView, "id" | "agent" | "description" | "outputFile">): string {
  return `${outputFile === undefined ? `${oneLine(agent)}: ` : ""}${oneLine(description)} (${id})`;
}

/** Leaves, but says first what would end by it: whoever wants that wants it twice. */
export type Leaving = {
  readonly leave: () => void;
  /** Something else was wanted in between. */
  readonly stay: () => void;
};

/** Makes sure that nobody ends a background task without knowing. */
export function makeLeaving(parts: {
  readonly tasks: () => readonly TaskView[];
  readonly hint: (text: string) => void;
  readonly leave: () => void;
}): Leaving {
  let told = "";
  return {
    leave: () => {
      const words = endingTasks(parts.tasks()).map(taskWords).join(", ");
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
