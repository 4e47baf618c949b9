import type { SpillFile } from "@assent/core";
/** How much may be kept, in bytes. */
export type SpillLimits = {
  readonly perFile: number;
  readonly perSession: number;
};
/** Bytes a session has left. Taken before they are written, so that calls running at once cannot both have the last ones. */
export type Allowance = {
  left: number;
};
/** What the session's directory may still take, counting what earlier processes left there. */
export declare function sessionAllowance(directory: string, limit: number): Promise<Allowance>;
/** A new file under a name nobody can foresee. */
export declare function openSpillFile(
  directory: string,
  callId: string,
  room: {
    readonly perFile: number;
    readonly session: Allowance;
  },
): Promise<SpillFile>;
/** Unsafe characters replaced, one for one. */
export declare function safeName(id: string): string;
