import { printCallEnd } from "../call-end.ts";
import { givenFlags, givenOnAsk } from "../call-flags.ts";
import { readCallInput } from "../call-input.ts";
import { callPlace } from "../call-place.ts";
import { beginCall, checkFlags } from "../call-session.ts";
import type { Context } from "../command-spec.ts";
import { withStore } from "../open-store.ts";

/** One governed call in a session of its own. Everything that is wrong with the command line itself is found before anything is recorded. */
export async function run(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const flags = givenFlags(options);
  const place = await callPlace(context);
  await checkFlags(context, flags);
  const text = await readCallInput(io, options.text("input"));
  return withStore(context, async (store) => {
    const { end, exit } = await beginCall(context, store, { tool: operands[0] ?? "", text, flags, place, onAsk: givenOnAsk(options) });
    await printCallEnd(context, end);
    return exit;
  });
}
