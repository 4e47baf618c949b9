import { mayBeUnderWay } from "../../model/call.ts";
import type { Draft, EventBodies } from "../../model/events.ts";
import { stopMessageOf } from "../../model/hooks/combine.ts";
import type { HookPoint } from "../../model/hooks/event-table.ts";
import { postToolHookInput, toolHookInput } from "../../model/hooks/input.ts";
import { canonicalJson } from "../../model/json/canonical.ts";
import type { Json, JsonObject } from "../../model/json/json.ts";
import { type Cut, composeCut, cutOutput, outputLimits } from "../../model/result/cut-output.ts";
import { type Content, onlyValue, type SpilledOutput, type ToolResult } from "../../model/result/result.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { contentText, withText } from "../../model/text/content-text.ts";
import { cutText } from "../../model/text/cut-text.ts";
import type { CallReport, Ending } from "../dispatch.ts";
import { recordSurely } from "../session/record-surely.ts";
import { type BatchRun, type CallRun, skipRest, toolName } from "./call-run.ts";
import { withHookWords } from "./hook-words.ts";
import { releaseLane } from "./lanes.ts";
import { tellHooks } from "./notify.ts";
import { hookCall, hookSession, hooksOf } from "./rewrite.ts";
import { traceUnrun } from "./tracing.ts";

/** Ends a call: transform → cut → record → emit → post-tool hooks. Exactly one record and one response per call. */
export async function endCall(batch: BatchRun, run: CallRun, ending: Ending): Promise<CallReport> {
  run.phase = "after";
  const { deps } = batch;
  const { callId } = run;
  const { state, type } = ending;
  const ran = run.startedAt > 0;
  const transformed = deps.hooks ? await transform(batch, run, ending) : ending;
  const { fitted, recordable } = await fitResult(batch, run, transformed.result);
  const limited = ran && run.editJudged !== undefined ? withEdit(fitted, run) : fitted;
  const result = Object.freeze(run.hookWords ? withHookWords(limited, run.hookWords) : limited); // observers may look, not touch
  const ended: Ending = { ...ending, result };
  if (!deps.hooks) releaseLane(batch.lanes, run.index); // a post-tool hook may still stop the call that would run in its place
  const body = endedBody(run, ended, ran ? Math.max(0, deps.clock.now() - run.startedAt) : 0);
  const isCarried = recordable === undefined || recordable === result.content || onlyValue(result.content) !== undefined;
  await recordEnd(batch, isCarried ? body : { ...body, value: recordable });
  batch.emit?.({
    type: "response",
    callId,
    agentName: batch.batch.agentName,
    tool: run.tool?.name,
    result,
    outcome: state,
    outcomeType: type,
  });
  if (state === "denied" || state === "rejected") tellDenied(batch, run, ended);
  if (!ran) traceUnrun(batch, run, ended);
  return { callId, outcome: state, type, result: deps.hooks && ran ? await postHooks(batch, run, ended) : result };
}

const LONGEST_EDIT = 2_000;

/** Tells the model that another input ran than the one it proposed. */
function withEdit(result: ToolResult, { input }: CallRun): ToolResult {
  const text = `The input was edited before it ran: ${cutText(canonicalJson(input), LONGEST_EDIT)}\n${contentText(result.content)}`;
  return { ...result, content: withText(result.content, text) };
}

function endedBody(run: CallRun, { state, type, result, evidence }: Ending, durationMs: number): EventBodies["call.ended"] {
  const { content, display, modelOverride, details, spilled } = result;
  return {
    call: run.callId,
    outcome: state,
    type,
    content,
    durationMs,
    ...(display !== undefined && display !== content && { display }),
    ...(evidence && { evidence }),
    ...(modelOverride !== undefined && { modelOverride }),
    ...(details !== undefined && { details }),
    ...(spilled && { spilled }),
  };
}

const TRIES = 4;

/**
 * Retries the end of an effect while the disk is full or the store is locked; after a cancel, only a few times. Retries any other end a few times while
 * the store is locked. Rejects if it still fails.
 */
function recordEnd({ deps, batch }: BatchRun, body: EventBodies["call.ended"]): Promise<void> {
  const { session } = deps;
  const claimed = mayBeUnderWay(session.state.calls.get(body.call));
  const events = (): readonly Draft[] => [session.draft("call.ended", body)];
  return recordSurely(deps, { events, tries: claimed ? undefined : TRIES, signal: batch.signal });
}

type FittedResult = {
  readonly fitted: ToolResult;
  /** The result's value, unless it is too large for the record. */
  readonly recordable: Json | undefined;
};

