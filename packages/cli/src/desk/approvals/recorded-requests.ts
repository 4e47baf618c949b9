import {
  type ApprovalRow,
  isObject,
  type JsonObject,
  type Policy,
  type Requests,
  type Rules,
  recordedState,
  requestsFrom,
} from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { callPorts } from "../../compose/dispatcher.ts";
import { resumedFlags, sessionLayer } from "../../compose/flags.ts";
import { openPolicy } from "../../compose/policy.ts";
import type { Store } from "../../store/open.ts";
import { workspaceTrust } from "../trust/workspace-trust.ts";
import type { Revising } from "./revise.ts";

/** How a command that is not the session's writer gets at the request behind an approval, at the rules that may be remembered for it, and at what an edit is judged with. */
export async function recordedRequests(
  context: Context,
  { ledger, directory }: Store,
  { session: id }: ApprovalRow,
): Promise<{ readonly requests: Requests; readonly rules: Rules; readonly revising: Revising }> {
  const { digest, clock } = callPorts(context, directory);
  let created: JsonObject = {};
  for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["session.created"] })) created = body;
  const workspace = String(created["workspace"]);
  const kept = created["options"];
  const flags = resumedFlags(isObject(kept) ? (kept as JsonObject) : undefined, { io: context.io, options: NO_OPTIONS });
  const { policyFile } = flags;
  const { trusted } = await workspaceTrust(context, { workspace, ledger });
  const { mode, planning } = await recordedState(ledger, id);
  const { tools, facts, rules, source } = await openPolicy(context, {
    ...{ workspace, flags: sessionLayer(flags), trusted, tools: flags.tools },
    planFile: () => planning?.file,
    ...(policyFile !== undefined && { policyFile }),
  });
  const policy = (): Policy => ({ ...source.current(), mode });
  return { requests: requestsFrom({ ledger, tools, digest, facts }), rules, revising: { tools, facts, rules, digest, clock, policy } };
}

/** The session's own flags count, not those of the command that answers. */
export const NO_OPTIONS: Context["options"] = {
  flag: () => false,
  text: () => undefined,
  list: () => [],
  count: () => undefined,
  duration: () => undefined,
};
