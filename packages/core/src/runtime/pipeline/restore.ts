import type { EventBodies } from "../../model/events.ts";
import type { JsonObject } from "../../model/json/json.ts";
import { parseEvent } from "../../model/known-event.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { modelText } from "../../model/text/model-text.ts";
import type { Tool } from "../../tool-definition.ts";
import { toolDigest } from "../../tool-digest.ts";
import { closeApproval } from "../approval/close.ts";
import type { Ending } from "../dispatch.ts";
import { readCallRecord } from "../session/call-record.ts";
import type { BatchRun, CallRun, StepResult } from "./call-run.ts";
import { denialEnding, errorEnding } from "./endings.ts";
import { buildInput } from "./intake.ts";
import type { ParsedCall } from "./judged-call.ts";

/** Restores a judged call of an earlier process: its recorded input, bound to the tool it was judged for. A recorded deny still applies. Undefined if the call is stopped first. */
export async function restoreCall(batch: BatchRun, run: CallRun): Promise<StepResult<ParsedCall> | undefined> {
  const { deps } = batch;
  const { "call.judged": judged } = await readCallRecord(deps.session.ledger, deps.session.id, run.callId);
  const tool = batch.batch.tools.get(run.name);
  if (judged?.verdict === "deny") {
    run.tool = tool;
    return { end: await deniedBefore(batch, run, judged) };
  }
  if (!judged || !tool || toolDigest(tool, deps.digest) !== judged.toolDigest) {
    await closeApproval(batch, run, "cancelled");
    return { end: errorEnding("denied", "tool_changed", modelText.tool_changed({ name: run.name })) };
  }
  run.tool = tool;
  run.boundTo = judged.binds;
  run.judgements = judged.revision;
  return await build(batch, run, { tool, input: judged.input });
}

/** Hooks may know of this denial already: it is not judged or announced again. */
async function deniedBefore(batch: BatchRun, run: CallRun, judged: EventBodies["call.judged"]): Promise<Ending> {
  run.input = judged.input;
  run.notified = true;
  await closeApproval(batch, run, "denied");
  const { tool, reason, source, rule, editedBy } = judged;
  return denialEnding(
    { request: { tool }, decision: { reason, source, rule, note: noteOf(judged) } },
    run.resumed && editedBy === undefined,
  );
}

/** The note of the source that denied, as far as the trace kept it. */
function noteOf({ reason, source, trace }: EventBodies["call.judged"]): string | undefined {
  const layers = reason === "guard" ? [`safeguard:${source}`, `guard:${source}`] : [reason]; // earlier versions wrote `guard:`
  const note = trace.find((entry) => layers.includes(entry.layer))?.note;
  if (reason !== "hook") return note;
  return note?.startsWith(`${source}: `) ? note.slice(source.length + 2) : undefined; // a hook's note begins with its name
}

/** The input a person put in place of the one they were shown; undefined if the call is stopped first. */
export async function editOf(batch: BatchRun, run: CallRun, tool: Tool): Promise<StepResult<ParsedCall> | undefined> {
  const { ledger, id } = batch.deps.session;
  let edited: JsonObject | undefined;
  for await (const stored of ledger.read({ pos: 0 }, { naming: id, call: run.callId, types: ["approval.answered"] })) {
    const event = parseEvent(stored);
    if (event?.type === "approval.answered" && event.body.edited) edited = event.body.edited.input;
  }
  if (!edited) throw new Error(`the edit of call ${run.callId} is not in the ledger`);
  return await build(batch, run, { tool, input: await ledger.resolve(edited) });
}

async function build(
  batch: BatchRun,
  run: CallRun,
  { tool, input }: { readonly tool: Tool; readonly input: JsonObject },
): Promise<StepResult<ParsedCall> | undefined> {
  try {
    const invocation = await buildInput(batch, run, tool, { value: input });
    if (!invocation) return undefined;
    run.input = invocation.input;
    return { tool, invocation, coercions: invocation.coercions, hook: undefined };
  } catch (error) {
    await closeApproval(batch, run, "cancelled");
    return { end: errorEnding("denied", "tool_changed", `${modelText.tool_changed({ name: tool.name })} (${messageOf(error)})`) };
  }
}
