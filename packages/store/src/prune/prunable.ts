import { type SessionRow, SHARED } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import type { ChainEntry } from "../rows/rows.ts";
import { type ChainColumns, makeChainReader } from "../rows/stored-chains.ts";

/** A fork starts in it, a task runs, something waits for a person, or it has not ended. */
export type KeepReason = "fork" | "task" | "person" | "unended";

/** A family is a session with the sessions of its tasks. `kept` counts old sessions that stay. */
export type Prunable = { readonly families: readonly (readonly string[])[]; readonly kept: Readonly<Record<KeepReason, number>> };

export type ListedSession = ChainEntry & { readonly row: SessionRow };
type Family = readonly ListedSession[];

/** `idle` ended at a limit; nothing in it waits. */
const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled", "idle"];

export function findPrunable(database: Database, before: string): Prunable {
  const open = query<{ session: string }>(database, SELECT_WAITING);
  return choosePrunable(readSessions(database), new Set([...open.iterate()].map(({ session }) => session)), before);
}

export const SELECT_WAITING = "select session from proposals where open = 1 union select session from questions where open = 1";

/** `waiting` are sessions with open proposals or questions. */
export function choosePrunable(sessions: ReadonlyMap<string, ListedSession>, waiting: ReadonlySet<string>, before: string): Prunable {
  const rootOf = makeRoots(sessions);
  const kept: Record<KeepReason, number> = { fork: 0, task: 0, person: 0, unended: 0 };
  const going = new Map<string, Family>();
  for (const [root, family] of Map.groupBy(sessions.values(), ({ session }) => rootOf(session))) {
    if (family.some(({ row }) => row.updatedAt >= before)) continue;
    const reason = keepReason(family, waiting) ?? (hasEnded(sessions.get(root)) ? undefined : "unended");
    if (reason) kept[reason] += family.length;
    else going.set(root, family);
  }
  const forks = [...sessions.values()].flatMap(({ session, row: { forked } }) =>
    forked ? [{ fork: rootOf(session), origin: rootOf(forked.session) }] : [],
  );
  for (let needed = findNeededFork(forks, going); needed; needed = findNeededFork(forks, going)) {
    kept.fork += going.get(needed)?.length ?? 0;
    going.delete(needed);
  }
  return { families: [...going.values()].map((family) => family.map(({ session }) => session)), kept };
}

function readSessions(database: Database): ReadonlyMap<string, ListedSession> {
  const found = new Map<string, ListedSession>();
  const { read } = makeChainReader(database);
  for (const columns of query<ChainColumns>(database, "select * from sessions where row is not null and session <> ?").iterate(SHARED)) {
    const { row, ...chain } = read(columns);
    if (row) found.set(chain.session, { ...chain, row });
  }
  return found;
}

/** A session whose starter is gone is its own root. */
function makeRoots(sessions: ReadonlyMap<string, ListedSession>): (session: string) => string {
  const roots = new Map<string, string>();
  const rootOf = (session: string, below: readonly string[] = []): string => {
    const known = roots.get(session);
    if (known !== undefined) return known;
    const parent = sessions.get(session)?.row.parent?.session;
    const stands = parent === undefined || !sessions.has(parent) || below.includes(parent);
    const root = stands ? session : rootOf(parent, [...below, session]);
    roots.set(session, root);
    return root;
  };
  return (session) => rootOf(session);
}

function hasEnded(root: ListedSession | undefined): boolean {
  return root?.closed === true && root.holder === null && ENDED.includes(root.row.state);
}

function keepReason(family: Family, waiting: ReadonlySet<string>): KeepReason | undefined {
  if (family.some(({ row }) => row.tasks.length > 0)) return "task";
  return family.some(({ session, row }) => row.openApprovals > 0 || waiting.has(session)) ? "person" : undefined;
}

type Fork = { readonly fork: string; readonly origin: string };

function findNeededFork(forks: readonly Fork[], going: ReadonlyMap<string, Family>): string | undefined {
  return forks.find(({ fork, origin }) => going.has(origin) && !going.has(fork))?.origin;
}
