import type { ConversationEvent } from "@assent/agent";
import type { Context } from "../command-spec.ts";
import { warn } from "../output.ts";
import { storeFlag } from "../store-location.ts";
import { oneLine } from "../visible-text.ts";
import type { OutputFormat } from "./run-output.ts";

/** What people are told on stderr while a run goes on; a program that reads the stream is told there. */
export function tellPeople(context: Context, format: OutputFormat): (event: ConversationEvent) => void {
  const { io } = context;
  if (format === "stream-json") return () => undefined;
  return (event) => {
    if (event.type === "warning") void warn(io, event.message);
    if (event.type !== "parked") return;
    const { id, label } = event.proposal;
    const flags = storeFlag(context);
    void io.stderr.write(`${oneLine(label)} waits for you: assent apply ${id}${flags}, or assent discard ${id}${flags}\n`);
  };
}
