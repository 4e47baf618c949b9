import {
  type ApprovalRow,
  createRequestReader,
  messageOf,
  type Policy,
  type RequestReader,
  type Rules,
  readCallRecord,
  readSessionState,
} from "@assent/core";
import { createJudgeOnlyRun } from "@assent/guard";
import type { Context } from "../../command-line/spec.ts";
import { mergeResumedFlags, NO_OPTIONS, sessionSettings } from "../../compose/flags.ts";
import { offerSeenTools } from "../../compose/mcp/session-servers.ts";
import { openPolicy } from "../../compose/policy.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { openOutsidePolicy } from "../../guard/outside-policy.ts";
import { CommandError } from "../../io/failure.ts";
import { isGatewayGroup } from "../../mcp-gateway/group.ts";
import type { Store } from "../../store/store.ts";
import { workspaceTrust } from "../trust/workspace-trust.ts";
import { findDenial, judgeEdit, type RevisionParts } from "./revise.ts";

export async function openRecordedRequests(
  context: Context,
  { ledger, directory }: Store,
  { session: id, tool }: ApprovalRow,
): Promise<{ readonly requests: RequestReader; readonly rules: Rules; readonly revising: RevisionParts }> {
  const ports = hostPortsFor(context, directory);
  const { digest, clock } = ports;
  const { created, mode, planning } = await readSessionState(ledger, id);
  const { workspace = "", group } = created ?? {};
  const flags = mergeResumedFlags(created?.options, { io: context.io, options: NO_OPTIONS });
  const { policyFile } = flags;
  const { trusted } = await workspaceTrust(context, { workspace, ledger });
  const { tools, facts, rules, source } =
    group && !isGatewayGroup(group)
      ? await openOutsidePolicy(
          context,
          { agent: group.client, ledger, directory, ports, cwd: workspace },
          { call: { tool, kind: "other" }, run: createJudgeOnlyRun(group.title) },
        )
      : await offerSeenTools(
          context,
          await openPolicy(context, {
            ...{ workspace, flags: sessionSettings(flags), trusted, tools: flags.tools },
            ...{ mcpConfig: flags.mcpConfig, strictMcpConfig: flags.strictMcpConfig },
            planFile: () => planning?.file,
            ...(policyFile !== undefined && { policyFile }),
          }),
          ports,
        );
  const policy = (): Policy => ({ ...source.current(), mode });
  return {
    requests: createRequestReader({ ledger, tools, digest, facts }),
    rules,
    revising: { tools, facts, rules, digest, clock, policy },
  };
}

/** Refuses an edit that the current policy denies; the approval stays open. */
export async function requestsForEdit(
  context: Context,
  store: Store,
  approval: ApprovalRow,
): Promise<{ readonly requests: RequestReader; readonly rules: Rules }> {
  const { requests, rules, revising } = await openRecordedRequests(context, store, approval);
  const edit: RequestReader["edit"] = async (row, answer) => {
    const edited = await requests.edit(row, answer);
    if (row.state !== "open" || edited.fingerprint === row.fingerprint) return edited;
    const asked = { ...edited, callId: row.call, sessionId: row.session };
    const judged = await judgeEdit(revising, asked, { updatedInput: edited.input });
    if (!("message" in judged)) return edited;
    throw new CommandError("not_allowed", 1, { message: judged.message, hint: "The approval is still open." });
  };
  return { requests: { ...requests, edit }, rules };
}

/** In plan mode `resolve` may only propose the plan, so its approval is judged in mode `default`. */
function judgedAsPlan({ details }: ApprovalRow, revising: RevisionParts): RevisionParts {
  return details.type === "plan" ? { ...revising, policy: () => ({ ...revising.policy(), mode: "default" }) } : revising;
}

/** Warns if the current rules deny a call that was just approved. */
export async function denialWarning(context: Context, store: Store, row: ApprovalRow): Promise<string> {
  try {
    const { revising } = await openRecordedRequests(context, store, row);
    const { "call.judged": judged } = await readCallRecord(store.ledger, row.session, row.call);
    const denial = judged && (await findDenial(judgedAsPlan(row, revising), { ...judged, callId: row.call, sessionId: row.session }));
    return denial === undefined ? "" : `${denial} It will not run unless this changes first.`;
  } catch (error) {
    return `Could not check whether your current rules deny it: ${messageOf(error)}`;
  }
}
