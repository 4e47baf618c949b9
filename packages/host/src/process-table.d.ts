/** One process as the system lists it. */
export type ProcessRow = {
  readonly pid: number;
  readonly pgid: number;
  readonly zombie: boolean;
  readonly start: string;
};
/** The live process table, read anew at every question. */
export type ProcessTable = {
  /** Also finds a zombie, whose start time is still true. */
  readonly find: (pid: number) => ProcessRow | undefined;
  /** Processes of the group that still run; a zombie does not. */
  readonly members: (pgid: number) => readonly number[];
};
/** Reads `/proc` where there is one, else asks `ps`. */
export declare function processTable(proc?: string): ProcessTable;
