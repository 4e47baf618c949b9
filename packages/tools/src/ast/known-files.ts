import { type AppliedPreview, isObject, type Json } from "@assent/core";
import { nodeDigest } from "@assent/host";
import type { Reads } from "../files/reads.ts";
import type { EditedFile } from "./plan-edit.ts";

/** A file the session has read, by the path of its change and its real path. */
export type KnownPlace = { readonly path: string; readonly real: string };

export type KnownFile = { readonly path: string; readonly digest: string };

/** Returns the files that the session has read in their current state. */
export async function findKnownFiles(reads: Reads, files: readonly EditedFile[], sessionId: string): Promise<readonly KnownPlace[]> {
  const known: KnownPlace[] = [];
  for (const { target, before } of files) {
    const record = await reads.recall(sessionId, target.realPath);
    if (record && record.digest === nodeDigest.sha256Bytes(before)) known.push({ path: target.path, real: target.realPath });
  }
  return known;
}

/** Records the new content of those files, so the session can keep editing them without another read. */
export async function rememberApplied(
  reads: Reads,
  { data, files }: Pick<AppliedPreview, "data" | "files">,
  sessionId: string,
): Promise<readonly KnownFile[]> {
  const places = readPlaces(data);
  const known = files.flatMap(({ path, digest }) => {
    const real = places.get(path);
    return real === undefined ? [] : [{ path: real, digest: digest.replace(/^sha256:/, "") }];
  });
  for (const { path, digest } of known) await reads.remember(sessionId, path, { digest });
  return known;
}

/** Reads what the preview stored, possibly in another process. */
function readPlaces(data: Json | undefined): ReadonlyMap<string, string> {
  const kept: unknown = isObject(data) ? data["known"] : undefined;
  const places = new Map<string, string>();
  for (const one of Array.isArray(kept) ? kept : [])
    if (isObject(one) && typeof one["path"] === "string" && typeof one["real"] === "string") places.set(one["path"], one["real"]);
  return places;
}
