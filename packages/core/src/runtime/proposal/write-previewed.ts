import type { Resolution } from "../../model/proposal/events.ts";
import type { ChosenFile } from "../../model/proposal/part.ts";
import type { FileEffect } from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import type { RunContext } from "../../tool-definition.ts";
import { deniedPath, readPreview, type StoredEffect } from "../approval/effect-preview.ts";
import { readAnswer } from "../approval/read-answer.ts";
import type { Ending } from "../dispatch.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { errorEnding, stoppedEnding } from "../pipeline/endings.ts";
import type { PermittedCall } from "../pipeline/judged-call.ts";
import { applyChanges } from "./apply.ts";
import { reduceEffects } from "./effect-part.ts";
import { isWhole, type PartProblem } from "./part.ts";
import { loadChanges } from "./review.ts";
import { effectsOf, recordStaged, requireRow, stagedBody } from "./stage.ts";
import { type FileContents, shownName } from "./stored.ts";

/** The effect of a call whose previewed changes a person approved: writes exactly these as a proposal. The call itself does not run. */
export async function writePreviewed(batch: BatchRun, run: CallRun, call: PermittedCall, ctx: RunContext): Promise<Ending> {
  const { session } = batch.deps;
  const stored = await readPreview(session, call.consent?.writes ?? "");
  if (!stored || stored.shown.unwritable !== undefined)
    return errorEnding("failed", "execution_failed", "Nothing was written: the approved preview cannot be written.");
  const chosen = await chooseChanges(batch, run, { call, stored });
  if ("problem" in chosen) return errorEnding("failed", "invalid_part", chosen.problem);
  const paths = chosen.effects.map(({ path }) => path);
  const denied = await deniedPath(batch, run, { judged: call, paths });
  if (denied !== undefined) return errorEnding("failed", "execution_denied", `Nothing was written: a rule denies changing ${denied}.`);
  if (run.stopped) return stoppedEnding(run, "before");
  const written = paths.length === 0 ? undefined : await session.whileHeld(() => applyEffects(batch, run, { call, ctx, stored, chosen }));
  if (written && written.type !== "applied") return written;
  const { details } = written?.result ?? {};
  return { state: "succeeded", type: null, result: { content: resultText(stored, chosen), ...(details !== undefined && { details }) } };
}

type AnsweredPreview = { readonly call: PermittedCall; readonly stored: StoredEffect };

/** The changes of a preview that are written. `files` is absent if these are all. */
type ChosenChanges = {
  readonly effects: readonly FileEffect[];
  readonly blocks: readonly string[];
  readonly contents: FileContents;
  readonly files?: readonly ChosenFile[];
};

async function chooseChanges(batch: BatchRun, run: CallRun, { call, stored }: AnsweredPreview): Promise<ChosenChanges | PartProblem> {
  const { session, digest } = batch.deps;
  const answer = call.consent && (await readAnswer(batch, run, call.consent));
  if (!answer) return { problem: "Nothing was written: the person's answer could not be read." };
  const { effects } = stored.manifest;
  const whole = { effects, blocks: stored.shown.blocks, contents: new Map() };
  if (!answer.part) return whole;
  const { cwd } = call.request;
  const { workspace = cwd } = session.state.created ?? {};
  const reduced = reduceEffects(await loadChanges(session, effects), answer.part, { cwd: workspace, digest });
  if ("problem" in reduced) return reduced;
  if (isWhole(reduced)) return whole;
  const files = reduced.files.map((file) => ({ ...file, name: nameFor(cwd, workspace, file.name) }));
  return { ...(await effectsOf(reduced.changes, digest)), blocks: reduced.blocks, files };
}

/** The model knows the directory of its call. */
function nameFor(cwd: string, workspace: string, name: string): string {
  return name.startsWith("/") ? name : shownName(cwd, `${workspace}/${name}`);
}

type PreviewedWrite = AnsweredPreview & { readonly ctx: RunContext; readonly chosen: ChosenChanges };

async function applyEffects({ staging }: BatchRun, run: CallRun, { call, ctx, stored, chosen }: PreviewedWrite): Promise<Ending> {
  const { request, tool } = call;
  const { effects, blocks } = chosen;
  const manifest = { ...stored.manifest, effects, blocks };
  const contents = chosen.files ? [...chosen.contents.keys()] : stored.contents;
  const at = new Date(staging.clock.now()).toISOString();
  const resolution: Resolution = { action: "apply", by: "person", reason: "", callId: run.callId, at };
  const { toolDigest, cwd, input } = request;
  const source = { callId: run.callId, tool: request.tool, toolDigest, kind: tool.kind, cwd, input };
  const label = call.invocation.describe();
  const named = chosen.files ? resolveText.partLabel(label) : label;
  const staged = stagedBody(staging, source, { label: named, manifest, carrier: "data", contents });
  await recordStaged(staging, { staged, resolution, blobs: [...chosen.contents.values()] });
  const row = requireRow(staging, staged.proposal);
  const settling = { resolution, signal: ctx.signal, ctx };
  const ending = await applyChanges(staging, { row, tool, manifest, settling, direct: true });
  return ending.type === "applied" ? { ...ending, result: { ...ending.result, details: { proposalId: row.id } } } : ending;
}

function resultText({ shown, result }: StoredEffect, { files: chosen }: ChosenChanges): string {
  if (chosen) return `${result}\n${resolveText.writtenPart(chosen)}`;
  const { length } = shown.changes;
  const files = length === 0 ? "It changed no files." : `Its changes to ${length} ${length === 1 ? "path" : "paths"} were written.`;
  return `${result}\n[The command ran once, on a copy of the workspace without network. ${files} A person approved exactly this.]`;
}
