import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { type Holder, type Lease, LedgerError, SHARED } from "@assent/core";
import { type Database, query } from "../database/database.ts";
import { sharedEpoch } from "./append.ts";
import { type EventStaging, makeDraft, type PreparedEvent, prepareEvent } from "./staging.ts";

/** Returns the start time of a live process, or undefined if there is none. */
export type StartOf = (pid: number) => string | undefined;

/** A copy of the database has another place. */
export type FilePlace = { readonly device: string; readonly inode: string };

export type LeaseRequest = {
  readonly session: string;
  readonly holder: Holder;
  readonly takeOver: boolean;
  readonly isLive: (holder: Holder) => boolean;
  /** False if an effect is in progress. */
  readonly lock: () => boolean;
  /** Newest first. */
  readonly holders?: (session: string) => readonly Holder[];
  readonly place: FilePlace;
  readonly at: string;
};

/** A higher epoch fences off the previous writer. */
export function acquire(writing: EventStaging, acquiring: LeaseRequest): Lease {
  const { session, takeOver, isLive, lock, holders } = acquiring;
  const chain = writing.rows.chains.get(session);
  if (session === SHARED || chain?.pruned)
    throw new LedgerError("session_not_found", `There is no session '${session}' to write to.`, { session });
  if (chain?.holder && !takeOver && isLive(chain.holder)) throw inUse(session, chain.holder);
  if (chain && !lock()) throw busy(session, holders?.(session).find(isLive));
  const epoch = sharedEpoch(writing) + 1;
  writing.stage(SHARED, epoch, prepareEpoch(acquiring, epoch));
  const head = chain?.seq ?? 0;
  return { session, epoch, head, unclosed: head > 0 && chain?.closed !== true };
}

function prepareEpoch({ session, holder, place, at }: LeaseRequest, epoch: number): PreparedEvent {
  const { machine, pidNamespace } = thisPlace();
  const body = { epoch, session, holder: { ...shownHolder(holder), ...(machine && { machine }), ...(pidNamespace && { pidNamespace }) } };
  return prepareEvent(makeDraft("store.epoch", { ...body, ...place }, at), () => true);
}

/** Without the fields that only the store compares. */
export function shownHolder({ pid, host, processStart, door, command }: Holder): Holder {
  return { pid, host, processStart, door, ...(command && { command }) };
}

function inUse(session: string, { pid, host, processStart, door }: Holder): LedgerError {
  const text = `Session ${session} is in use by pid ${pid} (${door}) on ${host}. Try again after it has closed the session, or end it.`;
  return new LedgerError("session_in_use", text, { session, holder: { pid, host, processStart, door }, pid, host, door });
}

function busy(session: string, holder: Holder | undefined): LedgerError {
  const who = holder ? `Pid ${holder.pid} (${holder.door}) on ${holder.host}` : "Another process";
  const text = `${who} is in the middle of a call or a change of session ${session}. Wait until it is done, or end that process, and then try again.`;
  const shown = holder && { ...shownHolder(holder), command: holder.command === true && locateHolder(holder, thisPlace()) === "here" };
  return new LedgerError("session_busy", text, { session, ...(shown && { holder: shown }) });
}

/** Reads the whole shared chain, so call it only to report an error. */
export function pastHolders(database: Database): (session: string) => readonly Holder[] {
  const select = query<{ holder: string }>(
    database,
    `select json_extract(body, '$.holder') as holder from events
     where session = '${SHARED}' and type = 'store.epoch' and json_extract(body, '$.session') = ? order by seq desc`,
  );
  // Parsing: this file writes the body.
  return (session) => select.all(session).map(({ holder }) => JSON.parse(holder) as Holder);
}

export type ProcessPlace = {
  readonly host: string;
  readonly machine: string | undefined;
  /** Changes with every boot; the same in all containers. */
  readonly boot: string | undefined;
  readonly pidNamespace: string | undefined;
};

let known: ProcessPlace | undefined;

export function thisPlace(): ProcessPlace {
  known ??= {
    host: hostname(),
    machine: readText("/etc/machine-id") || undefined,
    boot: readText("/proc/sys/kernel/random/boot_id"),
    pidNamespace: unlessGone(() => readlinkSync("/proc/self/ns/pid")),
  };
  return known;
}

/** The kernel fixes this number for the host. */
const INITIAL_NAMESPACE = "pid:[4026531836]";

/** A holder that cannot be checked from here counts as alive. */
export function liveness(here: ProcessPlace, startOf: StartOf = startInProc): (holder: Holder) => boolean {
  const canCompare = startOf !== startInProc || here.boot !== undefined;
  return (holder) => {
    const location = locateHolder(holder, here);
    if (location !== "here") return location === "elsewhere";
    return canCompare ? startOf(holder.pid) === holder.processStart : exists(holder.pid);
  };
}

/** True if the process of a holder ran on this machine and has ended. */
export function isGoneHere(startOf?: StartOf): (holder: Holder) => boolean {
  const isLive = liveness(thisPlace(), startOf);
  return (holder) => locateHolder(holder, thisPlace()) !== "elsewhere" && !isLive(holder);
}

/**
 * Whether a holder's pid means something to this process. In this order:
 * 1. Another machine or another PID namespace: elsewhere.
 * 2. Another boot. Under the same host name and outside of containers the machine was restarted, and the holder is gone; otherwise it is another
 *    machine made of the same image: elsewhere.
 * 3. No known boot, and another host name: elsewhere.
 */
function locateHolder(holder: Holder, here: ProcessPlace): "here" | "elsewhere" | "gone" {
  if (differ(holder.machine, here.machine) || differ(holder.pidNamespace, here.pidNamespace)) return "elsewhere";
  const boot = BOOT_ID.exec(holder.processStart)?.[1];
  const sameHost = holder.host === here.host;
  if (differ(boot, here.boot)) return sameHost && !differ(here.pidNamespace, INITIAL_NAMESPACE) ? "gone" : "elsewhere";
  return boot !== undefined || sameHost ? "here" : "elsewhere";
}

const BOOT_ID = /^([\da-f-]{36}):/;

function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Start times count from boot. The program's name may contain a parenthesis. */
function startInProc(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : `${thisPlace().boot}:${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
}

function readText(path: string): string | undefined {
  return unlessGone(() => readFileSync(path, "utf8").trim());
}

const GONE: readonly unknown[] = ["ENOENT", "ESRCH", "EACCES", "EPERM", "ENOTDIR"];

function unlessGone(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && GONE.includes(error.code)) return undefined;
    throw error;
  }
}

/** Without start times, any process with that number counts as the holder. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
