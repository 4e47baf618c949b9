import type { Json, TraceEntry, Verdict, WiderRules } from "@assent/core";
import type { Explanation, Hazard, JudgedCommand } from "@assent/policy";
import { shellWord } from "../../command-line/shell-word.ts";
import { wrapWords } from "../../io/display-width.ts";
import type { Style } from "../../io/style.ts";
import { textTable } from "../../io/text-table.ts";
import { markGaps, oneLine, readable } from "../../io/visible-text.ts";
import { ALLOW_CONFINED_OFFER, containmentText, mayAllowConfined } from "../approvals/facts.ts";
import { rememberedRule, settingsValue } from "../grants/remembered-rule.ts";
import { commandText, commandTree, type TreeRow } from "./command-tree.ts";
import { decisionSentence, rulePlace } from "./decision-text.ts";

export type ExplainLayout = {
  readonly columns: number | undefined;
  readonly style: Style;
  readonly subject: string;
  /** Empty if no rule can allow it. */
  readonly offers: readonly string[];
  readonly wider?: WiderRules | undefined;
};

export function explainText(explanation: Explanation, reading: ExplainLayout): string {
  const { verdict } = explanation;
  const subject = reading.subject.trim() === "" ? "(empty)" : oneLine(markGaps(reading.subject));
  const { staging } = explanation;
  const word = paint(staging?.verdict ?? verdict, reading.style)(staging ? "STAGED" : verdict.toUpperCase());
  const parts = [
    [`${word}  ${reading.style.bold(subject)}`],
    stagingLines(explanation, reading),
    whyLines(explanation, reading),
    containmentLines(explanation, reading),
    planLines(explanation, reading),
    factLines(explanation.facts, reading),
    missLines(explanation, reading),
    passLines(explanation, reading),
    explanation.policyVersion === undefined ? [] : indented(`Policy: ${explanation.policyVersion}`, 0, reading),
  ];
  const text = parts
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
  return `${text}\n${traceText(explanation, reading)}`;
}

function paint(verdict: Verdict, style: Style): (text: string) => string {
  const colour = { allow: style.green, ask: style.yellow, deny: style.red }[verdict];
  return (text) => style.bold(colour(text));
}

function indented(text: string, indent: number, { columns }: ExplainLayout): string[] {
  const room = columns ? Math.max(columns - indent, 16) : Number.POSITIVE_INFINITY; // a terminal that does not know its width reports 0
  return wrapWords(readable(text), room).map((line) => " ".repeat(indent) + line);
}

function stagingLines({ staging }: Explanation, reading: ExplainLayout): string[] {
  if (!staging) return [];
  const { by, verdict } = staging;
  const place = by ? rulePlace(by) : "";
  return [
    ...indented(
      `It is staged instead of run, by ${by ? "a rule of proposals.stage" : "the tool itself"}: nothing changes until it is applied.`,
      0,
      reading,
    ),
    ...(by ? indented(`rule     ${oneLine(by.text)}`, 2, reading) : []),
    ...(place === "" ? [] : indented(`at       ${oneLine(place)}`, 2, reading)),
    ...indented(`To stage it, which only reads: ${verdict}. ${decisionSentence(staging)}`, 0, reading),
  ];
}

function whyLines(explanation: Explanation, reading: ExplainLayout): string[] {
  const { rule, reason, staging, verdict } = explanation;
  const lines = indented(`${staging ? `To apply it: ${verdict}. ` : ""}${decisionSentence(explanation)}`, 0, reading);
  if (rule && reason !== "guard") {
    lines.push(...indented(`rule     ${oneLine(rule.text)}`, 2, reading));
    const place = rulePlace(rule);
    if (place !== "") lines.push(...indented(`at       ${oneLine(place)}`, 2, reading));
  }
  if (rule?.because !== undefined) lines.push(...indented(`because  ${oneLine(rule.because)}`, 2, reading));
  return lines;
}

function containmentLines({ containment, reason, verdict }: Explanation, reading: ExplainLayout): string[] {
  if (!containment) return [];
  const isOffered = verdict === "ask" && reason === "default" && mayAllowConfined(containment);
  return [
    ...indented(`Sandbox: ${containmentText(containment)}.`, 0, reading),
    ...(isOffered ? indented(ALLOW_CONFINED_OFFER, 0, reading) : []),
  ];
}

