import type { Resolution } from "../../model/proposal/events.ts";
import type { RunContext } from "../../tool-definition.ts";
import { deniedPath, readPreview, type StoredEffect } from "../approval/effect-preview.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { errorEnding, stoppedEnding } from "../pipeline/endings.ts";
import type { PermittedCall } from "../pipeline/judged-call.ts";
import { applyChanges } from "./apply.ts";
import { recordStaged, requireRow, stagedBody } from "./stage.ts";

/** The effect of a call whose previewed changes a person approved: writes exactly these as a proposal. The call itself does not run. */
export async function writePreviewed(batch: BatchRun, run: CallRun, call: PermittedCall, ctx: RunContext): Promise<Ending> {
  const { session } = batch.deps;
  const stored = await readPreview(session, call.consent?.writes ?? "");
  if (!stored || stored.shown.unwritable !== undefined)
    return errorEnding("failed", "execution_failed", "Nothing was written: the approved preview cannot be written.");
  const paths = stored.manifest.effects.map(({ path }) => path);
  const denied = await deniedPath(batch, run, { judged: call, paths });
  if (denied !== undefined) return errorEnding("failed", "execution_denied", `Nothing was written: a rule denies changing ${denied}.`);
  if (run.stopped) return stoppedEnding(run, "before");
  const written = paths.length === 0 ? undefined : await session.whileHeld(() => applyEffects(batch, run, { call, ctx, stored }));
  if (written && written.type !== "applied") return written;
  const { details } = written?.result ?? {};
  return { state: "succeeded", type: null, result: { content: resultText(stored), ...(details !== undefined && { details }) } };
}

type PreviewedWrite = { readonly call: PermittedCall; readonly ctx: RunContext; readonly stored: StoredEffect };

async function applyEffects({ staging }: BatchRun, run: CallRun, { call, ctx, stored }: PreviewedWrite): Promise<Ending> {
  const { request, tool } = call;
  const { shown, contents } = stored;
  const manifest = { ...stored.manifest, blocks: shown.blocks };
  const at = new Date(staging.clock.now()).toISOString();
  const resolution: Resolution = { action: "apply", by: "person", reason: "", callId: run.callId, at };
  const { toolDigest, cwd, input } = request;
  const source = { callId: run.callId, tool: request.tool, toolDigest, kind: tool.kind, cwd, input };
  const staged = stagedBody(staging, source, { label: call.invocation.describe(), manifest, carrier: "data", contents });
  await recordStaged(staging, { staged, resolution });
  const row = requireRow(staging, staged.proposal);
  const settling = { resolution, signal: ctx.signal, ctx };
  const ending = await applyChanges(staging, { row, tool, manifest, settling, direct: true });
  return ending.type === "applied" ? { ...ending, result: { ...ending.result, details: { proposalId: row.id } } } : ending;
}

function resultText({ shown, result }: StoredEffect): string {
  const { length } = shown.changes;
  const files = length === 0 ? "It changed no files." : `Its changes to ${length} ${length === 1 ? "path" : "paths"} were written.`;
  return `${result}\n[The command ran once, on a copy of the workspace without network. ${files} A person approved exactly this.]`;
}
