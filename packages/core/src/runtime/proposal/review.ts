import type { Ledger } from "../../ledger-port.ts";
import { type FileDiff, type Hunk, parseDiff } from "../../model/diff/parse-diff.ts";
import { unifiedDiff } from "../../model/diff/unified-diff.ts";
import type { FileEffect, ProposalRow } from "../../model/proposal/proposal.ts";
import type { Digest } from "../../ports.ts";
import type { PathChange, PathContent } from "../../tool-definition.ts";
import { operationOf } from "./stage.ts";
import { readStoredProposal, shownName } from "./stored.ts";

/** A hunk with an id that names its file, place and text. */
export type ReviewedHunk = Hunk & { readonly id: string };

/** One changed file as people review it. Binary files, and files over 16 MiB, have no hunks and no text. */
export type FileReview = Omit<FileDiff, "hunks" | "isDeleted"> & {
  readonly isDeleted: boolean;
  readonly path: string;
  readonly op: FileEffect["op"];
  readonly hunks: readonly ReviewedHunk[];
  /** Both sides, if both can be shown; null for no file. */
  readonly text?: { readonly before: string | null; readonly after: string | null };
};

/** How a review names files and hunks. */
export type ReviewNaming = { readonly cwd: string; readonly digest: Pick<Digest, "sha256"> };

/** Reads a proposal's changes for a review. An action without recorded files has none. */
export async function reviewProposal(
  from: { readonly ledger: Ledger },
  row: ProposalRow,
  digest: Pick<Digest, "sha256">,
): Promise<readonly FileReview[]> {
  const { manifest } = await readStoredProposal(from, row);
  return reviewChanges(await loadChanges(from, manifest.effects), { cwd: row.cwd, digest });
}

/** Prepares any set of file changes for a review. */
export function reviewChanges(changes: readonly PathChange[], naming: ReviewNaming): readonly FileReview[] {
  return changes.map((change) => reviewChange(change, naming));
}

const MOST_TEXT = 16 * 1024 * 1024;

export function reviewChange(change: PathChange, { cwd, digest }: ReviewNaming): FileReview {
  const { path, to, before, after, mode, modes } = change;
  const name = shownName(cwd, path);
  const op = operationOf(change);
  const file = { name, path, op, isNew: op === "create", isDeleted: op === "delete" };
  const notes = [
    ...(to === undefined ? [] : [`renamed to ${shownName(cwd, to)}`]),
    ...(mode === undefined || op === "delete" ? [] : [`permissions ${mode.toString(8)}`]),
    ...(modes && op === "modify" && modes.before !== modes.after ? [`permissions ${octal(modes.before)} → ${octal(modes.after)}`] : []),
  ];
  const texts = { before: textOf(before), after: textOf(after) };
  if (texts.before === undefined || texts.after === undefined) {
    const sizes = `not shown as text: ${contentWords(before)} before, ${contentWords(after)} after`;
    return { ...file, hunks: [], added: 0, removed: 0, notes: [...notes, sizes] };
  }
  const text = { before: texts.before, after: texts.after };
  const [diff] = parseDiff(unifiedDiff({ name, before: text.before, after: text.after ?? "" }));
  const hunks = (diff?.hunks ?? []).map((hunk) => ({ ...hunk, id: hunkId(path, hunk, digest) }));
  return { ...file, hunks, added: diff?.added ?? 0, removed: diff?.removed ?? 0, notes, text };
}

/** Null for no file; undefined for what cannot be shown as text. */
function textOf(bytes: PathContent): string | null | undefined {
  if (bytes === null) return null;
  if (!(bytes instanceof Uint8Array) || bytes.length > MOST_TEXT || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function contentWords(content: PathContent): string {
  if (content === null) return "nothing";
  if (content === "directory") return "a directory";
  if (!(content instanceof Uint8Array)) return `a link to ${content.link}`;
  return `${content.length} ${content.length === 1 ? "byte" : "bytes"}`;
}

function octal(mode: number | null): string {
  return mode === null ? "none" : mode.toString(8);
}

const ID_LENGTH = 12;

function hunkId(path: string, { header, lines }: Hunk, digest: Pick<Digest, "sha256">): string {
  const text = JSON.stringify([path, header, ...lines.map(({ kind, text: line, open }) => `${kind} ${open ? 1 : 0} ${line}`)]);
  return `h_${digest.sha256(text).slice(0, ID_LENGTH)}`;
}

export async function loadChanges({ ledger }: { readonly ledger: Ledger }, effects: readonly FileEffect[]): Promise<readonly PathChange[]> {
  const content = async (digest: string): Promise<PathContent> => {
    if (digest === "absent") return null;
    if (digest === "directory") return digest;
    return digest.startsWith("link:") ? { link: digest.slice("link:".length) } : await ledger.blob(digest.slice("sha256:".length));
  };
  return await Promise.all(
    effects.map(async ({ op: _op, before, after, mode, ...effect }) => ({
      ...effect,
      before: await content(before),
      after: await content(after),
      ...(mode !== null && { mode }),
    })),
  );
}
