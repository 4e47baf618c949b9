import type { Context } from "../../command-line/spec.ts";
import { waitingText } from "../../desk/approvals/waiting-list.ts";
import { storeFlag } from "../../store/location.ts";
import type { Left } from "./conversations.ts";

/** The last words to a person who leaves: what ended by it, what waits for them, and how the conversation goes on. */
export function farewell(context: Pick<Context, "options">, { session, waiting, ended, paused }: Left): string {
  if (session === undefined) return "";
  const flags = storeFlag(context);
  const tasks = [...ended.map((task) => `Ended: ${task}\n`), ...paused.map((task) => `Paused: ${task}\n`)];
  const resume = `assent resume ${session}${paused.length > 0 ? " --tasks" : ""}${flags}`;
  return `${tasks.join("")}${waitingText(waiting, { resume, flags })}`;
}
