import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rename, unlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { errorCode } from "@assent/core";
import { ignoreCodes } from "../system/ignore-codes.ts";
import { openNew, refuseIrregular } from "./open.ts";
import { openNamedPlace, openPlace, type PlaceAnchor, type WritablePlace } from "./open-place.ts";

const MAX_LINKS = 40;

type ReplaceOptions = { readonly mode?: number; readonly anchor?: PlaceAnchor };

/**
 * Replaces a whole file atomically. Keeps mode and owner, or replaces nothing. Follows links unless an anchor is given. Missing directories of a file
 * that only the user can read are made for the user alone.
 */
export async function replaceFile(path: string, bytes: string | Uint8Array, options: ReplaceOptions = {}): Promise<void> {
  const { mode, anchor } = options;
  const target = anchor ? path : await resolveLinks(path);
  if (mode === 0o600 && !anchor) await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const place = anchor ? await openPlace(dirname(target), anchor) : await openNamedPlace(dirname(target));
  try {
    await replaceInPlace(place, basename(target), { bytes, mode });
  } finally {
    await place.close();
  }
}

type Replacement = { readonly bytes: string | Uint8Array; readonly mode: number | undefined };

async function replaceInPlace(place: WritablePlace, name: string, { bytes, mode }: Replacement): Promise<void> {
  const target = join(place.path, name);
  const old = await statExisting(target, name);
  const temporary = join(place.path, `.assent-${randomBytes(12).toString("hex")}`);
  const handle = await openNew(temporary);
  try {
    await writeNewFile(handle, bytes, { old, mode });
    await place.confirm();
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch((left: unknown) => {
      throw new Error(`${temporary} could not be removed`, { cause: left });
    });
    throw error;
  }
  await syncDirectory(place.path);
}

/** Writes a new file with owner and mode, syncs and closes it. */
export async function writeNewFile(
  handle: FileHandle,
  bytes: string | Uint8Array,
  { old, mode }: { readonly old: Stats | undefined; readonly mode: number | undefined },
): Promise<void> {
  try {
    await handle.writeFile(bytes);
    if (old) await keepOwner(handle, old);
    await handle.chmod(mode ?? (old ? old.mode & 0o7777 : 0o666 & ~process.umask()));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** With another owner, the same mode would open the file to other people. */
async function keepOwner(handle: FileHandle, old: Stats): Promise<void> {
  const now = await handle.stat();
  if (now.uid !== old.uid || now.gid !== old.gid) await handle.chown(old.uid, old.gid);
}

async function statExisting(target: string, name: string): Promise<Stats | undefined> {
  const stats = await lstat(target).catch(ignoreCodes("ENOENT"));
  if (stats) refuseIrregular(name, stats);
  return stats;
}

/** Follows the links of the last component. Only links of existing directories are resolved. */
async function resolveLinks(path: string): Promise<string> {
  let at = path;
  for (let hop = 0; hop <= MAX_LINKS; hop++) {
    const directory = await realpath(dirname(at)).catch(ignoreCodes("ENOENT"));
    if (directory === undefined) return at;
    at = join(directory, basename(at));
    const stats = await lstat(at).catch(ignoreCodes("ENOENT"));
    if (!stats?.isSymbolicLink()) return at;
    const leads = await readlink(at);
    at = isAbsolute(leads) ? leads : `${directory}/${leads}`;
  }
  throw Object.assign(new Error(`${path} is a loop of symbolic links`), { code: "ELOOP" });
}

/** Errors of file systems that cannot sync a directory; the rename has already happened. */
const CANNOT_SYNC = ["EINVAL", "ENOTSUP", "EISDIR", "EACCES", "EPERM"];

/** Makes created and removed names durable. */
export async function syncDirectory(directory: string): Promise<void> {
  try {
    const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!CANNOT_SYNC.includes(errorCode(error) ?? "")) throw error;
  }
}
