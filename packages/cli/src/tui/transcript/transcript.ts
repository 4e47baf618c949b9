import type { ConversationEvent } from "@assent/agent";
import { type By, contentText, type EventBodies, type Json, type JsonObject, type LedgerEvent } from "@assent/core";
import { isJsonObject } from "@assent/core/parts";
import { oneLine } from "../../io/visible-text.ts";
import { whoText } from "../../io/who.ts";
import { type AnswerStream, appendDelta, EMPTY_STREAM, endStream, openBlocks } from "./answer-stream.ts";
import { type Block, type CallBlock, isSettled } from "./block.ts";
import { describeAnswer, describeDecision, describeReply, rememberedText } from "./call-words.ts";
import { ownWords } from "./prompt.ts";
import { applyTaskEvent, describePause, type TaskEnds, takeTaskResults } from "./task-ends.ts";

/** The part of a conversation that is not in the scrollback yet. */
export type Transcript = {
  readonly blocks: readonly Block[];
  readonly stream: AnswerStream;
  readonly thinking: string;
  readonly todos: Todos;
  readonly staged: readonly StagedChange[];
  readonly ends: TaskEnds;
};

export type StagedChange = {
  readonly id: string;
  readonly tool: string;
  readonly label: string;
  readonly callId: string | null;
  /** The person applying it. */
  readonly who?: By;
};

export type Todos = readonly { readonly id: string; readonly content: string; readonly status: "pending" | "in_progress" | "completed" }[];

export const EMPTY_TRANSCRIPT: Transcript = { blocks: [], stream: EMPTY_STREAM, thinking: "", todos: [], staged: [], ends: [] };

export type EventContext = {
  /** This process, to tell answers given here from others. */
  readonly pid: number;
  /** False if the event is replayed from the ledger. */
  readonly live: boolean;
  /** The person made these calls. */
  readonly byPerson?: true;
};

export function appendBlocks(transcript: Transcript, ...blocks: readonly Block[]): Transcript {
  return { ...transcript, blocks: [...transcript.blocks, ...blocks] };
}

/** Takes the final blocks out of the transcript. */
export function takeSettled(transcript: Transcript): { readonly settled: readonly Block[]; readonly rest: Transcript } {
  const { blocks } = transcript;
  const open = blocks.findIndex((block) => !isSettled(block));
  if (open === -1 && blocks.length === 0) return { settled: [], rest: transcript };
  const at = open === -1 ? blocks.length : open;
  return { settled: blocks.slice(0, at), rest: { ...transcript, blocks: blocks.slice(at) } };
}

export function liveBlocks({ blocks, stream, thinking }: Transcript): readonly Block[] {
  const thought: readonly Block[] = thinking === "" ? [] : [{ type: "thought", text: thinking }];
  return [...blocks, ...thought, ...openBlocks(stream)];
}

export function applyConversationEvent(transcript: Transcript, event: ConversationEvent): Transcript {
  switch (event.type) {
    case "message_start":
      return transcript.stream === EMPTY_STREAM ? transcript : appendNote(endAnswer(transcript), "The answer starts over.", "warning");
    case "delta":
      return applyDelta(transcript, event.delta);
    case "block_stop":
      return transcript.thinking === "" ? transcript : settleThought(transcript);
    case "message_stop":
      return endAnswer(transcript);
    case "dispatch":
      if (event.event.type !== "output") return transcript;
      return changeCall(transcript, event.event.callId, { live: event.event.display });
    case "parked":
      return appendNote(
        transcript,
        `${oneLine(event.proposal.label)} is waiting for you (${event.proposal.id}). /proposals lists it.`,
        "warning",
      );
    case "warning":
      return appendNote(transcript, event.message, "warning");
    default:
      return transcript;
  }
}

type Delta = Extract<ConversationEvent, { readonly type: "delta" }>["delta"];

function applyDelta(transcript: Transcript, { type, delta }: Delta): Transcript {
  if (type === "input") return transcript;
  if (type === "reasoning") return { ...transcript, thinking: transcript.thinking + delta };
  const { stream, settled } = appendDelta(transcript.stream, delta);
  return { ...appendBlocks(transcript, ...settled), stream };
}

function settleThought(transcript: Transcript): Transcript {
  return { ...appendBlocks(transcript, { type: "thought", text: transcript.thinking }), thinking: "" };
}

function endAnswer(transcript: Transcript): Transcript {
  const settled = transcript.thinking === "" ? transcript : settleThought(transcript);
  return { ...appendBlocks(settled, ...endStream(settled.stream)), stream: EMPTY_STREAM };
}

function appendNote(transcript: Transcript, text: string, role: "dim" | "warning"): Transcript {
  return appendBlocks(transcript, { type: "note", text, role });
}

