import { isJsonObject, type JsonObject } from "../../model/json/json.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { InvalidInput } from "../../model/schema/problems.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { failureOf } from "./apply-by-code.ts";
import type { ResolveFallback, ResolveInput, ResolveTarget } from "./resolve.ts";
import { stagedRows } from "./staging.ts";
import { findProposal } from "./stored.ts";

export function resolveInput(input: JsonObject): ResolveInput {
  const { action, reason, extra, id } = input;
  if (action !== "apply" && action !== "discard") throw new InvalidInput("params/action must be apply or discard");
  return {
    action,
    reason: typeof reason === "string" ? reason : "",
    ...(isJsonObject(extra) && { extra }),
    ...(typeof id === "string" && id !== "" && { id }),
  };
}

/**
 * Chooses what a call settles:
 * 1. the proposal it names,
 * 2. the directive's proposal,
 * 3. the only one staged before this batch (several are ambiguous),
 * 4. the fallback,
 * 5. nothing.
 */
export async function chooseTarget(batch: BatchRun, run: CallRun, input: ResolveInput): Promise<ResolveTarget> {
  const { staging } = batch;
  if (input.id !== undefined) return await findNamedTarget(batch, input.id);
  const rows = stagedRows(staging);
  const forced = rows.find(({ id }) => id === batch.batch.proposal);
  if (forced) return { kind: "proposal", id: forced.id, digest: forced.digest };
  const before = rows.filter((row) => batch.stagedBefore.includes(row.id) && !isStagedAfter(batch, run, row));
  const [only] = before;
  if (only && (before.length > 1 || willStage(batch, run))) return { kind: "none", why: "ambiguous" };
  if (only) return { kind: "proposal", id: only.id, digest: only.digest };
  return staging.fallback ? await fallbackTarget(staging.fallback, input) : { kind: "none", why: "nothing" };
}

async function findNamedTarget({ staging }: BatchRun, id: string): Promise<ResolveTarget> {
  const { session } = staging;
  const row = session.state.proposals.get(id) ?? (await findProposal(session, id));
  return row?.session === session.id ? { kind: "proposal", id, digest: row.digest } : { kind: "none", why: "unknown", owner: row?.session };
}

/** The model has not seen a proposal staged by its own batch. */
export function isStagedAfter({ staging }: BatchRun, run: CallRun, row: ProposalRow): boolean {
  const call = staging.session.state.calls.get(run.callId);
  return call !== undefined && row.seq > call.seq;
}

/** Finds only tools that always stage; others are detected when this call runs. */
function willStage(batch: BatchRun, run: CallRun): boolean {
  return batch.runs.some(({ index, name, tool }) => {
    const definition = (tool ?? batch.batch.tools.get(name))?.definition;
    return index >= 0 && index < run.index && definition?.alwaysStages === true;
  });
}

/** Asks once, so that consent covers what was shown. */
async function fallbackTarget(handler: ResolveFallback, { action, reason, extra }: ResolveInput): Promise<ResolveTarget> {
  if (action === "discard" || !handler.ask) return { kind: "fallback", handler, asked: {} };
  try {
    const asked = await handler.ask({ reason, extra });
    if ("answer" in asked) return { kind: "fallback", handler, asked: { answer: asked.answer } };
    return { kind: "fallback", handler, asked: { question: asked, digest: asked.digest } };
  } catch (error) {
    const { type, message } = failureOf(error);
    return { kind: "fallback", handler, asked: { answer: { content: message, error: { message, type } } } };
  }
}

/** The request's bindings to its target. */
export function targetBinds(target: ResolveTarget): Readonly<Record<string, string>> {
  if (target.kind === "proposal") return { proposal: target.id, digest: target.digest };
  if (target.kind !== "fallback") return {};
  const { digest } = target.asked;
  return { standing: target.handler.sourceToolName, ...(digest !== undefined && { digest }) };
}

/** `settled`: a person has answered, so the shown digest counts. */
export async function restoredTarget(batch: BatchRun, run: CallRun, about: RestoreInput): Promise<ResolveTarget> {
  const { proposal, digest, standing: fallback } = run.boundTo ?? {};
  if (proposal !== undefined) return { kind: "proposal", id: proposal, digest: digest ?? "" };
  const { staging } = batch;
  if (fallback === undefined) return { kind: "none", why: whyNothing(batch, run, about.input) };
  const handler = staging.fallback;
  if (handler?.sourceToolName !== fallback) return { kind: "gone", note: handler?.gone };
  if (about.settled && digest !== undefined) return { kind: "fallback", handler, asked: { digest } };
  return await fallbackTarget(handler, about.input);
}

type RestoreInput = { readonly input: ResolveInput; readonly settled: boolean };

function whyNothing(batch: BatchRun, run: CallRun, { id }: ResolveInput): "nothing" | "ambiguous" | "unknown" {
  if (id !== undefined) return "unknown";
  return stagedRows(batch.staging).some((row) => !isStagedAfter(batch, run, row)) ? "ambiguous" : "nothing";
}
