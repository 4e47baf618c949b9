import { type JsonObject, type QuestionRow, readCallRecord, readWholeQuestion } from "@assent/core";
import { shellWord } from "../../command-line/shell-word.ts";
import type { Context } from "../../command-line/spec.ts";
import { fieldsText, printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { whenText, whoText } from "../../io/who.ts";
import { findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import type { RecordedJudgement } from "../approvals/form.ts";
import { questionLongForm } from "./form.ts";
import { answersExample, questionsText } from "./view.ts";

export function showQuestion(context: Context): Promise<number> {
  const { io, options, operands } = context;
  return withStoreIfAny(context, async ({ ledger }) => {
    const row = await readWholeQuestion(ledger, await findRow(ledger, "questions", operands[0] ?? ""));
    const recorded = await readCallRecord(ledger, row.session, row.callId);
    if (options.flag("json")) {
      // A call is judged before it asks.
      const judged = recorded["call.judged"] as RecordedJudgement;
      await printJson(io, questionLongForm(row, { ...judged, consumed: recorded["call.ended"] !== undefined }) satisfies JsonObject);
    } else await io.stdout.write(text(row, io.stdout.columns(), storeFlag(context)));
    return 0;
  });
}

function text(row: QuestionRow, columns: number | undefined, flags: string): string {
  const { id, questions, answers } = row;
  const answered = row.answeredBy ? ` by ${whoText(row.answeredBy)}` : "";
  const when = row.answeredAt === null ? "" : ` at ${whenText(row.answeredAt)}`;
  const fields: (readonly [string, string])[] = [
    ["question", id],
    ["state", `${row.state}${answered}${when}`],
    ...(answers ? [["answers", JSON.stringify(answers, null, 2)] as const] : []),
    ...(row.answerReason === null ? [] : [["reason", row.answerReason] as const]),
    ["since", whenText(row.askedAt)],
    ["session", row.session],
    ["call", row.callId],
    ["fingerprint", row.fingerprint],
  ];
  const example = oneLine(shellWord(answersExample(row)));
  const next = row.state === "open" ? `\nassent approve ${id}${flags} --answers ${example}\nassent reject ${id}${flags}\n` : "";
  return `${fieldsText(fields, columns)}\n${questionsText(questions, columns)}${next}`;
}
