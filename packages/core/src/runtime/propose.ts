import type { Draft } from "../model/events.ts";
import { copyGiven } from "../model/json/copy.ts";
import { isObject, type Json } from "../model/json/json.ts";
import { parseToolValue } from "../model/schema/parse-input.ts";
import type { ProposedCall } from "./dispatch.ts";
import { type BatchRun, type CallRun, makeRun } from "./pipeline/call-run.ts";
import type { Session } from "./session/session.ts";

export function proposeCalls(batch: BatchRun, calls: readonly ProposedCall[]): readonly CallRun[] {
  const { session } = batch.deps;
  const turn = session.state.openTurn ?? session.state.turn + 1;
  const ids: BatchIds = new Map();
  const runs = calls.map((call, index) => makeNamedRun(batch, call, index, ids));
  const written = session.record(
    runs.map((run) => proposedDraft(session, run, turn)),
    "normal",
  );
  written.catch(() => undefined); // the following claim or end fails with the same cause
  for (const run of runs) run.written = written;
  return runs;
}

export function proposedDraft(session: Session, run: CallRun, turn: number): Draft<"call.proposed"> {
  const { callId: call, index, name: tool, calledAs, givenId } = run;
  return session.draft("call.proposed", {
    call,
    turn,
    index,
    tool: cut(tool),
    raw: rawOf(run.arguments),
    givenId,
    ...(calledAs !== tool && { calledAs: cut(calledAs) }),
  });
}

type BatchIds = Map<string, "given" | "made">;

/** Replaces a missing or repeated id, so that each call has exactly one result. */
function makeNamedRun({ deps, batch }: BatchRun, proposed: ProposedCall, index: number, ids: BatchIds): CallRun {
  const { id, name: given, arguments: args } = readCall(proposed);
  const calledAs = typeof given === "string" ? given : "";
  const tool = batch.tools.get(calledAs)?.name ?? calledAs;
  const givenId = typeof id === "string" && id !== "" ? shortened(storable(id)) : null;
  if (givenId === null) return makeRun({ callId: deps.ids.next("call_"), index, name: tool, calledAs, givenId, arguments: args });
  const duplicateOf = ids.get(givenId) === "given" ? givenId : undefined;
  const callId = freeId(deps.session, ids, givenId);
  if (callId !== givenId) ids.set(callId, "made");
  ids.set(givenId, "given");
  return makeRun({ callId, index, name: tool, calledAs, givenId, arguments: args, duplicateOf });
}

/** Not every database stores null characters. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

function shortened(id: string): string {
  return id.length > LONGEST_ID ? id.slice(0, LONGEST_ID) : id;
}

/** A malformed call has no name, so it ends as an unknown tool. */
function readCall(given: unknown): { readonly id?: unknown; readonly name?: unknown; readonly arguments?: unknown } {
  return isObject(given) ? given : { arguments: given };
}

const LONGEST_ID = 256;
const LONGEST_NAME = 256;
const LONGEST_RAW = 16 * 1024 * 1024;

/** The id, or the first `{id}#n` that is free in session and batch. */
export function freeId({ state }: Session, inBatch: { readonly has: (id: string) => boolean }, given: string): string {
  if (!(state.ids.has(given) || inBatch.has(given))) return given;
  let count = Math.max(state.ids.get(given) ?? 1, 1);
  let id: string;
  do {
    count += 1;
    id = `${given}#${count}`;
  } while (state.ids.has(id) || inBatch.has(id));
  return id;
}

function cut(name: string): string {
  return storable(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);
}

/** Arguments that are too long or not JSON never run, so an excerpt is enough. */
function rawOf(given: unknown): Json {
  if (typeof given === "string") return (given.length > LONGEST_RAW ? given.slice(0, 1_000) : given).toWellFormed();
  try {
    const parsed = parseToolValue(given);
    if (parsed.ok) return copyGiven(parsed.value) ?? null;
    return given === undefined || given === null ? null : Object.prototype.toString.call(given);
  } catch {
    return null; // getters and proxies may throw
  }
}
