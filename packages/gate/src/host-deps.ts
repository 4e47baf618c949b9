import { join } from "node:path";
import type { DispatcherDeps, FileChanges, Ledger, SessionPorts } from "@assent/core";

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

/** Opens the ledger of a directory. */
export async function openStore(directory: string, processes: HostDeps["processes"]): Promise<Ledger> {
  const { openLedger } = await import("@assent/store");
  return await openLedger({ directory, ...(processes && { startOf: (pid: number) => processes.startOf(pid) }) });
}
