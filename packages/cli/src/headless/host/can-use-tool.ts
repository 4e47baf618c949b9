import {
  type Answer,
  type ApprovalRow,
  type ConfirmationDetails,
  canonicalJson,
  isObject,
  type Json,
  type JsonObject,
  type OpenApproval,
  readAnswerWord,
  readPart,
} from "@assent/core";
import { isJsonObject } from "@assent/core/parts";
import { approvalText, askReason } from "../../desk/approvals/view.ts";
import type { HostRequest } from "./link.ts";
import { translateMode } from "./permission-modes.ts";

export type AskedApproval = Pick<
  OpenApproval,
  "id" | "tool" | "callId" | "input" | "fingerprint" | "title" | "reason" | "source" | "rule" | "explicitAsk" | "details" | "suggestions"
> &
  Pick<ApprovalRow, "expiresAt"> & { readonly facts?: Json; readonly agentName?: string; readonly agentId?: string | null };

export function canUseTool(approval: AskedApproval, again: JsonObject = {}): HostRequest {
  const { id, tool, callId, input, fingerprint, title, reason, source, rule, details, facts = null, expiresAt } = approval;
  const { agentId = null, agentName } = approval;
  return {
    subtype: "can_use_tool",
    approval_id: id,
    tool_name: tool,
    display_name: title,
    tool_use_id: callId,
    input,
    fingerprint,
    title,
    description: approvalText(details),
    facts,
    blocked_path: blockedPath(facts),
    decision_reason: { reason, source, ...(rule && { rule }), text: askReason(approval) },
    permission_suggestions: suggestionsFor(approval).map(({ answer: _answer, ...shown }) => shown),
    agent_id: agentId,
    ...(agentName !== undefined && { agent_name: agentName }),
    // The details are plain data.
    preview: details as unknown as Json,
    expires_at: expiresAt,
    ...again,
  };
}

function blockedPath(facts: Json): string | null {
  const paths = isObject(facts) ? facts["paths"] : undefined;
  const outside = (Array.isArray(paths) ? paths : []).find((path) => isObject(path) && path["inside"] === false);
  const found = isObject(outside) ? (outside["real"] ?? outside["lexical"]) : undefined;
  return typeof found === "string" ? found : null;
}

type Suggestion = {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly scope: "once" | "session" | "project" | "user";
  readonly rule?: string;
  readonly rules?: readonly string[];
  /** What the rules permit beyond this call. */
  readonly risk?: string;
  readonly mode?: string;
  readonly answer: Pick<Answer, "remember" | "mode">;
};

const SCOPES = [
  ["session", "Yes, for this session"],
  ["project", "Yes, in this project"],
  ["user", "Yes, everywhere"],
] as const;

/** Answers to an agent are remembered for that agent only. */
const AGENT_SCOPES = [["session", "Yes, for this agent"]] as const;

/** Suggestions from narrow to wide. A plan is approved into a mode. */
function suggestionsFor({ explicitAsk, details, suggestions, agentId = null }: AskedApproval): readonly Suggestion[] {
  const once: Suggestion = { id: "once", label: "Yes, once", description: "Only this call", scope: "once", answer: {} };
  if (details.type === "plan") return [once, ...planModes(details.prePlanMode)];
  if (explicitAsk || details.hideAlwaysAllow === true || suggestions.length === 0) return [once];
  const rule = suggestions.join(", ");
  const scopes = agentId === null ? SCOPES : AGENT_SCOPES;
  const remembered = scopes.map(([scope, label]): Suggestion => {
    return {
      id: scope,
      label,
      description: `Remember ${rule}`,
      scope,
      rule,
      rules: suggestions,
      answer: { remember: { scope, rules: suggestions } },
    };
  });
  return [once, ...remembered, ...widerSuggestion(details, scopes.length > 1 ? "project" : "session")];
}

