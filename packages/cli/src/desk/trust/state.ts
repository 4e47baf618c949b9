import type { Ledger } from "@assent/core";
import { diffConfiguration, findNestedInstructions, readTrustState, type TrustState } from "@assent/policy";

/**
 * How a workspace stands for whoever is to trust it: with the instructions below its root. Those are no part of the digest, because nobody could look for them
 * whenever something starts; each counts for as long as it is what is on record.
 */
export async function fullTrustState(ledger: Ledger, workspace: string): Promise<TrustState> {
  const state = await readTrustState(ledger, workspace);
  const { record, trusted } = state;
  const configuration = { ...state.configuration, files: [...state.configuration.files, ...findNestedInstructions(workspace)] };
  const same = trusted && record !== undefined && diffConfiguration(await ledger.resolve(record.files), configuration).length === 0;
  return { configuration, record, trusted: same };
}
