import type { Coercion, Invocation, Tool } from "../tool-definition.ts";
import type { BatchRun, CallRun, Step } from "./call-run.ts";
/** A call whose input was understood. */
export type Taken = {
  readonly tool: Tool;
  readonly invocation: Invocation;
  readonly coercions: readonly Coercion[];
};
/** Finds the tool, parses and validates: nothing here touches the world, and an invalid call is never judged. */
export declare function intake(batch: BatchRun, run: CallRun): Step<Taken> | Promise<Step<Taken>>;
/** Where this call is made. */
export declare function callContext(
  batch: BatchRun,
  run: CallRun,
): {
  cwd: string;
  callId: string;
  sessionId: string;
  agentName?: string;
};
