import { MUTATOR_KINDS } from "../../model/kind.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { parseToolValue, readToolInput } from "../../model/schema/parse-input.ts";
import { InvalidInput } from "../../model/schema/problems.ts";
import { modelText, modelTextSuffix } from "../../model/text/model-text.ts";
import { unknownToolMessage } from "../../model/text/suggest.ts";
import { buildFrom, type GivenInput } from "../../tool.ts";
import type { Invocation, Maybe, Tool } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import type { Session } from "../session/session.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import { errorEnding } from "./endings.ts";
import type { ParsedCall } from "./judged-call.ts";

/** Finds the tool, parses and validates. Undefined if the call is stopped meanwhile. Nothing here touches the world, and an invalid call is never judged. */
export async function parseCall(batch: BatchRun, run: CallRun): Promise<ParsedCall | { readonly end: Ending } | undefined> {
  if (run.duplicateOf !== undefined) return invalid("duplicate_call_id", modelText.duplicate_call_id(run.duplicateOf));
  const tool = batch.batch.tools.get(run.name);
  if (!(tool && isCallable(batch, tool))) return unknownTool(batch, run);
  if (lacksHandler(batch, tool)) return invalid("handler_missing", modelText.handler_missing(tool));
  run.tool = tool;
  if (batch.batch.truncated && MUTATOR_KINDS.includes(tool.kind)) return invalid("output_truncated", modelText.output_truncated());
  try {
    const parsed = typeof run.arguments === "string" ? readToolInput(run.arguments) : parseToolValue(run.arguments);
    if ("ok" in parsed && !parsed.ok) return refuse(batch, { tool, type: parsed.type, message: parsed.message });
    const invocation = await buildInput(batch, run, tool, parsed);
    if (!invocation) return undefined;
    batch.repeats.valid(tool.name);
    run.input = invocation.input;
    const coercions = "frozen" in parsed ? invocation.coercions : [...parsed.coercions, ...invocation.coercions];
    return { tool, invocation, coercions, hook: undefined };
  } catch (error) {
    const type = error instanceof InvalidInput ? error.type : "invalid_tool_params";
    return refuse(batch, { tool, type, message: messageOf(error) });
  }
}

/** Validates an input. Undefined if the call is stopped first: a schema may be asynchronous, and never answer. */
export function buildInput(batch: BatchRun, run: CallRun, tool: Tool, given: GivenInput): Maybe<Invocation | undefined> {
  const validated = buildFrom(tool, given, callContext(batch, run));
  if (!(validated instanceof Promise)) return validated;
  const { signal } = run.abort;
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    validated.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function invalid(type: string, text: string): { readonly end: Ending } {
  return { end: errorEnding("invalid", type, text) };
}

function isCallable({ batch }: BatchRun, tool: Tool): boolean {
  return !tool.hidden || batch.directive === tool.name || isReachable(tool);
}

function unknownTool({ batch }: BatchRun, { name }: CallRun): { readonly end: Ending } {
  const names = batch.tools.visible().map((tool) => tool.name);
  return { end: errorEnding("invalid", "tool_not_registered", unknownToolMessage(name, names)) };
}

function lacksHandler({ deps }: BatchRun, { definition }: Tool): boolean {
  const handler = definition.runtimeHandler;
  return handler !== undefined && !OWN_HANDLERS.includes(handler) && !Object.hasOwn(deps.handlers ?? {}, handler);
}

/** The bodies that the runtime itself has. */
const OWN_HANDLERS: readonly string[] = ["resolve", "ask"];

/** A call of `resolve` or `ask` always reaches its body, which answers that nothing is pending or that no one can be asked. */
function isReachable({ name, definition }: Tool): boolean {
  return name === "resolve" || OWN_HANDLERS.includes(definition.runtimeHandler ?? "");
}

export function callContext(batch: BatchRun, run: CallRun): { cwd: string; callId: string; sessionId: string; agentName?: string } {
  const { session } = batch.deps;
  const context = { cwd: cwdOf(session), callId: run.callId, sessionId: session.id };
  return batch.batch.agentName === undefined ? context : { ...context, agentName: batch.batch.agentName };
}

export function cwdOf({ state }: Pick<Session, "state">): string {
  return state.created?.cwd ?? "/";
}

type InputRefusalText = {
  readonly tool: Tool;
  readonly type: "invalid_json" | "invalid_tool_params" | "input_too_large";
  readonly message: string;
};

function refuse(batch: BatchRun, { tool, type, message }: InputRefusalText): { readonly end: Ending } {
  const cut = batch.batch.truncated && type === "invalid_tool_params" ? modelTextSuffix.cutOff : "";
  const text = `${modelText.invalid_tool_params(message)}${cut}${batch.repeats.failed(tool.name, message)}`;
  return { end: { ...errorEnding("invalid", type, text), result: { content: text, display: message, error: { message, type } } } };
}
