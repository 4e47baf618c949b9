import { resolve } from "node:path";
import { format } from "node:util";
import { type Maybe, type PendingAction, type RunContext, ToolError } from "@assent/core";
import type { CustomTool, CustomToolApi, CustomToolContext, CustomToolUi, ExecOptions, LogLevel } from "./custom-tool.ts";
import { currentScope, insideModule, type ModuleIdentity, outsideModules, type RunningCall } from "./module-scope.ts";
import { type ProgramPorts, runProgram } from "./run-program.ts";

/** What stands behind the API of custom tools, in one session. */
export type ApiPorts = ProgramPorts & {
  readonly cwd: string;
  /** Undefined, now or always: there is nobody to show anything to. */
  readonly ui?: () => CustomToolUi | undefined;
  readonly log: (line: { readonly level: LogLevel; readonly module: string; readonly message: string }) => void;
  readonly mode: () => string;
  /** Whether this runtime can stage anything. */
  readonly staging: boolean;
};

/** Whatever a factory may use, for one module. */
export function factoryApi(module: ModuleIdentity, ports: ApiPorts, zod: CustomToolApi["zod"]): CustomToolApi {
  const logger =
    (level: LogLevel) =>
    (...words: readonly unknown[]) =>
      outsideModules(() => module.log(level, format(...words)));
  return Object.freeze<CustomToolApi>({
    cwd: ports.cwd,
    exec: (file: string, args: readonly string[] = [], options: ExecOptions = {}) => {
      const call = callForExec(module);
      checkProgram(file, args);
      const program = { ...options, file, args, cwd: resolve(ports.cwd, options.cwd ?? ".") };
      return outsideModules(() => runProgram(ports, program, call));
    },
    ui: uiOf(ports),
    get hasUI() {
      return hasUi(ports);
    },
    logger: Object.freeze({ debug: logger("debug"), info: logger("info"), warn: logger("warn"), error: logger("error") }),
    zod,
    tool: (tool) => tool as CustomTool,
    pushPendingAction: (action: PendingAction) => {
      if (!ports.staging) throw new ToolError("Pending action store unavailable for custom tools in this runtime.", "staging_unavailable");
      return push(module, runningCall(module), action);
    },
  });
}

/** What a running call is given. */
export function callContext(module: ModuleIdentity, ports: ApiPorts, call: RunningCall & { readonly run: RunContext }): CustomToolContext {
  const { cwd, sessionId, callId, idempotencyKey } = call.run;
  return Object.freeze({
    cwd,
    sessionId,
    callId,
    idempotencyKey,
    signal: call.signal,
    get mode() {
      return ports.mode();
    },
    get hasUI() {
      return hasUi(ports);
    },
    ui: uiOf(ports),
    pushPendingAction: (action: PendingAction) => push(module, call, action),
  });
}

/** The call of this module that the asking code belongs to. */
function runningCall(module: ModuleIdentity): RunningCall | undefined {
  const scope = currentScope();
  return scope?.module === module && scope.call?.over === false ? scope.call : undefined;
}

function callForExec(module: ModuleIdentity): RunningCall {
  const call = runningCall(module);
  if (call) return call;
  if (currentScope()?.phase === "loading") throw new ToolError("exec is not available while loading", "no_running_call");
  throw new ToolError("exec is only available while a call of this module's tool runs", "no_running_call");
}

function checkProgram(file: unknown, args: unknown): void {
  if (typeof file !== "string" || file === "" || file.startsWith("-")) throw new TypeError("exec needs the name of a program");
  if (!Array.isArray(args) || args.some((word) => typeof word !== "string"))
    throw new TypeError("exec needs its arguments as a list of texts");
}

/** The callbacks run later, as the effect of this call: then `exec` works again. */
function push(module: ModuleIdentity, call: RunningCall | undefined, action: PendingAction): { readonly id: string } {
  if (!call?.run) throw new ToolError("pushPendingAction needs a running tool call.", "no_running_call");
  const { run } = call;
  const { id } = outsideModules(() => run.pushPendingAction(withScope(module, action)));
  return { id };
}

function withScope(module: ModuleIdentity, action: PendingAction): PendingAction {
  const { apply, reject } = Object(action) as Partial<PendingAction>; // parsing: a module may push anything
  return {
    ...action,
    ...(typeof apply === "function" && { apply: settling(module, apply.bind(action)) }),
    ...(typeof reject === "function" && { reject: settling(module, reject.bind(action)) }),
  };
}

type Callback<R> = (...words: Parameters<PendingAction["apply"]>) => R;

function settling<R>(module: ModuleIdentity, callback: Callback<Maybe<R>>): Callback<Promise<R>> {
  return async (reason, extra, ctx) => {
    const call: RunningCall = { signal: ctx.signal, over: false };
    const told: typeof ctx = { ...ctx, gate: (nested) => outsideModules(() => ctx.gate(nested)) };
    try {
      return await insideModule({ module, phase: "running", call, triedToExit: false }, () => callback(reason, extra, told));
    } finally {
      call.over = true;
    }
  };
}

function hasUi({ ui }: ApiPorts): boolean {
  return ui?.() !== undefined;
}

/** Looked up at every use: an interface may come and go. */
function uiOf({ ui }: ApiPorts): CustomToolUi {
  const shown = (): CustomToolUi => {
    const found = ui?.();
    if (!found) throw new ToolError("There is no user interface here.", "ui_unavailable");
    return found;
  };
  return Object.freeze({
    select: (title: string, options: readonly string[]) => outsideModules(() => shown().select(title, options)),
    confirm: (title: string, message?: string) => outsideModules(() => shown().confirm(title, message)),
    input: (title: string, placeholder?: string) => outsideModules(() => shown().input(title, placeholder)),
    editor: (title: string, text?: string) => outsideModules(() => shown().editor(title, text)),
    notify: (message: string, level?: "info" | "warning" | "error") => outsideModules(() => ui?.()?.notify(message, level)),
  });
}
