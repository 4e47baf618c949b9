import type { ChangeSet, FileChange, FileImage } from "../../file-ports.ts";
import type { JsonObject } from "../../model/json/json.ts";
import { parseEvent } from "../../model/known-event.ts";
import { type FileEffect, type ProposalManifest, type ProposalRow, touchedPaths } from "../../model/proposal/proposal.ts";
import { readRow } from "../session/list-rows.ts";
import type { Session } from "../session/session.ts";
import type { Staging } from "./staging.ts";

/** The input and manifest of a stored proposal. */
export type StoredProposal = { readonly input: JsonObject; readonly manifest: ProposalManifest };

export type FileContents = ReadonlyMap<string, Uint8Array>;

/** Reads a proposal's input and manifest from the ledger. */
export async function readStoredProposal({ ledger }: Pick<Session, "ledger">, row: ProposalRow): Promise<StoredProposal> {
  const { session, seq } = row;
  for await (const stored of ledger.read({ session, seq: seq - 1 }, { session, types: ["proposal.staged"] })) {
    const event = parseEvent(stored);
    if (event?.type !== "proposal.staged" || event.body.proposal !== row.id) break;
    const { input, manifest } = event.body;
    // the manifest is as this program wrote it
    return { input: await ledger.resolve(input), manifest: (await ledger.resolve(manifest)) as unknown as ProposalManifest };
  }
  throw new Error(`the record of proposal ${row.id} is not in the ledger`);
}

/** Searches all sessions and states. */
export async function findProposal({ ledger }: Pick<Session, "ledger">, id: string): Promise<ProposalRow | undefined> {
  return await readRow(ledger, "proposals", id);
}

export async function pathsOf(staging: Staging, row: ProposalRow): Promise<readonly string[]> {
  const known = staging.paths.get(row.id);
  if (known) return known;
  const { manifest } = await readStoredProposal(staging.session, row);
  const paths = touchedPaths(manifest.effects);
  staging.paths.set(row.id, paths);
  return paths;
}

/** The file changes of a proposal, reversed with `undo`. */
export function changeSet(session: Session, about: ChangeSetInput): ChangeSet {
  const image = imagesFrom(session, about.contents);
  const forth = about.effects.flatMap((effect) => changesOf(effect, image));
  const changes = about.undo ? forth.map(({ before, after, ...rest }) => ({ ...rest, before: after, after: before })) : forth;
  return { id: about.id, changes };
}

/** Shortens a path inside the directory. */
export function shownName(cwd: string, path: string): string {
  const root = cwd.endsWith("/") ? cwd : `${cwd}/`;
  return path.startsWith(root) ? path.slice(root.length) : path;
}

type ChangeSetInput = {
  readonly id: string;
  readonly effects: readonly FileEffect[];
  readonly contents?: FileContents | undefined;
  readonly undo?: boolean;
};

type Image = (digest: string, mode?: number | null) => FileImage | null;

function imagesFrom({ ledger }: Session, contents: FileContents | undefined): Image {
  return (digest, mode) => {
    if (digest === "absent") return null;
    const hex = digest.slice("sha256:".length);
    return { digest, bytes: () => contents?.get(hex) ?? ledger.blob(hex), ...(typeof mode === "number" && { mode }) };
  };
}

function changesOf({ path, realPath, to, before, after, mode, modes }: FileEffect, image: Image): readonly FileChange[] {
  const from = path === realPath ? { path } : { path: realPath, via: path };
  if (to === undefined) return [{ ...from, before: image(before, modes?.before), after: image(after, modes?.after), mode }];
  return [
    { ...from, before: image(before), after: null, mode },
    { path: to, before: null, after: image(after), mode },
  ];
}
