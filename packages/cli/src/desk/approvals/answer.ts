import {
  type Answer,
  type AnswerReport,
  type ApprovalRow,
  answerApproval,
  droppedText,
  findPartProblem,
  type Ledger,
  type RequestReader,
  type Rules,
  readRow,
} from "@assent/core";
import { createRandomIds, createSystemClock, nodeDigest } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { printJson, warn } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { commandPlace, personBy, whenText, whoText } from "../../io/who.ts";
import { findRow } from "../../store/find-row.ts";
import { withStoreIfAny } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { ruleWords } from "../grants/remembered-rule.ts";
import { refuseWideAnswer } from "../sessions/agent-session.ts";
import { continueText } from "../sessions/resume-command.ts";
import { mayHaveChangedSince } from "./changed-since.ts";

type AnswerReader = (
  row: ApprovalRow,
  at: { readonly now: number; readonly ledger: Ledger },
) => Promise<Omit<Answer, "approval" | "by" | "revision">>;

/** Prints the state only once the answer is saved. */
export function answerApprovalCommand(context: Context, given: AnswerReader): Promise<number> {
  return withStoreIfAny(context, async (store) => {
    const row = await findRow(store.ledger, "approvals", context.operands[0] ?? "");
    const report = await saveAnswer(context, store, row, given);
    const note = report.alreadyAnswered ? await lostNote(store, row, report) : editedNote(row, report);
    await printAnswer(context, await continueText(context, store.ledger, row.session), { ...report, note });
    if (!report.alreadyAnswered) await context.io.stderr.write(await rememberedText(store, row.id));
    if (isUneditedApproval(row, report) && (await mayHaveChangedSince(store.ledger, row, context.io.env)))
      await warnOfDenial(context, store, row);
    return report.alreadyAnswered && !report.identical ? 1 : 0;
  });
}

async function saveAnswer(context: Context, store: Store, row: ApprovalRow, given: AnswerReader): Promise<AnswerReport> {
  const { options, overrides } = context;
  const clock = overrides.clock ?? createSystemClock();
  const by = personBy({ name: options.text("by"), door: "command", from: commandPlace(context.io) });
  const answer: Answer = { ...(await given(row, { now: clock.now(), ledger: store.ledger })), approval: row.id, by };
  await refuseWideAnswer(store.ledger, row, answer);
  const needsTools = answer.updatedInput !== undefined || answer.remember !== undefined;
  const { requests, rules } = needsTools
    ? await (await import("./recorded-requests.ts")).requestsForEdit(context, store, row)
    : withoutTools(store);
  return answerApproval({ ledger: store.ledger, clock, ids: createRandomIds(), rules, requests }, answer);
}

/** A plain answer needs no tools, so none are loaded. */
function withoutTools({ ledger }: Pick<Store, "ledger">): { readonly requests: RequestReader; readonly rules: Rules } {
  const missing = (): never => {
    throw new Error("no tools");
  };
  return {
    requests: {
      load: async () => missing(),
      edit: async () => missing(),
      partProblem: async ({ session, preview }, part) =>
        await findPartProblem({ ledger, digest: nodeDigest }, { session, preview: preview?.id ?? "" }, part),
    },
    rules: { parse: missing, offer: () => [] },
  };
}

/** Edits were judged before they were saved. */
function isUneditedApproval(row: ApprovalRow, { alreadyAnswered, outcome, fingerprint }: AnswerReport): boolean {
  return !alreadyAnswered && outcome === "approved" && fingerprint === row.fingerprint;
}

/** Call it after the answer is printed, because it loads tools and settings. */
async function warnOfDenial(context: Context, store: Store, row: ApprovalRow): Promise<void> {
  const { denialWarning } = await import("./recorded-requests.ts");
  const warning = await denialWarning(context, store, row);
  if (warning !== "") await warn(context.io, warning);
}

async function rememberedText({ ledger }: Pick<Store, "ledger">, id: string): Promise<string> {
  const row = await readRow(ledger, "approvals", id);
  const { scope, rules } = row?.remember ?? { scope: "", rules: [] };
  return rules.map((rule) => `Remembered for this ${scope}: ${ruleWords(rule)}\n`).join("");
}

export type AnswerState = Pick<AnswerReport, "id" | "alreadyAnswered" | "answeredBy" | "answeredAt"> & {
  readonly outcome: string;
  readonly note?: string;
};

export async function printAnswer(context: Context, nextStep: string, state: AnswerState): Promise<void> {
  const { io, options } = context;
  const { id, outcome, alreadyAnswered, answeredBy, answeredAt, note = "" } = state;
  const who = answeredBy ? ` by ${oneLine(whoText(answeredBy))}` : "";
  const when = answeredAt === null ? "" : ` at ${whenText(answeredAt)}`;
  if (options.flag("json")) await printJson(io, { id, outcome, alreadyAnswered, answeredBy, answeredAt });
  else if (!alreadyAnswered) await io.stdout.write(`${id}  ${outcome}${who}${when}\n`);
  if (alreadyAnswered) await io.stderr.write(`Already answered: ${outcome}${who}${when}.${note}\n`);
  else await io.stderr.write(`${note}${nextStep}`);
}

async function lostNote({ ledger }: Pick<Store, "ledger">, { id, session }: ApprovalRow, report: AnswerReport): Promise<string> {
  if (report.outcome === "cancelled") return await closedElsewhere(ledger, session, id);
  return report.dropped.length === 0 ? "" : ` ${droppedText(report)}`;
}

/** Another agent asks in its own dialog, too. */
async function closedElsewhere(ledger: Ledger, session: string, id: string): Promise<string> {
  for await (const { body } of ledger.read({ pos: 0 }, { naming: session, types: ["approval.closed"] }))
    if (body["approval"] === id && String(body["by"]).startsWith("dialog of "))
      return ` It was answered in the ${oneLine(String(body["by"]))}.`;
  return "";
}

function editedNote(row: ApprovalRow, { fingerprint }: AnswerReport): string {
  return fingerprint === row.fingerprint ? "" : `The input was edited; its fingerprint is ${fingerprint}\n`;
}
