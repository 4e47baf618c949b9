import type { Questioner } from "./question-port.ts";

/** True where a question reaches a person now, or waits for one: only then is `ask` offered. */
export function canAsk({ questioner, onAsk }: { readonly questioner?: Questioner; readonly onAsk?: "deny" | "park" | "fail" }): boolean {
  return questioner?.available() === true || onAsk === "park";
}
