import type { Ledger } from "../../ledger-port.ts";
import { type Call, mayBeUnderWay } from "../../model/call.ts";
import type { LedgerEvent } from "../../model/events.ts";
import { parseEvent } from "../../model/known-event.ts";
import type { SessionRow } from "../../model/ledger-rows.ts";
import { readRows } from "../session/list-rows.ts";
import { readSessionState, type Session } from "../session/session.ts";

/** Fingerprints that ended unknown in any session of one run: what is unknown in one is unknown in all of them, until a person answers for it. */
export type UnknownOutcomes = {
  readonly fingerprints: ReadonlySet<string>;
  /** What ends unknown in this session from now on, or did before, counts; what a person answers in it counts no longer. */
  readonly attend: (session: Pick<Session, "state" | "listen">) => void;
  /** What agents of an earlier process left; what a person answered for since, in whichever session of the run, does not count. */
  readonly restore: (ledger: Ledger, root: string) => Promise<void>;
};

/** Nothing is unknown yet. */
export function createUnknownOutcomes(): UnknownOutcomes {
  const fingerprints = new Set<string>();
  /** A person's answer in one session does not change the records of the others. */
  const answered = new Set<string>();
  const add = (more: ReadonlySet<string>): void => {
    for (const fingerprint of more) if (!answered.has(fingerprint)) fingerprints.add(fingerprint);
  };
  const answer = (fingerprint: string): void => {
    if (fingerprints.delete(fingerprint)) answered.add(fingerprint);
  };
  return {
    fingerprints,
    attend: (session) => {
      add(session.state.unknown);
      const endOf = followEnds(session.state.calls.values());
      session.listen((event) => {
        const fingerprint = endOf(event);
        if (fingerprint !== undefined && session.state.unknown.has(fingerprint)) fingerprints.add(fingerprint);
        if (isPersons(event)) answer(event.body.fingerprint);
      });
    },
    restore: async (ledger, root) => {
      const agents = await descendants(ledger, root);
      const left = agents.filter(({ unknownOutcomes: count }) => count > 0);
      for (const { id } of left) add((await readSessionState(ledger, id)).unknown);
      if (fingerprints.size === 0) return;
      const ends = await lastEnds(ledger, [root, ...left.map(({ id }) => id)]);
      for await (const { fingerprint, pos } of personsAnswers(ledger, [root, ...agents.map(({ id }) => id)]))
        if (pos > (ends.get(fingerprint) ?? 0)) answer(fingerprint);
    },
  };
}

function isPersons(event: LedgerEvent): event is LedgerEvent<"approval.answered"> {
  return event.type === "approval.answered" && event.body.by.kind !== "grant";
}

async function* personsAnswers(
  ledger: Ledger,
  sessions: readonly string[],
): AsyncGenerator<{ readonly fingerprint: string; readonly pos: number }> {
  for (const naming of sessions)
    for await (const stored of ledger.read({ pos: 0 }, { naming, types: ["approval.answered"] })) {
      const event = parseEvent(stored);
      if (event && isPersons(event)) yield { fingerprint: event.body.fingerprint, pos: event.pos };
    }
}

/** Tells of each event of a session whether it is an unknown end, and of which fingerprint. */
function followEnds(open: Iterable<Call> = []): (event: LedgerEvent) => string | undefined {
  const claimed = new Map<string, string | undefined>();
  for (const call of open) if (mayBeUnderWay(call)) claimed.set(call.callId, call.judged.fingerprint);
  return ({ type, body }) => {
    if (type === "task.ended") return body.unknown;
    if (type === "call.claimed") claimed.set(body.call, body.fingerprint);
    if (type !== "call.ended") return undefined;
    const fingerprint = claimed.get(body.call);
    claimed.delete(body.call);
    return body.outcome === "unknown" ? fingerprint : undefined;
  };
}

/** Where in the store each fingerprint last ended unknown. */
async function lastEnds(ledger: Ledger, sessions: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const ends = new Map<string, number>();
  for (const session of sessions) {
    const endOf = followEnds();
    for await (const stored of ledger.read({ session, seq: 0 }, { session, types: ["call.claimed", "call.ended", "task.ended"] })) {
      const event = parseEvent(stored);
      const fingerprint = event && endOf(event);
      if (fingerprint !== undefined) ends.set(fingerprint, Math.max(stored.pos, ends.get(fingerprint) ?? 0));
    }
  }
  return ends;
}

/** The sessions of all agents that a session started, and of those that they did. */
async function descendants(ledger: Ledger, root: string): Promise<readonly SessionRow[]> {
  const family = new Set([root]);
  const agents: SessionRow[] = [];
  for await (const row of readRows(ledger, "sessions", { all: true, after: root })) {
    if (!row.parent || !family.has(row.parent.session)) continue;
    family.add(row.id); // a session is older than those that its agents start
    agents.push(row);
  }
  return agents;
}