function changeCall(transcript: Transcript, callId: string, change: Partial<CallBlock>): Transcript {
  const at = transcript.blocks.findLastIndex((block) => block.type === "call" && block.callId === callId);
  const block = transcript.blocks[at];
  if (block?.type !== "call") return transcript;
  return { ...transcript, blocks: transcript.blocks.with(at, { ...block, ...change }) };
}

/** Applies a ledger event, live or replayed. */
export function applyLedgerEvent(transcript: Transcript, event: LedgerEvent, hearing: EventContext): Transcript {
  const { type } = event;
  if (type.startsWith("call.") || type.startsWith("approval.") || type.startsWith("question."))
    return applyCallEvent(transcript, event, hearing);
  if (type.startsWith("proposal.")) return applyProposalEvent(transcript, event, hearing);
  const ends = applyTaskEvent(transcript.ends, event);
  return applyMessageEvent(ends === transcript.ends ? transcript : { ...transcript, ends }, event, hearing);
}

function appendNotice(transcript: Transcript, text: string): Transcript {
  const { brought, rest } = takeTaskResults(transcript.ends, text);
  return appendBlocks({ ...transcript, ends: rest }, { type: "notice", text, ...(brought.length > 0 && { results: brought }) });
}

function applyMessageEvent(transcript: Transcript, event: LedgerEvent, { live, byPerson }: EventContext): Transcript {
  switch (event.type) {
    case "message.user":
      return applyUserMessage(transcript, event.body);
    case "message.assistant":
      return live ? transcript : applyStop(replayAnswer(transcript, event.body.content), event.body.stop);
    case "mode.changed":
      if (byPerson || event.body.from === event.body.to) return transcript; // follows the conversation's mode, or only records a plan file
      return appendNote(transcript, `Mode: ${event.body.to} (was ${event.body.from})`, "dim");
    case "model.changed":
      return appendNote(transcript, `Model: ${event.body.to ?? "none"}`, "dim");
    case "history.compacted":
      return appendNote(transcript, "Older turns were summarized for the model. The full history stays on record.", "dim");
    case "preview.started":
      return changeCall(transcript, event.body.callId, { state: "running", since: Date.parse(event.at), live: ON_COPY });
    case "preview.ended":
      return changeCall(transcript, event.body.callId, { state: "waiting", live: "" });
    case "task.paused":
      return appendNote(
        transcript,
        `Background task ${event.body.task} is paused: ${describePause(event.body.blocked ?? event.body.reason)}. /tasks lists it.`,
        "warning",
      );
    default:
      return transcript;
  }
}

const ON_COPY = "Running on a copy of the workspace. Nothing is changed.";

function applyProposalEvent(transcript: Transcript, event: LedgerEvent, { pid }: EventContext): Transcript {
  switch (event.type) {
    case "proposal.staged": {
      const { proposal, tool, label, callId } = event.body;
      return { ...transcript, staged: [...transcript.staged, { id: proposal, tool, label, callId }] };
    }
    case "proposal.parked":
      return event.body.why === "person" ? noteWaitsForPerson(transcript, event.body.proposal) : transcript;
    case "proposal.applying": {
      const { proposal, resolution } = event.body;
      const { who } = resolution;
      return { ...transcript, staged: transcript.staged.map((one) => (one.id === proposal && who ? { ...one, who } : one)) };
    }
    case "proposal.applied": {
      const { proposal } = event.body;
      const { who } = transcript.staged.find(({ id }) => id === proposal) ?? {};
      return noteSettledElsewhere(transcript, { proposal, did: "applied", who, pid });
    }
    case "proposal.discarded":
      return noteSettledElsewhere(transcript, { proposal: event.body.proposal, did: "discarded", who: event.body.resolution?.who, pid });
    case "proposal.undone":
      return noteSettledElsewhere(transcript, { proposal: event.body.proposal, did: "undone", who: event.body.by, pid });
    case "proposal.stale":
    case "proposal.superseded":
      return { ...transcript, staged: transcript.staged.filter(({ id }) => id !== event.body.proposal) };
    default:
      return transcript;
  }
}

function noteWaitsForPerson(transcript: Transcript, proposal: string): Transcript {
  const label = transcript.staged.find(({ id }) => id === proposal)?.label ?? proposal;
  return appendNote(
    transcript,
    `Only you can apply this change: ${oneLine(label)}. Use /apply ${proposal} or /discard ${proposal}.`,
    "warning",
  );
}

type SettledChange = { readonly proposal: string; readonly did: string; readonly who: By | undefined; readonly pid: number };

/** Notes what was done in another process; what was done here is visible already. */
function noteSettledElsewhere(transcript: Transcript, { proposal, did, who, pid }: SettledChange): Transcript {
  const label = transcript.staged.find(({ id }) => id === proposal)?.label;
  const rest = { ...transcript, staged: transcript.staged.filter(({ id }) => id !== proposal) };
  if (!who || who.pid === pid) return rest;
  return appendNote(
    rest,
    `${proposal}${label === undefined ? "" : ` (${oneLine(label)})`} was ${did} by ${oneLine(whoText(who))}, elsewhere.`,
    "dim",
  );
}

