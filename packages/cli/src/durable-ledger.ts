import type { Ledger } from "@assent/core";
import { hostProcesses } from "@assent/host";
import { openLedger } from "@assent/store";
import type { Context } from "./command-spec.ts";
import { warn } from "./output.ts";

/** Opens the ledger in a directory, or makes it; what it warns of is told. */
export async function durableLedger({ io, overrides }: Context, directory: string): Promise<Ledger> {
  const { clock, openDatabase } = overrides;
  const { startOf } = hostProcesses();
  const ledger = await openLedger({ directory, startOf, ...(clock && { clock }), ...(openDatabase && { openDatabase }) });
  for (const { message } of ledger.warnings) await warn(io, message);
  return overrides.ledger?.(ledger) ?? ledger;
}
