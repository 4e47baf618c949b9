import { randomBytes } from "node:crypto";
import type { TaskProcess } from "@assent/core";
import { isSince, type ProcessRow, type ProcessTable, readProcessTable } from "./table.ts";

/** What a program and all that it starts is known by, whoever its parent is in the end. */
export type ProcessMark = {
  readonly mark: string;
  /** The start time of a process that began no later than the first that has it. */
  readonly since: string;
};

/** By what the processes of programs are found: the groups they began in, and their marks. */
export type Lineage = { readonly groups: readonly number[]; readonly marks: readonly ProcessMark[] };

const MARK_NAME = "ASSENT_MARK";

/** One that nobody has. */
export function createMark(): string {
  return randomBytes(16).toString("hex");
}

/** The environment with the mark in it, which children inherit. */
export function withMark(env: Readonly<Record<string, string>>, mark: string): Readonly<Record<string, string>> {
  return { ...env, [MARK_NAME]: mark };
}

/** This process and its ancestors, nearest first. */
export function listAncestors(table: ProcessTable = readProcessTable()): readonly ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (let row = table.find(process.pid); row && !rows.some(({ pid }) => pid === row?.pid); row = table.find(row.parent)) rows.push(row);
  return rows;
}

/** True if this process or one of these began with a mark in its environment. Only Linux shows the environment of other processes. */
export function hasMark(
  env: Readonly<Record<string, string | undefined>>,
  rows: readonly ProcessRow[],
  table: ProcessTable = readProcessTable(),
): boolean {
  return env[MARK_NAME] !== undefined || rows.some(({ pid }) => table.beganWith(pid, MARK_NAME));
}

/** True if the first of these is a recorded process, descends from it, or is in a process group or session that it began. */
export function isStartedUnder(
  { pid, processStart }: Pick<TaskProcess, "pid" | "processStart">,
  rows: readonly ProcessRow[],
  table: ProcessTable = readProcessTable(),
): boolean {
  if (rows.some((row) => row.pid === pid && row.start === processStart)) return true;
  const isMember = rows.some(({ pgid, session, start }) => (pgid === pid || session === pid) && isSince(start, processStart));
  return isMember && (table.find(pid)?.start ?? processStart) === processStart;
}

/** The marks of recorded processes; those of earlier versions have none. */
export function recordedMarks(processes: readonly Omit<TaskProcess, "others">[]): readonly ProcessMark[] {
  return processes.flatMap(({ mark, processStart }) => (mark === undefined ? [] : [{ mark, since: processStart }]));
}

/**
 * Processes that left the groups: those that have a mark, and what descends from these or from members of the groups. What this process itself runs in is not
 * among them: it may have been started from a terminal that such a program opened.
 */
export function findStrays({ groups, marks }: Lineage, table: ProcessTable): readonly ProcessRow[] {
  const rows = table.all();
  const isMember = ({ pgid }: ProcessRow): boolean => groups.includes(pgid);
  const kin = new Set(rows.filter((row) => isMember(row) || isMarked(row, marks, table)).map(({ pid }) => pid));
  for (let before = -1; before < kin.size; ) {
    before = kin.size;
    for (const { pid, parent } of rows) if (kin.has(parent)) kin.add(pid);
  }
  const above = ancestorIds(process.pid, rows);
  return rows.filter((row) => kin.has(row.pid) && !isMember(row) && !above.has(row.pid));
}

function isMarked({ pid, start }: ProcessRow, marks: readonly ProcessMark[], table: ProcessTable): boolean {
  return marks.some(({ mark, since }) => isSince(start, since) && table.began(pid, `${MARK_NAME}=${mark}`));
}

function ancestorIds(pid: number, rows: readonly ProcessRow[]): ReadonlySet<number> {
  const parents = new Map(rows.map((row) => [row.pid, row.parent]));
  const above = new Set<number>();
  for (let at: number | undefined = pid; at !== undefined && !above.has(at); at = parents.get(at)) above.add(at);
  return above;
}
