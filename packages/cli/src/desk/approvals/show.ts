import {
  type ApprovalRow,
  type EffectOffer,
  type FileReview,
  isObject,
  type Json,
  type JsonObject,
  type Ledger,
  type ReviewedHunk,
} from "@assent/core";
import { unifiedDiff } from "@assent/core/parts";
import type { Context } from "../../command-line/spec.ts";
import { CommandError } from "../../io/failure.ts";
import { fieldsText, printJson } from "../../io/output.ts";
import { markGaps } from "../../io/visible-text.ts";
import { whenText, whoText } from "../../io/who.ts";
import { findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { ruleWords } from "../grants/remembered-rule.ts";
import { agentTask } from "../sessions/agent-session.ts";
import { findEditedInput } from "./edited-answer.ts";
import { describeEffect } from "./effect.ts";
import { factNotes } from "./facts.ts";
import { approvalLongForm, type RecordedJudgement } from "./form.ts";
import { approvalDirectory, approvalText, askReason } from "./view.ts";
import { waitingKind } from "./waiting-list.ts";

export async function showApproval(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const kind = waitingKind(operands[0] ?? "");
  if (kind === "questions") return (await import("../questions/show.ts")).showQuestion(context);
  if (kind === "proposals") return (await import("../proposals/show.ts")).showProposal(context);
  return withStoreIfAny(context, async ({ ledger }) => {
    const found = await findRow(ledger, "approvals", operands[0] ?? "");
    const row = { ...found, details: await ledger.resolve(found.details) };
    const review = row.preview?.writable ? await (await import("./choose-part.ts")).reviewShown(ledger, row) : [];
    const form = approvalLongForm(row, { ...(await judgedOf(ledger, row)), edited: await findEditedInput(ledger, row) });
    const task = await agentTask(ledger, row.session);
    const changes = review.length === 0 ? {} : { changes: review.map((await import("../proposals/choose.ts")).changeJson) };
    const shown = await ledger.resolve({ ...form, ...changes, ...(task !== null && { task }) });
    if (options.flag("json")) await printJson(io, shown);
    else await io.stdout.write(text({ row, shown, review }, io.stdout.columns(), storeFlag(context)));
    return 0;
  });
}

async function judgedOf(ledger: Ledger, row: ApprovalRow): Promise<RecordedJudgement> {
  let newest: JsonObject | undefined;
  for await (const { body } of ledger.read(
    { session: row.session, seq: 0 },
    { session: row.session, call: row.call, types: ["call.judged"] },
  )) {
    if (body["fingerprint"] === row.fingerprint) newest = body;
  }
  if (!newest)
    throw new CommandError("store_corrupt", 1, { message: `The record of call ${row.call} has no decision.`, hint: "assent verify" });
  return newest as unknown as RecordedJudgement; // the store returns what its schema wrote
}

type ShownApproval = { readonly row: ApprovalRow; readonly shown: JsonObject; readonly review: readonly FileReview[] };

function text({ row, shown, review }: ShownApproval, columns: number | undefined, flags: string): string {
  const { details } = row;
  const what = details.type === "exec" ? details.command : approvalText(details);
  const answered = row.answeredBy ? ` by ${whoText(row.answeredBy)}` : "";
  const when = row.answeredAt === null ? "" : ` at ${whenText(row.answeredAt)}`;
  const fields: (readonly [string, string])[] = [
    ["approval", row.id],
    ["state", `${row.state}${isObject(shown["edited"]) ? ", edited" : ""}${answered}${when}${row.consumed ? ", used" : ""}`],
    ["title", row.title],
    ["tool", `${row.tool} (${String(shown["kind"])})`],
    ["directory", approvalDirectory({ details, cwd: String(shown["cwd"]) })],
    ["what", markGaps(what)],
    ["input", JSON.stringify(shown["input"], null, 2)],
    ...editedField(shown["edited"]),
    ["why", askReason(row)],
    ...factNotes(shown["facts"]),
    ...(details.warnings ?? []).map((warning) => ["warning", warning] as const),
    ...effectFields(details.effect, review),
    ...(row.suggestions.length === 0 ? [] : [["always", row.suggestions.map(ruleWords).join("\n")] as const]),
    ...(details.wider ? [["or", `${details.wider.rules.join("\n")}\n${details.wider.risk}`] as const] : []),
    ["since", whenText(row.requestedAt)],
    ...(row.expiresAt === null ? [] : [["until", whenText(row.expiresAt)] as const]),
    ["session", row.session],
    ...(typeof shown["task"] === "string" ? [["task", shown["task"]] as const] : []),
    ["call", row.call],
    ["fingerprint", row.fingerprint],
  ];
  const plan = ["", " --outcome proceed_always", " --outcome restore_previous"];
  const ways = details.type === "plan" ? plan : row.preview?.writable ? [` --write --preview ${row.preview.id}`, " --run"] : [""];
  const next =
    row.state === "open"
      ? `\n${ways.map((way) => `assent approve ${row.id}${way}${flags}\n`).join("")}assent reject ${row.id}${flags}\n`
      : "";
  return `${fieldsText(fields, columns)}${next}`;
}

function effectFields(effect: EffectOffer | undefined, review: readonly FileReview[]): readonly (readonly [string, string])[] {
  if (effect?.state === "unavailable") return [["preview", `not available: ${effect.reason}`]];
  if (effect?.state !== "shown") return [];
  const { heading, changes, warnings, output, outcome } = describeEffect(effect);
  const files = review.map((file) => ({ diff: diffOf(file), hunks: [...file.hunks] }));
  return [
    ["preview", [heading, ...changes].join("\n")],
    ...warnings.map((warning) => ["warning", warning] as const),
    ...effect.blocks.map((block) => ["diff", markGaps(withHunkIds(block.trimEnd(), files))] as const),
    ...(output === "" ? [] : [["output", markGaps(output)] as const]),
    ["yes", outcome],
  ];
}

type DiffedFile = { readonly diff: string; readonly hunks: ReviewedHunk[] };

/** Writes the id of each hunk after its header, for `--hunk`. A file whose diff was shown has no ids left. */
function withHunkIds(block: string, files: readonly DiffedFile[]): string {
  const hunks = files.find(({ diff, hunks: left }) => left.length > 0 && diff.startsWith(block))?.hunks ?? [];
  const lines = block.split("\n");
  const shown = lines.map((line) => (line === hunks[0]?.header ? `${line}  ${hunks.shift()?.id}` : line));
  hunks.length = 0;
  return shown.join("\n");
}

function diffOf({ name, text }: FileReview): string {
  return text ? unifiedDiff({ name, before: text.before, after: text.after ?? "" }) : "";
}

function editedField(edited: Json | undefined): readonly (readonly [string, string])[] {
  return isObject(edited) ? [["edited", `answered with changes:\n${JSON.stringify(edited["input"], null, 2)}`]] : [];
}
