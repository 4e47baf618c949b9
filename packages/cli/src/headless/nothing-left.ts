import type { Context } from "../command-spec.ts";
import type { Store } from "../open-store.ts";
import { resultMessage } from "./result-message.ts";
import type { RunFlags } from "./run-flags.ts";
import { succeeded } from "./run-outcome.ts";
import { outputFor } from "./run-output.ts";
import { runTally } from "./run-tally.ts";

/** The result of a resume that had nothing to do. */
export async function printNothingLeft(
  context: Context,
  { ledger }: Store,
  { id, run }: { readonly id: string; readonly run: RunFlags },
): Promise<void> {
  const [{ systemClock }] = await Promise.all([import("@assent/host")]);
  const output = outputFor(run.output, context.io, { gone: nothing, unmade: nothing });
  const counted = runTally(context.overrides.clock ?? systemClock()).take();
  let seq = 0;
  for await (const event of ledger.read({ session: id, seq: 0 }, { session: id, types: ["session.closed"] })) seq = event.seq;
  output.show(() => [resultMessage(succeeded(""), { session: id, seq, counted, approvals: [], resume: "", exit: 0 })]);
  await output.end();
}

function nothing(): void {
  // There is nothing to end.
}
