import type { Lists, PageQuery, SessionRow } from "../../ledger-port.ts";
import { SHARED } from "../../model/events.ts";
import { grantRowAt } from "../../model/grant-row.ts";
import { isOpenProposal } from "../../model/proposal/row.ts";
import { nextSessionRow, sessionRowAt } from "../../model/session-row.ts";
import { type Chain, type Chains, makeReader } from "./chains.ts";

type ListTable = {
  readonly [K in keyof Lists]: {
    /** Oldest first. */
    readonly rows: (chains: Chains) => Iterable<Lists[K]>;
    /** The one of this id. */
    readonly one: (chains: Chains, id: string) => Lists[K] | undefined;
    readonly isOver: (row: Lists[K]) => boolean;
    readonly isAsked: (row: Lists[K], query: PageQuery) => boolean;
  };
};

const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

const LISTING: ListTable = {
  approvals: {
    rows: ({ approvals }) => approvals.values(),
    one: ({ approvals }, id) => approvals.get(id),
    isOver: ({ state }) => state !== "open",
    isAsked: (row, { session = row.session, tool = row.tool }) => row.session === session && row.tool === tool,
  },
  grants: {
    rows: function* ({ grants, now }) {
      for (const grant of grants.values()) yield grantRowAt(grant, now());
    },
    one: ({ grants, now }, id) => {
      const grant = grants.get(id);
      return grant && grantRowAt(grant, now());
    },
    isOver: ({ state }) => state !== "active",
    isAsked: (row, { session = row.session, tool = row.tool }) => row.session === session && row.tool === tool,
  },
  sessions: {
    rows: sessionRows,
    one: (chains, id) => {
      const chain = chains.bySession.get(id);
      return chain && sessionRow(chains, chain, openApprovals(chains).get(id) ?? 0);
    },
    isOver: ({ state }) => ENDED.includes(state),
    isAsked: (row, { session = row.id }) => row.id === session,
  },
  proposals: {
    rows: ({ proposals }) => proposals.values(),
    one: ({ proposals }, id) => proposals.get(id),
    isOver: (row) => !isOpenProposal(row),
    isAsked: (row, { session = row.session, tool = row.tool }) => row.session === session && row.tool === tool,
  },
  questions: {
    rows: ({ questions }) => questions.values(),
    one: ({ questions }, id) => questions.get(id),
    isOver: ({ state }) => state !== "open",
    isAsked: (row, { session = row.session, tool }) => row.session === session && tool === undefined, // a question is of no tool
  },
};

/** One page of a list in its current state. */
export function listPage<K extends keyof Lists>(chains: Chains, kind: K, query: PageQuery): readonly Lists[K][] {
  const { rows, one, isOver, isAsked } = LISTING[kind];
  const isWanted = (row: Lists[K]): boolean => (query.all || !isOver(row)) && row.id.startsWith(query.prefix ?? "") && isAsked(row, query);
  const looked = query.limit === 1 && query.after === undefined && query.prefix ? one(chains, query.prefix) : undefined;
  if (looked && isWanted(looked)) return [looked]; // no walk over all of them, and none that is older and only begins so
  const page: Lists[K][] = [];
  let reached = query.after === undefined;
  for (const row of query.newestFirst ? [...rows(chains)].reverse() : rows(chains)) {
    if (page.length === query.limit) break;
    if (reached && isWanted(row)) page.push(row);
    reached ||= row.id === query.after;
  }
  return page;
}

function* sessionRows(chains: Chains): Iterable<SessionRow> {
  const open = openApprovals(chains);
  for (const chain of chains.bySession.values()) {
    const row = sessionRow(chains, chain, open.get(chain.session) ?? 0);
    if (row) yield row;
  }
}

function sessionRow(chains: Chains, chain: Chain, open: number): SessionRow | undefined {
  const row = chain.session === SHARED ? undefined : foldedRow(chains, chain);
  return row && sessionRowAt({ ...row, openApprovals: open, writer: chain.holder ?? null }, chain.holder !== undefined);
}

/** How many wait, by session. */
function openApprovals({ approvals }: Chains): ReadonlyMap<string, number> {
  const open = new Map<string, number>();
  for (const { session, state } of approvals.values()) if (state === "open") open.set(session, (open.get(session) ?? 0) + 1);
  return open;
}

/** Folds a session's row when the list is read, so that no call pays for the list. */
function foldedRow(chains: Chains, chain: Chain): SessionRow | undefined {
  if (chain.events.length === 0) return undefined;
  const next = makeReader(chains, { pos: chain.listedPos }, { session: chain.session, naming: chain.session });
  for (let event = next(chains.log.length); event !== undefined; event = next(chains.log.length))
    chain.listed = nextSessionRow(chain.listed, event);
  chain.listedPos = chains.log.length;
  return chain.listed;
}
