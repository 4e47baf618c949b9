import type { ProcessTable } from "./process-table.ts";
/** SIGTERM to the whole group, SIGKILL after the grace; answers who is left. */
export declare function endGroup(pgid: number, graceMs: number, table: ProcessTable): Promise<readonly number[]>;
/** The processes of a group that still run. */
export declare function groupMembers(pgid: number, table: ProcessTable): readonly number[];
