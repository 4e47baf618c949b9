import { ProposedBody } from "../model/call-bodies.ts";
import { copyGiven } from "../model/copy-json.ts";
import type { Draft } from "../model/events.ts";
import { isObject, type Json } from "../model/json.ts";
import { parseToolValue } from "../model/parse-tool-input.ts";
import type { CallRun } from "./call-run.ts";
import type { ProposedCall } from "./dispatch.ts";
import type { Session } from "./session.ts";

/** A call's first record: what the model sent, as far as it can be kept. */
export function proposal(session: Session, run: CallRun, about: Given): Draft<"call.proposed"> {
  const { turn, named } = about;
  const { givenId = null, calledAs = run.name } = named ?? {};
  const body = new ProposedBody({ call: run.callId, turn, index: run.index, tool: cut(run.name), raw: rawOf(run.arguments), givenId });
  if (calledAs !== run.name) body.calledAs = cut(calledAs);
  return session.draft("call.proposed", body);
}

type Given = { readonly turn: number; readonly named: Pick<NamedCall, "givenId" | "calledAs"> | undefined };

/** An id of its own for every call: a repeated or missing one gets one of ours, so that each has exactly one result. */
export function nameCalls(session: Session, calls: readonly ProposedCall[], next: () => string): readonly NamedCall[] {
  const seen = calls.length > 1 ? { callIds: new Set<string>(), givenIds: new Set<string>() } : undefined;
  return calls.map((proposed) => {
    const { id, name, arguments: args } = readCall(proposed);
    const calledAs = typeof name === "string" ? name : "";
    const givenId = typeof id === "string" && id !== "" ? id.toWellFormed().slice(0, LONGEST_ID) : null;
    if (givenId === null) return { calledAs, arguments: args, givenId, callId: next(), duplicate: false };
    const duplicate = seen?.givenIds.has(givenId) === true;
    const callId = freeId(session, seen?.callIds ?? NONE, givenId);
    seen?.callIds.add(callId);
    seen?.givenIds.add(givenId);
    return { calledAs, arguments: args, givenId, callId, duplicate };
  });
}

/** Doors pass on what a provider sent: what is no call has no name, and so is an unknown tool. */
function readCall(given: unknown): { readonly id?: unknown; readonly name?: unknown; readonly arguments?: unknown } {
  return isObject(given) ? given : { arguments: given };
}

/** A call with the id it has from here on. */
export type NamedCall = {
  readonly calledAs: string;
  readonly arguments: unknown;
  readonly givenId: string | null;
  readonly callId: string;
  readonly duplicate: boolean;
};

const NONE: ReadonlySet<string> = new Set();
const LONGEST_ID = 256;
const LONGEST_NAME = 256;
const LONGEST_RAW = 16 * 1024 * 1024;

/** The id, or the first `{id}#n` that no call of the session or the batch has. */
export function freeId({ state }: Session, inBatch: ReadonlySet<string>, given: string): string {
  if (!state.ids.has(given) && !inBatch.has(given)) return given;
  let count = Math.max(state.ids.get(given) ?? 1, 1);
  let id: string;
  do {
    count += 1;
    id = `${given}#${count}`;
  } while (state.ids.has(id) || inBatch.has(id));
  return id;
}

function cut(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…`.toWellFormed() : name.toWellFormed();
}

/** Arguments that are no JSON are kept as the text they would print as, and what is too long is cut: such a call is invalid and never runs. */
function rawOf(given: unknown): Json {
  if (typeof given === "string") return (given.length > LONGEST_RAW ? given.slice(0, 1_000) : given).toWellFormed();
  const parsed = parseToolValue(given);
  if (parsed.ok) return copyGiven(parsed.value) ?? null;
  return given === undefined || given === null ? null : Object.prototype.toString.call(given);
}
