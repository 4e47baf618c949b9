import type { ToolResult } from "../model/result.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import type { Ending } from "./dispatch.ts";
import type { Ready } from "./judge.ts";
/** How a nested action is put through the same gate. */
export type Gate = (call: { readonly name: string; readonly arguments: unknown }) => Promise<ToolResult>;
/** A claimed call and what its body is told about the claim. */
export type Effect = {
  readonly ready: Ready;
  readonly gate: Gate;
  readonly attempt: number;
  readonly key: string | null;
};
/** Runs the body of a claimed call: the only place that does. A body that ignores its signal is abandoned after the grace time. */
export declare function runBody(batch: BatchRun, run: CallRun, { ready, gate, attempt, key }: Effect): Promise<Ending>;
