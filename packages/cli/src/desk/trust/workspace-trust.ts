import type { Ledger } from "@assent/core";
import { describeUntrusted, isTrusted, readProjectConfiguration, readTrustState } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { warn } from "../../io/output.ts";
import { withStoreIfAny } from "../../store/open.ts";

export type WorkspaceTrust = { readonly trusted: boolean; readonly stillTrusted: () => boolean };

type TrustQuery = {
  readonly workspace: string;
  readonly ledger?: Ledger;
  readonly quiet?: boolean;
};

/** Warns about ignored configuration, unless `quiet`. */
export async function workspaceTrust(context: Context, { workspace, ledger, quiet = false }: TrustQuery): Promise<WorkspaceTrust> {
  const state = ledger
    ? await readTrustState(ledger, workspace)
    : await withStoreIfAny(context, (store) => readTrustState(store.ledger, workspace));
  const warning = describeUntrusted(state);
  if (warning !== undefined && !quiet) await warn(context.io, warning);
  return { trusted: state.trusted, stillTrusted: () => isTrusted(state.record, readProjectConfiguration(workspace)) };
}
