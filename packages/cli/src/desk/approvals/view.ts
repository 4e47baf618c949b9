import type { ConfirmationDetails, EffectOffer, OpenApproval } from "@assent/core";
import { cut, LIST_WIDTH, quoted, quotedAfter, TEXT_MARK, wrap, wrapWords } from "../../io/display-width.ts";
import type { Style } from "../../io/style.ts";
import { markGaps, oneLine, readable } from "../../io/visible-text.ts";
import { ruleWords } from "../grants/remembered-rule.ts";
import { describeEffect } from "./effect.ts";
import { factNotes } from "./facts.ts";
import { restOfInput, warningAfterEdit } from "./rest-of-input.ts";

/** `shown` takes the place of the request's text, for example the changes of a proposal. */
export type ApprovalLayout = {
  readonly columns: number;
  readonly style: Style;
  readonly edited?: boolean;
  readonly shown?: readonly string[] | undefined;
};

/** Everything a person must see before approving, without characters that move the cursor. */
export function approvalLines(approval: OpenApproval, { columns, style, edited = false, shown }: ApprovalLayout): string[] {
  const { details } = approval;
  const safe = (text: string): string => readable(markGaps(text));
  const block = (text: string): string[] => quoted(safe(text), columns);
  const rest = restOfInput(approval);
  const inputs = rest.lines.map((line) => ["input", line] as const);
  const facts = [...approvalFacts(approval), ...inputs].flatMap(([label, value]) => factRows(label, safe(oneLine(value)), columns));
  const text = (): readonly string[] =>
    details.type === "edit" ? diffLines(block(approvalText(details)), style) : block(approvalText(details)).map(style.bold);
  return [
    style.bold(`Approval needed: ${oneLine(headingOf(approval))}`),
    ...facts,
    "",
    ...(shown ?? text()),
    ...effectLines(details.effect, block, style),
    ...rest.blocks.flatMap((text) => ["", ...block(`input ${text}`)]),
    ...approvalWarnings(details, edited).flatMap((warning) => ["", ...quotedAfter("  Warning: ", safe(warning), columns)]),
  ];
}

function effectLines(effect: EffectOffer | undefined, block: (text: string) => string[], style: Style): readonly string[] {
  if (effect?.state === "unavailable") return ["", ...block(`A preview is not available: ${effect.reason}`)];
  if (effect?.state !== "shown") return [];
  const { heading, changes, warnings, output, outcome } = describeEffect(effect);
  return [
    ...["", ...block([`Preview ${heading}`, ...changes].join("\n"))],
    ...warnings.flatMap((warning) => block(`Warning: ${warning}`)),
    ...effect.blocks.flatMap((text) => ["", ...diffLines(block(text), style)]),
    ...(output === "" ? [] : ["", ...block(`Output of the command, on the copy:\n${output}`)]),
    ...["", ...block(outcome)],
  ];
}

const FACT_COLUMNS = 9;

function factRows(label: string, value: string, columns: number): string[] {
  return wrapFact(label, value, columns - FACT_COLUMNS).map((row, at) => (at === 0 ? `  ${label}` : "").padEnd(FACT_COLUMNS) + row);
}

const SENTENCES: readonly string[] = ["always", "yes"];

/** Breaks our own sentences between words, and everything else at the edge, so that no space of it is lost. */
export function wrapFact(label: string, text: string, columns: number): string[] {
  return (SENTENCES.includes(label) ? wrapWords : wrap)(text, columns);
}

export function approvalWarnings({ warnings = [] }: ConfirmationDetails, edited: boolean): readonly string[] {
  return edited ? warnings.map(warningAfterEdit) : warnings;
}

/** One line; values too large for lists become "(long)". A caller that hides secrets asks for all of it, and cuts it afterwards. */
export function approvalSubject({ title, details }: Pick<OpenApproval, "title" | "details">, width: number = LIST_WIDTH): string {
  const about: unknown =
    details.type === "exec"
      ? details.command
      : details.type === "edit"
        ? details.filePath
        : "prompt" in details
          ? firstLine(details.prompt, title)
          : "";
  if (about === "") return approvalTitle({ title, details });
  return cut(oneLine(`${title}: ${typeof about === "string" ? about.slice(0, width) : "(long)"}`), width);
}

