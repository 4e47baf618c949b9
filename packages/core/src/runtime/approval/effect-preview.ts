import type { EffectOffer, ShownEffect } from "../../model/effect-preview.ts";
import type { EventBodies } from "../../model/events.ts";
import type { Json, JsonObject } from "../../model/json/json.ts";
import { parseEvent } from "../../model/known-event.ts";
import type { ProposalManifest } from "../../model/proposal/proposal.ts";
import type { Content } from "../../model/result/result.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { defineTool } from "../../tool.ts";
import type { EffectPreviewer, Tool } from "../../tool-definition.ts";
import { assessRequest } from "../pipeline/assess.ts";
import type { BatchRun, CallRun } from "../pipeline/call-run.ts";
import { callContext } from "../pipeline/intake.ts";
import { assessmentInput } from "../pipeline/judge.ts";
import type { JudgedCall } from "../pipeline/judged-call.ts";
import { effectsOf } from "../proposal/stage.ts";
import type { Session } from "../session/session.ts";

/** A preview as the ledger keeps it; the contents are loaded on demand. */
export type StoredEffect = {
  readonly shown: ShownEffect;
  readonly manifest: ProposalManifest;
  readonly contents: readonly string[];
  readonly result: Content;
};

type PreviewEnd = EventBodies["preview.ended"];

