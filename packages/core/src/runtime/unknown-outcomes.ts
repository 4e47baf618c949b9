import type { Ledger } from "../ledger-port.ts";
import type { SessionRow } from "../model/ledger-rows.ts";
import { recordedState, type Session } from "./session.ts";

/** Fingerprints that ended unknown in any session of one run: what is unknown in one is unknown in all of them, until a person answers for it. */
export type UnknownOutcomes = {
  readonly fingerprints: ReadonlySet<string>;
  /** What ends unknown in this session from now on, or did before, counts; what a person answers in it counts no longer. */
  readonly attend: (session: Pick<Session, "state" | "listen">) => void;
  /** What agents of an earlier process left. */
  readonly restore: (ledger: Ledger, root: string) => Promise<void>;
};

/** Nothing is unknown yet. */
export function unknownOutcomes(): UnknownOutcomes {
  const fingerprints = new Set<string>();
  const add = (more: ReadonlySet<string>): void => {
    for (const fingerprint of more) fingerprints.add(fingerprint);
  };
  return {
    fingerprints,
    attend: (session) => {
      add(session.state.unknown);
      session.listen((event) => {
        if (event.type === "call.ended" && event.body.outcome === "unknown") add(session.state.unknown);
        if (event.type === "task.ended" && event.body.unknown !== undefined) add(session.state.unknown);
        if (event.type === "approval.answered" && event.body.by.kind !== "grant") fingerprints.delete(event.body.fingerprint);
      });
    },
    restore: async (ledger, root) => {
      for (const { id, unknownOutcomes: count } of await descendants(ledger, root))
        if (count > 0) add((await recordedState(ledger, id)).unknown);
    },
  };
}

const PAGE = 1_000;

/** The sessions of all agents that a session started, and of those that they did. */
async function descendants(ledger: Ledger, root: string): Promise<readonly SessionRow[]> {
  const family = new Set([root]);
  const agents: SessionRow[] = [];
  for (let after = root, more = true; more; ) {
    const rows: readonly SessionRow[] = await ledger.pending("sessions", { all: true, limit: PAGE, after });
    for (const row of rows) {
      if (!row.parent || !family.has(row.parent.session)) continue;
      family.add(row.id); // a session is older than those that its agents start
      agents.push(row);
    }
    after = rows.at(-1)?.id ?? after;
    more = rows.length === PAGE;
  }
  return agents;
}
