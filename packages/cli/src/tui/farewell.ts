import type { Context } from "../command-spec.ts";
import { storeFlag } from "../store-location.ts";
import { waitingText } from "../waiting-text.ts";
import type { Left } from "./conversations.ts";

/** The last words to a person who leaves: what waits for them, and how the conversation goes on. */
export function farewell(context: Pick<Context, "options">, { session, waiting, withTasks }: Left): string {
  if (session === undefined) return "";
  const flags = storeFlag(context);
  return waitingText(waiting, { resume: `assent resume ${session}${withTasks ? " --tasks" : ""}${flags}`, flags });
}
