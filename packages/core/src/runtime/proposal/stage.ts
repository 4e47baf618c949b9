import { contentHash } from "../../content-hash.ts";
import { ToolError } from "../../errors.ts";
import type { Draft, EventBodies } from "../../model/events.ts";
import { canonicalJson } from "../../model/json/canonical.ts";
import { copyGiven } from "../../model/json/copy.ts";
import type { Json } from "../../model/json/json.ts";
import type { Resolution } from "../../model/proposal/events.ts";
import {
  type FileEffect,
  type ProposalManifest,
  type ProposalRow,
  proposalIdentityText,
  touchedPaths,
} from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import { cutText } from "../../model/text/cut-text.ts";
import { unicodePattern } from "../../model/text/unicode-pattern.ts";
import type { Digest } from "../../ports.ts";
import type { PathChange, PathContent, Preview } from "../../tool-definition.ts";
import { recordFirst } from "../session/record-surely.ts";
import { freeToSettle, reserveWhile, resolverOf, type Staging, stagedRows } from "./staging.ts";
import { type FileContents, readStoredProposal } from "./stored.ts";

export type ProposalSource = Pick<EventBodies["proposal.staged"], "callId" | "tool" | "toolDigest" | "kind" | "cwd" | "input">;

export type StagedPreview = { readonly row: ProposalRow; readonly manifest: ProposalManifest; readonly contents: FileContents };

const MAX_FILES = 10_000;
const MAX_BYTES = 256 * 1024 * 1024;
const LONGEST_LABEL = 200;

type StageInput = {
  readonly preview: Omit<Preview, "changes"> & { readonly changes: readonly PathChange[] };
  readonly resolution?: Resolution;
  readonly part?: ProposalManifest["part"];
};

/** Records a preview; it supersedes older ones of the same request. With a `resolution`, its apply starts in the same commit. */
export async function stagePreview(
  staging: Staging,
  source: ProposalSource,
  { preview, resolution, part }: StageInput,
): Promise<StagedPreview> {
  refuseLarge(preview.changes);
  const { effects, contents } = await effectsOf(preview.changes, staging.digest);
  const manifest = { ...manifestOf(preview, effects), ...(part && { part }) };
  const staged = stagedBody(staging, source, { label: preview.label, manifest, carrier: "data", contents: [...contents.keys()] });
  await recordStaged(staging, { staged, resolution, blobs: [...contents.values()] });
  staging.paths.set(staged.proposal, touchedPaths(effects));
  return { row: requireRow(staging, staged.proposal), manifest, contents };
}

const breaks = unicodePattern(String.raw`[\p{Cc}\u2028\u2029]`, "gu");

export function oneLine(label: string): string {
  return cutText(label.toWellFormed().replace(breaks(), " ").trim(), LONGEST_LABEL);
}

type ProposalText = {
  readonly label: string;
  readonly manifest: ProposalManifest;
  readonly carrier: ProposalRow["carrier"];
  readonly contents: readonly string[];
  readonly id?: string;
};

export function stagedBody(staging: Staging, source: ProposalSource, about: ProposalText): EventBodies["proposal.staged"] {
  const { callId, tool, toolDigest, kind, cwd, input } = source;
  const { manifest, carrier, contents } = about;
  const label = oneLine(about.label) || tool;
  const identity = proposalIdentityText({ tool, toolDigest, input, label, effects: manifest.effects });
  return {
    proposal: about.id ?? staging.ids.next("p_"),
    ...{ callId, tool, toolDigest, kind, cwd, input, label, carrier },
    owner: carrier === "closure" ? staging.session.holder : null,
    digest: `sha256:${staging.digest.sha256(identity)}`,
    files: manifest.effects.length,
    manifest: manifest as unknown as Json,
    contents,
  };
}

type StagedRecord = {
  readonly staged: EventBodies["proposal.staged"];
  readonly resolution?: Resolution | undefined;
  readonly blobs?: readonly Uint8Array[];
};

