import { createHash } from "node:crypto";
import { type Clock, type Holder, type Ledger, LedgerError, listRows, readRow, type SessionRow } from "@assent/core";
import { type Readiness, readReadiness, type WorkReason } from "./readiness.ts";
import { isSameProcess, isWorkerSession } from "./registered-workers.ts";
import { findLack, readNeeds, type WorkerOffer } from "./requirements.ts";
import type { TakenSession } from "./session-context.ts";

export type FoundSession = TakenSession & { readonly why: WorkReason };

/** Finds sessions with work that this worker may take. It keeps nothing that the ledger does not have. */
export type SessionFinder = {
  /** Lists sessions that may have work, those that surely have some first, and workers that ended without closing their session. */
  readonly sweep: () => Promise<{ readonly sessions: readonly string[]; readonly deadWorkers: readonly string[] }>;
  /** Reads the session, or the main session of an agent. Undefined if this worker has nothing to do there. */
  readonly examine: (id: string, isRunning: (root: string) => boolean) => Promise<FoundSession | undefined>;
  /** Ignores a session from now on, because its record cannot be read. */
  readonly skip: (id: string) => void;
};

export type FinderOptions = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly offer: WorkerOffer;
  readonly holder: Holder;
  /** Orders sessions differently in every worker, so that they do not all try the same one first. */
  readonly salt: string;
};

const RECENT_MS = 60_000;
const LOOK_AGAIN_MS = 5_000;
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;

export function createSessionFinder({ ledger, clock, offer, holder, salt }: FinderOptions): SessionFinder {
  const seen = new Map<string, { readonly key: string; readonly again: number }>();
  const attempts = new Map<string, { readonly progress: string; readonly until: number; readonly delay: number }>();
  const unsuitable = new Set<string>();
  const scheduled = { pos: 0, sessions: new Set<string>() };
  const isOrphan = (row: SessionRow): boolean => row.state === "running" && isSameProcess(row.writer, holder);

  /** Waits twice as long before each repeat of an attempt that changed nothing. */
  const mayTry = (id: string, progress: string, now: number): boolean => {
    const last = attempts.get(id);
    const isSame = last?.progress === progress;
    if (isSame && now < last.until) return false;
    const delay = isSame ? Math.min(last.delay * 2, LONGEST_DELAY_MS) : FIRST_DELAY_MS;
    attempts.set(id, { progress, until: now + delay, delay });
    return true;
  };
  const nextLook = (row: SessionRow, { next }: Readiness, now: number): number => {
    const isRecent = now - Date.parse(row.updatedAt) < RECENT_MS; // another event may have the same time
    return Math.min(next ?? Number.POSITIVE_INFINITY, isRecent ? now + LOOK_AGAIN_MS : Number.POSITIVE_INFINITY);
  };
  return {
    sweep: async () => {
      for await (const { session, pos } of ledger.read({ pos: scheduled.pos }, { types: ["schedule.created"] })) {
        scheduled.sessions.add(session);
        scheduled.pos = pos;
      }
      const rows = await listRows(ledger, "sessions");
      const families = groupFamilies(rows);
      const now = clock.now();
      const due = [...families].filter(([id, family]) => {
        const known = seen.get(id);
        return !unsuitable.has(id) && (known?.key !== familyKey(family) || known.again <= now);
      });
      const ended = [...scheduled.sessions].filter((id) => !families.has(id) && !unsuitable.has(id) && (seen.get(id)?.again ?? 0) <= now);
      for (const id of seen.keys()) if (!families.has(id) && !scheduled.sessions.has(id)) seen.delete(id);
      const isReady = ([id, family]: readonly [string, readonly SessionRow[]]): boolean =>
        family.some((row) => row.id === id && READY.includes(row.state));
      const [ready, others] = [due.filter(isReady), due.filter((one) => !isReady(one))].map((some) => some.map(([id]) => id));
      return {
        sessions: [...orderBySalt(ready ?? [], salt), ...orderBySalt([...(others ?? []), ...ended], salt)],
        deadWorkers: rows.filter(({ id, state }) => isWorkerSession(id) && state === "interrupted").map(({ id }) => id),
      };
    },
    skip: (id) => void unsuitable.add(id),
    examine: async (id, isRunning) => {
      const family = await readFamily(ledger, id);
      const [row] = family;
      if (!row || unsuitable.has(row.id) || isWorkerSession(row.id) || isRunning(row.id)) return undefined;
      const takeOver = isOrphan(row);
      if (row.state === "running" && !takeOver) return undefined;
      const now = clock.now();
      const listed: SessionRow = takeOver ? { ...row, state: "interrupted" } : row;
      const readiness = await readReadiness(ledger, listed, now);
      const { why, progress, next, created } = readiness;
      const needs = readNeeds(created);
      if (!created || !needs || findLack(offer, needs) !== undefined) {
        unsuitable.add(row.id);
        return undefined;
      }
      if (why !== undefined && mayTry(row.id, progress, now)) return { row: listed, created, takeOver, why };
      const again = why === undefined ? nextLook(row, readiness, now) : (attempts.get(row.id)?.until ?? now);
      seen.set(row.id, { key: familyKey(family), again });
      if (ENDED.includes(row.state) && next === undefined) scheduled.sessions.delete(row.id);
      return undefined;
    },
  };
}

/** Sessions in these states always have work. For others, the record decides. */
const READY: readonly SessionRow["state"][] = ["queued", "interrupted"];

const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

/** Main sessions with the sessions of their agents, because an agent's answer is work for its main session. */
function groupFamilies(rows: readonly SessionRow[]): ReadonlyMap<string, readonly SessionRow[]> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const rootOf = (row: SessionRow): string => {
    const parent = row.parent && byId.get(row.parent.session);
    return parent ? rootOf(parent) : (row.parent?.session ?? row.id);
  };
  const wanted = rows.filter(({ id, group }) => !group && !isWorkerSession(id));
  return Map.groupBy(wanted, rootOf);
}

function familyKey(family: readonly SessionRow[]): string {
  return family
    .map(({ id, state, openApprovals, updatedAt }) => `${id} ${state} ${openApprovals} ${updatedAt}`)
    .sort()
    .join();
}

/** The main session first, then those of its agents that are known to it. */
async function readFamily(ledger: Ledger, id: string): Promise<readonly SessionRow[]> {
  const row = await readRow(ledger, "sessions", id);
  if (row?.parent) return readFamily(ledger, row.parent.session);
  if (!row || row.group) return [];
  if (row.tasks.length === 0) return [row];
  const rows = await listRows(ledger, "sessions");
  return [row, ...(groupFamilies(rows).get(row.id) ?? []).filter((other) => other.id !== row.id)];
}

function orderBySalt(ids: readonly string[], salt: string): readonly string[] {
  const digest = (id: string): string => createHash("sha256").update(`${salt} ${id}`).digest("hex");
  return ids
    .map((id) => ({ id, place: digest(id) }))
    .sort((one, other) => (one.place < other.place ? -1 : 1))
    .map(({ id }) => id);
}

/** True for failures that end by themselves. The worker keeps running and tries again. */
export function isTemporary(error: unknown): boolean {
  return error instanceof LedgerError && ["store_unreachable", "store_locked", "store_full", "store_io"].includes(error.type);
}
