import type { ProposalRow } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";

/** Takes an applied change back. */
export function undoProposal(context: Context): Promise<number> {
  const { io, operands } = context;
  return withStoreIfAny(context, async (store) => {
    const row = await findRow(store.ledger, "proposals", operands[0] ?? "");
    if (row.state === "undone") return await printUndone(context, row, true);
    const { settleProposal, refusedProposal } = await import("./settle.ts");
    const { report } = await settleProposal(context, store, { row, action: "undo" });
    if (report === "asked") {
      await io.stderr.write(`Asked. See how it went with: assent proposals show ${row.id}${storeFlag(context)}\n`);
      return 0;
    }
    const now = await findRow(store.ledger, "proposals", row.id);
    if (!report.ok && now.state !== "undone") throw refusedProposal(report);
    return await printUndone(context, now, !report.ok);
  });
}

async function printUndone(
  { io, options }: Context,
  { id, files, label, updatedAt }: ProposalRow,
  alreadyUndone: boolean,
): Promise<number> {
  if (options.flag("json")) await printJson(io, { id, state: "undone", files, alreadyUndone });
  else await io.stdout.write(alreadyUndone ? `${id}  undone\n` : `${id}  undone: ${oneLine(label)}\n`);
  if (alreadyUndone) await io.stderr.write(`Already undone at ${updatedAt}.\n`);
  return 0;
}
