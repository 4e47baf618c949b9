import { oneLine } from "../../io/visible-text.ts";
import type { Waiting } from "./waiting-list.ts";

/** Where what waits goes on, and what its commands need at their end. */
export type GoingOn = { readonly resume: string; readonly flags: string };

/** What waits for a person, each with the commands that answer it, and how it goes on then. */
export function waitingText(waiting: readonly Pick<Waiting, "id" | "subject">[], { resume, flags }: GoingOn): string {
  const each = waiting.map(({ id, subject }) => {
    const answers = id.startsWith("q_") ? " --answers JSON" : "";
    return `Waiting for an answer: ${oneLine(subject)}\n  assent approve ${id}${flags}${answers}\n  assent reject ${id}${flags}\n`;
  });
  return `${each.join("")}${each.length === 0 ? "Go" : "Then go"} on with: ${resume}\n`;
}
