import type { Ledger } from "@assent/core";
import { processStart } from "@assent/host";
import { openLedger, type StoreExtras, type StoreWarning } from "@assent/store";
import type { Context } from "../command-line/spec.ts";
import { warn } from "../io/output.ts";
import { storeUrl } from "./location.ts";

export async function durableLedger(context: Context, directory: string): Promise<Ledger> {
  const ledger = await openDurable(context, directory);
  return context.overrides.ledger?.(ledger) ?? ledger;
}

export async function storeHealth(context: Context, directory: string): Promise<StoreHealth> {
  const ledger = await openDurable(context, directory);
  try {
    return { events: await ledger.head(), refusal: ledger.refusal };
  } finally {
    await ledger.close();
  }
}

type StoreHealth = { readonly events: number } & Pick<StoreExtras, "refusal">;

async function openDurable(context: Context, directory: string): Promise<Ledger & StoreExtras> {
  const { io, overrides } = context;
  const { clock, openDatabase, openPostgres } = overrides;
  const onWarning = ({ message }: StoreWarning): void => void warn(io, message);
  const url = storeUrl(context);
  const common = { directory, startOf: (pid: number) => processStart(pid), onWarning };
  const ledger =
    url === undefined
      ? await openLedger({ ...common, ...(clock && { clock }), ...(openDatabase && { openDatabase }) })
      : await (openPostgres ?? (await import("@assent/store-postgres")).openPostgresLedger)({ ...common, url });
  for (const { message } of ledger.warnings) await warn(io, message);
  if (ledger.refusal?.type === "store_newer") await warn(io, ledger.refusal.message);
  return ledger;
}
