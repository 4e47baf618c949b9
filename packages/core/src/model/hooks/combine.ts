import { SEVERITY, type Verdict } from "../decision.ts";
import { canonicalJson } from "../json/canonical.ts";
import type { JsonObject } from "../json/json.ts";
import type { Content } from "../result/result.ts";
import type { HookOutcome, InputUpdate } from "./output.ts";

/** The combined answer of all hooks of one event; fields the event does not use are ignored. */
export type HookOpinion = {
  readonly verdict: Verdict | "none";
  /** The first hook with the winning verdict. */
  readonly name: string;
  readonly reason?: string;
  /** Merged into the input, or the whole input with `updatedInputMode: "replace"`. */
  readonly updatedInput?: JsonObject;
  readonly updatedInputMode?: "merge" | "replace";
  /** The last hook that changed the input; defaults to `name`. */
  readonly rewrittenBy?: string;
  readonly updatedOutput?: Content;
  readonly context?: string;
  readonly feedback?: string;
  /** The source of context and feedback; defaults to `name`. */
  readonly spokenBy?: string;
  readonly stop?: string;
  readonly interrupt?: boolean;
};

/** One hook's part, in configuration order. */
export type HookRan = {
  readonly name: string;
  readonly outcome: HookOutcome;
  /** The whole input after this hook; absent if unchanged. */
  readonly rewrote?: JsonObject;
};

/** The combined answer of all hooks of one event, with what only people see. */
export type HooksCombined = {
  readonly opinion: HookOpinion;
  readonly systemMessage: string;
  readonly warnings: readonly string[];
  readonly ignored: readonly string[];
};

/**
 * Combines hook answers; the strictest wins regardless of order.
 *
 * 1. An allow is dropped if a later hook rewrote the input or any hook voids allows.
 * 2. Deny, then ask, then allow, then none; the winners' distinct reasons are joined in order.
 * 3. After a stop there is nothing to decide; the first stop's message is used.
 */
export function combineHooks(ran: readonly HookRan[]): HooksCombined {
  const outcomes = ran.map(({ outcome }) => outcome);
  const { verdict, winners } = decideVerdict(ran);
  const stop = firstMessage(outcomes);
  const rewriter = ran.findLast(({ rewrote }) => rewrote !== undefined);
  const feedback = joinTexts(ran.map(({ outcome }) => outcome.feedback));
  const context = joinTexts(
    outcomes.map((outcome) => outcome.context),
    "all",
  );
  const reason = joinTexts(winners.map(({ outcome }) => outcome.reason));
  const output = outcomes.findLast(({ updatedOutput }) => updatedOutput !== undefined)?.updatedOutput;
  const spokenBy = joinNames(ran.filter(({ outcome }) => outcome.context !== undefined || outcome.feedback !== undefined));
  const opinion: HookOpinion = {
    verdict,
    name: (winners[0] ?? findLeading(ran))?.name ?? "",
    ...(verdict !== "none" && reason !== "" && { reason }),
    ...(rewriter?.rewrote && { updatedInput: rewriter.rewrote, updatedInputMode: "replace", rewrittenBy: rewriter.name }),
    ...(output !== undefined && { updatedOutput: output }),
    ...(context !== "" && { context }),
    ...(feedback !== "" && { feedback }),
    ...(spokenBy !== "" && { spokenBy }),
    ...(stop !== undefined && { stop }),
    ...(outcomes.some(({ interrupt }) => interrupt === true) && { interrupt: true }),
  };
  const systemMessage = joinTexts(
    outcomes.map((outcome) => outcome.systemMessage),
    "all",
  );
  return {
    opinion,
    systemMessage,
    warnings: outcomes.flatMap(({ warnings }) => warnings),
    ignored: outcomes.flatMap(({ ignored }) => ignored),
  };
}

/** The input after an update, or undefined if unchanged (key order is ignored). Throws for values without a canonical form. */
export function rewrittenInput(current: JsonObject, { updatedInput }: { readonly updatedInput?: InputUpdate }): JsonObject | undefined {
  if (!updatedInput) return undefined;
  const { input, mode } = updatedInput;
  const next = mode === "replace" ? input : { ...current, ...input };
  return canonicalJson(next) === canonicalJson(current) ? undefined : next;
}

/** The message that stops the run after a call, or undefined to continue. A deny stops like `continue: false`. */
export function stopMessageOf({ stop, verdict, reason = "" }: HookOpinion): string | undefined {
  return stop ?? (verdict === "deny" ? reason : undefined);
}

function decideVerdict(ran: readonly HookRan[]): { readonly verdict: Verdict | "none"; readonly winners: readonly HookRan[] } {
  if (ran.some(({ outcome }) => outcome.stop !== undefined)) return { verdict: "none", winners: [] };
  const rewrittenAt = ran.findLastIndex(({ rewrote }) => rewrote !== undefined);
  const voided = ran.some(({ outcome }) => outcome.voidsAllow === true);
  const counted = ran.filter(({ outcome }, at) => outcome.verdict !== "allow" || (!voided && at >= rewrittenAt));
  let verdict: Verdict | "none" = "none";
  for (const { outcome } of counted) if (SEVERITY[outcome.verdict] > SEVERITY[verdict]) verdict = outcome.verdict;
  return { verdict, winners: verdict === "none" ? [] : counted.filter(({ outcome }) => outcome.verdict === verdict) };
}

/** The hook to name if none won: the first that stopped, spoke or rewrote. */
function findLeading(ran: readonly HookRan[]): HookRan | undefined {
  const speaks = ({ outcome, rewrote }: HookRan): boolean =>
    outcome.feedback !== undefined || outcome.context !== undefined || rewrote !== undefined;
  return ran.find(({ outcome }) => outcome.stop !== undefined) ?? ran.find(speaks) ?? ran[0];
}

function firstMessage(outcomes: readonly HookOutcome[]): string | undefined {
  const stops = outcomes.flatMap(({ stop }) => (stop === undefined ? [] : [stop]));
  return stops.find((message) => message.trim() !== "") ?? stops[0];
}

function joinNames(ran: readonly HookRan[]): string {
  return [...new Set(ran.map(({ name }) => name))].join(", ");
}

/** Joins non-blank texts by newline, dropping duplicates unless all are wanted. */
function joinTexts(texts: readonly (string | undefined)[], keep: "once" | "all" = "once"): string {
  const spoken = texts.flatMap((text) => (text === undefined || text.trim() === "" ? [] : [text]));
  return (keep === "once" ? [...new Set(spoken)] : spoken).join("\n");
}
