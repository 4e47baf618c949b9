import type { StoredEvent } from "@assent/core";
import { createValueRedactor } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { redactionPatterns } from "../../compose/redaction.ts";

type EventText = (event: StoredEvent) => string;

/** Hides secrets in the body of each event before it becomes text, unless the owner asks for `--raw`. */
export function redactedLine(context: Context, line: EventText): EventText {
  if (context.options.flag("raw")) return line;
  const redact = createValueRedactor(redactionPatterns(context));
  return (event) => line({ ...event, body: redact(event.body) });
}