function planLines(explanation: Explanation, reading: ExplainLayout): string[] {
  const { plan, verdict } = explanation;
  if (!plan) return [];
  const decider = decidingCommand(explanation, plan.commands);
  const rows = commandTree(plan.commands);
  const heading = rows.length === 1 ? "The command:" : `The ${rows.length} commands, as Assent reads them:`;
  const commands = rows.flatMap((row, index) =>
    commandLines(row, { reading, decides: rows.length > 1 && verdict !== "allow" && index === decider }),
  );
  const own = new Set(plan.commands.flatMap((command) => command.hazards.map(({ id }) => id)));
  const hazards = plan.hazards
    .filter(({ id }) => id !== "pipe_to_shell" || !own.has(id))
    .flatMap((hazard) => hazardLines(hazard, 2, reading));
  return [
    ...(rows.length === 0 ? [] : [heading, ...commands]),
    ...(hazards.length === 0 ? [] : [rows.length === 0 ? "This could not be read as commands:" : "In the line as a whole:", ...hazards]),
  ];
}

/** Commands that only read may ask too, but are not the cause. */
function decidingCommand({ unit, reason }: Explanation, commands: readonly JudgedCommand[]): number {
  const named = commands[unit];
  if (named?.class !== "read" || reason === "guard" || reason === "checker") return unit;
  const equal = ({ verdict, source }: JudgedCommand): boolean => verdict === named.verdict && source === named.source;
  const first = (is: (command: JudgedCommand) => boolean): number => commands.findIndex((command) => equal(command) && is(command));
  const found = [first((command) => command.class !== "read"), first(({ hazards }) => hazards.length > 0)];
  return found.find((index) => index !== -1) ?? unit;
}

const INDENT = 2;

function commandLines(
  { command, depth, label }: TreeRow,
  { reading, decides }: { readonly reading: ExplainLayout; readonly decides: boolean },
): string[] {
  const { verdict, rule, source, cwd } = command;
  const indent = INDENT * (depth + 1);
  const mark = decides ? "  ← decides" : "";
  const [first = "", ...more] = indented(
    oneLine(`${label}${commandText(command)}  (${CLASSES[command.class]})`) + mark,
    indent + 7,
    reading,
  );
  const by =
    BY[source] ??
    oneLine(rule === undefined ? `by ${source}` : rule === `safeguard:${source}` ? "by a safeguard" : `by ${rule}, ${source}`);
  return [
    `${" ".repeat(indent)}${paint(verdict, reading.style)(verdict.padEnd(5))}  ${first.trimStart()}`,
    ...more,
    ...(by === "" ? [] : indented(by, indent + 7, reading).map(reading.style.dim)),
    ...(cwd === null ? indented("in a directory that is known only when it runs", indent + 7, reading) : []),
    ...statedHazards(command).flatMap((hazard) => hazardLines(hazard, indent + 7, reading)),
  ];
}

/** A shell that reads its program from a pipe runs unknown code, so the second sentence would add nothing. */
function statedHazards({ hazards }: JudgedCommand): readonly Hazard[] {
  const isPiped = hazards.some(({ id }) => id === "pipe_to_shell");
  return hazards.filter(({ id }) => !isPiped || id !== "opaque_program");
}

const BY: Readonly<Record<string, string>> = {
  "": "",
  default: "",
  readonly_hint: "known to change nothing",
  confined: "it runs confined",
  yolo: "by mode yolo",
  tool: "by the tool itself",
};

const CLASSES = {
  read: "only reads",
  write: "changes something",
  opaque: "runs code that Assent can't inspect",
  unknown: "unknown effect",
} as const;

function hazardLines({ text }: Hazard, indent: number, reading: ExplainLayout): string[] {
  return indented(`! ${oneLine(text)}`, indent, reading).map(reading.style.yellow);
}

function factLines(facts: Json | undefined, reading: ExplainLayout): string[] {
  if (facts === undefined || facts === null || typeof facts !== "object" || Array.isArray(facts)) return [];
  const { paths, host } = facts as { readonly paths?: Json; readonly host?: Json };
  const lines = Array.isArray(paths) ? paths.flatMap((path) => pathLines(Object(path), reading)) : [];
  return host === undefined
    ? lines
    : [...lines, ...indented(`host  ${host === null ? "none: this is not a URL" : oneLine(String(host))}`, 2, reading)];
}

