import {
  AnsweredElsewhere,
  type By,
  type Clock,
  type OpenQuestion,
  type Question,
  type QuestionAnswer,
  type Questioner,
  type QuestionerReply,
} from "@assent/core";
import { cut } from "../../io/display-width.ts";
import type { Io } from "../../io/io.ts";
import { styleOf } from "../../io/style.ts";
import { oneLine } from "../../io/visible-text.ts";
import { whoText } from "../../io/who.ts";
import { previewText, questionLines } from "../questions/view.ts";
import { openPrompt, type Prompt, type TypedLine } from "./prompt.ts";

export type TerminalQuestionerParts = { readonly io: Pick<Io, "stderr" | "keyboard" | "env">; readonly clock: Clock; readonly by: By };

type NoLine = Extract<TypedLine, { readonly none: unknown }>;
type QuestionResult = { readonly answer: QuestionAnswer } | NoLine;

export function terminalQuestioner(parts: TerminalQuestionerParts): Questioner {
  return {
    available: () => true,
    ask: async (open, signal, partial) => (signal.aborted ? undefined : await converse(parts, open, signal, partial)),
  };
}

async function converse(
  parts: TerminalQuestionerParts,
  open: OpenQuestion,
  signal: AbortSignal,
  partial: (answers: readonly QuestionAnswer[]) => void,
): Promise<QuestionerReply | undefined> {
  const { io, by } = parts;
  const answers = new Map<string, QuestionAnswer>();
  let late = new AbortController();
  open.timer.onExpired((answer) => {
    answers.set(answer.id, answer);
    partial([...answers.values()]);
    late.abort();
  });
  if (open.fault !== undefined) await io.stderr.write(`\nThat answer can't be used: ${oneLine(open.fault)}\n`);
  for (const question of open.questions) {
    late = new AbortController();
    const said = await askOne(parts, open, question, AbortSignal.any([signal, late.signal]));
    if (answers.has(question.id)) continue; // its time limit passed
    if ("none" in said) {
      await io.stderr.write(`\n${farewell(said, signal)}\n`);
      return said.none === "cancelled" ? { outcome: "cancelled", partial: [...answers.values()], by } : undefined;
    }
    answers.set(question.id, said.answer);
    partial([...answers.values()]);
  }
  return { outcome: "answered", answers: [...answers.values()], by };
}

function farewell({ none }: NoLine, signal: AbortSignal): string {
  if (none === "cancelled") return "Cancelled.";
  if (none === "closed") return "No answer was given here; the question stays open.";
  const reason: unknown = signal.reason;
  if (!(reason instanceof AnsweredElsewhere)) return "The question was withdrawn.";
  if (reason.outcome === "expired") return "No answer in time; the chosen or recommended option was used.";
  return `This question was ${reason.outcome} elsewhere${reason.by ? ` by ${oneLine(whoText(reason.by))}` : ""}.`;
}

/** Only the list has a time limit, not the text. */
async function askOne(
  parts: TerminalQuestionerParts,
  open: OpenQuestion,
  question: Question,
  signal: AbortSignal,
): Promise<QuestionResult> {
  const { io, clock } = parts;
  let listed = false;
  const pressed = (): void => {
    if (listed) open.timer.restart(question.id);
  };
  const prompt = openPrompt({ keyboard: io.keyboard, output: io.stderr, clock, signal, pressed });
  const list = async (text: string): Promise<TypedLine> => {
    listed = true;
    open.timer.restart(question.id);
    try {
      return await prompt.ask(text);
    } finally {
      listed = false;
      open.timer.stop();
    }
  };
  try {
    return await choose({ parts, open, question, prompt, list });
  } finally {
    prompt.close();
  }
}

type ChoiceParts = {
  readonly parts: TerminalQuestionerParts;
  readonly open: OpenQuestion;
  readonly question: Question;
  readonly prompt: Prompt;
  readonly list: (text: string) => Promise<TypedLine>;
};

const YOUR_TEXT = "Your answer, then Enter: ";

async function choose(choosing: ChoiceParts): Promise<QuestionResult> {
  const { question, open, prompt, list } = choosing;
  const several = open.questions.length > 1;
  const shown = `\n${screen(choosing).join("\n")}\n`;
  if (question.options.length === 0) return withText(question.id, [], await prompt.ask(`${shown}${YOUR_TEXT}`));
  const how = `${question.multi ? "Type numbers with commas (Enter alone: none)" : "Type a number"}${several ? ", or s to leave it open" : ""}, then Enter: `;
  for (let text = `${shown}\n${how}`; ; ) {
    const typed = await list(text);
    if ("none" in typed) return typed;
    const read = readChoice(question, typed.line, several, columnsOf(choosing));
    if ("chosen" in read) {
      if (!read.other) return { answer: { id: question.id, selected: read.chosen } };
      return withText(question.id, read.chosen, await prompt.askAtOnce(YOUR_TEXT));
    }
    text = `${read.again}\n${how}`;
  }
}

function withText(id: string, selected: readonly string[], typed: TypedLine): QuestionResult {
  return "none" in typed ? typed : { answer: { id, selected, custom: typed.line } };
}

function columnsOf({ parts }: ChoiceParts): number {
  return parts.io.stderr.columns() ?? 80;
}

function screen(choosing: ChoiceParts): string[] {
  const { parts, open, question } = choosing;
  const { questions, agentName } = open;
  const at = questions.length > 1 ? ` (${questions.indexOf(question) + 1}/${questions.length})` : "";
  const title = `${agentName === undefined ? "Question" : `Question from ${oneLine(agentName)}`}${at}: ${oneLine(question.header ?? question.id)}`;
  const lines = questionLines(question, columnsOf(choosing), styleOf(parts.io.stderr, parts.io.env), title);
  const seconds = question.options.length > 0 ? open.timeout() : 0;
  return seconds > 0 ? [...lines, `If you press nothing for ${seconds} s, the recommended option (or the first) is used.`] : lines;
}

type Choice = { readonly chosen: readonly string[]; readonly other: boolean } | { readonly again: string };

const LONGEST_SAID = 20;

function readChoice(question: Question, line: string, several: boolean, columns: number): Choice {
  const typed = line.trim();
  const preview = previewOf(question, typed);
  if (preview !== undefined) return { again: `\n${previewText(preview, columns)}\n` };
  if (several && typed.toLowerCase() === "s") return { chosen: [], other: false };
  if (typed === "") return question.multi ? { chosen: [], other: false } : { again: "Enter alone is not an answer." };
  return readNumbers(question, typed);
}

function previewOf({ options }: Question, typed: string): string | undefined {
  const number = /^p ?(\d{1,2})$/i.exec(typed)?.[1];
  return number === undefined ? undefined : options[Number(number) - 1]?.preview;
}

function readNumbers({ options, multi }: Question, typed: string): Choice {
  const numbers = typed.split(/[, ]+/).filter((part) => part !== "");
  const rows = numbers.map((part) => (/^\d{1,2}$/.test(part) ? Number(part) - 1 : -1));
  const fits = rows.every((row) => row >= 0 && row <= options.length) && new Set(rows).size === rows.length;
  if (!fits || rows.length === 0 || (!multi && rows.length > 1)) {
    const wanted = multi ? `numbers from 1 to ${options.length + 1}, each once` : `one number from 1 to ${options.length + 1}`;
    return { again: `'${cut(oneLine(typed), LONGEST_SAID)}' is not an answer; give ${wanted}.` };
  }
  return { chosen: rows.flatMap((row) => options[row]?.label ?? []), other: rows.includes(options.length) };
}