/** What an approval of this call offers or shows; undefined if its tool has no previews or settings turn them off. */
export async function effectOffer(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<EffectOffer | undefined> {
  const previewer = previewerOf(batch, run, judged);
  if (!previewer) return undefined;
  const newest = await newestPreview(batch, run, judged);
  if (newest?.shown) return { state: "shown", ...newest.shown };
  if (newest) return { state: "unavailable", reason: newest.problem ?? "The last preview failed." };
  if (!canPreviewNow(batch)) return undefined; // finding out starts a program, in a repository that may not be trusted
  try {
    const reason = await previewer.unavailable(judged.invocation.input, callContext(batch, run));
    return reason === undefined ? { state: "offered" } : { state: "unavailable", reason };
  } catch (error) {
    return { state: "unavailable", reason: messageOf(error) };
  }
}

/** False if only a later process can ask the person. */
function canPreviewNow({ deps, policy }: BatchRun): boolean {
  return deps.approver?.available() === true || policy().effectPreview === "always";
}

/** True if settings want a preview before anyone is asked, and there is none yet. */
export async function isPreviewedFirst(batch: BatchRun, run: CallRun, judged: JudgedCall): Promise<boolean> {
  if (batch.policy().effectPreview !== "always") return false;
  return (await effectOffer(batch, run, judged))?.state === "offered";
}

/** A nested call cannot wait for a person, and contents need a place where proposals keep theirs. */
function previewerOf({ policy, staging }: BatchRun, run: CallRun, { tool }: JudgedCall): EffectPreviewer<JsonObject> | undefined {
  const setting = policy().effectPreview ?? "off";
  return setting === "off" || run.nested || !staging.changes ? undefined : tool.definition.effectPreview;
}

async function newestPreview({ deps }: BatchRun, run: CallRun, { request }: JudgedCall): Promise<PreviewEnd | undefined> {
  const { session } = deps;
  let newest: PreviewEnd | undefined;
  for await (const body of recordedPreviews(session, session.state.calls.get(run.callId)?.seq ?? 0))
    if (body.callId === run.callId && body.fingerprint === request.fingerprint) newest = body;
  return newest && ((await session.ledger.resolve(newest as unknown as Json)) as unknown as PreviewEnd);
}

async function* recordedPreviews({ ledger, id: session }: PreviewSource, after: number): AsyncGenerator<PreviewEnd> {
  for await (const stored of ledger.read({ session, seq: after }, { session, types: ["preview.ended"] })) {
    const event = parseEvent(stored);
    if (event?.type === "preview.ended") yield event.body;
  }
}

type PreviewSource = Pick<Session, "ledger" | "id">;

/** The recorded preview with this id, if it could be made. */
export async function readPreview(session: PreviewSource, id: string): Promise<StoredEffect | undefined> {
  for await (const body of recordedPreviews(session, 0)) {
    if (body.preview !== id) continue;
    const { shown, manifest, contents, result } = (await session.ledger.resolve(body as unknown as Json)) as unknown as PreviewEnd;
    return shown ? { shown, manifest: manifest as unknown as ProposalManifest, contents, result } : undefined;
  }
  return undefined;
}

/** Runs the call on a copy of the workspace and records what it did, or why that failed. Ends early if the call stops waiting. */
export async function previewEffect(batch: BatchRun, run: CallRun, judged: JudgedCall, by: "person" | "settings"): Promise<void> {
  const { session, ids } = batch.deps;
  const about = { preview: ids.next("v_"), callId: run.callId, fingerprint: judged.request.fingerprint ?? "" };
  await session.record([session.draft("preview.started", { ...about, by })], "full");
  const stateOf = (): string | undefined => session.state.calls.get(run.callId)?.state;
  const waits = stateOf();
  const settled = new AbortController();
  const watch = session.watch(() => {
    if (stateOf() !== waits) settled.abort(new DOMException("The approval is settled.", "AbortError"));
  });
  try {
    const signal = AbortSignal.any([run.abort.signal, settled.signal]);
    const { blobs, ...body } = await runPreview(batch, run, judged, { id: about.preview, signal });
    await session.record([session.draft("preview.ended", { ...about, ...body })], "full", blobs);
  } finally {
    watch.close();
  }
}

type RunPreview = Omit<PreviewEnd, "preview" | "callId" | "fingerprint"> & { readonly blobs: readonly Uint8Array[] };

async function runPreview(
  batch: BatchRun,
  run: CallRun,
  judged: JudgedCall,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<RunPreview> {
  const { clock, digest } = batch.deps;
  const startedAt = clock.now();
  try {
    const previewer = previewerOf(batch, run, judged);
    if (!previewer) throw new Error("Settings turn previews off.");
    const preview = await previewer.run(judged.invocation.input, { ...callContext(batch, run), signal });
    const { label, planned, result, ...seen } = preview;
    const { effects, contents } = await effectsOf(planned, digest);
    const denied = await deniedPath(batch, run, { judged, paths: planned.map(({ path }) => path) });
    const unwritable = seen.unwritable ?? (denied === undefined ? undefined : `A rule denies changing ${denied}.`);
    const shown: ShownEffect = { ...seen, id, durationMs: clock.now() - startedAt, ...(unwritable !== undefined && { unwritable }) };
    const manifest = { blocks: [], effects, details: { label } } as unknown as Json;
    return { shown, manifest, contents: [...contents.keys()], result, blobs: [...contents.values()] };
  } catch (error) {
    const problem = signal.aborted ? "The preview was cancelled." : messageOf(error);
    return { shown: null, problem, manifest: null, contents: [], result: "", blobs: [] };
  }
}

type ChangedPaths = { readonly judged: JudgedCall; readonly paths: readonly string[] };

/** The first of these paths that rules deny changing, judged like an edit. */
export async function deniedPath(batch: BatchRun, run: CallRun, { judged, paths }: ChangedPaths): Promise<string | undefined> {
  if (paths.length === 0 || !(await isDenied(batch, run, { judged, paths }))) return undefined;
  for (const path of paths) if (await isDenied(batch, run, { judged, paths: [path] })) return path;
  return paths[0];
}

async function isDenied(batch: BatchRun, run: CallRun, { judged, paths }: ChangedPaths): Promise<boolean> {
  const invocation = {
    input: {},
    locations: () => paths.map((path) => ({ path })),
    opinion: () => ({ verdict: "allow", declared: false }) as const,
    safe: () => false,
  };
  const { decision } = await assessRequest({ ...assessmentInput(batch, run, judged), tool: editTool(), invocation, hook: undefined });
  return decision.verdict === "deny";
}

let ownEdit: Tool | undefined;

function editTool(): Tool {
  ownEdit ??= defineTool({
    name: "edit",
    title: "Edit",
    description: "Changes a file.",
    kind: "edit",
    input: { type: "object" },
    run: () => "",
  });
  return ownEdit;
}
