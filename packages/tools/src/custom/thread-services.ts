import { resolve } from "node:path";
import { type PendingAction, type RunContext, ToolError } from "@assent/core";
import { readUpdate } from "./custom-preview.ts";
import type { CustomToolUi, LogLevel } from "./custom-tool.ts";
import { type ProgramPorts, type RunningCall, runProgram } from "./run-program.ts";
import type { SentAction, ThreadAsk, ThreadRequest, ThreadSyncAsk } from "./thread-messages.ts";

/** What the API of custom tools needs, in one session. */
export type ApiPorts = ProgramPorts & {
  readonly cwd: string;
  /** Undefined if there is no user interface. */
  readonly ui?: () => CustomToolUi | undefined;
  readonly log: (line: { readonly level: LogLevel; readonly module: string; readonly message: string }) => void;
  /** True if this runtime can stage changes. */
  readonly staging: boolean;
};

export type ServedCall = RunningCall & {
  readonly run?: RunContext;
  /** Set while a pending action is settled. */
  readonly settling?: Parameters<PendingAction["apply"]>[2];
  /** Runs a callback of an action that this call pushed. */
  readonly settle: (request: Extract<ThreadRequest, { fn: "settle" }>, ctx: Parameters<PendingAction["apply"]>[2]) => Promise<unknown>;
};

/** Serves a request of a thread. `signal` ends a program. */
export async function answerAsk(
  ports: ApiPorts,
  ask: ThreadAsk,
  { call, signal }: { readonly call: ServedCall | undefined; readonly signal: AbortSignal },
): Promise<unknown> {
  if (ask.kind === "ui") {
    const ui = ports.ui?.();
    if (!ui) throw new ToolError("There is no user interface here.", "ui_unavailable");
    return await (ui[ask.method] as (...args: readonly unknown[]) => Promise<unknown>)(...ask.args); // the thread's API has the same types
  }
  if (!call) throw new ToolError(`${ask.kind} is only available while a call of this module's tool runs`, "no_running_call");
  if (ask.kind === "gate") return await call.settling?.gate(ask.nested);
  const { file, args, options } = ask;
  return await runProgram(ports, { ...options, file, args, signal, cwd: resolve(ports.cwd, options.cwd ?? ".") }, call);
}

export function answerSync(ports: ApiPorts, ask: ThreadSyncAsk, call: ServedCall | undefined): unknown {
  if (ask.kind === "hasUI") return ports.ui?.() !== undefined;
  if (!call?.run) throw new ToolError("pushPendingAction needs a running tool call.", "no_running_call");
  return call.run.pushPendingAction(reviveAction(ask.action, call)).id;
}

export function showUpdate(soFar: unknown, call: ServedCall | undefined): void {
  const display = readUpdate(soFar);
  if (display !== undefined) call?.run?.update(display);
}

/** Invalid fields are kept, so that the runtime reports them. */
function reviveAction({ number, label, sourceToolName, details, callbacks }: SentAction, call: ServedCall): PendingAction {
  const callback = (how: "apply" | "reject") => {
    if (callbacks[how] !== "function") return callbacks[how] === "other" ? how : undefined;
    return async (...[reason, extra, ctx]: Parameters<PendingAction["apply"]>) =>
      await call.settle({ fn: "settle", action: number, how, reason, extra, proposalId: ctx.proposalId }, ctx);
  };
  const reject = callback("reject");
  const action = { label, sourceToolName, details, apply: callback("apply"), ...(reject !== undefined && { reject }) };
  return action as unknown as PendingAction; // the runtime checks every field
}
