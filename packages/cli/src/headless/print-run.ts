import type { Context } from "../command-spec.ts";
import { printContent, printJson } from "../output.ts";
import { storeFlag } from "../store-location.ts";
import { oneLine } from "../visible-text.ts";
import type { RunLeft } from "./run-session.ts";

/** The model's last words on stdout; everything else is for people. */
export async function printRun(context: Context, { sessionId, end, exit, parked }: RunLeft): Promise<void> {
  const { io, options } = context;
  const { reason, text, error } = end;
  if (options.flag("json")) {
    const proposals = parked.map(({ id, label }) => ({ id, label }));
    await printJson(io, { sessionId, reason, exit, text, proposals, ...(error && { error }) });
    return;
  }
  if (text !== "" && !error) await printContent(io.stdout, text);
  if (error) await io.stderr.write(`assent: ${oneLine(error.message)}\n`);
  if (reason === "parked")
    await io.stderr.write(`Parked. See: assent approvals${storeFlag(context)}, then: assent resume ${sessionId}${storeFlag(context)}\n`);
}
