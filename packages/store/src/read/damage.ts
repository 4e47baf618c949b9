import { LedgerError, SHARED } from "@assent/core";

/** Damaged chains are read-only. */
export type DamageRecord = {
  readonly noted: (error: unknown) => void;
  /** A damaged shared chain concerns all sessions. */
  readonly refuse: (session: string) => void;
};

/** Opening does not scan a store, so reads report damage. */
export function makeDamageRecord(): DamageRecord {
  const found = new Map<string, LedgerError>();
  return {
    noted: (error) => {
      if (!(error instanceof LedgerError) || error.type !== "store_corrupt") return;
      const { session } = error.detail;
      if (typeof session === "string" && !found.has(session)) found.set(session, error);
    },
    refuse: (session) => {
      if (found.size === 0) return;
      const error = found.get(session) ?? found.get(SHARED);
      if (error) throw error;
    },
  };
}
