import { ToolError } from "../../errors.ts";
import { stagingUnavailable } from "../../invocation.ts";
import { copyGiven } from "../../model/json/copy.ts";
import type { Json, JsonObject } from "../../model/json/json.ts";
import type { Kind } from "../../model/kind.ts";
import type { ProposalManifest } from "../../model/proposal/proposal.ts";
import type { PendingAction, QueuedAction } from "../../tool-definition.ts";
import { toolDigest } from "../../tool-digest.ts";
import { oneLine, type ProposalSource, recordStaged, stagedBody } from "./stage.ts";
import type { Closure, Staging, StagingCall } from "./staging.ts";

/** A pending action with its source's name. */
export type ResolveHandler = PendingAction & { readonly sourceToolName: string; readonly callId?: string };

const SOURCE = "custom_tool";
const MOST_DETAILS = 64 * 1024;

/** Stages an action of this process; `staged` resolves once it is recorded. */
export function pushAction(staging: Staging, action: PendingAction & { readonly callId?: string }, made?: StagingCall): QueuedAction {
  if (!staging.changes) return stagingUnavailable();
  const checked = checkAction(action);
  const id = staging.ids.next("p_");
  const source = sourceOf(staging, checked.sourceToolName, { made, callId: made?.callId ?? action.callId ?? null });
  const staged = stagedBody(staging, source, {
    id,
    label: checked.label,
    manifest: manifestOf(checked.details),
    carrier: "closure",
    contents: [],
  });
  staging.closures.set(id, { ...checked, made });
  const recorded = recordStaged(staging, { staged }).catch((error: unknown) => {
    staging.closures.delete(id);
    throw error;
  });
  recorded.catch(() => undefined);
  return { id, staged: recorded };
}

type CheckedAction = Pick<Closure, "apply" | "reject" | "details"> & { readonly label: string; readonly sourceToolName: string };

function checkAction(given: unknown): CheckedAction {
  // Parsing: a custom tool may pass any value.
  const action = (typeof given === "object" && given !== null ? given : {}) as Partial<PendingAction>;
  const label = typeof action.label === "string" ? oneLine(action.label) : "";
  if (label === "") throw new ToolError("Pending action needs a label.");
  if (typeof action.apply !== "function") throw new ToolError("Pending action needs an apply function.");
  if (action.reject !== undefined && typeof action.reject !== "function")
    throw new ToolError("Pending action needs reject to be a function.");
  const name = typeof action.sourceToolName === "string" ? oneLine(action.sourceToolName) : "";
  return {
    label,
    apply: action.apply,
    ...(action.reject && { reject: action.reject }),
    sourceToolName: name || SOURCE,
    details: checkDetails(action.details),
  };
}

function checkDetails(given: unknown): Json | undefined {
  if (given === undefined) return undefined;
  const details = copyGiven(given);
  if (details === undefined) throw new ToolError("Pending action details must be JSON.");
  if (JSON.stringify(details).length > MOST_DETAILS) throw new ToolError("Pending action details must be at most 64 KiB.");
  return details;
}

function manifestOf(details: Json | undefined): ProposalManifest {
  const blocks = ["effects are not recorded"];
  if (details === undefined) return { blocks, effects: [] };
  return { blocks: [...blocks, JSON.stringify(details, null, 2)], effects: [], details };
}

type ActionSource = { readonly made: StagingCall | undefined; readonly callId: string | null };

function sourceOf(staging: Staging, name: string, { made, callId }: ActionSource): ProposalSource {
  if (!made) return { callId, tool: name, toolDigest: "", kind: KIND, cwd: staging.session.state.created?.cwd ?? "/", input: NOTHING };
  const { tool, invocation, cwd } = made;
  return { callId, tool: name, toolDigest: toolDigest(tool, staging.digest), kind: tool.kind, cwd, input: invocation.input };
}

const KIND: Kind = "other";
const NOTHING: JsonObject = Object.freeze({});
