import { type ApprovalRow, type EventBodies, isObject, type Json, type Ledger, oneLine, parseEvent } from "@assent/core";
import { cut } from "../../io/display-width.ts";

export type EditedInput = NonNullable<EventBodies["approval.answered"]["edited"]>;

/** Large values are still references. */
export async function findEditedInput(
  ledger: Ledger,
  { id, session, call, revision }: Pick<ApprovalRow, "id" | "session" | "call" | "revision">,
): Promise<EditedInput | undefined> {
  for await (const stored of ledger.read({ pos: 0 }, { naming: session, call, types: ["approval.answered"] })) {
    const event = parseEvent(stored);
    if (event?.type === "approval.answered" && event.body.approval === id && event.body.revision === revision) return event.body.edited;
  }
  return undefined;
}

const MAIN = ["command", "file_path", "url"] as const;

/** Its command, path or URL, else the whole input. */
export function inputSubject(input: Json, columns: number): string {
  const fields: Readonly<Record<string, unknown>> = isObject(input) ? input : {};
  const main = MAIN.map((name) => fields[name]).find((value) => typeof value === "string");
  return cut(oneLine((typeof main === "string" ? main : JSON.stringify(input)).slice(0, columns)), columns);
}