function widerSuggestion({ wider }: ConfirmationDetails, scope: "project" | "session"): readonly Suggestion[] {
  if (!wider) return [];
  const { rules, risk } = wider;
  const rule = rules.join(", ");
  const label = scope === "project" ? "Yes, and similar calls in this project" : "Yes, and similar calls for this agent";
  return [
    { id: "wider", label, description: `Remember ${rule}. ${risk}`, scope, rule, rules, risk, answer: { remember: { scope, rules } } },
  ];
}

function planModes(before: string | undefined): readonly Suggestion[] {
  const modes = ["auto-edit", ...(before === undefined || before === "auto-edit" || before === "default" ? [] : [before])];
  return modes.map((mode) => {
    return { id: mode, label: `Yes, in mode ${mode}`, description: `Begin in mode ${mode}`, scope: "once", mode, answer: { mode } };
  });
}

type ReadAnswer = {
  readonly answer: Omit<Answer, "approval" | "by">;
  readonly mode?: string;
  readonly unhonored?: readonly string[];
};

/** The meaning of a host's reply; `fault`: it has none. */
export type ReadReply = ReadAnswer | { readonly preview: true } | { readonly fault: string; readonly code: string };

/** Reads a reply to `can_use_tool`. A malformed reply is a fault, never an approval. */
export function readReply(reply: unknown, approval: AskedApproval): ReadReply {
  if (!isObject(reply)) return badAnswer("The answer is not an object.");
  const { behavior, fingerprint, message, interrupt } = reply;
  if (fingerprint !== undefined && fingerprint !== approval.fingerprint)
    return { code: "stale_revision", fault: `The answer is for a different request than ${approval.id}.` };
  if (behavior === "preview") return readPreview(approval);
  const meaning = readAnswerWord("permission", behavior);
  if (meaning?.outcome === "approve") return readApproval(reply, approval);
  if (!meaning) return badAnswer(`'behavior' must be "allow" or "deny", not ${JSON.stringify(behavior)?.slice(0, 80) ?? "absent"}.`);
  if (message !== undefined && message !== null && typeof message !== "string") return badAnswer("'message' must be a string.");
  if (interrupt !== undefined && typeof interrupt !== "boolean") return badAnswer("'interrupt' must be true or false.");
  return {
    answer: {
      outcome: "reject",
      fingerprint: approval.fingerprint,
      ...(typeof message === "string" && { reason: message }),
      ...(interrupt === true && { interrupt }),
    },
  };
}

function readPreview({ id, details: { effect } }: AskedApproval): ReadReply {
  if (effect?.state === "offered" || effect?.state === "shown") return { preview: true };
  return badAnswer(`${id} offers no preview${effect ? `: ${effect.reason}` : "."}`);
}

function badAnswer(fault: string): ReadReply {
  return { code: "bad_answer", fault };
}

function readApproval(
  { updatedInput, remember, updatedPermissions, write, part }: Readonly<Record<string, unknown>>,
  approval: AskedApproval,
): ReadReply {
  if (updatedInput !== undefined && updatedInput !== null && !isJsonObject(updatedInput))
    return badAnswer("'updatedInput' must be an object.");
  const suggestion = remember === undefined || remember === null ? undefined : suggestionsFor(approval).find(({ id }) => id === remember);
  if (remember !== undefined && remember !== null && !suggestion) return badAnswer("'remember' must be the id of a suggestion.");
  const edited = updatedInput && !isSame(updatedInput, approval.input) ? { updatedInput } : {};
  const updates = readUpdates(updatedPermissions, approval);
  if (typeof updates === "string") return badAnswer(updates);
  const { answer, ...besides } = updates;
  const chosen = readChosen(write, part);
  if (typeof chosen === "string") return badAnswer(chosen);
  const { fingerprint } = approval;
  return { answer: { outcome: "approve", fingerprint, ...answer, ...suggestion?.answer, ...edited, ...chosen }, ...besides };
}

