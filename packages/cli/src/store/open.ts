import { type Ledger, memoryLedger } from "@assent/core";
import { hasStore } from "@assent/store";
import type { Context, EarlyStore } from "../command-line/spec.ts";
import { createNotifyingLedger } from "../notify/notifying-ledger.ts";
import { durableLedger } from "./durable-ledger.ts";
import { locate, mentionsSetting, stateDirectory, storeUrl } from "./location.ts";
import type { Store } from "./store.ts";

export async function openEarly(context: Context): Promise<EarlyStore | undefined> {
  const directory = locate(context);
  return hasRecord(context, directory) ? { directory, ledger: await openAt(context, directory) } : undefined;
}

/** Opens or creates the store and closes it afterwards. Receivers of notifications may delay the end by `waitMs`. */
export async function withStore<T>(context: Context, work: (store: Store) => Promise<T>, waitMs?: number): Promise<T> {
  const directory = await stateDirectory(context);
  const { ledger, settle } = createNotifyingLedger(context, await openAt(context, directory), directory);
  return use(context, { ledger, directory }, work, () => settle(waitMs));
}

/** Treats a missing store as empty and does not create it. */
export async function withStoreIfAny<T>(context: Context, work: (store: Store) => Promise<T>): Promise<T> {
  const directory = await stateDirectory(context);
  if (hasRecord(context, directory)) return withStore(context, work);
  return use(context, { ledger: memoryLedger(), directory }, work);
}

/** A ledger on PostgreSQL is created by the first command that uses it, if its role may. */
export function hasRecord(context: Pick<Context, "io" | "options">, directory: string): boolean {
  return storeUrl(context) !== undefined || hasStore(directory);
}

async function openAt(context: Context, directory: string): Promise<Ledger> {
  const { earlyStore } = context;
  if (earlyStore?.ledger && earlyStore.directory === directory) {
    const { ledger } = earlyStore;
    earlyStore.ledger = undefined;
    return ledger;
  }
  return durableLedger(context, directory);
}

async function use<T>(context: Context, store: Store, work: (store: Store) => Promise<T>, settle?: () => Promise<void>): Promise<T> {
  const { ledger } = store;
  const isStreamed = context.streams && ledger.durable && mentionsSetting(context.io.env, "audit");
  const stream = isStreamed ? (await import("../audit/background.ts")).startAudit(context, store) : undefined;
  try {
    return await work(store);
  } finally {
    const settled = settle?.();
    await stream?.close(settled);
    await settled;
    await ledger.close();
  }
}
