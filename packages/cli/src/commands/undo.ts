import type { Context } from "../command-spec.ts";
import { findRow } from "../find-row.ts";
import { withStoreIfAny } from "../open-store.ts";
import { printJson } from "../output.ts";
import { storeFlag } from "../store-location.ts";
import { oneLine } from "../visible-text.ts";

/** Takes an applied change back. */
export function run(context: Context): Promise<number> {
  const { io, options, operands } = context;
  return withStoreIfAny(context, async (store) => {
    const row = await findRow(store.ledger, "proposals", operands[0] ?? "");
    const { settleProposal, refusedProposal } = await import("../settle-proposal.ts");
    const { report } = await settleProposal(context, store, { row, action: "undo" });
    if (report === "asked") {
      await io.stderr.write(`Asked. See how it went with: assent proposals show ${row.id}${storeFlag(context)}\n`);
      return 0;
    }
    const now = await findRow(store.ledger, "proposals", row.id);
    if (!report.ok && (row.state === "undone" || now.state !== "undone")) throw refusedProposal(report);
    if (options.flag("json")) await printJson(io, { id: row.id, state: "undone", files: row.files });
    else await io.stdout.write(`${row.id}  undone: ${oneLine(row.label)}\n`);
    return 0;
  });
}
