import { createSystemClock } from "@assent/host";
import { shellWord } from "../../command-line/shell-word.ts";
import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { counted, oneLine } from "../../io/visible-text.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { rememberedRule } from "../grants/remembered-rule.ts";
import { countBy, countQuestions, type QuestionCount, readQuestions } from "./questions.ts";
import { type Rehearsal, rehearseQuestions } from "./rehearse.ts";

const MOST_SUGGESTIONS = 3;

export function showStats(context: Context): Promise<number> {
  const { io, options } = context;
  return withStoreIfAny(context, async (store) => {
    const questions = await readQuestions(store.ledger, startOf(context));
    const all = countQuestions("all", questions);
    const tools = countBy(questions, ({ tool }) => tool);
    const askers = countBy(questions, ({ asker }) => asker);
    const record = await rehearseQuestions(context, store, questions);
    const suggestions = record.suggest(MOST_SUGGESTIONS);
    const { judged, unjudged } = record;
    const { name: _all, ...counts } = all;
    if (options.flag("json")) await printJson(io, { ...counts, tools, rules: askers, rehearsed: { judged, unjudged }, suggestions });
    else
      await io.stdout.write(
        statsText({ all, tools, askers, suggestions, judged, unjudged, flags: storeFlag(context) }, io.stdout.columns()),
      );
    return 0;
  });
}

export function startOf({ options, overrides }: Context): number {
  const span = options.duration("since");
  return span === undefined ? Number.NEGATIVE_INFINITY : (overrides.clock ?? createSystemClock()).now() - span;
}

type StatsView = {
  readonly all: QuestionCount;
  readonly tools: readonly QuestionCount[];
  readonly askers: readonly QuestionCount[];
  readonly suggestions: readonly Rehearsal[];
  readonly judged: number;
  readonly unjudged: number;
  readonly flags: string;
};

function statsText({ all, tools, askers, suggestions, judged, unjudged, flags }: StatsView, columns: number | undefined): string {
  if (all.asked === 0) return "No person was asked.\n";
  const share = shareText(all);
  const head = `${counted(all.asked, "question")}: ${all.approved} approved${share === "" ? "" : ` (${share})`}, ${all.rejected} rejected, ${all.unanswered} without an answer, ${all.open} open.\n`;
  const time = all.medianMs === null ? "" : `Answers took ${timeText(all.medianMs)} (median), ${timeText(all.p90Ms)} (90 % were faster).\n`;
  const rehearsed = `Rehearsed on ${counted(judged, "question")}, by the rules and files as they are now${unjudged === 0 ? "" : `; ${unjudged} more left out, which are older than the newest 2,000 calls or cannot be judged again`}.\n`;
  const rules = suggestions.map((one) => rehearsalText(one) + storeText(one, flags)).join("\n");
  const advice =
    suggestions.length === 0 ? "No rule would have saved several questions.\n" : `Rules that would have saved most questions:\n\n${rules}`;
  return [head + time, countTable("tool", tools, columns), countTable("asked by", askers, columns), rehearsed + advice].join("\n");
}

function countTable(name: string, counts: readonly QuestionCount[], columns: number | undefined): string {
  const rows = counts.map((one) => [
    oneLine(one.name),
    String(one.asked),
    shareText(one),
    one.medianMs === null ? "" : timeText(one.medianMs),
    one.p90Ms === null ? "" : timeText(one.p90Ms),
  ]);
  return textTable([{ shrinks: name }, "asked", "approved", "median", "p90"], rows, columns);
}

/** Of the questions that a person answered. */
function shareText({ approved, rejected }: QuestionCount): string {
  return approved + rejected === 0 ? "" : `${Math.round((100 * approved) / (approved + rejected))} %`;
}

function timeText(ms: number | null): string {
  const seconds = Math.round((ms ?? 0) / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

const MOST_SHOWN = 10;

export function rehearsalText({ rule, risk, allowed, approved, rejected }: Rehearsal): string {
  const shown = rejected.slice(0, MOST_SHOWN).map(({ session, call, subject }) => `    ${oneLine(subject)}  (${session} ${call})\n`);
  const more = rejected.length > MOST_SHOWN ? `    and ${rejected.length - MOST_SHOWN} more\n` : "";
  const no = rejected.length === 0 ? "You rejected none of them.\n" : `You rejected ${rejected.length} of them:\n${shown.join("")}${more}`;
  return `${oneLine(rule)}\n${risk === null ? "" : `  ${risk}\n`}  It would have allowed ${counted(allowed, "asked call")}, ${approved} of which you approved. ${no}`;
}

function storeText({ rule }: Rehearsal, flags: string): string {
  return `  assent stats store ${shellWord(oneLine(rememberedRule(rule).rule))} --to project${flags}\n`;
}
