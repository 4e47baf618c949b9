import { ToolError } from "../errors.ts";
import type { RunContext } from "../tool-definition.ts";
import type { Staging } from "./proposal/staging.ts";

/** The context of code that runs outside a call. */
export function bareContext(
  { session, policy }: Staging,
  { callId, signal }: { readonly callId: string; readonly signal: AbortSignal },
): RunContext {
  return {
    cwd: session.state.created?.cwd ?? "/",
    callId,
    sessionId: session.id,
    mode: policy().mode,
    signal,
    update: () => undefined,
    gate: () => Promise.reject(new ToolError("Nested calls need a running tool call.", "no_running_call")),
    attempt: 1,
    idempotencyKey: null,
    started: async () => undefined,
    pushPendingAction: () => {
      throw new ToolError("pushPendingAction needs a running tool call.", "no_running_call");
    },
  };
}
