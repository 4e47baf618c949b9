import { relative } from "node:path";
import { type EventBodies, type JsonObject, type OutcomeState, oneLine } from "@assent/core";
import { TOOL_LISTINGS } from "@assent/tools";
import { ruleWords } from "../../desk/grants/remembered-rule.ts";
import { whoText } from "../../io/who.ts";
import type { CallBlock } from "./block.ts";

/** By tool: the field of its input that says what a call is about. */
const SUBJECTS: ReadonlyMap<string, string | undefined> = new Map(TOOL_LISTINGS.map(({ name, subject }) => [name, subject]));
const LONGEST = 500;

/** Makes a tool's input from typed text: JSON as it is, or just the command, file or pattern. */
export function inputFromText(tool: string, text: string): string {
  return text.startsWith("{") ? text : JSON.stringify(text === "" ? {} : { [SUBJECTS.get(tool) ?? "input"]: text });
}

export function callTitle(tool: string, input: JsonObject, cwd: string): string {
  if (tool === "todo") return ""; // its list is shown
  const subject = SUBJECTS.get(tool);
  const given = input[subject ?? ""] ?? input["cmd"];
  const text = typeof given === "string" ? given : Object.keys(input).length === 0 ? "" : JSON.stringify(input);
  return oneLine((subject === "file_path" ? shortenPath(text, cwd) : text).slice(0, LONGEST));
}

function shortenPath(path: string, cwd: string): string {
  const from = path.startsWith("/") ? relative(cwd, path) : path;
  return from === "" || from.startsWith("..") ? path : from;
}

const OUTCOME_WORDS: Readonly<Record<OutcomeState, string>> = {
  succeeded: "ok",
  invalid: "invalid",
  denied: "denied",
  rejected: "rejected",
  expired: "expired: no answer in time",
  cancelled: "cancelled",
  failed: "failed",
  timed_out: "timed out",
  unknown: "unknown: it may have taken effect",
};

export function outcomeWord({ outcome, staged }: Pick<CallBlock, "outcome" | "staged">): string {
  if (staged && outcome === "succeeded") return "previewed; nothing has changed yet";
  return outcome === undefined ? "" : OUTCOME_WORDS[outcome];
}

/** What allowed or denied a call. Undefined if a person is asked. */
export function describeDecision({ verdict, reason, source, rule }: EventBodies["call.judged"]): string | undefined {
  if (verdict === "ask") return undefined;
  const word = verdict === "allow" ? "allowed" : "denied";
  return `${word} by ${BY[reason]?.(source, rule ? oneLine(rule.text) : "") ?? source}`;
}

const BY: Readonly<Record<string, (source: string, rule: string) => string>> = {
  checker: (source, rule) => (rule === "" ? `the ${source}` : `rule ${rule} (${source})`),
  guard: (source) => `the safeguard '${source}'`,
  hook: (source) => `the hook '${source}'`,
  mode: (source) => `mode ${source}`,
  yolo: () => "mode yolo",
  tool: () => "the tool itself",
  readonly_hint: () => "its read-only hint",
  confined: () => "its confinement",
};

type ApprovalAnswer = Pick<EventBodies["approval.answered"], "outcome" | "by" | "reason" | "edited" | "remember">;

/** Who answered an approval, and how, in words. */
export function describeAnswer({ outcome, by, reason, edited, remember }: ApprovalAnswer, isYou: boolean): string {
  const who = isYou ? "you" : oneLine(whoText(by));
  return `${outcome} by ${who}${edited ? ", edited" : ""}${remember ? ", remembered" : ""}${reason ? `: ${oneLine(reason)}` : ""}`;
}

export function describeReply({ outcome, by }: Pick<EventBodies["question.answered"], "outcome" | "by">, isYou: boolean): string {
  return outcome === "expired" ? "no answer in time" : `${outcome} by ${isYou ? "you" : oneLine(whoText(by))}`;
}

/** True if the answer is by this user, under no other name. */
export function isSamePerson({ kind, user, name }: EventBodies["approval.answered"]["by"], you: string): boolean {
  return kind === "person" && user === you && name === you;
}

const SCOPES: Readonly<Record<string, string>> = {
  session: "for this session",
  project: "for this project",
  user: "for all your projects",
};

/** Which rules an answer saved, and how to remove them. */
export function rememberedText({ scope, rules }: NonNullable<ApprovalAnswer["remember"]>): string {
  const [them, its] = rules.length === 1 ? ["it", "it"] : ["them", "each"];
  return `Saved ${SCOPES[scope] ?? scope}: ${rules.map(ruleWords).join(", ")}. /grants lists ${them}; /grants revoke ID removes ${its}.`;
}
