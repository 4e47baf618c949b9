import { createHash, randomBytes } from "node:crypto";
import { chmod, type FileHandle, lstat, mkdir, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { SpilledOutput, SpillFile } from "@assent/core";
import { openNew } from "./open.ts";

/** Limits in bytes. */
export type SpillLimits = { readonly perFile: number; readonly perSession: number };

const LIMIT_MARK = Buffer.from("\n[file limit reached]");

/** Bytes left for a session. Taken before writing, so that parallel calls cannot both take the last ones. */
export type SpillAllowance = { left: number };

/** The remaining allowance, counting what earlier processes wrote. */
export async function readSessionAllowance(directory: string, limit: number): Promise<SpillAllowance> {
  await makePrivateDirectory(directory);
  let used = 0;
  for (const name of await readdir(directory)) used += (await lstat(join(directory, name))).size;
  return { left: Math.max(0, limit - used) };
}

/** Refuses a link, which would lead the output elsewhere. */
async function makePrivateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const stats = await lstat(directory);
  if (!stats.isDirectory()) throw Object.assign(new Error(`${directory} is not a directory`), { code: "ENOTDIR" });
  if ((stats.mode & 0o077) !== 0) await chmod(directory, 0o700);
}

/** Creates a file with an unpredictable name. */
export async function openSpillFile(
  directory: string,
  callId: string,
  room: { readonly perFile: number; readonly session: SpillAllowance },
): Promise<SpillFile> {
  const path = join(directory, `${safeName(callId)}-${randomBytes(8).toString("hex")}.txt`);
  return createSpillFile(path, await openNew(path), room);
}

export function safeName(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80) || "_";
}

function createSpillFile(
  path: string,
  handle: FileHandle,
  room: { readonly perFile: number; readonly session: SpillAllowance },
): SpillFile {
  const hash = createHash("sha256");
  let size = 0;
  let full = false;
  const put = async (bytes: Uint8Array): Promise<void> => {
    hash.update(bytes);
    size += bytes.length;
    await handle.writeFile(bytes); // appends at the handle's position
  };
  /** The part that still fits; the limit mark always does. */
  const take = (bytes: Uint8Array): Uint8Array => {
    const fits = Math.min(room.perFile - size, room.session.left) - LIMIT_MARK.length;
    const part = bytes.length <= fits ? bytes : bytes.subarray(0, characterBorder(bytes, Math.max(0, fits)));
    full = part.length < bytes.length;
    room.session.left -= part.length + (full ? LIMIT_MARK.length : 0);
    return part;
  };
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (full) return;
    await put(take(bytes));
    if (full) await put(LIMIT_MARK);
  };
  const abandon = async (error: unknown): Promise<never> => {
    full = true;
    room.session.left += size;
    await handle.close();
    await unlink(path);
    throw error;
  };
  let turn: Promise<void> = Promise.resolve();
  let ended: Promise<SpilledOutput> | undefined;
  return {
    path,
    write(chunk) {
      turn = turn.then(() => write(Buffer.from(chunk)).catch(abandon));
      return turn;
    },
    end() {
      ended ??= turn
        .then(() => handle.close())
        .then(() => ({ path, size, sha256: hash.digest("hex"), ...(full && { cut: true as const }) }));
      return ended;
    },
  };
}

/** The end of the last whole UTF-8 character before `at`. */
function characterBorder(bytes: Uint8Array, at: number): number {
  let border = at;
  while (border > 0 && at - border < 4 && ((bytes[border] ?? 0) & 0xc0) === 0x80) border--;
  return border;
}
