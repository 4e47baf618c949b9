import { type GrantRow, LedgerError } from "../../ledger-port.ts";
import type { Call, Consent } from "../../model/call.ts";
import { decide } from "../../model/decide.ts";
import type { GrantScope } from "../../model/grant.ts";
import { grantSource } from "../../model/notification-source.ts";
import type { Request, Unit } from "../../model/request.ts";
import type { Rules } from "../../ports.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import type { Assessment, JudgedCall } from "../pipeline/judged-call.ts";
import { patternRules } from "../policy/pattern-rules.ts";
import { wasClockSetBack } from "./answer.ts";
import { settleShared } from "./close.ts";

/** The grants that together answer an ask; `scope` is that of the first. */
export type GrantAnswer = { readonly scope: GrantScope; readonly grants: readonly GrantRow[] };

const SCOPES: readonly GrantScope[] = ["session", "project", "user"];

export async function findGrants({ deps }: BatchRun, judged: JudgedCall): Promise<GrantAnswer | undefined> {
  const { session, clock, rules = patternRules, above = [] } = deps;
  const rows = await session.ledger.pending("grants", { limit: 1_000 });
  const reach = { session: session.id, above, workspace: session.state.created?.workspace, now: clock.now() };
  const used = coveringGrants(rows, { assessed: judged.subject ?? judged, rules, reach });
  const [first] = used ?? [];
  return used && first ? { scope: first.scope, grants: used } : undefined;
}

/** Where and when a grant must apply. */
export type GrantReach = {
  readonly session: string | undefined;
  readonly above?: readonly string[];
  readonly workspace: string | undefined;
  readonly now: number;
};

/** Returns grants that together cover every unit that asks. */
export function coveringGrants(
  rows: readonly GrantRow[],
  { assessed, rules, reach }: { readonly assessed: Assessment; readonly rules: Rules; readonly reach: GrantReach },
): readonly GrantRow[] | undefined {
  const near = rows.filter((row) => reaches(row, reach)).toSorted((left, right) => rank(left) - rank(right));
  const used: GrantRow[] = [];
  for (const unit of askingUnits(assessed)) {
    const grant = near.find((row) => covers(rules, row, assessed.request, unit));
    if (!grant) return undefined;
    if (!used.includes(grant)) used.push(grant);
  }
  return used;
}

function askingUnits({ request, circumstances }: Assessment): readonly Unit[] {
  if (request.units.length === 1) return request.units;
  return request.units.filter((unit) => decide({ ...request, units: [unit] }, circumstances).verdict !== "allow");
}

function reaches(row: GrantRow, { session, above = [], workspace, now }: GrantReach): boolean {
  const { expiresAt, madeAt: requestedAt } = row;
  if (row.state !== "active" || (expiresAt !== undefined && !(Date.parse(expiresAt) > now))) return false;
  if (expiresAt !== undefined && wasClockSetBack({ expiresAt, requestedAt }, now)) return false;
  if (row.scope === "session") return row.session !== undefined && (row.session === session || above.includes(row.session));
  return row.scope === "user" || (row.workspace !== undefined && row.workspace === workspace);
}

/** Narrow scopes first; within a scope, unlimited grants first. */
function rank(row: GrantRow): number {
  return SCOPES.indexOf(row.scope) * 2 + (row.usesLeft === undefined ? 0 : 1);
}

function covers(rules: Rules, row: GrantRow, request: Request, unit: Unit): boolean {
  if (row.rule === "*") return row.scope === "session";
  try {
    return rules.parse(row.rule).covers(request, unit);
  } catch {
    return false; // a rule of another version covers nothing
  }
}

/** Records the uses of counted grants and the consent. Undefined if a grant has no uses left. */
export async function applyGrant(
  batch: BatchRun,
  run: CallRun,
  { judged, grant }: { readonly judged: JudgedCall; readonly grant: GrantAnswer },
): Promise<Consent | undefined> {
  const { session } = batch.deps;
  for (const row of grant.grants) {
    if (row.usesLeft === undefined) continue;
    const body = { grant: row.id, session: session.id, call: run.callId };
    const answer = await session.ledger.answer([session.draft("grant.used", body)]);
    if ("lost" in answer) return undefined;
  }
  const [first] = grant.grants;
  if (!first || judged.request.fingerprint === undefined) return undefined;
  const also = grant.grants.slice(1).map(({ id }) => id);
  const by = { kind: "grant" as const, id: first.id, ...(also.length > 0 && { also }) };
  const body = { call: run.callId, fingerprint: judged.request.fingerprint, by, source: grantSource(grant.scope).source };
  await session.record([session.draft("call.answered", body)], "normal");
  const call = session.state.calls.get(run.callId);
  run.resumed = true; // a later policy change no longer affects this consent
  return call?.state === "approved" ? call.consent : undefined;
}

/** True if the session grant `*` was not needed for the consent. */
export async function isGrantedByPattern({ deps }: BatchRun, consent: Consent): Promise<boolean> {
  if (consent.by !== "grant") return false;
  const rows = await deps.session.ledger.pending("grants", { all: true, limit: 1_000 });
  return !rows.some(({ id, rule }) => rule === "*" && (id === consent.id || consent.also.includes(id)));
}

/** Answers an open approval with a new grant, if one alone covers it. */
export async function answerByGrant(batch: BatchRun, run: CallRun, { call, judged }: CoveredCall): Promise<boolean> {
  if (judged.decision.explicitAsk) return false;
  const grant = await findGrants(batch, judged);
  const first = grant?.grants[0];
  if (!first || grant.grants.length > 1 || first.usesLeft !== undefined) return false;
  const { session } = batch.deps;
  const { approval, revision, shown: fingerprint } = call;
  const by = { kind: "grant", user: first.madeBy, name: first.id, door: first.scope, pid: session.holder.pid } as const;
  const body = { approval, session: session.id, call: run.callId, revision, outcome: "approved", fingerprint, by, reason: null } as const;
  try {
    await settleShared(session, session.draft("approval.answered", body));
    return true;
  } catch (error) {
    if (error instanceof LedgerError && error.type === "store_role_refused") return false; // the person has to answer this one, too
    throw error;
  }
}

type CoveredCall = { readonly call: Extract<Call, { readonly state: "waiting" }>; readonly judged: JudgedCall };
