import { type ApprovalRow, type Requests, requestsFrom } from "@assent/core";
import { callFacts, callPorts } from "./call-runtime.ts";
import type { Context } from "./command-spec.ts";
import type { Store } from "./open-store.ts";
import { toolRegistry } from "./tool-registry.ts";

/** How a command that is not the session's writer gets at the request behind an approval: from the ledger, with today's tools. */
export async function recordedRequests(context: Context, { ledger, directory }: Store, row: ApprovalRow): Promise<Requests> {
  const ports = callPorts(context, directory);
  const tools = await toolRegistry(context.overrides, ports);
  let workspace = "";
  for await (const { body } of ledger.read({ session: row.session, seq: 0 }, { session: row.session, types: ["session.created"] })) {
    workspace = String(body["workspace"]);
  }
  return requestsFrom({ ledger, tools, digest: ports.digest, facts: callFacts(ports, { id: row.session, workspace }) });
}