/** Cuts the text for the model. A value over the tool's limit is kept in a file, and the record does without it. */
async function fitResult(batch: BatchRun, run: CallRun, result: ToolResult): Promise<FittedResult> {
  const limits = outputLimits(run.tool?.definition ?? {});
  const { content, value } = result;
  const cut = cutOutput(contentText(content), limits);
  const fitted = cut ? await cutResult(batch, run, result, cut) : result;
  if (value === undefined || value === content || onlyValue(content) !== undefined) return { fitted, recordable: cut ? undefined : value };
  const text = JSON.stringify(value);
  if (text.length <= limits.maxChars) return { fitted, recordable: value };
  const file = await spill(batch, run, text);
  return { fitted: file ? { ...fitted, spilled: [...(fitted.spilled ?? []), file] } : fitted, recordable: undefined };
}

/** The result with its text cut; the whole text is kept in a file if the cut needs one. */
async function cutResult(batch: BatchRun, run: CallRun, result: ToolResult, cut: Cut): Promise<ToolResult> {
  const file = cut.needsFile ? await spill(batch, run, contentText(result.content)) : undefined;
  const place = file ?? (cut.needsFile ? "unsaved" : undefined);
  const content: Content = withText(result.content, composeCut(cut, place));
  return file ? { ...result, content, spilled: [...(result.spilled ?? []), file] } : { ...result, content };
}

/** A file that cannot be written does not make a success a failure. */
async function spill({ deps }: BatchRun, run: CallRun, text: string): Promise<SpilledOutput | undefined> {
  try {
    const file = await deps.files?.spill(deps.session.id, run.callId);
    await file?.write(text);
    return await file?.end();
  } catch (error) {
    deps.warn?.(`the full output of ${run.callId} could not be saved: ${messageOf(error)}`);
    return undefined;
  }
}

function postInput(batch: BatchRun, run: CallRun, { state, result, type }: Ending, event: HookPoint): JsonObject {
  return postToolHookInput(hookSession(batch, run), hookCall(run, event), {
    content: result.content,
    durationMs: run.startedAt > 0 ? batch.deps.clock.now() - run.startedAt : 0,
    ...(result.error && { error: { message: result.error.message, type: type ?? "unknown" } }),
    interrupted: state === "cancelled",
  });
}

function tellDenied(batch: BatchRun, run: CallRun, { result, type }: Ending): void {
  const event = "permission_denied";
  tellHooks(batch, run, event, () => ({
    ...toolHookInput(hookSession(batch, run), hookCall(run, event)),
    reason: result.error?.message ?? "",
    error_type: type ?? "unknown",
  }));
}

const WITHHELD = "Tool output withheld: a tool_response_transform hook failed.";

/** Lets `tool_response_transform` hooks change the text. A failing hook withholds it; the outcome stays the same. */
async function transform(batch: BatchRun, run: CallRun, ending: Ending): Promise<Ending> {
  const event = "tool_response_transform";
  try {
    const hooks = hooksOf(batch, event, toolName(run));
    const said = await hooks?.consult(event, postInput(batch, run, ending, event), hookSignal(run));
    if (said?.verdict === "deny") return withContent(ending, WITHHELD);
    return said?.updatedOutput === undefined ? ending : withContent(ending, said.updatedOutput === "" ? "(no output)" : said.updatedOutput);
  } catch {
    return withContent(ending, WITHHELD);
  }
}

/** Everyone gets the transformed text: the display, the value and the error's message must not tell what was taken out. */
function withContent(ending: Ending, content: Content): Ending {
  const { display: _display, value: _value, error, ...rest } = ending.result;
  return { ...ending, result: { ...rest, content, ...(error && { error: { ...error, message: contentText(content) } }) } };
}

/** A stopped call's hooks still run to their end. */
function hookSignal(run: CallRun): AbortSignal {
  return run.abort.signal.aborted ? new AbortController().signal : run.abort.signal;
}

/** The result as the model gets it, with what hooks have to say about it. */
async function postHooks(batch: BatchRun, run: CallRun, ending: Ending): Promise<ToolResult> {
  const { result } = ending;
  const event = result.error ? "post_tool_use_failure" : "post_tool_use";
  try {
    const hooks = hooksOf(batch, event, toolName(run));
    const said = await hooks?.consult(event, postInput(batch, run, ending, event), hookSignal(run));
    const stop = said && stopMessageOf(said);
    if (stop !== undefined) {
      batch.stops.set(run.index, stop || "Stopped by a post_tool_use hook.");
      skipRest(batch, "hook");
    }
    return said ? withHookWords(result, said) : result;
  } catch (error) {
    batch.deps.warn?.(`a ${event} hook failed: ${messageOf(error)}`);
    return result;
  }
}
