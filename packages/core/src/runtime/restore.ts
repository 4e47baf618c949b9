import type { JsonObject } from "../model/json.ts";
import { knownEvent } from "../model/known-event.ts";
import { modelText } from "../model/model-text.ts";
import { messageOf } from "../model/thrown.ts";
import { toolDigest } from "../tool-digest.ts";
import type { BatchRun, CallRun, Step } from "./call-run.ts";
import { closeApproval } from "./close-approval.ts";
import { synthesised } from "./endings.ts";
import { callContext, type Taken } from "./intake.ts";
import type { Ready } from "./judge.ts";
import { recordedCall } from "./recorded.ts";

/** A judged call of an earlier process, ready to go on: the recorded input, bound to the tool it was judged for. */
export async function restore(batch: BatchRun, run: CallRun): Promise<Step<Taken>> {
  const { deps } = batch;
  const { "call.judged": judged } = await recordedCall(deps.session.ledger, deps.session.id, run.callId);
  const tool = batch.batch.tools.get(run.name);
  if (!judged || !tool || toolDigest(tool, deps.digest) !== judged.toolDigest) {
    await closeApproval(batch, run, "cancelled");
    return { end: synthesised("denied", "tool_changed", modelText.tool_changed({ name: run.name })) };
  }
  run.tool = tool;
  run.boundTo = judged.binds;
  run.judgements = judged.revision;
  return await build(batch, run, { tool, input: judged.input });
}

/** The input a person put in place of the one they were shown. */
export async function editOf(batch: BatchRun, run: CallRun, { taken }: Ready): Promise<Step<Taken>> {
  const { ledger, id } = batch.deps.session;
  let edited: JsonObject | undefined;
  for await (const stored of ledger.read({ pos: 0 }, { naming: id, call: run.callId, types: ["approval.answered"] })) {
    const event = knownEvent(stored);
    if (event?.type === "approval.answered" && event.body.edited) edited = event.body.edited.input;
  }
  if (!edited) throw new Error(`the edit of call ${run.callId} is not in the ledger`);
  return await build(batch, run, { tool: taken.tool, input: await ledger.resolve(edited) });
}

async function build(
  batch: BatchRun,
  run: CallRun,
  { tool, input }: { readonly tool: Taken["tool"]; readonly input: JsonObject },
): Promise<Step<Taken>> {
  try {
    const invocation = await tool.build(input, callContext(batch, run));
    run.input = invocation.input;
    return { go: { tool, invocation, coercions: invocation.coercions } };
  } catch (error) {
    await closeApproval(batch, run, "cancelled");
    return { end: synthesised("denied", "tool_changed", `${modelText.tool_changed({ name: tool.name })} (${messageOf(error)})`) };
  }
}
