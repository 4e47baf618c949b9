// The thread of one module of custom tools: loads it and runs its functions on request. See decision 38.
import { syncBuiltinESMExports } from "node:module";
import type { StandardResult } from "@assent/core";
import { isObject } from "@assent/core/setup";
import type { CustomApplied, CustomTool, LogLevel, Params } from "./custom-tool.ts";
import { reviveError, type SentOutcome, type ThreadRequest, type ToThread, toSentError } from "./thread-messages.ts";
import { errorLine } from "./tool-failure.ts";
import { callContext, settleAction } from "./worker-api.ts";
import { answer, post, SCOPE, START, type ThreadCall } from "./worker-channel.ts";
import { EXIT_REFUSED, failed, type LoadedModule, loadModule } from "./worker-load.ts";

let tools: LoadedModule["tools"] = [];
const running = new Map<number, AbortController>();
/** What the module did while loading that makes it unusable. */
let loading: { triedToExit: boolean; readonly rejections: unknown[] } | undefined = { triedToExit: false, rejections: [] };

guardProcess();
START.port.on("message", receive);
post({ type: "started" });
const { tools: given, report } = await SCOPE.run({ phase: "loading" }, load);
tools = given;
loading = undefined;
post({ type: "loaded", report });

async function load(): Promise<LoadedModule> {
  const loaded = await loadModule();
  await new Promise((resolve) => setImmediate(resolve)); // Node reports unhandled rejections only now
  if (loading?.triedToExit) return failed("load_error", EXIT_REFUSED);
  if (loading && loading.rejections.length > 0 && "items" in loaded.report)
    return failed("load_error", `Unhandled rejection: ${errorLine(loading.rejections[0])}`);
  return loaded;
}

/** Keeps the module from exiting, and sends its output to the log. */
function guardProcess(): void {
  process.exit = () => {
    if (loading) loading.triedToExit = true;
    throw new Error(EXIT_REFUSED);
  };
  process.stdout.write = logWriter("info");
  process.stderr.write = logWriter("warn");
  syncBuiltinESMExports(); // for modules that import `exit` by name
  process.on("uncaughtException", logUncaught);
  process.on("unhandledRejection", (reason) => (loading ? loading.rejections.push(reason) : logUncaught(reason)));
}

function logUncaught(error: unknown): void {
  post({ type: "log", level: "error", message: `Uncaught error: ${errorLine(error)}` });
}

function logWriter(level: LogLevel): typeof process.stdout.write {
  return (chunk: string | Uint8Array, ...rest: readonly unknown[]) => {
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    post({ type: "log", level, message: text.replace(/\n$/, "") });
    const done = rest.findLast((word) => typeof word === "function");
    if (typeof done === "function") queueMicrotask(() => done());
    return true;
  };
}

function receive(message: ToThread): void {
  switch (message.type) {
    case "request":
      void serve(message.id, message.request);
      break;
    case "abort":
      running.get(message.id)?.abort(reviveError(message.reason));
      break;
    case "answer":
      answer(message.id, message.outcome);
      break;
    case "ping":
      post({ type: "pong" });
      break;
    default:
      message satisfies never;
  }
}

async function serve(id: number, request: ThreadRequest): Promise<void> {
  try {
    sendOutcome(id, { value: await performRequest(id, request) });
  } catch (error) {
    sendOutcome(id, { error: toSentError(error) });
  }
}

function sendOutcome(id: number, outcome: SentOutcome): void {
  try {
    post({ type: "done", id, outcome });
  } catch {
    post({ type: "done", id, outcome: toJsonOutcome(outcome) }); // functions cannot be cloned
  }
}

function toJsonOutcome(outcome: SentOutcome): SentOutcome {
  try {
    const sent = JSON.parse(JSON.stringify(outcome));
    return "value" in outcome ? { value: sent.value } : sent; // JSON drops a value that is a function itself
  } catch (error) {
    return { error: toSentError(error) };
  }
}

function performRequest(id: number, request: ThreadRequest): unknown {
  if (request.fn === "settle") return duringCall(id, false, (call) => settleAction(call, request));
  const tool = tools[request.at];
  if (!tool) throw new Error("The module has no such tool.");
  const input = freezeDeep(request.input) as Params; // the program validated it
  switch (request.fn) {
    case "execute": {
      const onUpdate = (soFar: unknown): void => postUpdate(id, soFar);
      const { call: facts } = request;
      return duringCall(id, true, (call) => tool.execute?.(facts.callId, input, onUpdate, callContext(call, facts), call.signal));
    }
    case "preview":
      return duringCall(id, true, (call) => tool.preview?.(input, callContext(call, request.call)));
    case "apply":
      return duringCall(id, true, (call) => tool.apply?.(request.input as CustomApplied, callContext(call, request.call)));
    default:
      return SCOPE.run({ phase: "judging" }, () => callFunction(tool, request, input));
  }
}

function callFunction(tool: CustomTool, request: ThreadRequest, input: Params): unknown {
  switch (request.fn) {
    case "validate":
      return validate(tool, input);
    case "permission":
      return tool.permission?.(input);
    case "idempotencyKey":
      return tool.idempotencyKey?.(input, request.ctx as never); // the runtime's own context
    case "probe":
      return tool.probe?.(input, request.ctx as never);
    case "renderCall":
      return tool.renderCall?.(input);
    case "renderResult":
      return tool.renderResult?.(input);
    default:
      throw new Error("The module has no such function.");
  }
}

/** Only during this time can the module start programs and stage actions for the call. */
async function duringCall(id: number, canPush: boolean, act: (call: ThreadCall) => unknown): Promise<unknown> {
  const controller = new AbortController();
  const call: ThreadCall = { id, signal: controller.signal, canPush, over: false };
  running.set(id, controller);
  try {
    return await SCOPE.run({ phase: "running", call }, () => act(call));
  } finally {
    call.over = true;
    running.delete(id);
  }
}

function postUpdate(request: number, soFar: unknown): void {
  try {
    post({ type: "update", request, soFar });
  } catch {
    // what cannot be cloned cannot be shown
  }
}

async function validate({ parameters }: CustomTool, input: unknown): Promise<StandardResult<unknown>> {
  const standard = Reflect.get(Object(parameters), "~standard") as { readonly validate: (value: unknown) => unknown }; // checked by describeTool
  const answered = (await standard.validate(input)) as StandardResult<unknown>;
  if (!answered.issues) return { value: answered.value };
  return { issues: answered.issues.map(({ message, path }) => ({ message, path: (path ?? []).map(toPathStep) })) };
}

function toPathStep(step: unknown): string | number {
  const key = isObject(step) ? step["key"] : step;
  return typeof key === "number" ? key : String(key);
}

function freezeDeep(value: unknown): unknown {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value;
  for (const each of Object.values(Object.freeze(value))) freezeDeep(each);
  return value;
}
