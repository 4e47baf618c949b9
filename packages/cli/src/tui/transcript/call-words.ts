import { relative } from "node:path";
import { type EventBodies, type JsonObject, type OutcomeState, oneLine } from "@assent/core";
import { whoText } from "../../who.ts";

/** The part of an input that says what a call is about. */
const MAIN: Readonly<Record<string, string>> = {
  shell: "command",
  read: "file_path",
  write: "file_path",
  edit: "file_path",
  search: "pattern",
  glob: "pattern",
  list: "path",
  fetch: "url",
  agent: "description",
  ast_grep: "pattern",
};
const LONGEST = 500;

/** The field that says what a call of this tool is about. */
export function mainField(tool: string): string {
  return MAIN[tool] ?? "input";
}

/** What a call is about, on one line. */
export function callTitle(tool: string, input: JsonObject, cwd: string): string {
  if (tool === "todo") return ""; // its list is shown
  const given = input[MAIN[tool] ?? ""] ?? input["cmd"];
  const text = typeof given === "string" ? given : Object.keys(input).length === 0 ? "" : JSON.stringify(input);
  return oneLine((MAIN[tool] === "file_path" ? nearer(text, cwd) : text).slice(0, LONGEST));
}

function nearer(path: string, cwd: string): string {
  const from = path.startsWith("/") ? relative(cwd, path) : path;
  return from === "" || from.startsWith("..") ? path : from;
}

/** How a call ended, in a word or two. */
export const OUTCOME_WORDS: Readonly<Record<OutcomeState, string>> = {
  succeeded: "ok",
  invalid: "invalid",
  denied: "denied",
  rejected: "rejected",
  expired: "expired: nobody answered in time",
  cancelled: "cancelled",
  failed: "failed",
  timed_out: "timed out",
  unknown: "unknown: it may have had effects",
};

/** Why a call passed, or did not, without a person. Undefined: a person is asked. */
export function decidedBy({ verdict, reason, source, rule }: EventBodies["call.judged"]): string | undefined {
  if (verdict === "ask") return undefined;
  const word = verdict === "allow" ? "allowed" : "denied";
  return `${word} by ${BY[reason]?.(source) ?? source}${rule ? ` ${oneLine(rule.text)}` : ""}`;
}

const BY: Readonly<Record<string, (source: string) => string>> = {
  checker: (source) => `a rule (${source})`,
  guard: (source) => `the guard '${source}'`,
  hook: (source) => `the hook '${source}'`,
  mode: (source) => `mode ${source}`,
  yolo: () => "mode yolo",
  tool: () => "the tool itself",
  readonly_hint: () => "its read-only hint",
};

/** Who answered an approval, and how. */
export function answeredBy(
  { outcome, by, reason }: Pick<EventBodies["approval.answered"], "outcome" | "by" | "reason">,
  isHere: boolean,
): string {
  const who = isHere ? "you" : oneLine(whoText(by));
  return `${outcome} by ${who}${reason ? `: ${oneLine(reason)}` : ""}`;
}
