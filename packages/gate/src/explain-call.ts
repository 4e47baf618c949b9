import { type Clock, type Digest, isObject, messageOf, type ProposedCall } from "@assent/core";
import { type Assessment, assessWithoutSession } from "@assent/core/parts";
import { type Explanation, explain } from "@assent/policy";
import { GateUsageError } from "./gate-error.ts";
import type { GatePolicy } from "./gate-policy.ts";
import type { GateTools } from "./gate-tools.ts";

/** What parts a call without running it needs. */
type ExplainParts = {
  readonly id: () => string;
  readonly tools: GateTools;
  readonly policy: GatePolicy;
  readonly clock: Clock;
  readonly digest: Digest;
};

/** Judges a call without a session. Throws what is wrong with it. */
export async function assessCall(
  { id, tools, policy, clock, digest }: ExplainParts,
  { name, arguments: given }: ProposedCall,
): Promise<Assessment> {
  const tool = tools.get(name);
  if (!tool) throw new GateUsageError("bad_tool", `The gate has no tool '${name}'.`);
  const { workspace: cwd, facts, source } = policy;
  const input: unknown = typeof given === "string" ? JSON.parse(given) : given;
  const invocation = await tool.build(input, { cwd, callId: "explain", sessionId: id() });
  return await assessWithoutSession({ clock, digest, tool, invocation, cwd, facts, policy: () => source.current() }, name);
}

/** Explains how a call would be decided. Throws `GateUsageError` if it is not valid. */
export async function explainCall(parts: ExplainParts, call: ProposedCall): Promise<Explanation> {
  if (!isObject(call)) throw new GateUsageError("bad_call", 'gate.explain takes a call, such as { name: "mail", arguments: { … } }.');
  try {
    return explain(await assessCall(parts, call));
  } catch (error) {
    if (error instanceof GateUsageError) throw error;
    throw new GateUsageError("bad_tool", `The call of '${call.name}' is not valid: ${messageOf(error)}`, { cause: error });
  }
}
