import type { ProposalRow } from "@assent/core";
import type { Context } from "./command-spec.ts";
import { findRow } from "./find-row.ts";
import { withStoreIfAny } from "./open-store.ts";
import { printJson } from "./output.ts";
import { storeFlag } from "./store-location.ts";
import { oneLine } from "./visible-text.ts";
import { whoText } from "./who.ts";

const DONE = { apply: "applied", discard: "discarded" } as const;

/** `apply`, `discard`, and `approve` or `reject` of a proposal's id: prints what stands now. */
export function answerProposal(context: Context, action: keyof typeof DONE): Promise<number> {
  return withStoreIfAny(context, async (store) => {
    const row = await findRow(store.ledger, "proposals", context.operands[0] ?? "");
    if (row.state === DONE[action]) return await printStanding(context, row);
    const { settleProposal, refusedProposal } = await import("./settle-proposal.ts");
    const { by, report } = await settleProposal(context, store, { row, action });
    if (report === "asked") {
      await context.io.stderr.write(`Asked. See how it went with: assent proposals show ${row.id}${storeFlag(context)}\n`);
      return 0;
    }
    if (!report.ok) throw refusedProposal(report);
    const answeredAt = (await findRow(store.ledger, "proposals", row.id)).updatedAt;
    if (context.options.flag("json"))
      await printJson(context.io, { id: row.id, outcome: DONE[action], alreadyAnswered: false, answeredBy: by, answeredAt });
    else await context.io.stdout.write(`${row.id}  ${DONE[action]}: ${oneLine(row.label)}\n`);
    if (action === "apply") await context.io.stderr.write(`Take it back with: assent undo ${row.id}${storeFlag(context)}\n`);
    return 0;
  });
}

async function printStanding({ io, options }: Context, { id, state, resolution, updatedAt }: ProposalRow): Promise<number> {
  const who = resolution?.who ? ` by ${oneLine(whoText(resolution.who))}` : "";
  const answeredBy = resolution?.who ?? null;
  if (options.flag("json")) await printJson(io, { id, outcome: state, alreadyAnswered: true, answeredBy, answeredAt: updatedAt });
  else await io.stdout.write(`${id}  ${state}${who}\n`);
  await io.stderr.write(`Already answered: ${state}${who} at ${updatedAt}.\n`);
  return 0;
}
