import { type CallContext, contentText, isObject } from "@assent/core";
import { gatherCalls } from "../adapters/gather-calls.ts";
import { CallError } from "../call-error.ts";
import { GateUsageError } from "../gate-error.ts";
import { callValue, createCallNotes, findModelText, governTool, readToolSchema, type WrapContext, waitingCall } from "./governed-tool.ts";
import { checkTraitNames, entryOf, type ToolTraits, traitsDefinition } from "./traits.ts";

/** A tool of `@openai/agents`. */
export type AgentsTool = { readonly type: string; readonly name: string };

type AgentsDetails = { readonly toolCall?: { readonly callId?: string }; readonly signal?: AbortSignal };
type AgentsRun = { readonly context: unknown; readonly details: AgentsDetails | undefined };
type Invoke = (context: unknown, input: string, details?: object) => Promise<unknown>;
type NeedsApproval = (context: unknown, input: unknown, callId?: string) => Promise<boolean>;

/** Wraps function tools of `@openai/agents`. A call that does not succeed returns its error text, as tools of that SDK do. */
export function wrapAgentsTools<T extends AgentsTool>(
  context: WrapContext,
  tools: readonly T[],
  traits: Readonly<Record<string, ToolTraits | undefined>> = {},
): T[] {
  if (!Array.isArray(tools)) throw new GateUsageError("bad_tool", "gate.agents takes a list of tools: [tool({ … })].");
  const list: readonly T[] = tools;
  checkTraitNames(
    list.map(({ name }) => name),
    traits,
  );
  const gather = gatherCalls(context.turns);
  const notes = createCallNotes<AgentsRun>();
  context.put(list.map((tool) => governAgentsTool(tool, entryOf(traits, tool.name), notes.get)));
  const resumeCall = async (name: string, id: string, signal: AbortSignal | undefined) =>
    (await context.turns.resume([waitingCall(id, name)], signal)).calls[0] ?? waitingCall(id, name);
  return list.map((tool) => {
    const { name } = tool;
    return {
      ...tool,
      invoke: async (run: unknown, input: string, details?: AgentsDetails) => {
        const id = details?.toolCall?.callId ?? "";
        const call = await notes.during(id, { context: run, details }, async () => {
          const proposed = { id, name, arguments: input };
          if (id !== "" && context.parks && (await context.knows(proposed))) return await resumeCall(name, id, details?.signal);
          return await gather({ call: proposed, signal: details?.signal, newPrompt: false });
        });
        try {
          const value = callValue(call);
          return findModelText(call) ?? value; // this SDK sends the result to the model
        } catch (error) {
          if (error instanceof CallError) return contentText(error.call.content);
          throw error;
        }
      },
      needsApproval: async (run: unknown, input: unknown, callId = "") => {
        if (!context.parks || callId === "") return false;
        const proposed = { id: callId, name, arguments: input };
        if (await context.knows(proposed)) return true;
        if ((await context.judge(name, input)) !== "ask") return false;
        const call = await notes.during(callId, { context: run, details: undefined }, () =>
          gather({ call: proposed, signal: undefined, newPrompt: false }),
        );
        return call.outcome === "waiting" && call.callId === callId;
      },
    };
  });
}

function governAgentsTool(tool: AgentsTool, traits: ToolTraits | undefined, runOf: (id: string) => AgentsRun | undefined) {
  const { name, description, parameters, invoke, needsApproval }: Readonly<Record<string, unknown>> & AgentsTool = { ...tool };
  if (tool.type !== "function" || typeof invoke !== "function")
    throw new GateUsageError(
      "bad_tool",
      `Tool '${name}' is a hosted tool of the provider, and the gate cannot decide about it. Pass it beside: [...gate.agents(tools), ${name}].`,
    );
  const asks =
    typeof needsApproval === "function"
      ? (input: unknown, { callId }: CallContext) => (needsApproval as NeedsApproval)(runOf(callId)?.context, input, callId)
      : undefined;
  return governTool({
    name,
    description,
    input: readToolSchema(name, isObject(parameters) ? parameters : undefined),
    traits: traitsDefinition(name, traits, asks),
    run: (input, ctx) => {
      const run = runOf(ctx.callId);
      return (invoke as Invoke)(run?.context, JSON.stringify(input), { ...run?.details, signal: ctx.signal });
    },
  });
}
