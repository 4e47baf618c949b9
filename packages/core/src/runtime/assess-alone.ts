import { decide } from "../model/decide.ts";
import type { Circumstances, Guard, NamedChecker } from "../model/decision.ts";
import type { JsonObject } from "../model/json.ts";
import { applyName, isApplyName } from "../model/pattern.ts";
import type { Request } from "../model/request.ts";
import { defineTool } from "../tool.ts";
import type { Invocation, Maybe, Tool } from "../tool-definition.ts";
import { toolDigest } from "../tool-digest.ts";
import { type Assessed, type Assessing, assessRequest, fingerprinted } from "./assess.ts";
import { assessQuestion } from "./questioning-judge.ts";

/**
 * Judges a call of which no session is known, as the runtime would. `name` is the tool's, or that of the apply of an action the tool pushes (`TOOL.apply`).
 * Nothing is asked or recorded.
 */
export function assessAlone(assessing: Assessing, name: string): Maybe<Assessed> {
  if (isApplyName(name)) return assessAction(assessing);
  switch (assessing.tool.definition.runtimeHandler) {
    case "resolve":
      return assessResolveAlone(assessing);
    case "ask":
      return assessQuestion(assessing);
    default:
      return assessRequest(assessing);
  }
}

/** The frozen request of `resolve`, and who may speak about it. */
export type Frame = { readonly assessing: Assessing; readonly request: Request & { readonly fingerprint: string } };

/** Freezes a call of `resolve` with what it is bound to. */
export function frameOf(assessing: Assessing, binds: Request["binds"]): Frame {
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

/** Of the rules only a deny speaks about `resolve` itself; hooks do, too. */
export function decided({ assessing, request }: Frame, guards: readonly Guard[] = [], toolNote?: string): Assessed {
  const policy = assessing.policy();
  const { hook } = assessing;
  const said =
    hook?.verdict === undefined
      ? {}
      : { hook: { verdict: hook.verdict, name: hook.name, ...(hook.reason !== undefined && { reason: hook.reason }) } };
  const checkers = policy.checkers.map(onlyDeny);
  const hint = { tool: "allow", ownTool: true, ...(toolNote !== undefined && { toolNote }), ...said } as const;
  const circumstances: Circumstances = { mode: policy.mode, checkers, guards, hint };
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

/** Judges a call of `resolve` of which no session is known: only what rules say about `resolve` itself counts. Nothing is recorded. */
function assessResolveAlone(assessing: Assessing): Assessed {
  return decided(frameOf(assessing, {}), [], "to apply, it is then judged as the change or action it applies");
}

/** Judges the apply of a pending action that this call pushed. Nothing is recorded. */
export async function assessAction(assessing: Assessing): Promise<Assessed> {
  const { tool, invocation } = assessing;
  const asTool = await assessRequest(assessing);
  const code = codeInvocation(tool.title, invocation.input);
  const asAction = await assessRequest({ ...assessing, tool: codeOf(applyName(tool.name)), invocation: code });
  return insistence(asTool) > insistence(asAction) ? { ...asAction, decision: asTool.decision } : asAction;
}

/** How strictly it is refused to pass unasked: denied, asked about by somebody's explicit rule, or neither. */
function insistence({ decision: { verdict, explicitAsk } }: Assessed): number {
  if (verdict === "deny") return 2;
  return explicitAsk ? 1 : 0;
}

/** Stands for code of which nobody can tell what it does. */
export function codeOf(name: string): Tool {
  const code = defineTool({ name: "custom_tool", description: "Code of a host.", kind: "other", input: true, run: () => "" });
  return { ...code, name };
}

/** Nobody speaks for the code, so a person is asked. */
export function codeInvocation(label: string, input: JsonObject): Invocation {
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
    execute: () => Promise.reject(new Error("what is queued under a name has no body of its own")),
  };
}
