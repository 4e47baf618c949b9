import { LedgerError, SHARED } from "@assent/core";

/** Chains that a read found damaged. They are read-only from then on. */
export type DamageRecord = {
  readonly noted: (error: unknown) => void;
  /** Throws `store_corrupt` for a damaged chain; a damaged shared chain concerns all. */
  readonly refuse: (session: string) => void;
};

/** Opening a store does not scan it, so damage is found by reading. */
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
