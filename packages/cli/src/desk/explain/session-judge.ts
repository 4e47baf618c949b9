import type { Ledger, Rules, SessionGroup, StoredEvent } from "@assent/core";
import { createJudgeOnlyRun } from "@assent/guard";
import type { Context } from "../../command-line/spec.ts";
import { isDirectory } from "../../compose/place.ts";
import { openPolicy } from "../../compose/policy.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { createOutsidePolicy, withUnknownTools } from "../../guard/outside-policy.ts";
import type { JudgeParts } from "./judge-call.ts";

/** Where a session's calls ran. `group`: another agent ran them, in its own shell. */
export type SessionPlace = { readonly workspace: string; readonly group?: SessionGroup };

/** Undefined: there is no such session. */
export async function findSessionPlace(ledger: Ledger, session: string): Promise<SessionPlace | undefined> {
  for await (const { body } of ledger.read({ session, seq: 0 }, { session, types: ["session.created"] })) return readSessionPlace(body);
  return undefined;
}

export function readSessionPlace(body: StoredEvent["body"]): SessionPlace {
  const { workspace, group } = body as { readonly workspace?: string; readonly group?: SessionGroup };
  return { workspace: String(workspace), ...(group && { group }) };
}

/** Opens the rules that count for a session's calls today. Calls of another agent are judged as strictly as in its hook. */
export async function openSessionJudge(
  context: Context,
  directory: string,
  { workspace, group }: SessionPlace,
  settings: { readonly trusted: boolean; readonly policyFile?: string },
): Promise<JudgeParts & { readonly rules: Rules }> {
  const ports = hostPortsFor(context, directory);
  const { digest, clock } = ports;
  if (!group) {
    const { loaded, tools, facts, rules } = await openPolicy(context, { workspace, ...settings });
    return { policy: loaded.policy, tools, facts, rules, digest, clock };
  }
  const run = createJudgeOnlyRun(group.title);
  const outside = { workspace, ports, directory, client: group.client, ...settings };
  const { source, tools, facts, rules } = createOutsidePolicy(context, outside, { run });
  return { policy: source.current(), tools: withUnknownTools(tools, run), facts, rules, digest, clock };
}

/** One judge per workspace, because paths in rules are relative to it, and per client, because rules may be limited to one. Undefined: the workspace is gone. */
export function judgesByPlace<Judge>(
  open: (place: SessionPlace) => Promise<Judge>,
): (place: SessionPlace | undefined) => Promise<Judge | undefined> {
  const made = new Map<string, Promise<Judge>>();
  return async (place) => {
    if (!place || !isDirectory(place.workspace)) return undefined;
    const key = JSON.stringify([place.workspace, place.group?.client]);
    const judge = made.get(key) ?? open(place);
    made.set(key, judge);
    return judge;
  };
}
