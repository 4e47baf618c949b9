import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { errorCode } from "@assent/core";

/** A process as the system lists it. */
export type ProcessRow = {
  readonly pid: number;
  readonly parent: number;
  readonly pgid: number;
  /** 0 if unknown. */
  readonly session: number;
  readonly zombie: boolean;
  readonly start: string;
  /** The program's name, shortened by the system. */
  readonly name: string;
};

export type ProcessTable = {
  /** Also finds zombies. */
  readonly find: (pid: number) => ProcessRow | undefined;
  readonly members: (pgid: number) => readonly number[];
  /** A process and its running descendants. */
  readonly family: (pid: number) => readonly ProcessRow[];
  readonly all: () => readonly ProcessRow[];
  /** True if a process started with `NAME=value` in its environment; false if unknown. */
  readonly began: (pid: number, line: string) => boolean;
  /** True if a process started with this variable; false if unknown. */
  readonly beganWith: (pid: number, name: string) => boolean;
};

/** Reads `/proc`, or asks `ps`. */
export function readProcessTable(proc = "/proc"): ProcessTable {
  const boot = readText(`${proc}/sys/kernel/random/boot_id`)?.trim();
  return boot === undefined ? createPsTable() : createProcTable(proc, boot);
}

/** When a running process started; undefined if there is none. */
export function processStart(pid: number, table: ProcessTable = readProcessTable()): string | undefined {
  const row = table.find(pid);
  return row && !row.zombie ? row.start : undefined;
}

/** Start times include the boot id, because they repeat after a reboot. */
function createProcTable(proc: string, boot: string): ProcessTable {
  const find = (pid: number): ProcessRow | undefined => {
    const stat = readText(`${proc}/${pid}/stat`);
    return stat === undefined ? undefined : parseStat(pid, stat, boot);
  };
  const environment = (pid: number): string => `\0${readText(`${proc}/${pid}/environ`, UNREADABLE) ?? ""}`;
  const all = (): readonly ProcessRow[] => processIds(proc).flatMap((pid) => find(pid) ?? []);
  return {
    find,
    members: (pgid) => groupMembersOf(pgid, all()),
    family: (pid) => descendantsOf(pid, all()),
    all: () => all().filter(({ zombie }) => !zombie),
    began: (pid, line) => environment(pid).includes(`\0${line}\0`),
    beganWith: (pid, name) => environment(pid).includes(`\0${name}=`),
  };
}

/** Names may contain spaces and parentheses, so fields count from the last `)`. */
function parseStat(pid: number, stat: string, boot: string): ProcessRow {
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 2).split(" ");
  const state = fields[0] ?? "";
  return {
    pid,
    parent: Number(fields[1]),
    pgid: Number(fields[2]),
    session: Number(fields[3]),
    zombie: state === "Z" || state === "X",
    start: `${boot}:${fields[19]}`,
    name: stat.slice(stat.indexOf("(") + 1, end),
  };
}

/** True if a process of this boot started no earlier; false if unknown. */
export function isSince(start: string, earliest: string): boolean {
  const [boot, time] = start.split(":");
  const [earliestBoot, earliestTime] = earliest.split(":");
  return boot === earliestBoot && Number(time) >= Number(earliestTime);
}

function processIds(proc: string): readonly number[] {
  return readdirSync(proc)
    .map(Number)
    .filter((pid) => Number.isSafeInteger(pid));
}

function createPsTable(): ProcessTable {
  return {
    find: (pid) => listWithPs("-p", String(pid))[0],
    members: (pgid) => groupMembersOf(pgid, listWithPs("-A")),
    family: (pid) => descendantsOf(pid, listWithPs("-A")),
    all: () => listWithPs("-A").filter(({ zombie }) => !zombie),
    began: () => false,
    beganWith: () => false,
  };
}

function listWithPs(...selection: readonly string[]): readonly ProcessRow[] {
  let listing: string;
  try {
    const env = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
    listing = execFileSync("ps", [...selection, "-o", "pid=,ppid=,pgid=,stat=,lstart=,comm="], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (error) {
    if (error instanceof Error && "status" in error && error.status === 1) return []; // nothing selected
    throw error;
  }
  return listing.split("\n").flatMap(parsePsLine);
}

function parsePsLine(line: string): readonly ProcessRow[] {
  const [pid, parent, pgid, state, ...rest] = line.trim().split(/ +/);
  if (!pid || !pgid || !state) return [];
  const zombie = state.startsWith("Z");
  return [
    {
      pid: Number(pid),
      parent: Number(parent),
      pgid: Number(pgid),
      session: 0,
      zombie,
      start: rest.slice(0, 5).join(" "),
      name: basename(rest.slice(5).join(" ")),
    },
  ];
}

function groupMembersOf(pgid: number, rows: readonly ProcessRow[]): readonly number[] {
  return rows.filter((row) => row.pgid === pgid && !row.zombie).map((row) => row.pid);
}

function descendantsOf(pid: number, rows: readonly ProcessRow[]): readonly ProcessRow[] {
  const below = (parent: number): readonly ProcessRow[] =>
    rows.filter((row) => row.parent === parent && row.pid !== parent).flatMap((row) => [row, ...below(row.pid)]);
  return [...rows.filter((row) => row.pid === pid), ...below(pid)].filter((row) => !row.zombie);
}

const GONE = ["ENOENT", "ESRCH", "ENOTDIR"];
const UNREADABLE = ["EACCES", "EPERM"];

/** A process may end between listing and reading. */
function readText(path: string, others: readonly string[] = []): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ([...GONE, ...others].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
