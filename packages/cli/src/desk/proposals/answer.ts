import { type By, type FileReview, type ProposalRow, reviewProposal } from "@assent/core";
import { nodeDigest } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { whoText } from "../../io/who.ts";
import { findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { chosenPart } from "./choose.ts";

const DONE = { apply: "applied", discard: "discarded" } as const;

export function answerProposal(context: Context, action: keyof typeof DONE): Promise<number> {
  return withStoreIfAny(context, async (store) => {
    const row = await findRow(store.ledger, "proposals", context.operands[0] ?? "");
    if (row.state === DONE[action]) return await printState(context, row);
    const { settleProposal, proposalRefusal } = await import("./settle.ts");
    const review = (): Promise<readonly FileReview[]> => reviewProposal({ ledger: store.ledger }, row, nodeDigest);
    const part = action === "apply" ? await chosenPart(context, "apply", { id: row.id, review }) : undefined;
    const { by, report } = await settleProposal(context, store, { row, action, part });
    if (report === "asked") {
      await context.io.stderr.write(`Requested. See the result with: assent proposals show ${row.id}${storeFlag(context)}\n`);
      return 0;
    }
    const now = await settledRow(store, row.id, part !== undefined);
    if (now.state !== DONE[action]) throw proposalRefusal(report);
    return await (isAnsweredBy(now, by) ? printDone(context, now, by) : printState(context, now));
  });
}

/** A part is a proposal of its own, which supersedes the one it was taken from. */
async function settledRow({ ledger }: Store, id: string, isPart: boolean): Promise<ProposalRow> {
  const row = await findRow(ledger, "proposals", id);
  return isPart && row.supersededBy !== null ? await findRow(ledger, "proposals", row.supersededBy) : row;
}

async function printDone(context: Context, { id, state, label, updatedAt }: ProposalRow, by: By): Promise<number> {
  const { io, options } = context;
  if (options.flag("json")) await printJson(io, { id, outcome: state, alreadyAnswered: false, answeredBy: by, answeredAt: updatedAt });
  else await io.stdout.write(`${id}  ${state}: ${oneLine(label)}\n`);
  if (state === "applied") await io.stderr.write(`Undo it with: assent undo ${id}${storeFlag(context)}\n`);
  return 0;
}

/** False if another process settled it just before. */
function isAnsweredBy({ resolution }: ProposalRow, by: By): boolean {
  const { who } = resolution ?? {};
  return who !== undefined && who.pid === by.pid && who.user === by.user && who.name === by.name;
}

async function printState({ io, options }: Context, { id, state, resolution, updatedAt }: ProposalRow): Promise<number> {
  const who = resolution?.who ? ` by ${oneLine(whoText(resolution.who))}` : "";
  const answeredBy = resolution?.who ?? null;
  if (options.flag("json")) await printJson(io, { id, outcome: state, alreadyAnswered: true, answeredBy, answeredAt: updatedAt });
  await io.stderr.write(`Already answered: ${state}${who} at ${updatedAt}.\n`);
  return 0;
}

export function undoProposal(context: Context): Promise<number> {
  const { io, operands } = context;
  return withStoreIfAny(context, async (store) => {
    const row = await findRow(store.ledger, "proposals", operands[0] ?? "");
    if (row.state === "undone") return await printUndone(context, row, true);
    const { settleProposal, proposalRefusal } = await import("./settle.ts");
    const { report } = await settleProposal(context, store, { row, action: "undo" });
    if (report === "asked") {
      await io.stderr.write(`Requested. See the result with: assent proposals show ${row.id}${storeFlag(context)}\n`);
      return 0;
    }
    const now = await findRow(store.ledger, "proposals", row.id);
    if (!report.ok && now.state !== "undone") throw proposalRefusal(report);
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
