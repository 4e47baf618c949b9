import type { Ledger } from "@assent/core";
import { diffConfiguration, findNestedInstructions, readTrustState, type TrustState } from "@assent/policy";

/**
 * The trust state of a workspace, with the instructions below its root. The digest excludes those, because finding them at every start
 * would be slow; each is compared with the record when it is used.
 */
export async function fullTrustState(ledger: Ledger, workspace: string): Promise<TrustState> {
  const state = await readTrustState(ledger, workspace);
  const { record, trusted } = state;
  const configuration = { ...state.configuration, files: [...state.configuration.files, ...findNestedInstructions(workspace)] };
  const same = trusted && record !== undefined && diffConfiguration(await ledger.resolve(record.files), configuration).length === 0;
  return { configuration, record, trusted: same };
}
