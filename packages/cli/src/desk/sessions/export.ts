import { type Ledger, parseEvent, type StoredEvent } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { usageError } from "../../io/failure.ts";
import { jsonLine } from "../../io/output.ts";
import { findRow } from "../../store/find-row.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { type ConversationPart, conversationParts } from "./conversation-parts.ts";
import { createTranscript } from "./export-markdown.ts";
import { redactedLine } from "./redacted-line.ts";

/** Includes large values and, for a fork, the events before it. */
export async function* exportedEvents(ledger: Ledger, id: string): AsyncGenerator<StoredEvent> {
  for (const part of await conversationParts(ledger, id)) {
    for await (const event of eventsOf(ledger, part)) yield { ...event, body: await ledger.resolve(event.body) };
  }
}

async function* eventsOf(ledger: Ledger, { session, through }: ConversationPart): AsyncGenerator<StoredEvent> {
  for await (const event of ledger.read({ session, seq: 0 }, { session, naming: session })) {
    if (event.session === session && event.seq > through) return;
    yield event;
  }
}

export function exportSession(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const format = options.text("format") ?? (options.flag("json") ? "jsonl" : "md");
  if (format === "md" && options.flag("json"))
    throw usageError("sessions export", "--json prints events, so it cannot be used with --format md.");
  return withStoreIfAny(context, async ({ ledger }) => {
    const { id } = await findRow(ledger, "sessions", operands[0] ?? "");
    const { line: print, end } = format === "md" ? asText() : { line: jsonLine, end: () => "" };
    const line = redactedLine(context, print);
    for await (const event of exportedEvents(ledger, id)) await io.stdout.write(line(event));
    await io.stdout.write(end());
    return 0;
  });
}

function asText(): { readonly line: (event: StoredEvent) => string; readonly end: () => string } {
  const { take, end } = createTranscript();
  const line = (stored: StoredEvent): string => {
    const event = parseEvent(stored);
    return event ? take(event) : "";
  };
  return { line, end };
}
