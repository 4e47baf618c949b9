import { decide } from "../../model/decide.ts";
import type { Circumstances, NamedChecker, Safeguard } from "../../model/decision.ts";
import type { JsonObject } from "../../model/json/json.ts";
import { applyName, isApplyName } from "../../model/pattern/pattern.ts";
import type { Request } from "../../model/request.ts";
import { defineTool } from "../../tool.ts";
import type { Invocation, Tool } from "../../tool-definition.ts";
import { toolDigest } from "../../tool-digest.ts";
import { assessQuestion } from "../question/judge.ts";
import { type AssessmentInput, assessRequest, fingerprinted, hookHint } from "./assess.ts";
import type { Assessment } from "./judged-call.ts";

/** Judges a call outside of any session. `name` is a tool, or `TOOL.apply` for an action that it pushes. Records nothing. */
export async function assessWithoutSession(assessing: AssessmentInput, name: string): Promise<Assessment> {
  if (isApplyName(name)) return await assessAction(assessing);
  switch (assessing.tool.definition.runtimeHandler) {
    case "resolve":
      return assessResolveWithoutSession(assessing);
    case "ask":
      return await assessQuestion(assessing);
    default:
      return await assessRequest(assessing);
  }
}

/** The frozen request of `resolve`, and what judges it. */
export type ResolveFrame = { readonly assessing: AssessmentInput; readonly request: Request & { readonly fingerprint: string } };

/** Freezes a call of `resolve` with what it is bound to. */
export function frameOf(assessing: AssessmentInput, binds: Request["binds"]): ResolveFrame {
  const { tool, invocation, cwd, digest } = assessing;
  const { name, kind } = tool;
  const plain: Request = {
    tool: name,
    toolDigest: toolDigest(tool, digest),
    kind,
    input: invocation.input,
    cwd,
    binds,
    units: [{ subject: name }],
  };
  return { assessing, request: fingerprinted(plain, digest) };
}

/** Judges `resolve` itself: of the rules only denies count, and hooks count too. */
export function judgeResolve({ assessing, request }: ResolveFrame, safeguards: readonly Safeguard[] = [], toolNote?: string): Assessment {
  const policy = assessing.policy();
  const checkers = policy.checkers.map(onlyDeny);
  const hint = { tool: "allow", ownTool: true, ...(toolNote !== undefined && { toolNote }), ...hookHint(assessing.hook) } as const;
  const circumstances: Circumstances = { mode: policy.mode, checkers, safeguards, hint };
  const facts = { units: request.units, binds: request.binds };
  return { request, decision: decide(request, circumstances), facts, safe: false, policy, circumstances };
}

function onlyDeny({ label, scope, check }: NamedChecker): NamedChecker {
  return {
    label,
    scope,
    check: (request, unit) => {
      const opinion = check(request, unit);
      return opinion.verdict === "ask" || opinion.verdict === "allow" ? { verdict: "none" } : opinion;
    },
  };
}

/** Judges a call of `resolve` outside of any session: only rules about `resolve` itself count. */
function assessResolveWithoutSession(assessing: AssessmentInput): Assessment {
  return judgeResolve(frameOf(assessing, {}), [], "to apply, it is then judged as the change or action it applies");
}

/** Judges the apply of a pending action that this call pushed. */
export async function assessAction(assessing: AssessmentInput): Promise<Assessment> {
  const { tool, invocation } = assessing;
  const asTool = await assessRequest(assessing);
  const code = unknownCodeInvocation(tool.title, invocation.input);
  const asAction = await assessRequest({ ...assessing, tool: unknownCodeTool(applyName(tool.name)), invocation: code });
  return strictness(asTool) > strictness(asAction) ? { ...asAction, decision: asTool.decision } : asAction;
}

/** Orders decisions by strictness: 2 for a deny, 1 for an explicit ask, else 0. */
function strictness({ decision: { verdict, explicitAsk } }: Assessment): number {
  if (verdict === "deny") return 2;
  return explicitAsk ? 1 : 0;
}

/** A placeholder tool for code with unknown effects. */
export function unknownCodeTool(name: string): Tool {
  const code = defineTool({ name: "custom_tool", description: "Code of a host.", kind: "other", input: true, run: () => "" });
  return { ...code, name };
}

/** An invocation of code with unknown effects. It asks a person. */
export function unknownCodeInvocation(label: string, input: JsonObject): Invocation {
  return {
    input,
    coercions: [],
    warnings: [],
    describe: () => label,
    locations: () => [],
    permission: async () => "ask",
    opinion: () => ({ verdict: "ask", declared: true }),
    safe: () => false,
    confirmation: async () => undefined,
    execute: () => Promise.reject(new Error("a pending action is run by its own callback, not as a tool")),
  };
}
