import { SEVERITY, type Verdict } from "../decision.ts";
import { copyGiven } from "../json/copy.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import { sameJson } from "../json/same.ts";
import { cutText } from "../text/cut-text.ts";
import { printable } from "../text/visible-text.ts";
import { HOOK_EVENTS, type HookEventRow, type HookPoint, hookPointNamed } from "./event-table.ts";
import { type HookAnswer, readAnswer } from "./fields.ts";

/** How one run of a hook ended, before it is interpreted. */
export type HookRun =
  | { readonly ended: "exit"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly ended: "value"; readonly value: unknown }
  | { readonly ended: "failed"; readonly cause: string; readonly stderr?: string }
  | { readonly ended: "cancelled" };

/** A new input and how it applies to the current one: its keys replace existing keys, or it replaces the whole input. */
export type InputUpdate = { readonly input: JsonObject; readonly mode: "merge" | "replace" };

/** What one hook answered. */
export type HookOutcome = {
  readonly verdict: Verdict | "none";
  readonly reason?: string;
  /** Ends the run, or lets it end; the message may be blank. */
  readonly stop?: string;
  readonly feedback?: string;
  readonly context?: string;
  readonly systemMessage?: string;
  readonly interrupt?: boolean;
  readonly updatedInput?: InputUpdate;
  readonly updatedOutput?: string;
  /** Voids every hook's allow, so that a person decides. */
  readonly voidsAllow?: boolean;
  /** Why it counts as failed. */
  readonly failure?: string;
  /** What went wrong, one sentence each. */
  readonly warnings: readonly string[];
  /** One sentence per field that this event ignores; reported once, not on every run. */
  readonly ignored: readonly string[];
};

/** The hook that ran, its event, and what its failure does. */
export type HookSpeaker = { readonly event: HookPoint; readonly name: string; readonly onFailure: "block" | "warn" };

const LONGEST_CONTEXT = 10_000;
const LONGEST_REASON = 2_000;
const SHOWN_STDERR = 500;

/** Interprets the end of one run; anything not understood is a failure. */
export function readHookRun(hook: HookSpeaker, run: HookRun): HookOutcome {
  switch (run.ended) {
    case "exit":
      return readExit(hook, run);
    case "value":
      return readValue(hook, run.value);
    case "failed":
      return failure(hook, { cause: run.cause, stderr: run.stderr });
    case "cancelled":
      return { ...failure({ ...hook, onFailure: "warn" }, { cause: "cancelled" }), warnings: [] };
    default:
      return run satisfies never;
  }
}

function readExit(hook: HookSpeaker, { code, stdout, stderr }: Extract<HookRun, { readonly ended: "exit" }>): HookOutcome {
  if (code === 2) return readBlock(hook, stderr);
  if (code !== 0) return failure(hook, { cause: `exited with code ${code}`, stderr });
  const text = stdout.trim();
  if (!text.startsWith("{")) return HOOK_EVENTS[hook.event].context ? { ...SILENT, ...contextOf(text) } : SILENT;
  return readObject(hook, parse(text), stderr);
}

function readValue(hook: HookSpeaker, value: unknown): HookOutcome {
  return value === undefined ? SILENT : readObject(hook, copyAnswer(value));
}

const SILENT: HookOutcome = Object.freeze({ verdict: "none", warnings: Object.freeze([]), ignored: Object.freeze([]) });

