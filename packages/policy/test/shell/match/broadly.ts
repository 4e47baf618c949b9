import { compileBroad } from "../../../src/shell/match/broad-match.ts";
import { readRuleWords } from "../../../src/shell/match/rule-words.ts";
import type { MatchAnswer, SeenCommand } from "../../../src/shell/walk/seen-command.ts";
import { walkBash } from "../../../src/shell/walk/walk.ts";

/** Whether a deny rule holds for any command of a text; an unknown result is a doubt. */
export function broadly(rule: string, text: string): MatchAnswer {
  const read = readRuleWords(rule);
  if ("problem" in read) throw new Error(`${rule}: ${read.problem} at ${read.column}`);
  return overall(text, compileBroad(read.words));
}

/** The strongest answer over all that a text would run. */
export function overall(text: string, test: (seen: SeenCommand) => MatchAnswer): MatchAnswer {
  const { commands, parsed, limited } = walkBash(text);
  const answers = commands.map(test);
  if (answers.includes("yes")) return "yes";
  const isUnsure = !parsed || limited || answers.includes("doubt") || commands.some(({ doubts }) => doubts.length > 0);
  return isUnsure ? "doubt" : "no";
}
