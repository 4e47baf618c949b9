import { formatProblem, type SettingsError, type SettingsProblem } from "@assent/policy";
import type { Io } from "../../io/io.ts";
import { printFailure, warn } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";

export function problemLines(problems: readonly SettingsProblem[]): string {
  return problems
    .map((problem) => `${oneLine(formatProblem(problem))}\n  ${oneLine(`[${problem.type}] ${problem.hint}`).trimEnd()}\n`)
    .join("");
}

export async function warnOfProblems(io: Io, problems: readonly SettingsProblem[]): Promise<void> {
  for (const problem of problems) await warn(io, warningText(problem));
}

function warningText(problem: SettingsProblem): string {
  const { file, line, message, effect, kept } = problem;
  const sentence = endSentence(line === 0 && message.startsWith("'") ? `${file} ${message}` : formatProblem(problem));
  return effect === "warning" && !kept ? `Ignored ${sentence}` : sentence;
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export function problemForm({ type, file, line, column, key, message, hint }: SettingsProblem): object {
  return { type, file, line, column, key, message, hint };
}

export async function reportSettings(io: Io, error: SettingsError, json: boolean): Promise<number> {
  const [first] = error.problems;
  if (json) await printFailure(io, { type: error.code, exit: 2, message: error.message, hint: first?.hint ?? "" }, true);
  else await io.stderr.write(problemLines(error.problems));
  return 2;
}
