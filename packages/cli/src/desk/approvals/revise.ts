import {
  type Answer,
  type ConfirmationDetails,
  type Decision,
  type Invocation,
  messageOf,
  type OpenApproval,
  type Policy,
  type Rules,
  type Tool,
} from "@assent/core";
import { type Assessment, type AssessmentInput, assessRequest, assessStaging } from "@assent/core/parts";
import { decisionSentence } from "../explain/decision-text.ts";
import type { JudgeParts } from "../explain/judge-call.ts";

export type RequestEdit = Required<Pick<Answer, "newContent">> | Required<Pick<Answer, "updatedInput">>;

export type EditFailure = { readonly message: string; readonly text?: string };

export type RevisionParts = Omit<JudgeParts, "policy"> & { readonly policy: () => Policy; readonly rules: Rules };

export function revisionParts(
  { tools, facts, rules }: Pick<RevisionParts, "tools" | "facts" | "rules">,
  { digest, clock }: Pick<RevisionParts, "digest" | "clock">,
  policy: () => Policy,
): RevisionParts {
  return { tools, facts, rules, digest, clock, policy };
}

/** Returns the approval with this edit; records nothing. */
export async function reviseApproval(
  revising: RevisionParts,
  asked: OpenApproval,
  edit: RequestEdit,
  signal: AbortSignal,
): Promise<OpenApproval | EditFailure> {
  const judged = await judgeEdit(revising, asked, edit);
  if ("message" in judged) return judged;
  const { invocation, plain, staging } = judged;
  const { decision, request } = staging ?? plain;
  const details = staging ? undefined : await detailsOf(invocation, signal);
  const { view } = plain.facts;
  const { facts: _before, ...same } = asked;
  const fields = askFields(decision, () => revising.rules.offer(request));
  const wider = fields.suggestions.length > 0 ? revising.rules.offerWider?.(request) : undefined;
  return {
    ...same,
    input: plain.request.input,
    title: details?.title ?? asked.title,
    details: {
      ...(details ?? { type: "info", prompt: invocation.describe() }),
      ...(decision.explicitAsk && { hideAlwaysAllow: true }),
      ...(wider && { wider }),
    },
    ...fields,
    ...(view !== undefined && { facts: view }),
  };
}

type EditedCall = Pick<OpenApproval, "tool" | "input" | "cwd" | "callId" | "sessionId">;
type JudgedEdit = { readonly invocation: Invocation; readonly plain: Assessment; readonly staging: Assessment | undefined };

/** Returns a message if the edit is invalid or denied. */
export async function judgeEdit(revising: RevisionParts, asked: EditedCall, edit: RequestEdit): Promise<JudgedEdit | EditFailure> {
  const judged = await judgeEditedCall(revising, asked, edit);
  if ("message" in judged) return judged;
  const { decision } = judged.staging ?? judged.plain;
  return decision.verdict === "deny" ? { message: `Your edited version would be denied${deniedBy(decision)}` } : judged;
}

/** Undefined if the call is not denied, or its tool or input is no longer valid. */
export async function findDenial(revising: RevisionParts, asked: EditedCall): Promise<string | undefined> {
  const judged = await judgeEditedCall(revising, asked, { updatedInput: asked.input });
  if ("message" in judged) return undefined;
  const { decision } = judged.staging ?? judged.plain;
  return decision.verdict === "deny" ? `Your current rules deny it${deniedBy(decision)}` : undefined;
}

async function judgeEditedCall(revising: RevisionParts, asked: EditedCall, edit: RequestEdit): Promise<JudgedEdit | EditFailure> {
  const { tools, facts, digest, clock, policy } = revising;
  const { cwd, callId, sessionId } = asked;
  const tool = tools.get(asked.tool);
  if (!tool) return { message: `There is no tool '${asked.tool}' any more.` };
  const invocation = await buildInvocation(tool, inputWith(tool, asked, edit), { cwd, callId, sessionId });
  if ("message" in invocation) return invocation;
  const assessing: AssessmentInput = { tool, invocation, cwd, facts, policy, digest, clock };
  const plain = await assessRequest(assessing);
  return { invocation, plain, staging: await assessStaging(assessing, plain, { tools }) };
}

type AskFields = Pick<OpenApproval, "reason" | "source" | "rule" | "explicitAsk" | "suggestions">;

function askFields({ verdict, reason, source, rule, explicitAsk }: Decision, offer: () => readonly string[]): AskFields {
  if (verdict === "allow") return { reason: "edited", source: "person", rule: null, explicitAsk: false, suggestions: [] };
  return { reason, source, rule: rule ?? null, explicitAsk, suggestions: explicitAsk ? [] : offer() };
}

function deniedBy(decision: Decision): string {
  const { reason, rule } = decision;
  return `${rule && reason !== "guard" ? ` (${rule.text})` : ""}. ${decisionSentence({ ...decision, rule: rule ?? null })}`;
}

function inputWith({ definition }: Tool, { input }: EditedCall, edit: RequestEdit): unknown {
  if ("updatedInput" in edit) return edit.updatedInput;
  return definition.modify?.withContent({ ...input }, edit.newContent);
}

async function buildInvocation(tool: Tool, input: unknown, context: Parameters<Tool["build"]>[1]): Promise<Invocation | EditFailure> {
  try {
    return await tool.build(await input, context);
  } catch (error) {
    return { message: `Invalid input: ${messageOf(error)}` };
  }
}

async function detailsOf(invocation: Invocation, signal: AbortSignal): Promise<ConfirmationDetails | undefined> {
  try {
    return await invocation.confirmation(signal);
  } catch (error) {
    signal.throwIfAborted();
    return { type: "info", prompt: invocation.describe(), warnings: [`preview unavailable: ${messageOf(error)}`] };
  }
}
