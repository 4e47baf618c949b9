import { join } from "node:path";
import type { DispatcherDeps, FileChanges, Ledger, SessionPorts } from "@assent/core";
import { GateUsageError } from "./gate-error.ts";
import { isPostgresUrl } from "./gate-options.ts";

/** The ports that a gate needs only for some tools, or only with a store. */
export type HostDeps = Pick<DispatcherDeps, "changes" | "files" | "processes"> & Pick<SessionPorts, "endHolder">;

/** The ports of this machine; what changes files is loaded with the first change. */
export async function hostDeps(store: string | undefined): Promise<HostDeps> {
  if (store === undefined) return { changes: LAZY_CHANGES };
  const { createHostFiles, createHostPorts } = await import("@assent/host");
  const { processes, endHolder } = createHostPorts({ stateDirectory: store });
  return { changes: LAZY_CHANGES, processes, endHolder, files: createHostFiles({ outputDirectory: join(store, "output") }) };
}

const LAZY_CHANGES: FileChanges = {
  apply: async (set, options) => (await import("@assent/host")).createHostFileChanges().apply(set, options),
  recover: async (set) => (await import("@assent/host")).createHostFileChanges().recover(set),
};

/** Opens the ledger of a directory, or one on PostgreSQL whose local files are in that directory. */
export async function openStore(store: string, directory: string, processes: HostDeps["processes"]): Promise<Ledger> {
  const options = { directory, ...(processes && { startOf: (pid: number) => processes.startOf(pid) }) };
  if (isPostgresUrl(store)) return await (await loadPostgres()).openPostgresLedger({ ...options, url: store });
  const { openLedger } = await import("@assent/store");
  return await openLedger(options);
}

async function loadPostgres(): Promise<typeof import("@assent/store-postgres")> {
  try {
    return await import("@assent/store-postgres");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    const text =
      "Option 'store' of createGate names PostgreSQL, which needs another package. Install it: npm install @assent/store-postgres";
    throw new GateUsageError("bad_option", text, { cause: error });
  }
}
