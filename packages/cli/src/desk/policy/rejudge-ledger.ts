import type { Json, Ledger, StoredEvent, Verdict } from "@assent/core";
import type { Assessment } from "@assent/core/parts";
import type { Context } from "../../command-line/spec.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { isInvalidCall, type JudgeParts, judgeCall } from "../explain/judge-call.ts";
import { judgesByPlace, openSessionJudge, readSessionPlace, type SessionPlace } from "../explain/session-judge.ts";

export type DifferingCall = {
  readonly session: string;
  readonly call: string;
  readonly tool: string;
  readonly subject: string;
  readonly old: Verdict;
  readonly new: Verdict;
};

export type RejudgeResult = { readonly calls: readonly DifferingCall[]; readonly judged: number; readonly unjudged: number };

/** Judges every recorded call under both policies, with the current files. */
export function rejudgeLedger(context: Context, files: { readonly old: string; readonly new: string }): Promise<RejudgeResult> {
  return withStoreIfAny(context, async ({ ledger, directory }) => {
    const places = await sessionPlaces(ledger);
    const newest = await newestJudgements(ledger);
    const open = (place: SessionPlace, policyFile: string): Promise<JudgeParts> =>
      openSessionJudge(context, directory, place, { trusted: false, policyFile });
    const judges = judgesByPlace(
      async (place): Promise<JudgePair> => ({ old: await open(place, files.old), new: await open(place, files.new) }),
    );
    const calls: DifferingCall[] = [];
    let unjudged = 0;
    for await (const event of ledger.read({ pos: 0 }, { types: ["call.judged"] })) {
      if (newest.get(keyOf(event)) !== event.pos) continue;
      const both = await rejudge(event, await judges(places.get(event.session)), ledger);
      if (!both) unjudged += 1;
      else if (both.old !== both.new) calls.push(both);
    }
    return { calls, judged: newest.size - unjudged, unjudged };
  });
}

function keyOf({ session, body }: StoredEvent): string {
  return `${session} ${String(body["call"])}`;
}

async function sessionPlaces(ledger: Ledger): Promise<ReadonlyMap<string, SessionPlace>> {
  const found = new Map<string, SessionPlace>();
  for await (const { session, body } of ledger.read({ pos: 0 }, { types: ["session.created"] })) found.set(session, readSessionPlace(body));
  return found;
}

/** Keeps only positions, because a record may be larger than memory. */
async function newestJudgements(ledger: Ledger): Promise<ReadonlyMap<string, number>> {
  const newest = new Map<string, number>();
  for await (const event of ledger.read({ pos: 0 }, { types: ["call.judged"] })) newest.set(keyOf(event), event.pos);
  return newest;
}

type JudgePair = { readonly old: JudgeParts; readonly new: JudgeParts };

async function rejudge({ session, body }: StoredEvent, pair: JudgePair | undefined, ledger: Ledger): Promise<DifferingCall | undefined> {
  if (!pair) return undefined;
  const { call, tool, cwd, input } = (await ledger.resolve(body)) as { readonly [key: string]: Json };
  const looked = { tool: String(tool), input, cwd: String(cwd) };
  const [old, next] = [await judgeCall(pair.old, looked), await judgeCall(pair.new, looked)];
  if (isInvalidCall(old) || isInvalidCall(next)) return undefined;
  return {
    session,
    call: String(call),
    tool: looked.tool,
    subject: subjectOf(next),
    old: old.decision.verdict,
    new: next.decision.verdict,
  };
}

function subjectOf({ request, decision }: Assessment): string {
  const { command } = request.input;
  return request.kind === "execute" && typeof command === "string" ? command : (request.units[decision.unit]?.subject ?? request.tool);
}