function applyUserMessage(transcript: Transcript, { origin, content, displayText }: EventBodies["message.user"]): Transcript {
  if (origin === "steering") return transcript;
  if (origin === "user") return appendBlocks(transcript, { type: "user", text: ownWords(content) });
  return appendNotice(transcript, displayText ?? contentText(content));
}

function applyStop(transcript: Transcript, stop: string): Transcript {
  if (stop === "aborted") return appendNote(transcript, "Interrupted.", "warning");
  return stop === "length" ? appendNote(transcript, "The answer was cut off at the model's output limit.", "warning") : transcript;
}

function replayAnswer(transcript: Transcript, parts: readonly EventBodies["message.assistant"]["content"][number][]): Transcript {
  let now = transcript;
  for (const part of parts) {
    if (part.type === "text") now = endAnswer(applyDelta(now, { type: "text", delta: part.text }));
    if (part.type === "reasoning" && part.text !== "") now = appendBlocks(now, { type: "thought", text: part.text });
  }
  return now;
}

function applyCallEvent(transcript: Transcript, event: LedgerEvent, { pid, byPerson }: EventContext): Transcript {
  switch (event.type) {
    case "call.proposed":
      return appendBlocks(transcript, { ...callBlock(transcript, event.body), ...(byPerson && { byPerson }) });
    case "call.judged": {
      const { call, input, tool } = event.body;
      const decided = describeDecision(event.body);
      return changeCall(transcript, call, { input, tool, ...(decided !== undefined && { decided }) });
    }
    case "approval.opened":
      return changeCall(transcript, event.body.call, { state: "waiting" });
    case "question.asked":
      return changeCall(transcript, event.body.callId, { state: "waiting", question: event.body.question });
    case "approval.answered":
      return applyApprovalAnswer(transcript, event.body, pid);
    case "question.answered":
      return applyQuestionAnswer(transcript, event.body, pid);
    case "call.answered":
      return changeCall(transcript, event.body.call, { decided: `allowed by ${event.body.by.kind} ${event.body.by.id}` });
    case "call.claimed":
      return changeCall(transcript, event.body.call, { state: "running", since: Date.parse(event.at) });
    case "call.ended":
      return applyCallEnd(transcript, event.body);
    default:
      return transcript;
  }
}

function callBlock({ staged }: Transcript, { call, tool, raw }: EventBodies["call.proposed"]): CallBlock {
  const input = parseInput(raw);
  const only = staged.length === 1 ? staged[0] : undefined;
  const about = tool === "resolve" ? (staged.find(({ id }) => id === input["id"]) ?? only) : undefined;
  const details = about && { sourceToolName: about.tool, label: about.label };
  return { type: "call", callId: call, tool, input, state: "proposed", ...(details && { details }) };
}

function applyApprovalAnswer(transcript: Transcript, body: EventBodies["approval.answered"], pid: number): Transcript {
  const isHere = body.by.pid === pid;
  const decided = describeAnswer(body, isHere);
  const now = changeCall(transcript, body.call, { decided });
  const noted = isHere ? now : appendNote(now, `${body.approval} was ${decided}, elsewhere.`, "dim");
  return body.remember ? appendNote(noted, rememberedText(body.remember), "dim") : noted;
}

function applyQuestionAnswer(transcript: Transcript, body: EventBodies["question.answered"], pid: number): Transcript {
  const { question, outcome, by } = body;
  const asked = transcript.blocks.find((block) => block.type === "call" && block.question === question);
  const isHere = by.pid === pid;
  const now = asked?.type === "call" ? changeCall(transcript, asked.callId, { decided: describeReply(body, isHere) }) : transcript;
  return isHere ? now : appendNote(now, `${question} was ${outcome} by ${whoText(by)}, elsewhere.`, "dim");
}

function applyCallEnd(transcript: Transcript, body: EventBodies["call.ended"]): Transcript {
  const { call, outcome, type, content, display, details, durationMs } = body;
  const now = changeCall(transcript, call, {
    state: "ended",
    outcome,
    errorType: type,
    text: contentText(content, 2),
    durationMs,
    ...(display !== undefined && { display }),
    ...(isJsonObject(details) && { details }),
    ...(transcript.staged.some(({ callId }) => callId === call) && { staged: true }),
  });
  const todos = typeof display === "object" && display.type === "todo_list" ? display.todos : undefined;
  return todos ? { ...now, todos } : now;
}

function parseInput(raw: Json): JsonObject {
  if (isJsonObject(raw)) return raw;
  try {
    const parsed: Json = JSON.parse(String(raw));
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {}; // the call ends as invalid, and says why
  }
}
