import { type ProposalRow, readStoredProposal } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { fieldsText, printJson } from "../../io/output.ts";
import { markGaps } from "../../io/visible-text.ts";
import { whenText, whoText } from "../../io/who.ts";
import { findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";

export function showProposal(context: Context): Promise<number> {
  const { io, options, operands } = context;
  return withStoreIfAny(context, async ({ ledger }) => {
    const row = await findRow(ledger, "proposals", operands[0] ?? "");
    const { input, manifest } = await readStoredProposal({ ledger }, row);
    if (options.flag("json")) {
      const { session: sessionId, seq: _seq, requested: _requested, ...rest } = row;
      await printJson(io, { ...rest, sessionId, input, ...manifest });
    } else {
      const shown = fieldsText(fields(row, manifest.blocks), io.stdout.columns());
      await io.stdout.write(`${shown}${nextSteps(row, storeFlag(context))}`);
    }
    return 0;
  });
}

function fields(row: ProposalRow, blocks: readonly string[]): readonly (readonly [string, string])[] {
  const changes = blocks.length > 0 ? blocks.join("\n") : row.carrier === "closure" ? "effects are not recorded" : "none";
  return [
    ["proposal", row.id],
    ["state", stateText(row)],
    ["what", row.label],
    ["tool", `${row.tool} (${row.kind})`],
    ["directory", row.cwd],
    ["changes", markGaps(changes)],
    ...(row.error ? [["failed", row.error.message] as const] : []),
    ["since", whenText(row.stagedAt)],
    ["session", row.session],
    ["digest", row.digest],
  ];
}

function stateText({ state, parked, resolution, supersededBy, cause, changed }: ProposalRow): string {
  const by = resolution && state !== "undone" ? ` by ${resolution.who ? whoText(resolution.who) : `the ${resolution.by}`}` : "";
  const why = resolution && state !== "undone" && resolution.reason !== "" ? `: ${resolution.reason}` : "";
  if (supersededBy !== null) return `${state} by ${supersededBy}`;
  if (cause !== null) return `${state} (${cause}${changed.length > 0 ? `: ${changed.join(", ")}` : ""})`;
  return `${state}${parked ? ", waiting for a person" : ""}${by}${why}`;
}

function nextSteps({ id, state }: ProposalRow, flags: string): string {
  if (state === "staged") return `\nassent apply ${id}${flags}\nassent discard ${id}${flags}\n`;
  return state === "applied" ? `\nassent undo ${id}${flags}\n` : "";
}
