import { LedgerError, SHARED } from "@assent/core";

/** Which chains were found damaged: they are read-only from then on. */
export type DamageRecord = {
  /** Remembers a damage that reading found. */
  readonly noted: (error: unknown) => void;
  /** Throws `store_corrupt` for a damaged chain; a damaged shared chain concerns all. */
  readonly refuse: (session: string) => void;
};

/** Nothing is damaged until somebody reads it: there is no scan at open. */
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
