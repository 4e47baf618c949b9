import type { By, Ledger } from "@assent/core";
import { createTrustGranted, listActivations } from "@assent/policy";
import { fullTrustState } from "../../desk/trust/state.ts";
import { trustLines } from "../../desk/trust/view.ts";
import type { ConversationView } from "../screen/view.ts";

export type TrustParts = {
  readonly confirm: ConversationView["confirm"];
  readonly ledger: Ledger;
  readonly workspace: string;
  readonly by: By;
  readonly now: () => number;
};

/** Asks whether to trust the project's own settings, if it has any and this is not decided yet. Records exactly what was shown. */
export async function askTrust({ confirm, ledger, workspace, by, now }: TrustParts): Promise<void> {
  const state = await fullTrustState(ledger, workspace);
  if (state.trusted || state.configuration.problems.length > 0 || listActivations(state.configuration).length === 0) return;
  const isWanted = await confirm({
    title: "This project has its own Assent settings. Trust them?",
    lines: await trustLines(ledger, state),
    yes: "Trust them, exactly as shown",
    no: "Not now: they can only add restrictions",
  });
  if (isWanted) await ledger.answer([createTrustGranted(state.configuration, by, new Date(now()).toISOString())]);
}