/** What an approval applies: the changes of a preview, or a part of a proposal. A text says what is wrong. */
export function readChosen(write: unknown, part: unknown): Pick<Answer, "write" | "part"> | string {
  if (write !== undefined && write !== null && typeof write !== "string") return "'write' must be the id of the shown preview.";
  const read = part === undefined || part === null ? undefined : readPart(part);
  if (typeof read === "string") return `'part' cannot be read: ${read}.`;
  return { ...(typeof write === "string" && { write }), ...(read && { part: read }) };
}

/** Values without a canonical form count as an edit, which is then refused. */
function isSame(left: JsonObject, right: JsonObject): boolean {
  try {
    return canonicalJson(left) === canonicalJson(right);
  } catch (_noForm) {
    return false;
  }
}

type PermissionUpdates = Pick<ReadAnswer, "mode" | "unhonored"> & { readonly answer: Pick<Answer, "remember" | "mode"> };

/** Where Claude Code stores a rule, and our scope for it, from narrow to wide. */
const DESTINATIONS: readonly (readonly [destination: string, scope: "session" | "project" | "user"])[] = [
  ["session", "session"],
  ["cliArg", "session"],
  ["localSettings", "project"],
  ["projectSettings", "project"],
  ["userSettings", "user"],
];

/** Reads what an approval of Claude Code's SDK asks to remember. A string says why the approval does not count: it narrows rules. */
function readUpdates(given: unknown, approval: AskedApproval): PermissionUpdates | string {
  const updates = given ?? [];
  if (!isListOfObjects(updates)) return "'updatedPermissions' must be a list of objects.";
  const narrowing = updates.find(narrows);
  if (narrowing)
    return `'updatedPermissions' cannot narrow rules here (${String(narrowing["type"])}). Use settings, or set_permission_mode.`;
  return keepUpdates(updates, approval);
}

function keepUpdates(updates: readonly Readonly<Record<string, unknown>>[], approval: AskedApproval): PermissionUpdates {
  const word = updates.findLast(({ type }) => type === "setMode")?.["mode"];
  const meant = translateMode(word);
  const added = updates.filter(({ type, rules }) => type === "addRules" && Array.isArray(rules));
  const [, scope] = DESTINATIONS.find(([name]) => added.some(({ destination }) => destination === name)) ?? [];
  const kept = added.filter(({ destination }) => DESTINATIONS.some(([name, to]) => name === destination && to === scope));
  const rules = kept.flatMap(({ rules: values }) => (Array.isArray(values) ? values.map(ruleText) : []));
  const mayRemember = suggestionsFor(approval).some(({ rules: offered }) => offered) && rules.every((rule) => rule !== "");
  const remember =
    mayRemember && scope && rules.length > 0 ? { scope: approval.agentId == null ? scope : ("session" as const), rules } : undefined;
  const held = [...(remember ? kept : []), ...updates.filter(({ type }) => type === "setMode" && meant)];
  return {
    answer: { ...(remember && { remember }), ...(meant && approval.details.type === "plan" && { mode: meant.mode }) },
    ...(meant && (approval.details.type !== "plan" || meant.unasked) && { mode: String(word) }),
    unhonored: updates.filter((update) => !held.includes(update)).map((update) => JSON.stringify(update)),
  };
}

const NARROWING: readonly string[] = ["replaceRules", "removeRules", "removeDirectories"];

/** Rules that do not say "allow" could mean the opposite. */
function narrows({ type, rules, behavior }: Readonly<Record<string, unknown>>): boolean {
  const isRule = rules !== undefined || behavior !== undefined;
  return NARROWING.includes(String(type)) || (isRule && behavior !== "allow");
}

function isListOfObjects(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.every(isObject);
}

function ruleText(value: unknown): string {
  if (!isObject(value) || typeof value["toolName"] !== "string") return "";
  const { toolName, ruleContent } = value;
  return typeof ruleContent === "string" ? `${toolName}(${ruleContent})` : toolName;
}
