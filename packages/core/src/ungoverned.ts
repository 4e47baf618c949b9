import type { Display, ToolResult } from "./model/result/result.ts";
import { errorTypeOf, messageOf } from "./model/result/thrown.ts";
import { InvalidInput } from "./model/schema/problems.ts";
import { CANCELLED_BEFORE, modelText } from "./model/text/model-text.ts";
import type { CallContext, Invocation, Tool } from "./tool-definition.ts";

/** The signal, observer and context of an ungoverned call. */
export type UngovernedOptions = readonly [signal: AbortSignal, update?: (display: Display) => void, ctx?: CallContext];

/** Builds and runs a tool without judging, asking or recording; throws what build or the body throws. */
export async function buildAndExecute(tool: Tool, input: unknown, ...[signal, update, ctx]: UngovernedOptions): Promise<ToolResult> {
  const invocation = await tool.build(input, ctx);
  return signal.aborted ? cancelled() : invocation.execute(signal, update);
}

/** Like `buildAndExecute`, but returns every failure as a result; never throws or rejects. */
export async function validateBuildAndExecute(
  tool: Tool,
  input: unknown,
  ...[signal, update, ctx]: UngovernedOptions
): Promise<ToolResult> {
  let invocation: Invocation;
  try {
    invocation = await tool.build(input, ctx);
  } catch (error) {
    const message = messageOf(error);
    const type = error instanceof InvalidInput ? error.type : "invalid_tool_params";
    return { content: modelText.invalid_tool_params(message), display: message, error: { message, type } };
  }
  try {
    return signal.aborted ? cancelled() : await invocation.execute(signal, update);
  } catch (error) {
    const message = messageOf(error);
    return { content: modelText.execution_failed(message), display: message, error: { message, type: errorTypeOf(error) } };
  }
}

function cancelled(): ToolResult {
  const message = CANCELLED_BEFORE;
  return { content: message, display: message, error: { message, type: "cancelled" } };
}