function pathLines({ lexical, real, inside, sensitive, control }: Readonly<Record<string, Json>>, reading: ExplainLayout): string[] {
  const known = [
    inside === true ? "inside the workspace" : "outside the workspace",
    sensitive === true && "may hold secrets",
    control === true && "can configure agents or run code later",
  ];
  const leads = real === lexical ? "" : `\n  leads to ${real === null ? "a place that cannot be read" : oneLine(String(real))}`;
  return indented(`path  ${oneLine(String(lexical))}${leads}\n  ${known.filter(Boolean).join(", ")}`, 2, reading);
}

/** An allow that a stricter rule outvotes needs no reason. */
function missLines({ misses, verdict }: Explanation, reading: ExplainLayout): string[] {
  if (verdict === "deny") return [];
  return misses.flatMap(({ rule, why }) => {
    const place = rulePlace(rule);
    return indented(oneLine(`${rule.text}${place === "" ? "" : ` (${place})`} matches but cannot allow it: ${why}.`), 0, reading);
  });
}

function passLines(explanation: Explanation, reading: ExplainLayout): string[] {
  const { verdict, reason } = explanation;
  if (verdict === "allow") return [];
  if (verdict === "deny" || reason === "guard" || reason === "checker" || reason === "hook")
    return indented(LASTING[reason] ?? "", 0, reading).filter(Boolean);
  const { offers } = reading;
  if (offers.length === 0) {
    const why = hasHazards(explanation) ? "No rule can allow it, because of what is marked with ! above" : "No narrow rule would match it";
    return indented(`${why}: it needs approval each time.`, 0, reading);
  }
  const rules = offers.map(rememberedRule);
  const pass = explanation.staging ? "be applied" : "run";
  const { wider } = reading;
  return [
    ...indented(`To let it ${pass} without asking, add this to permissions.allow in ${settingsFor(explanation)}:`, 0, reading),
    ...rules.flatMap((rule) => indented(oneLine(JSON.stringify(settingsValue(rule))), 2, reading)),
    ...(wider
      ? indented(
          `or, for similar calls, ${wider.rules.map((rule) => oneLine(JSON.stringify(settingsValue(rememberedRule(rule))))).join(", ")}. ${wider.risk}`,
          0,
          reading,
        )
      : []),
    ...indented("or, for a single call, use assent call with:", 0, reading),
    ...indented(rules.map(({ rule }) => `--allow ${shellWord(oneLine(rule))}`).join(" "), 2, reading),
  ];
}

/** A leading `/` means the workspace in project settings, the home directory in the user's. */
function settingsFor({ facts }: Explanation): string {
  return facts === undefined ? "your settings" : "the project's settings (.assent/settings.json)";
}

function hasHazards({ plan }: Explanation): boolean {
  return plan !== undefined && (plan.hazards.length > 0 || plan.commands.some(({ hazards }) => hazards.length > 0));
}

const LASTING: Readonly<Record<string, string>> = {
  guard: "No rule, mode or remembered answer changes that.",
  checker: "To change this, change that rule. No other rule, mode or remembered answer overrides it.",
  mode: "In another --mode the rules decide.",
};

function traceText({ trace }: Explanation, { columns }: ExplainLayout): string {
  const isSilent = ({ layer, opinion, rule, note }: TraceEntry): boolean =>
    layer.startsWith("safeguard:") && opinion === "none" && !rule && !note;
  const silent = trace.filter(isSilent);
  const last = trace.findLast(({ layer }) => layer.startsWith("safeguard:"));
  const others = [
    trace.some((entry) => entry.layer.startsWith("safeguard:") && !isSilent(entry)) ? "other safeguards" : "safeguards",
    "–",
    "",
  ];
  const rows = trace.flatMap((entry) => {
    const { layer, opinion, rule, note } = entry;
    const why = [rule, note].filter((text) => text !== undefined && text !== "").join("; ");
    const own = isSilent(entry) ? [] : [[LAYERS[layer] ?? layer.replace(/^safeguard:/, "safeguard "), OPINIONS[opinion], why]];
    return entry === last && silent.length > 0 ? [...own, others] : own;
  });
  return textTable(["who", "says", { shrinks: "why" }], rows, columns || undefined);
}

const LAYERS: Readonly<Record<string, string>> = { readonly_hint: "read-only commands", confined: "confined commands", default: "no rule" };
const OPINIONS = { allow: "allow", ask: "ask", deny: "deny", none: "–", error: "failed", not_reached: "not consulted" } as const;
