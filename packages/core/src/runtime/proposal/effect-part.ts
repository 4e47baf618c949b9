import type { Ledger } from "../../ledger-port.ts";
import type { ProposalPart } from "../../model/proposal/part.ts";
import type { Digest } from "../../ports.ts";
import type { PathChange } from "../../tool-definition.ts";
import { readPreview } from "../approval/effect-preview.ts";
import { readWorkspace } from "../session/call-record.ts";
import { type ChangeUnit, type PartProblem, type ReducedChanges, reduceUnits } from "./part.ts";
import { type FileReview, loadChanges, type ReviewNaming, reviewChange } from "./review.ts";
import { shownName } from "./stored.ts";

/** Where a preview is on record. */
export type PreviewName = { readonly session: string; readonly preview: string };

export type PreviewPorts = { readonly ledger: Ledger; readonly digest: Pick<Digest, "sha256"> };

/** The files that a person can choose from a preview; empty if its changes cannot be written. */
export async function reviewPreview(ports: PreviewPorts, name: PreviewName): Promise<readonly FileReview[]> {
  const { changes, naming } = await readChanges(ports, name);
  return unitsOf(changes, naming).map(({ review }) => review);
}

/** Says why this part of a preview cannot be written; undefined if it can. */
export async function findPartProblem(ports: PreviewPorts, name: PreviewName, part: ProposalPart): Promise<string | undefined> {
  const { changes, naming } = await readChanges(ports, name);
  const reduced = reduceEffects(changes, part, naming);
  return "problem" in reduced ? reduced.problem : undefined;
}

type NamedChanges = { readonly changes: readonly PathChange[]; readonly naming: ReviewNaming };

/** Names files as the preview shows them: relative to the workspace, wherever the call runs. */
async function readChanges({ ledger, digest }: PreviewPorts, { session, preview }: PreviewName): Promise<NamedChanges> {
  const stored = await readPreview({ ledger, id: session }, preview);
  const cwd = await readWorkspace(ledger, session);
  return { changes: await loadChanges({ ledger }, stored?.manifest.effects ?? []), naming: { cwd, digest } };
}

/** Reduces the changes of a preview to the chosen part, with the directories that it needs. */
export function reduceEffects(changes: readonly PathChange[], part: ProposalPart, naming: ReviewNaming): ReducedChanges | PartProblem {
  const reduced = reduceUnits(unitsOf(changes, naming), part);
  return "problem" in reduced ? reduced : { ...reduced, changes: withDirectories(changes, reduced.changes) };
}

/** The changes in `.git` form one unit. A directory with changes inside gets no unit, because `withDirectories` adds it. */
function unitsOf(changes: readonly PathChange[], naming: ReviewNaming): readonly ChangeUnit[] {
  const directories = parentDirectories(changes);
  const units = new Map<string, PathChange[]>();
  for (const change of changes) {
    const git = gitDirectory(change.path);
    if (git === undefined && directories.has(change.path)) continue;
    const key = git ?? change.path;
    units.set(key, [...(units.get(key) ?? []), change]);
  }
  return [...units].map(([path, each]) => ({ changes: each, review: reviewUnit(path, each, naming) }));
}

function reviewUnit(path: string, changes: readonly PathChange[], naming: ReviewNaming): FileReview {
  const [only] = changes;
  if (only && changes.length === 1) return reviewChange(only, naming);
  const name = shownName(naming.cwd, path);
  const notes = [`${changes.length} paths, which can only be chosen together`];
  const inside = changes.map((change) => reviewChange(change, naming)).filter(({ hunks }) => hunks.length > 0);
  return { name, path, op: "modify", isNew: false, isDeleted: false, hunks: [], added: 0, removed: 0, notes, inside };
}

function gitDirectory(path: string): string | undefined {
  const end = `${path}/`.indexOf("/.git/");
  return end === -1 ? undefined : path.slice(0, end + "/.git".length);
}

function parentsOf(path: string): readonly string[] {
  const names = path.split("/").slice(1, -1);
  return names.map((_, at) => `/${names.slice(0, at + 1).join("/")}`);
}

/** Directories that were made or removed together with something inside. */
function parentDirectories(changes: readonly PathChange[]): ReadonlySet<string> {
  const parents = new Set(changes.flatMap(({ path }) => parentsOf(path)));
  const ofDirectories = changes.filter(
    ({ before, after }) => (before ?? "directory") === "directory" && (after ?? "directory") === "directory",
  );
  return new Set(ofDirectories.flatMap(({ path, before, after }) => (parents.has(path) && before !== after ? [path] : [])));
}

/** Adds directories: a new one if something inside is chosen, a removed one if everything that changed inside is removed. */
function withDirectories(changes: readonly PathChange[], chosen: readonly PathChange[]): readonly PathChange[] {
  const kept = new Map(chosen.map((change) => [change.path, change]));
  const needed = new Set(chosen.flatMap(({ path }) => parentsOf(path)));
  const directories = parentDirectories(changes);
  const staying = changes.filter(({ path }) => !directories.has(path) && kept.get(path)?.after !== null);
  const stays = new Set(staying.flatMap(({ path }) => parentsOf(path)));
  const isKept = ({ path, after }: PathChange): boolean =>
    directories.has(path) && needed.has(path) && (after !== null || !stays.has(path));
  return changes.flatMap((change) => kept.get(change.path) ?? (isKept(change) ? change : []));
}
