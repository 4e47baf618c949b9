import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode, type FileImage, type FileState } from "@assent/core";
import { refuseIrregular } from "../open.ts";
import type { WritablePlace } from "../open-place.ts";
import type { LaidOutFile } from "./layout.ts";
import type { Places } from "./places.ts";

/** The state of a path; `both` if it does not change. */
export type FoundFile = { readonly file: LaidOutFile; readonly at: FileState["at"] | "both"; readonly stats: Stats | undefined };

const CHUNK_BYTES = 64 * 1024;

/** Errors that mean "something else than a file, link or directory, or nothing". */
const NOT_A_FILE: readonly (string | undefined)[] = ["ERR_PLACE_CHANGED", "ERR_NOT_REGULAR_FILE", "ELOOP", "ENOTDIR", "EISDIR"];

/** Reads a file and compares its digest with both ends of its change. Rejects if it cannot be read. */
export async function inspectFile(file: LaidOutFile, places: Places): Promise<FoundFile> {
  try {
    const { digest, stats } = await digestFile(file, places);
    return { file, at: classifyDigest(file, digest, stats), stats };
  } catch (error) {
    if (NOT_A_FILE.includes(errorCode(error))) return { file, at: "other", stats: undefined };
    throw error;
  }
}

/** True if the file's metadata is unchanged, so that it need not be read again. */
export async function isUntouched({ file, stats }: FoundFile, places: Places): Promise<boolean> {
  try {
    const now = await places.use(file.directory, async (place) => {
      await place.confirm();
      return lstat(join(place.path, file.name));
    });
    return stats !== undefined && STAT_FIELDS.every((sign) => now[sign] === stats[sign]);
  } catch (error) {
    return stats === undefined && errorCode(error) === "ENOENT";
  }
}

const STAT_FIELDS = ["dev", "ino", "size", "mtimeMs", "ctimeMs", "mode", "uid", "gid"] as const;

type FileDigest = { readonly digest: string | null; readonly stats: Stats | undefined };

async function digestFile({ directory, name }: LaidOutFile, places: Places): Promise<FileDigest> {
  try {
    return await places.use(directory, (place) => digestIn(place, name));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    await places.confirmAbsent(directory);
    return { digest: null, stats: undefined };
  }
}

/** Opens only regular files, because opening a device can have an effect. */
async function digestIn(place: WritablePlace, name: string): Promise<FileDigest> {
  const path = join(place.path, name);
  await place.confirm();
  const found = await lstat(path);
  if (found.isSymbolicLink()) return { digest: `link:${await readlink(path)}`, stats: found };
  if (found.isDirectory()) return { digest: "directory", stats: found };
  refuseIrregular(name, found);
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await handle.stat();
    refuseIrregular(name, stats);
    return { digest: await digestHandle(handle, stats.size), stats };
  } finally {
    await handle.close();
  }
}

async function digestHandle(handle: FileHandle, size: number): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(size + 1, CHUNK_BYTES));
  for (let total = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, total);
    hash.update(buffer.subarray(0, bytesRead));
    total += bytesRead;
    if (bytesRead === 0 || (bytesRead < buffer.length && total === size)) return `sha256:${hash.digest("hex")}`;
  }
}

function classifyDigest({ before, after }: LaidOutFile, digest: string | null, stats: Stats | undefined): FoundFile["at"] {
  const matches = (image: FileImage | null): boolean =>
    digest === (image?.digest ?? null) && (image?.mode === undefined || image.mode === ((stats?.mode ?? 0) & 0o7777));
  const [isBefore, isAfter] = [matches(before), matches(after)];
  return isBefore && isAfter ? "both" : isBefore ? "before" : isAfter ? "after" : "other";
}

/** True if a path, with links resolved, leads to this place. Missing parts count from the nearest existing directory. */
export async function leadsTo(written: string, place: string): Promise<boolean> {
  let rest = "";
  for (let at = written; ; at = dirname(at)) {
    try {
      return join(await realpath(at), rest) === place;
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || at === dirname(at)) return false;
    }
    rest = join(basename(at), rest);
  }
}
