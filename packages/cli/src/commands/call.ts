import { printCallEnd } from "../call-end.ts";
import { givenFlags } from "../call-flags.ts";
import { readCallInput } from "../call-input.ts";
import { callPlace } from "../call-place.ts";
import { checkRules } from "../call-policy.ts";
import { beginCall } from "../call-session.ts";
import type { Context } from "../command-spec.ts";
import { asFailure } from "../failure.ts";
import { withStore } from "../open-store.ts";
import { printFailure, warn } from "../output.ts";

/** One governed call in a session of its own. Whatever is wrong with the command line itself is found before anything is recorded. */
export async function run(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const flags = givenFlags(options);
  const place = callPlace(context);
  for (const warning of checkRules(flags)) await warn(io, warning);
  const text = await readCallInput(io, options.text("input"));
  return withStore(context, async (store) => {
    const { end, exit, failure } = await beginCall(context, store, { tool: operands[0] ?? "", text, flags, place });
    await printCallEnd(context, end);
    if (failure !== undefined) await printFailure(io, asFailure(failure), false);
    return exit;
  });
}
