import { type GrantRule, type Ledger, type Request, type Rules, readCallRecord, type Unit } from "@assent/core";
import { type Assessment, decide } from "@assent/core/parts";
import { readTrustState } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { isInvalidCall, judgeCall } from "../explain/judge-call.ts";
import { findSessionPlace, judgesByPlace, openSessionJudge, type SessionPlace } from "../explain/session-judge.ts";
import type { AskedQuestion } from "./questions.ts";

/** A distinct call that would ask by default today, and how often people were asked about it. */
type AskingCall = {
  readonly request: Request;
  /** Parts that nothing allows yet. */
  readonly units: readonly Unit[];
  readonly subject: string;
  readonly rules: Rules;
  readonly questions: readonly AskedQuestion[];
};

export type Rehearsal = {
  readonly rule: string;
  readonly risk: string | null;
  /** Questions that it would have saved. */
  readonly allowed: number;
  readonly approved: number;
  readonly rejected: readonly { readonly session: string; readonly call: string; readonly subject: string }[];
};

/** Past questions, judged again by the policy and the files as they are now. */
export type RehearsedRecord = {
  readonly judged: number;
  /** Their tool, session or workspace is gone, their input no longer fits, or they are older than the newest `MOST_CALLS`. */
  readonly unjudged: number;
  readonly rehearse: (rule: string) => Rehearsal;
  /** Rules that were offered for these calls, the most useful first; each counts only what the ones before it leave. */
  readonly suggest: (most: number) => readonly Rehearsal[];
};

/** More distinct calls than this are not judged again; the newest count. */
const MOST_CALLS = 2_000;

/** Judges every distinct asked call again. Starts and writes nothing. */
export async function rehearseQuestions(
  context: Context,
  store: { readonly ledger: Ledger; readonly directory: string },
  questions: readonly AskedQuestion[],
): Promise<RehearsedRecord> {
  const { ledger, directory } = store;
  const judgeFor = judgesByPlace(async (place) => {
    const { trusted } = await readTrustState(ledger, place.workspace);
    const judge = await openSessionJudge(context, directory, place, { trusted });
    return { ...judge, policy: { ...judge.policy, mode: "default" as const } };
  });
  const places = new Map<string, Promise<SessionPlace | undefined>>();
  const placeOf = (session: string): Promise<SessionPlace | undefined> => {
    const place = places.get(session) ?? findSessionPlace(ledger, session);
    places.set(session, place);
    return place;
  };
  const groups = [...Map.groupBy(questions.toReversed(), ({ fingerprint }) => fingerprint).values()];
  const calls: AskingCall[] = [];
  let unjudged = 0;
  for (const [at, asked] of groups.entries()) {
    const [newest] = asked;
    const judge = newest && at < MOST_CALLS ? await judgeFor(await placeOf(newest.session)) : undefined;
    const recorded = newest && judge && (await readCallRecord(ledger, newest.session, newest.call))["call.judged"];
    const judged = judge && recorded && (await judgeCall(judge, recorded));
    if (!judged || isInvalidCall(judged)) unjudged += asked.length;
    else if (judged.decision.verdict === "ask" && !judged.decision.explicitAsk) calls.push(createAskingCall(judged, judge.rules, asked));
  }
  return {
    judged: questions.length - unjudged,
    unjudged,
    rehearse: (rule) => rehearseRule(rule, calls),
    suggest: (most) => suggestRules(calls, most),
  };
}

function createAskingCall({ request, circumstances }: Assessment, rules: Rules, questions: readonly AskedQuestion[]): AskingCall {
  const units = request.units.filter((unit) => decide({ ...request, units: [unit] }, circumstances).verdict !== "allow");
  const { command } = request.input;
  const subject = typeof command === "string" ? command : (request.units[0]?.subject ?? request.tool);
  return { request, units, subject, rules, questions };
}

function rehearseRule(rule: string, calls: readonly AskingCall[]): Rehearsal {
  const covered = calls.filter((call) => isCovered(rule, call));
  const questions = covered.flatMap((call) => call.questions.map((question) => ({ question, subject: call.subject })));
  const rejected = questions.flatMap(({ question: { session, call, outcome }, subject }) =>
    outcome === "rejected" ? [{ session, call, subject }] : [],
  );
  const approved = questions.filter(({ question }) => question.outcome === "approved").length;
  const risk = covered[0] ? (parseRule(rule, covered[0].rules)?.risk ?? null) : null;
  return { rule, risk, allowed: questions.length, approved, rejected };
}

function isCovered(rule: string, { request, units, rules }: AskingCall): boolean {
  const parsed = parseRule(rule, rules);
  return parsed !== undefined && units.every((unit) => parsed.covers(request, unit));
}

/** A rule of an older version may no longer be valid. */
function parseRule(rule: string, rules: Rules): GrantRule | undefined {
  try {
    return rules.parse(rule);
  } catch {
    return undefined;
  }
}

/** Greedy: the rule that saves most, then the one that saves most of the rest. A narrower rule wins a tie. */
function suggestRules(calls: readonly AskingCall[], most: number): readonly Rehearsal[] {
  const chosen: Rehearsal[] = [];
  let left = calls;
  while (chosen.length < most) {
    const offers = [...new Set(left.flatMap(({ questions }) => questions.flatMap((question) => question.offers)))];
    const ranked = topOffers(offers, left).map((rule) => rehearseRule(rule, left));
    const [best] = ranked.toSorted(
      (a, b) => b.approved - a.approved || a.allowed - b.allowed || Number(a.rule.includes("*")) - Number(b.rule.includes("*")),
    );
    if (!best || best.approved < 2) break;
    chosen.push(rehearseRule(best.rule, calls));
    left = left.filter((call) => !isCovered(best.rule, call));
  }
  return chosen;
}

const MOST_OFFERS = 40;

/** Only what was offered most often is worth a rehearsal. */
function topOffers(offers: readonly string[], calls: readonly AskingCall[]): readonly string[] {
  const counts = new Map(offers.map((rule) => [rule, 0]));
  for (const { questions } of calls)
    for (const { offers: rules } of questions) for (const rule of rules) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return offers.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0)).slice(0, MOST_OFFERS);
}
