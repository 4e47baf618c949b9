import {
  answerQuestion,
  isObject,
  messageOf,
  type QuestionAnswer,
  type QuestionReport,
  type QuestionRow,
  readWholeQuestion,
} from "@assent/core";
import { createSystemClock } from "@assent/host";
import { shellWord } from "../../command-line/shell-word.ts";
import type { Context } from "../../command-line/spec.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { readNamed } from "../../io/read-input.ts";
import { oneLine } from "../../io/visible-text.ts";
import { personBy } from "../../io/who.ts";
import { findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { printAnswer } from "../approvals/answer.ts";
import { continueText } from "../sessions/resume-command.ts";
import { questionForm } from "./form.ts";
import { answersExample, questionsText } from "./view.ts";

const FOREIGN = ["edit", "remember", "pattern", "expires"] as const;

export async function answerQuestionCommand(context: Context, outcome: "answered" | "declined"): Promise<number> {
  const { options, operands } = context;
  const foreign = FOREIGN.find((name) => options.flag(name));
  if (foreign !== undefined) throw usageError("approve", `option '--${foreign}' is only for approvals; for a question use '--answers'.`);
  const given = outcome === "answered" ? options.text("answers") : undefined;
  const text = given === undefined ? undefined : await answersText(context, given);
  return withStoreIfAny(context, async (store) => {
    const row = await readWholeQuestion(store.ledger, await findRow(store.ledger, "questions", operands[0] ?? ""));
    if (outcome === "answered" && text === undefined) return await askForAnswers(context, row);
    const report = await saveAnswers(context, store, row.id, { outcome, answers: text === undefined ? undefined : parseAnswers(text) });
    await printAnswer(context, await continueText(context, store.ledger, row.session), report);
    return report.refusal === null ? 0 : 1;
  });
}

async function saveAnswers(
  { options, overrides }: Context,
  { ledger }: Store,
  question: string,
  { outcome, answers }: { readonly outcome: "answered" | "declined"; readonly answers: unknown },
): Promise<QuestionReport> {
  const by = personBy({ name: options.text("by"), door: "command" });
  const clock = overrides.clock ?? createSystemClock();
  const [reason, fingerprint] = [options.text("reason"), outcome === "answered" ? options.text("fingerprint") : undefined];
  // The answers are checked when they are saved.
  const said = answers as readonly QuestionAnswer[] | undefined;
  return answerQuestion({ ledger, clock }, { question, outcome, ...(said && { answers: said }), by, reason, fingerprint });
}

function answersText({ io }: Context, given: string): Promise<string> {
  return given.startsWith("@") ? readNamed(io, given.slice(1), "approve") : Promise.resolve(given);
}

function parseAnswers(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && value["outcome"] === "answered" ? value["answers"] : value;
  } catch (error) {
    const why = messageOf(error);
    throw new CommandError("bad_answer", 2, { message: `The answers are not valid JSON: ${why}`, hint: "The question is still open." });
  }
}

/** Answers are never guessed, not even from a recommendation. */
async function askForAnswers(context: Context, row: QuestionRow): Promise<number> {
  const { io, options } = context;
  const { questions, id } = row;
  const message = `Question ${id} needs --answers: one { id, selected, custom?, note? } per question.`;
  const hint = `assent approve ${id}${storeFlag(context)} --answers ${shellWord(answersExample(row))}`;
  if (options.flag("json"))
    await printJson(io, { error: { type: "bad_answer", message, hint }, questions: questionForm(row)["questions"] });
  else await io.stderr.write(`${questionsText(questions, io.stderr.columns())}\nassent: ${message}\n${oneLine(hint)}\n`);
  return 2;
}
