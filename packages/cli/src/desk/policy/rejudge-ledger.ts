import type { Json, Ledger, SessionGroup, StoredEvent, Verdict } from "@assent/core";
import type { Assessment } from "@assent/core/parts";
import { lookOnly } from "@assent/guard";
import type { Context } from "../../command-line/spec.ts";
import { isDirectory } from "../../compose/place.ts";
import { openPolicy } from "../../compose/policy.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { createOutsidePolicy, withUnknownTools } from "../../guard/outside-policy.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { isInvalidCall, type JudgeParts, judgeCall } from "../explain/judge-call.ts";

export type PolicyPair = { readonly old: string; readonly new: string };

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
export function rejudgeLedger(context: Context, files: PolicyPair): Promise<RejudgeResult> {
  return withStoreIfAny(context, async ({ ledger, directory }) => {
    const places = await sessionPlaces(ledger);
    const newest = await newestJudgements(ledger);
    const judges = judgesByPlace(context, directory, files);
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

/** `group`: another agent ran the calls. */
type SessionPlace = { readonly workspace: string; readonly group?: SessionGroup };

async function sessionPlaces(ledger: Ledger): Promise<ReadonlyMap<string, SessionPlace>> {
  const found = new Map<string, SessionPlace>();
  for await (const { session, body } of ledger.read({ pos: 0 }, { types: ["session.created"] })) {
    const { workspace, group } = body as { readonly workspace?: string; readonly group?: SessionGroup };
    found.set(session, { workspace: String(workspace), ...(group && { group }) });
  }
  return found;
}

/** Keeps only positions, because a record may be larger than memory. */
async function newestJudgements(ledger: Ledger): Promise<ReadonlyMap<string, number>> {
  const newest = new Map<string, number>();
  for await (const event of ledger.read({ pos: 0 }, { types: ["call.judged"] })) newest.set(keyOf(event), event.pos);
  return newest;
}

type JudgePair = { readonly old: JudgeParts; readonly new: JudgeParts };

/** One pair per workspace, because paths in rules are relative to it, and per client, because rules may be limited to one. */
function judgesByPlace(
  context: Context,
  directory: string,
  files: PolicyPair,
): (place: SessionPlace | undefined) => Promise<JudgePair | undefined> {
  const ports = hostPortsFor(context, directory);
  const { digest, clock } = ports;
  const made = new Map<string, Promise<JudgePair>>();
  const open = async ({ workspace, group }: SessionPlace, policyFile: string): Promise<JudgeParts> => {
    if (!group) {
      const { loaded, tools, facts } = await openPolicy(context, { workspace, policyFile, flags: { allow: [], ask: [], deny: [] } });
      return { policy: loaded.policy, tools, facts, digest, clock };
    }
    const outside = { workspace, ports, directory, client: group.client, trusted: false, policyFile };
    const run = lookOnly(group.title);
    const { source, tools, facts } = createOutsidePolicy(context, outside, { run });
    return { policy: source.current(), tools: withUnknownTools(tools, run), facts, digest, clock };
  };
  const pairOf = async (place: SessionPlace): Promise<JudgePair> => ({
    old: await open(place, files.old),
    new: await open(place, files.new),
  });
  return async (place) => {
    if (!place || !isDirectory(place.workspace)) return undefined;
    const key = JSON.stringify([place.workspace, place.group?.client]);
    const pair = made.get(key) ?? pairOf(place);
    made.set(key, pair);
    return pair;
  };
}

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
