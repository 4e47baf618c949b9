import { randomBytes } from "node:crypto";
import type { TaskProcess } from "@assent/core";
import { isSince, type ProcessRow, type ProcessTable, readProcessTable } from "./table.ts";

/** An environment mark that finds a program and its descendants. */
export type ProcessMark = {
  readonly mark: string;
  /** A start time no later than that of the first process with the mark. */
  readonly since: string;
};

/** How a program's processes are found: by group and by mark. */
export type Lineage = { readonly groups: readonly number[]; readonly marks: readonly ProcessMark[] };

const MARK_NAME = "ASSENT_MARK";

export function createMark(): string {
  return randomBytes(16).toString("hex");
}

/** Adds the mark to an environment, which children inherit. */
export function withMark(env: Readonly<Record<string, string>>, mark: string): Readonly<Record<string, string>> {
  return { ...env, [MARK_NAME]: mark };
}

/** This process and its ancestors, nearest first. */
export function listAncestors(): readonly ProcessRow[] {
  const table = readProcessTable();
  const rows: ProcessRow[] = [];
  for (let row = table.find(process.pid); row && !rows.some(({ pid }) => pid === row?.pid); row = table.find(row.parent)) rows.push(row);
  return rows;
}

/** True if this process or one of `rows` started with a mark. Only Linux shows other processes' environments. */
export function hasMark(env: Readonly<Record<string, string | undefined>>, rows: readonly ProcessRow[]): boolean {
  if (env[MARK_NAME] !== undefined) return true;
  const table = readProcessTable();
  return rows.some(({ pid }) => table.beganWith(pid, MARK_NAME));
}

/** True if the first row is a recorded process, its descendant, or in a group or session it started. */
export function isStartedUnder({ pid, processStart }: Pick<TaskProcess, "pid" | "processStart">, rows: readonly ProcessRow[]): boolean {
  if (rows.some((row) => row.pid === pid && row.start === processStart)) return true;
  const isMember = rows.some(({ pgid, session, start }) => (pgid === pid || session === pid) && isSince(start, processStart));
  return isMember && (readProcessTable().find(pid)?.start ?? processStart) === processStart;
}

/** The marks of recorded processes; earlier versions have none. */
export function recordedMarks(processes: readonly Omit<TaskProcess, "others">[]): readonly ProcessMark[] {
  return processes.flatMap(({ mark, processStart }) => (mark === undefined ? [] : [{ mark, since: processStart }]));
}

/** Processes that left the groups: those with a mark, and descendants. Our own ancestors are excluded. */
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
