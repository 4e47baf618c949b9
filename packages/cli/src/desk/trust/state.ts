import type { Ledger } from "@assent/core";
import { diffConfiguration, findNestedInstructions, readTrustState, type TrustState } from "@assent/policy";

/** Adds nested instructions, which the digest excludes because finding them at every start would be slow. */
export async function fullTrustState(ledger: Ledger, workspace: string): Promise<TrustState> {
  const state = await readTrustState(ledger, workspace);
  const { record, trusted } = state;
  const configuration = { ...state.configuration, files: [...state.configuration.files, ...findNestedInstructions(workspace)] };
  const same = trusted && record !== undefined && diffConfiguration(await ledger.resolve(record.files), configuration).length === 0;
  return { configuration, record, trusted: same };
}
