import type { Context } from "../command-line/spec.ts";
import { callPorts } from "../compose/dispatcher.ts";
import { forkSession } from "../desk/sessions/fork.ts";
import { printJson } from "../io/output.ts";
import { findRow } from "../store/find-row.ts";
import { storeFlag } from "../store/location.ts";
import { withStoreIfAny } from "../store/open.ts";

/** Makes a session that goes on from a place of another one's conversation. */
export function run(context: Context): Promise<number> {
  const { io, options, operands } = context;
  return withStoreIfAny(context, async ({ ledger, directory }) => {
    const origin = await findRow(ledger, "sessions", operands[0] ?? "");
    const id = await forkSession({ ledger, ...callPorts(context, directory) }, { id: origin.id, at: options.count("at") });
    if (options.flag("json")) {
      await printJson(io, { id });
    } else {
      await io.stdout.write(`${id}\n`);
      await io.stderr.write(`Go on with: assent resume ${id} PROMPT${storeFlag(context)}\n`);
    }
    return 0;
  });
}
