import { format } from "node:util";
import type { PendingAction, ToolResult } from "@assent/core";
import { ToolError } from "@assent/core/setup";
import * as zod from "zod";
import type { CustomTool, CustomToolApi, CustomToolContext, CustomToolUi, ExecOptions, ExecResult, LogLevel } from "./custom-tool.ts";
import { type CallFacts, toSentAction, type UiMethod } from "./thread-messages.ts";
import { ask, askSync, post, SCOPE, START, type ThreadCall } from "./worker-channel.ts";

const UI: CustomToolUi = Object.freeze({
  select: (title: string, options: readonly string[]) => askUi<string | undefined>("select", [title, options]),
  confirm: (title: string, message?: string) => askUi<boolean>("confirm", [title, message]),
  input: (title: string, placeholder?: string) => askUi<string | undefined>("input", [title, placeholder]),
  editor: (title: string, text?: string) => askUi<string | undefined>("editor", [title, text]),
  notify: (message: string, level?: "info" | "warning" | "error") => post({ type: "notify", message, level }),
});

function askUi<T>(method: UiMethod, args: readonly unknown[]): Promise<T> {
  return ask({ kind: "ui", method, args }) as Promise<T>; // the program passes on its interface's answer
}

export function factoryApi(): CustomToolApi {
  const logger =
    (level: LogLevel) =>
    (...words: readonly unknown[]) =>
      post({ type: "log", level, message: format(...words) });
  return Object.freeze<CustomToolApi>({
    cwd: START.cwd,
    exec,
    ui: UI,
    get hasUI() {
      return askSync({ kind: "hasUI" }) === true;
    },
    logger: Object.freeze({ debug: logger("debug"), info: logger("info"), warn: logger("warn"), error: logger("error") }),
    zod,
    tool: (tool) => tool as CustomTool,
    pushPendingAction: (action: PendingAction) => {
      if (!START.staging) throw new ToolError("Pending action store unavailable for custom tools in this runtime.", "staging_unavailable");
      return push(runningCall(), action);
    },
  });
}

export function callContext(call: ThreadCall, facts: CallFacts): CustomToolContext {
  return Object.freeze({
    ...facts,
    signal: call.signal,
    get hasUI() {
      return askSync({ kind: "hasUI" }) === true;
    },
    ui: UI,
    pushPendingAction: (action: PendingAction) => push(call, action),
  });
}

function runningCall(): ThreadCall | undefined {
  const call = SCOPE.getStore()?.call;
  return call?.over === false ? call : undefined;
}

function exec(file: string, args: readonly string[] = [], { signal, ...options }: ExecOptions = {}): Promise<ExecResult> {
  const { id } = callForExec();
  if (typeof file !== "string" || file === "" || file.startsWith("-")) throw new TypeError("exec needs the name of a program");
  if (!Array.isArray(args) || args.some((word) => typeof word !== "string"))
    throw new TypeError("exec needs its arguments as a list of strings");
  return ask({ kind: "exec", request: id, file, args, options }, signal) as Promise<ExecResult>; // returned by runProgram
}

function callForExec(): ThreadCall {
  const call = runningCall();
  if (call) return call;
  if (SCOPE.getStore()?.phase === "loading") throw new ToolError("exec is not available while loading", "no_running_call");
  throw new ToolError("exec is only available while a call of this module's tool runs", "no_running_call");
}

type Callbacks = Readonly<Partial<Record<"apply" | "reject", (...words: Parameters<PendingAction["apply"]>) => unknown>>>;

const pushed = new Map<number, Callbacks>();

/** The callbacks run later as the effect of the call, so `exec` works again then. */
function push(call: ThreadCall | undefined, action: PendingAction): { readonly id: string } {
  if (!call?.canPush || call.over) throw new ToolError("pushPendingAction needs a running tool call.", "no_running_call");
  const number = pushed.size + 1;
  const sent = toSentAction(action, number);
  const id = String(pushSent(call, sent));
  const { apply, reject } = action;
  pushed.set(number, { apply: apply.bind(action), ...(reject && { reject: reject.bind(action) }) });
  return { id };
}

function pushSent({ id }: ThreadCall, action: ReturnType<typeof toSentAction>): unknown {
  try {
    return askSync({ kind: "push", request: id, action });
  } catch (error) {
    if (error instanceof DOMException && error.name === "DataCloneError") throw new ToolError("Pending action details must be JSON.");
    throw error;
  }
}

export type Settlement = {
  readonly action: number;
  readonly how: "apply" | "reject";
  readonly reason: string;
  readonly extra: unknown;
  readonly proposalId: string;
};

/** Runs a callback of an action that was pushed earlier. */
export function settleAction(call: ThreadCall, { action, how, reason, extra, proposalId }: Settlement): unknown {
  const request = call.id;
  const ctx: Parameters<PendingAction["apply"]>[2] = {
    signal: call.signal,
    proposalId,
    commit: () => post({ type: "commit", request }),
    gate: (nested) => ask({ kind: "gate", request, nested }) as Promise<ToolResult>, // the runtime's own result
  };
  return pushed.get(action)?.[how]?.(reason, extra as Parameters<PendingAction["apply"]>[1], ctx);
}
