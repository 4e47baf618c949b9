import { type FileReview, type ProposalManifest, type ProposalRow, readStoredProposal, reviewProposal } from "@assent/core";
import { nodeDigest } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { fieldsText, printJson } from "../../io/output.ts";
import { counted, markGaps } from "../../io/visible-text.ts";
import { whenText, whoText } from "../../io/who.ts";
import { findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { drawDiffItem, SPLIT_COLUMNS } from "../../tui/diff/draw.ts";
import { diffItems } from "../../tui/diff/items.ts";
import { makeTheme, themeFromEnvironment } from "../../tui/draw/theme.ts";
import { changeJson, findFile } from "./choose.ts";

export function showProposal(context: Context): Promise<number> {
  const { io, options, operands } = context;
  return withStoreIfAny(context, async ({ ledger }) => {
    const row = await findRow(ledger, "proposals", operands[0] ?? "");
    const { input, manifest } = await readStoredProposal({ ledger }, row);
    const all = await reviewProposal({ ledger }, row, nodeDigest);
    const named = options.list("file").map((name) => findFile(all, name, row.id));
    const files = named.length > 0 ? named : all;
    if (options.flag("json")) {
      const { session: sessionId, seq: _seq, requested: _requested, ...rest } = row;
      await printJson(io, { ...rest, sessionId, input, ...manifest, changes: files.map(changeJson) });
    } else {
      const shown = fieldsText(fields(row, manifest, files), io.stdout.columns());
      await io.stdout.write(`${shown}${changesText(context, row, files)}${nextSteps(row, storeFlag(context))}`);
    }
    return 0;
  });
}

const PAGE_LINES = 200;
/** Output that is not a terminal is not wrapped. */
const UNLIMITED = 1_000_000;

function changesText(context: Context, { id }: ProposalRow, files: readonly FileReview[]): string {
  const { io, options } = context;
  const lines = changeLines(io, files, options.flag("folded"));
  const page = options.count("page");
  if (lines.length === 0 || page === undefined) return lines.length === 0 ? "" : `\n${lines.join("\n")}\n`;
  const pages = Math.max(1, Math.ceil(lines.length / PAGE_LINES));
  const shown = lines.slice((page - 1) * PAGE_LINES, page * PAGE_LINES);
  const more = page < pages ? ` The next one: assent proposals show ${id} --page ${page + 1}${storeFlag(context)}` : "";
  return `\n${shown.map((line) => `${line}\n`).join("")}\nPage ${page} of ${pages}.${more}\n`;
}

function changeLines({ stdout, env }: Context["io"], files: readonly FileReview[], isFolded: boolean): readonly string[] {
  const columns = stdout.columns() ?? UNLIMITED;
  const theme = makeTheme(stdout.isTTY ? (themeFromEnvironment(env) ?? "dark") : "none");
  const folded = new Set(isFolded ? files.keys() : []);
  const split = stdout.isTTY && columns >= SPLIT_COLUMNS;
  return diffItems(files, { split, folded }).flatMap((item) => {
    const lines = drawDiffItem(item, { columns, rows: 1, theme });
    return item.type === "hunk" && item.id !== undefined ? [`${lines.join("")}  ${theme.dim(item.id)}`] : lines;
  });
}

function fields(
  row: ProposalRow,
  { blocks, part }: ProposalManifest,
  files: readonly FileReview[],
): readonly (readonly [string, string])[] {
  const others = blocks.length > 0 ? blocks.join("\n") : row.carrier === "closure" ? "effects are not recorded" : "none";
  const count = (of: "added" | "removed"): number => files.reduce((sum, file) => sum + file[of], 0);
  const changes = files.length === 0 ? others : `${counted(files.length, "file")}, +${count("added")} -${count("removed")}`;
  return [
    ["proposal", row.id],
    ["state", stateText(row)],
    ["what", row.label],
    ...(part ? [["part of", part.of] as const] : []),
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
