import { type Problem, problemText, type SettingsError } from "@assent/policy";
import type { Io } from "../../io/io.ts";
import { printFailure, warn } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";

/** Problems for people: where and what, then its type and what to do. */
export function problemLines(problems: readonly Problem[]): string {
  return problems
    .map((problem) => `${oneLine(problemText(problem))}\n  ${oneLine(`[${problem.type}] ${problem.hint}`).trimEnd()}\n`)
    .join("");
}

/** What was left out of a policy that is used all the same. */
export async function warnOfProblems(io: Io, problems: readonly Problem[]): Promise<void> {
  for (const problem of problems) await warn(io, `${problemText(problem)} (${problem.type})`);
}

/** A problem as `--json` tells it. */
export function problemForm({ type, file, line, column, key, message, hint }: Problem): object {
  return { type, file, line, column, key, message, hint };
}

/** Tells of settings that nobody may go on with; the exit code. */
export async function reportSettings(io: Io, error: SettingsError, json: boolean): Promise<number> {
  const [first] = error.problems;
  if (json) await printFailure(io, { type: error.code, exit: 2, message: error.message, hint: first?.hint ?? "" }, true);
  else await io.stderr.write(problemLines(error.problems));
  return 2;
}