/** Empty if the title repeats the first line. */
function firstLine(prompt: unknown, title: string): unknown {
  if (typeof prompt !== "string") return prompt;
  const [first = "", ...more] = prompt.trim().split("\n", 2);
  return title.endsWith(first) ? "" : `${first}${more.length > 0 ? " …" : ""}`;
}

export function approvalTitle({ title, details }: Pick<OpenApproval, "title" | "details">): string {
  return details.type === "plan" ? `Plan: ${title}` : title;
}

/** Drops "Confirm", which the heading already says. */
export function headingOf(approval: Pick<OpenApproval, "title" | "details">): string {
  if (approval.title === "Confirm command") return "run a command";
  return approvalTitle(approval)
    .replace(/^Confirm edit: /, "edit ")
    .replace(/^(Plan: )?Confirm (?=.)/, "");
}

type AskOrigin = Pick<OpenApproval, "reason" | "source" | "rule" | "details">;

/** Why a person is asked, with the note of the tool, hook or safeguard. */
export function askReason({ reason, source, rule, details: { note } }: AskOrigin): string {
  const text = askSource({ reason, source, rule });
  return note === undefined ? text : `${text}: ${oneLine(note)}`;
}

function askSource({ reason, source, rule }: Omit<AskOrigin, "details">): string {
  const place = rule?.file === undefined ? "" : `, ${rule.file}:${rule.line ?? 1}`;
  const named = rule ? `: ${rule.text}${rule.because ? ` (${rule.because})` : ""}${place}` : "";
  switch (reason) {
    case "checker":
      return `a rule from the ${source} asks first${named}`;
    case "guard":
      return `the safeguard '${source}' asks first`;
    case "hook":
      return `the hook '${source}' asks first`;
    case "tool":
      return "this tool asks before it runs";
    case "resolver":
      return "only a person may apply or discard this change";
    case "edited":
      return "you edited it; your version would run without asking";
    default:
      return "no rule allows it";
  }
}

/** A command may name its own directory. */
export function approvalDirectory({ details, cwd }: Pick<OpenApproval, "details" | "cwd">): string {
  return (details.type === "exec" ? details.cwd : undefined) ?? cwd;
}

export function approvalFacts(approval: OpenApproval): (readonly [string, string])[] {
  const { agentName, expiresAt } = approval;
  const { wider } = approval.details;
  return [
    ["tool", approval.tool],
    ["in", approvalDirectory(approval)],
    ["why", askReason(approval)],
    ...factNotes(approval.facts),
    ...(wider ? [["always", `w stores ${wider.rules.map(ruleWords).join(", ")}: ${wider.risk}`] as const] : []),
    ...(agentName === undefined ? [] : [["agent", agentName] as const]),
    ...(expiresAt === null ? [] : [["until", expiresAt] as const]),
    ["id", approval.id],
  ];
}

/** False for a plan. */
export function appliesProposal({ tool, details }: Pick<OpenApproval, "tool" | "details">): boolean {
  return tool === "resolve" && details.type !== "plan";
}

export function approvalText(details: ConfirmationDetails): string {
  switch (details.type) {
    case "exec":
      return `$ ${details.command}`;
    case "edit":
      return `${details.filePath}\n${details.fileDiff}`;
    case "mcp":
      return `${details.toolDisplayName} (${details.serverName}/${details.toolName})`;
    case "plan":
      return details.plan;
    case "info":
      return [details.prompt, ...(details.urls ?? [])].join("\n");
    default:
      return details satisfies never;
  }
}

function diffLines(lines: readonly string[], style: Style): string[] {
  return lines.map((line) => {
    const mark = line.slice(TEXT_MARK.length).trimStart().slice(0, 1);
    if (mark === "+") return style.green(line);
    return mark === "-" ? style.red(line) : line;
  });
}