/** Records a proposal, what it supersedes and how it is settled, in one commit. */
export async function recordStaged(staging: Staging, { staged, resolution, blobs }: StagedRecord): Promise<void> {
  const { session, policy } = staging;
  const { proposal } = staged;
  const supersedes = freeToSettle(staging, resolution ? [] : await findSameRequest(staging, staged));
  const forPerson = !resolution && resolverOf(policy()) === "person";
  const events: Draft[] = [session.draft("proposal.staged", supersedes.length > 0 ? { ...staged, supersedes } : staged)];
  for (const older of supersedes) events.push(session.draft("proposal.superseded", { proposal: older, by: proposal }));
  if (resolution) events.push(session.draft("proposal.applying", { proposal, digest: staged.digest, resolution }));
  if (forPerson) events.push(session.draft("proposal.parked", { proposal, why: "person" }));
  staging.listen();
  const durability = resolution || forPerson ? "full" : "normal";
  await reserveWhile(staging, supersedes, () => recordFirst(staging, { events, durability, blobs }));
}

async function findSameRequest(
  staging: Staging,
  { callId, tool, toolDigest, input }: EventBodies["proposal.staged"],
): Promise<readonly string[]> {
  const same: string[] = [];
  const wanted = canonicalJson(input);
  for (const row of stagedRows(staging)) {
    if (row.tool !== tool || row.toolDigest !== toolDigest || row.callId === callId || staging.busy.has(row.id)) continue;
    const older = await readStoredProposal(staging.session, row);
    if (canonicalJson(older.input) === wanted) same.push(row.id);
  }
  return same;
}

export function requireRow({ session }: Staging, id: string): ProposalRow {
  const row = session.state.proposals.get(id);
  if (!row) throw new Error(`proposal ${id} is not in the state it was staged into`);
  return row;
}

function refuseLarge(changes: readonly PathChange[]): void {
  const sum = (bytes: (change: PathChange) => number): number => changes.reduce((total, change) => total + bytes(change), 0);
  const bytes = Math.max(
    sum(({ after }) => byteCount(after)),
    sum(({ before }) => byteCount(before)),
  );
  if (changes.length > MAX_FILES || bytes > MAX_BYTES)
    throw new ToolError(resolveText.tooLarge({ files: changes.length, bytes }), "proposal_too_large");
}

function byteCount(content: PathContent): number {
  return content instanceof Uint8Array ? content.length : 0;
}

type PlannedEffects = { readonly effects: readonly FileEffect[]; readonly contents: Map<string, Uint8Array> };

export async function effectsOf(changes: readonly PathChange[], digest: Digest): Promise<PlannedEffects> {
  const contents = new Map<string, Uint8Array>();
  const digestOf = async (bytes: PathContent): Promise<string> => {
    if (bytes === null) return "absent";
    if (!(bytes instanceof Uint8Array)) return bytes === "directory" ? bytes : `link:${bytes.link}`;
    const hex = await contentHash(bytes, digest);
    contents.set(hex, bytes);
    return `sha256:${hex}`;
  };
  const effects = await Promise.all(
    changes.map(async (change): Promise<FileEffect> => {
      const { path, realPath, before, after, to, mode, modes } = change;
      const op = operationOf(change);
      const digests = { before: await digestOf(before), after: await digestOf(after) };
      return { path, realPath, op, ...(to !== undefined && { to }), ...digests, mode: mode ?? null, ...(modes && { modes }) };
    }),
  );
  refuseRepeated(touchedPaths(effects));
  return { effects, contents };
}

export function operationOf({ path, before, after, to }: PathChange): FileEffect["op"] {
  if (to !== undefined && before && after) return "rename";
  if (to !== undefined || (!before && !after)) throw new Error(`the preview does not say what to do with ${path}`);
  if (!before) return "create";
  return after ? "modify" : "delete";
}

function refuseRepeated(paths: readonly string[]): void {
  const seen = new Set<string>();
  for (const path of paths) {
    if (seen.has(path)) throw new Error(`the preview changes ${path} twice`);
    seen.add(path);
  }
}

function manifestOf({ blocks, data, details }: StageInput["preview"], effects: readonly FileEffect[]): ProposalManifest {
  const kept = data === undefined ? undefined : copyGiven(data);
  if (data !== undefined && kept === undefined) throw new Error("the data of the preview is not JSON");
  const shown = details === undefined ? undefined : copyGiven(details);
  return {
    blocks: blocks.map((block) => block.toWellFormed()),
    effects,
    ...(kept !== undefined && { data: kept }),
    ...(shown !== undefined && { details: shown }),
  };
}
