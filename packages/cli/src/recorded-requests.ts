import { type ApprovalRow, type Requests, type Rules, requestsFrom } from "@assent/core";
import { pathFacts } from "@assent/policy";
import { grantRules } from "./call-policy.ts";
import { callPorts, sessionScope } from "./call-runtime.ts";
import type { Context } from "./command-spec.ts";
import type { Store } from "./open-store.ts";
import { toolRegistry } from "./tool-registry.ts";

/** How a command that is not the session's writer gets at the request behind an approval, and at the rules that may be remembered for it. */
export async function recordedRequests(
  context: Context,
  { ledger, directory }: Store,
  { session: id }: ApprovalRow,
): Promise<{ readonly requests: Requests; readonly rules: Rules }> {
  const ports = callPorts(context, directory);
  let workspace = "";
  for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["session.created"] }))
    workspace = String(body["workspace"]);
  const scope = sessionScope(ports, { id, workspace });
  const tools = toolRegistry(context, { ports, scope });
  return { requests: requestsFrom({ ledger, tools, digest: ports.digest, facts: pathFacts(scope) }), rules: grantRules(tools) };
}
