import type { Json } from "../model/json.ts";
import { type BatchRun } from "./call-run.ts";
import type { CallReport } from "./dispatch.ts";
/** What recovery found: the ends it recorded, and the arguments of calls that were only proposed. */
export type Recovered = {
  readonly reports: readonly CallReport[];
  readonly raws: ReadonlyMap<string, Json>;
};
/**
 * Puts in order what an earlier process left, call by call. A claimed call without an end may have run: it is settled by its tool's probe, or by one retry
 * with the same key where settings say so, else it ends `unknown`; it is never silently run again. Running this twice gives the same end.
 */
export declare function recover(batch: BatchRun): Promise<Recovered>;
