import type { ToolResult } from "./result.ts";
/** A result everyone may rely on, and what had to be left out of it. */
export type Normalised = {
  readonly result: ToolResult;
  readonly warnings: readonly string[];
};
/** Turns whatever a body returned into a result. It never throws: what is no result becomes a failure that says so. */
export declare function normaliseResult(name: string, returned: unknown): Normalised;
