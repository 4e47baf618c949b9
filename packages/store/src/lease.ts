import { readFileSync } from "node:fs";
import { type Holder, type Lease, LedgerError, SHARED } from "@assent/core";
import { sharedEpoch } from "./append.ts";
import { draft } from "./own-draft.ts";
import { type Prepared, prepare, type Writing } from "./writing.ts";

/** The start time of a live process, in the form that holders carry, or undefined when there is no such process. */
export type StartOf = (pid: number) => string | undefined;

/** Where the database file is: a copy has another place. */
export type FilePlace = { readonly device: string; readonly inode: string };

/** Who wants a session, and what it takes to decide. */
export type Acquiring = {
  readonly session: string;
  readonly holder: Holder;
  readonly takeOver: boolean;
  readonly isLive: (holder: Holder) => boolean;
  readonly place: FilePlace;
  readonly at: string;
};

/** Gives the session to a new writer under a higher epoch; whoever held it before is fenced off. */
export function acquire(writing: Writing, { session, holder, takeOver, isLive, place, at }: Acquiring): Lease {
  const chain = writing.rows.chains.get(session);
  if (session === SHARED || chain?.pruned)
    throw new LedgerError("session_not_found", `There is no session '${session}' to write to.`, { session });
  if (chain?.holder && !takeOver && isLive(chain.holder)) throw inUse(session, chain.holder);
  const epoch = sharedEpoch(writing) + 1;
  writing.stage(SHARED, epoch, prepareEpoch({ session, holder, epoch, place, at }));
  const head = chain?.seq ?? 0;
  return { session, epoch, head, unclosed: head > 0 && chain?.closed !== true };
}

function prepareEpoch({
  session,
  holder,
  epoch,
  place,
  at,
}: Omit<Acquiring, "takeOver" | "isLive"> & { readonly epoch: number }): Prepared {
  const { pid, host, processStart, door } = holder;
  return prepare(draft("store.epoch", { epoch, session, holder: { pid, host, processStart, door }, ...place }, at), () => true);
}

function inUse(session: string, { pid, host, processStart, door }: Holder): LedgerError {
  const text = `Session ${session} is in use by pid ${pid} (${door}) on ${host}. End it, or take it over with --take-over.`;
  return new LedgerError("session_in_use", text, { session, holder: { pid, host, processStart, door }, pid, host, door });
}

/** Tells whether a holder still runs: its pid exists, on this host, with the same start time. */
export function liveness(host: string, startOf: StartOf = startInProc): (holder: Holder) => boolean {
  const canCompare = startOf !== startInProc || BOOT !== undefined;
  return (holder) => holder.host === host && (canCompare ? startOf(holder.pid) === holder.processStart : exists(holder.pid));
}

const BOOT: string | undefined = readText("/proc/sys/kernel/random/boot_id")?.trim();

/** Start times count from boot, so the boot's id is part of them. A name may hold parentheses: fields are counted after the last one. */
function startInProc(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : `${BOOT}:${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return undefined;
    throw error;
  }
}

/** Where start times cannot be read, a process of that number counts as the holder: doubt takes nothing over. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