function parse(text: string): unknown {
  try {
    return copyAnswer(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Reads every property once and drops what JSON cannot carry. */
function copyAnswer(value: unknown): unknown {
  try {
    return copyGiven(value);
  } catch {
    return undefined; // a getter or proxy threw
  }
}

function readObject(hook: HookSpeaker, value: unknown, stderr = ""): HookOutcome {
  const answer = isJsonObject(value) ? readAnswer(value) : { wrong: "it is not a JSON object" };
  const wrong = "wrong" in answer ? answer.wrong : contradiction(hook.event, answer);
  if ("wrong" in answer || wrong !== undefined) return failure(hook, { cause: "invalid output", stderr, detail: wrong });
  const speaking = { hook, row: HOOK_EVENTS[hook.event], answer };
  const said = verdictOf(speaking);
  const rewritten = rewriteOf(speaking);
  const words = wordsOf(speaking);
  const ignored = [said, rewritten, words].flatMap((part) => part.ignored ?? []);
  return { ...SILENT, ...said, ...rewritten, ...words, ignored };
}

function contradiction(event: HookPoint, { specific, permission }: HookAnswer): string | undefined {
  const { hookEventName: named, updatedInput: outer } = specific;
  if (named !== undefined && hookPointNamed(named) !== event) return `hookEventName is ${named}`;
  const { updatedInput: inner } = permission;
  return outer && inner && !sameJson(outer, inner) ? "there are two different updatedInput" : undefined;
}

type HookReading = { readonly hook: HookSpeaker; readonly row: HookEventRow; readonly answer: HookAnswer };
type Part = Partial<HookOutcome>;
type FieldOpinion = { readonly field: string; readonly verdict: Verdict; readonly reason: string | undefined };

/** The strictest opinion that applies at this event is the hook's. */
function verdictOf({ hook, row, answer }: HookReading): Part {
  const { permission } = answer;
  const ignored: string[] = [];
  const parts: Part[] = [];
  for (const said of opinionsOf(answer)) {
    const meant = readMeaning({ hook, row }, said);
    if (meant === undefined) ignored.push(ignoredText(hook, said.field));
    else parts.push(meant);
  }
  const part = strictestOf(parts);
  const interrupt = part.verdict === "deny" && hook.event === "permission_request" && permission.interrupt === true;
  return { ...part, ...(interrupt && { interrupt }), ignored, warnings: withheldWarning(hook, part) };
}

const WORDS: Readonly<Record<string, Verdict>> = { block: "deny", deny: "deny", approve: "allow", allow: "allow", ask: "ask" };

/** Ordered by preference of their reasons. */
function opinionsOf({ top, specific, permission }: HookAnswer): readonly FieldOpinion[] {
  const { permissionDecision: decided = "defer", permissionDecisionReason } = specific;
  const reason = permissionDecisionReason ?? permission.message ?? top.reason;
  const said: FieldOpinion[] = [];
  if (decided !== "defer") said.push({ field: "permissionDecision", verdict: decided, reason });
  if (permission.behavior !== undefined)
    said.push({ field: "behavior", verdict: permission.behavior, reason: permission.message ?? reason });
  const word = top.decision === undefined ? undefined : WORDS[top.decision];
  const contrary = said.some(({ verdict }) => verdict !== word); // a reason given for another verdict does not apply
  if (word !== undefined) said.push({ field: "decision", verdict: word, reason: contrary ? top.reason : reason });
  if (top.continue === false) said.push({ field: "continue", verdict: "deny", reason: top.stopReason ?? reason });
  return said;
}

/** What an opinion in one field means at this event, if anything. */
function readMeaning({ hook, row }: Omit<HookReading, "answer">, { field, verdict, reason }: FieldOpinion): Part | undefined {
  const foreign = field === "behavior" && hook.event !== "permission_request";
  if (verdict === "deny") return readDeny({ hook, row }, { field, reason });
  if (verdict === "ask" && row.failsClosed === "no_opinion") return { voidsAllow: true };
  return row.decides.includes(verdict) && !foreign ? { verdict, ...reasonOf(reason) } : undefined;
}

function readDeny({ hook, row }: Omit<HookReading, "answer">, { field, reason }: Omit<FieldOpinion, "verdict">): Part | undefined {
  const text = reasonOf(reason).reason;
  if (row.blocks === "feedback" && field !== "decision") return { stop: text ?? "" };
  if (row.blocks === "feedback") return { feedback: text ?? defaultReason(hook) };
  if (row.blocks === "holds" && field === "continue") return { stop: text ?? "" };
  if (row.blocks === "no" && row.failsClosed !== "withhold") return undefined;
  return { verdict: "deny", reason: text ?? defaultReason(hook) };
}

/** The strictest verdict (the first of equals), combined with every stop, feedback and void. */
function strictestOf(parts: readonly Part[]): Part {
  let strictest: Part = {};
  let beside: Part = {};
  for (const part of parts) {
    if (part.verdict === undefined) beside = { ...part, ...beside };
    else if (SEVERITY[part.verdict] > SEVERITY[strictest.verdict ?? "none"]) strictest = part;
  }
  return { ...beside, ...strictest };
}

function rewriteOf({ hook, row, answer: { specific, permission } }: HookReading): Part {
  const ignored: string[] = [];
  const part: { -readonly [K in keyof HookOutcome]?: HookOutcome[K] } = { ignored };
  const input = specific.updatedInput ?? permission.updatedInput;
  const mode = specific.updatedInputMode ?? permission.updatedInputMode ?? "merge";
  if (input && row.rewrites === "input") part.updatedInput = { input, mode };
  else if (input) ignored.push(ignoredText(hook, "updatedInput"));
  if (specific.updatedToolOutput !== undefined && row.rewrites === "result") part.updatedOutput = specific.updatedToolOutput;
  else if (specific.updatedToolOutput !== undefined) ignored.push(ignoredText(hook, "updatedToolOutput"));
  if (permission.updatedPermissions !== undefined) ignored.push(ignoredText(hook, "updatedPermissions"));
  return part;
}

function wordsOf({ hook, row, answer: { top, specific } }: HookReading): Part {
  const { systemMessage = "" } = top;
  const { additionalContext: context } = specific;
  const said = systemMessage.trim() === "" ? {} : { systemMessage: cutText(printable(systemMessage), LONGEST_REASON) };
  if (context === undefined || row.context) return { ...said, ...contextOf(context ?? "") };
  return { ...said, ignored: [ignoredText(hook, "additionalContext")] };
}

function contextOf(text: string): Part {
  return text.trim() === "" ? {} : { context: cutText(text, LONGEST_CONTEXT) };
}

function reasonOf(text: string | undefined): { readonly reason?: string } {
  const trimmed = printable(text ?? "").trim();
  return trimmed === "" ? {} : { reason: cutText(trimmed, LONGEST_REASON) };
}

/** Exit code 2. */
function readBlock(hook: HookSpeaker, stderr: string): HookOutcome {
  const row = HOOK_EVENTS[hook.event];
  const meant = readDeny({ hook, row }, { field: "decision", reason: stderr });
  const said = reasonOf(stderr).reason ?? defaultReason(hook);
  if (meant === undefined) return { ...SILENT, warnings: [`hook ${hook.name} (${hook.event}): ${said}`] };
  return { ...SILENT, ...meant, warnings: withheldWarning(hook, meant) };
}

/** The model learns only that output is missing, so the person gets the reason. */
function withheldWarning(hook: HookSpeaker, { verdict, reason = "" }: Part): readonly string[] {
  const withheld = verdict === "deny" && HOOK_EVENTS[hook.event].failsClosed === "withhold";
  return withheld ? [`hook ${hook.name} (${hook.event}): ${reason}`] : [];
}

type HookFailure = { readonly cause: string; readonly stderr?: string | undefined; readonly detail?: string | undefined };

function failure(hook: HookSpeaker, { cause, stderr = "", detail }: HookFailure): HookOutcome {
  const shown = cutText(printable(stderr).trim(), SHOWN_STDERR);
  const reason = cutText(`hook ${hook.name} failed to execute: ${cause}${shown === "" ? "" : `\n${shown}`}`, LONGEST_REASON);
  const failed = { ...SILENT, failure: cause, warnings: [detail === undefined ? reason : `${reason} (${detail})`] };
  const row = HOOK_EVENTS[hook.event];
  switch (row.failsClosed) {
    case "deny":
    case "withhold":
      return { ...failed, verdict: "deny", reason };
    case "no_opinion":
      return { ...failed, voidsAllow: true };
    case "no":
      return hook.onFailure === "block" ? { ...failed, ...readStop(row, reason) } : failed;
    default:
      return row.failsClosed satisfies never;
  }
}

function readStop({ blocks }: HookEventRow, reason: string): Part {
  if (blocks === "feedback") return { stop: reason };
  return blocks === "no" ? {} : { verdict: "deny", reason };
}

function ignoredText(hook: HookSpeaker, field: string): string {
  return `hook ${hook.name} (${hook.event}): ${field} is not applied on this event`;
}

function defaultReason({ name }: HookSpeaker): string {
  return `blocked by hook ${name}`;
}
