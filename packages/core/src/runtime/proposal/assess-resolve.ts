import type { Decision, Safeguard } from "../../model/decision.ts";
import type { ProposalPart } from "../../model/proposal/part.ts";
import { judgedPaths, type ProposalManifest, type ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import type { Invocation, Location, Tool } from "../../tool-definition.ts";
import { toolDigest } from "../../tool-digest.ts";
import { type AssessmentInput, assessRequest } from "../pipeline/assess.ts";
import {
  assessAction,
  frameOf,
  judgeResolve,
  type ResolveFrame,
  unknownCodeInvocation,
  unknownCodeTool,
} from "../pipeline/assess-without-session.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { errorEnding } from "../pipeline/endings.ts";
import type { ApprovalTexts, Assessment, CallAssessment } from "../pipeline/judged-call.ts";
import type { ChosenTarget, ResolveInput, ResolveTarget } from "./resolve.ts";
import { chooseTarget, resolveInput, restoredTarget, targetBinds } from "./resolve-target.ts";
import { resolverOf, type Staging } from "./staging.ts";
import { readStoredProposal, shownName } from "./stored.ts";

/**
 * Judges a call of `resolve`:
 * 1. A rule or hook that denies `resolve` denies the call.
 * 2. An apply is judged as its effect; a fallback's question asks a person.
 * 3. A discard, or a call with nothing to do, is allowed.
 */
export async function assessResolve(batch: BatchRun, run: CallRun, assessing: AssessmentInput): Promise<CallAssessment> {
  const input = resolveInput(assessing.invocation.input);
  const { action, id } = input;
  const target = isFor(run.target, input) ? run.target.target : await targetOf(batch, run, input);
  run.target = { target, action, id };
  const frame = frameOf(assessing, targetBinds(target));
  const own = judgeResolve(frame);
  if (own.decision.verdict === "deny" || action === "discard") return own;
  if (target.kind === "proposal") return (await asEffect(batch, { target, frame })) ?? own;
  if (target.kind === "gone") return gone(frame, target.note);
  return target.kind === "fallback" ? (askFallback(batch, frame, target) ?? own) : own;
}

function isFor(chosen: ChosenTarget | undefined, { action, id }: ResolveInput): chosen is ChosenTarget {
  return chosen?.action === action && chosen.id === id;
}

async function targetOf(batch: BatchRun, run: CallRun, input: ResolveInput): Promise<ResolveTarget> {
  if (run.boundTo === undefined || run.target) return await chooseTarget(batch, run, input);
  const settled = batch.deps.session.state.calls.get(run.callId)?.state === "approved";
  return await restoredTarget(batch, run, { input, settled });
}

function gone(frame: ResolveFrame, note: string | undefined): CallAssessment {
  const text = [resolveText.nothingToApply(), ...(note === undefined ? [] : [note])].join("\n");
  const deny: Safeguard = { id: "resolve", check: () => ({ verdict: "deny", note: "nothing is pending anymore" }) };
  return { ...judgeResolve(frame, [deny]), refusal: errorEnding("denied", "no_pending_action", text) };
}

function askFallback(
  batch: BatchRun,
  frame: ResolveFrame,
  { handler, asked }: Extract<ResolveTarget, { readonly kind: "fallback" }>,
): CallAssessment | undefined {
  if (asked.digest === undefined) return undefined;
  if (batch.staging.fallback !== handler) return gone(frame, handler.gone);
  const ask: Safeguard = {
    id: handler.sourceToolName,
    check: () => ({ verdict: "ask", note: `${handler.label} needs a person's approval` }),
  };
  const { question } = asked;
  const asking: ApprovalTexts = question ? { details: question.details, unattended: question.unattended, rejected: question.rejected } : {};
  return { ...judgeResolve(frame, [ask]), asking };
}

type ApplyTarget = { readonly target: Extract<ResolveTarget, { readonly kind: "proposal" }>; readonly frame: ResolveFrame };

/** Undefined if there is nothing to apply. */
async function asEffect(batch: BatchRun, { target, frame }: ApplyTarget): Promise<CallAssessment | undefined> {
  const row = batch.staging.session.state.proposals.get(target.id);
  const resolver = resolverOf(batch.policy());
  if (row?.state !== "staged" || row.digest !== target.digest || resolver === "person") return undefined;
  const source = await sourceOf(batch.staging, row);
  if (!source) return undefined;
  const { assessing, request } = frame;
  const subject = await assessEffect({ ...assessing, cwd: row.cwd, fingerprint: true }, row, source);
  const { decision, circumstances, facts, policy } = subject;
  return {
    request: { ...request, units: subject.request.units },
    decision: resolver === "model" ? withoutDefaultAsk(decision) : decision,
    facts: { ...facts, binds: request.binds },
    safe: false,
    policy,
    circumstances,
    subject,
    asking: { details: { type: "info", title: `Confirm ${row.label}`, prompt: [row.label, ...source.blocks].join("\n") } },
  };
}

/**
 * Recorded changes are judged as the tool that made the preview. An action is judged as `TOOL.apply`: an allow of its tool does not cover
 * it, a deny or explicit ask does.
 */
export async function assessEffect(
  assessing: Omit<AssessmentInput, "tool" | "invocation">,
  row: ProposalRow,
  { tool, invocation }: EffectSource,
): Promise<Assessment> {
  const asSource = { ...assessing, tool, invocation };
  return row.carrier === "closure" ? await assessAction(asSource) : await assessRequest(asSource);
}

function withoutDefaultAsk(decision: Decision): Decision {
  return decision.verdict === "ask" && !decision.explicitAsk ? { ...decision, verdict: "allow", reason: "tool", byRules: false } : decision;
}

/** The tool and invocation whose effect an apply has. */
export type EffectSource = { readonly tool: Tool; readonly invocation: Invocation; readonly blocks: readonly string[] };

/** Undefined if the tool was removed or has changed. With a part, only its files count. */
export async function sourceOf(staging: Staging, row: ProposalRow, part?: ProposalPart): Promise<EffectSource | undefined> {
  const { input, manifest } = await readStoredProposal(staging.session, row);
  if (row.carrier === "closure") return closureSource(staging, row, manifest);
  const tool = staging.tools().get(row.tool);
  if (!tool || toolDigest(tool, staging.digest) !== row.toolDigest) return undefined;
  const invocation = await tool.build(input, { cwd: row.cwd, callId: row.callId ?? "", sessionId: row.session });
  const touched = judgedPaths(manifest.effects.filter(({ path }) => !part || isChosen(part, [path, shownName(row.cwd, path)])));
  const locations = touched.length === 0 ? invocation.locations : (): readonly Location[] => touched.map((path) => ({ path }));
  return { tool, invocation: { ...invocation, locations }, blocks: manifest.blocks };
}

function isChosen({ files }: ProposalPart, names: readonly string[]): boolean {
  return files.some(({ path }) => names.includes(path));
}

function closureSource({ closures }: Staging, row: ProposalRow, { blocks }: ProposalManifest): EffectSource | undefined {
  const closure = closures.get(row.id);
  if (!closure) return undefined;
  if (closure.made) return { tool: closure.made.tool, invocation: closure.made.invocation, blocks };
  return { tool: unknownCodeTool(row.tool), invocation: unknownCodeInvocation(row.label, {}), blocks };
}
