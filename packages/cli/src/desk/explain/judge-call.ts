import { type Clock, type Digest, type Facts, messageOf, type Policy, type Registry } from "@assent/core";
import { type Assessment, type AssessmentInput, assessStaging, assessWithoutSession, isApplyName, sourceOfApply } from "@assent/core/parts";
import { shellWord } from "../../command-line/shell-word.ts";

export type JudgeParts = {
  readonly policy: Policy;
  readonly tools: Registry;
  readonly facts: Facts;
  readonly digest: Digest;
  readonly clock: Clock;
};

export type CallToJudge = { readonly tool: string; readonly input: unknown; readonly cwd: string };

export type InvalidCall = { readonly type: "tool_not_registered" | "invalid_tool_params"; readonly message: string };

/** `staging` is the decision about previewing the call instead of running it. */
export type JudgedCall = Assessment & { readonly staging?: Assessment };

/** Asks, runs and records nothing. */
export async function judgeCall(judging: JudgeParts, { tool: name, input, cwd }: CallToJudge): Promise<JudgedCall | InvalidCall> {
  const { policy, tools, facts, digest, clock } = judging;
  const tool = tools.get(isApplyName(name) ? sourceOfApply(name) : name);
  if (!tool) return { type: "tool_not_registered", message: unknownTool(tools, name) };
  let invocation: Awaited<ReturnType<typeof tool.build>>;
  try {
    invocation = await tool.build(input, { cwd, callId: "explain", sessionId: "explain" });
  } catch (error) {
    return { type: "invalid_tool_params", message: messageOf(error) };
  }
  const assessing: AssessmentInput = { tool, invocation, cwd, facts, policy: () => policy, digest, clock };
  const judged = await assessWithoutSession(assessing, name);
  const staging = await assessStaging(assessing, judged, { tools });
  return staging ? { ...judged, staging } : judged;
}

export function isInvalidCall(judged: JudgedCall | InvalidCall): judged is InvalidCall {
  return "message" in judged;
}

function unknownTool(tools: Registry, name: string): string {
  const [near] = tools.suggest(name);
  const meant = /\s/.test(name) ? ` For a command, name the tool shell first: assent explain shell ${shellWord(name.slice(0, 80))}` : "";
  return `There is no tool '${name.slice(0, 80)}'.${near === undefined ? meant : ` Did you mean '${near}'?`}`;
}
