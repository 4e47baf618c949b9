import { type AppliedPreview, isObject, type Json } from "@assent/core";
import { nodeDigest } from "@assent/host";
import type { Reads } from "../files/reads.ts";
import type { EditedFile } from "./edit-file.ts";

/** A file that the session knows, as its change names it and where it is. */
export type KnownPlace = { readonly path: string; readonly real: string };

/** What the session knows of a file by now. */
export type KnownFile = { readonly path: string; readonly digest: string };

/** The files among these that the session has read as they are: what becomes of them it then knows, too. */
export async function findKnownFiles(reads: Reads, files: readonly EditedFile[], sessionId: string): Promise<readonly KnownPlace[]> {
  const known: KnownPlace[] = [];
  for (const { target, before } of files) {
    const record = await reads.recall(sessionId, target.realPath);
    if (record && record.digest === nodeDigest.sha256Bytes(before)) known.push({ path: target.path, real: target.realPath });
  }
  return known;
}

/** Remembers what those files hold now, so that the session may go on changing them. */
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

/** What the preview kept, possibly in another process. */
function readPlaces(data: Json | undefined): ReadonlyMap<string, string> {
  const kept: unknown = isObject(data) ? data["known"] : undefined;
  const places = new Map<string, string>();
  for (const one of Array.isArray(kept) ? kept : [])
    if (isObject(one) && typeof one["path"] === "string" && typeof one["real"] === "string") places.set(one["path"], one["real"]);
  return places;
}
