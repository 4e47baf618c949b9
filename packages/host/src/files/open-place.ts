import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { errorCode, type Files } from "@assent/core";
import { ignoreCodes } from "../system/ignore-codes.ts";

/** The directory that was judged. */
export type PlaceAnchor = NonNullable<NonNullable<Parameters<Files["replace"]>[2]>["anchor"]>;

/** A directory opened for writing. */
export type WritablePlace = {
  /** Names this very directory until it is closed, even if it is renamed. */
  readonly path: string;
  /** Checks again that it is the right directory. */
  readonly confirm: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function openNamedPlace(directory: string): Promise<WritablePlace> {
  await mkdir(directory, { recursive: true });
  return { path: directory, confirm: async () => undefined, close: async () => undefined };
}

/** Opens a directory below the judged one, creating it if needed. Rejects with `ERR_PLACE_CHANGED` if that one was replaced or a link appeared in between. */
export async function openPlace(directory: string, anchor: PlaceAnchor): Promise<WritablePlace> {
  const names = relative(anchor.path, directory)
    .split("/")
    .filter((name) => name !== "");
  if (names[0] === "..") throw placeChangedError(directory);
  return process.platform === "linux" ? descend(anchor, names) : openCheckedPlace(directory, anchor);
}

/** Opens an existing directory by its real path. Rejects with `ERR_PLACE_CHANGED` if a link leads there; `confirm` does if it was moved since. */
export async function openRealPlace(directory: string): Promise<WritablePlace> {
  return process.platform === "linux" ? openHeldPlace(directory) : openCheckedRealPlace(directory);
}

async function openHeldPlace(directory: string): Promise<WritablePlace> {
  const handle = await openDirectory(directory);
  const confirm = async (): Promise<void> => {
    if ((await readlink(descriptorPath(handle))) !== directory) throw placeChangedError(directory);
  };
  try {
    await confirm();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { path: descriptorPath(handle), confirm, close: () => handle.close() };
}

async function openCheckedRealPlace(directory: string): Promise<WritablePlace> {
  const confirm = async (): Promise<void> => {
    if ((await realpath(directory)) !== directory) throw placeChangedError(directory);
  };
  if ((await lstat(directory)).isFile()) throw Object.assign(new Error(`${directory} is a file`), { code: "ENOTDIR" });
  await confirm();
  return { path: directory, confirm, close: async () => undefined };
}

/** Linux: holds the directory without read permission. */
const O_PATH = 0o10000000;
const HOLD_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

async function descend(anchor: PlaceAnchor, names: readonly string[]): Promise<WritablePlace> {
  let handle = await openDirectory(anchor.path);
  try {
    await assertSameDirectory(handle, anchor);
    for (const name of names) {
      const below = await openDirectoryBelow(handle, name);
      await handle.close();
      handle = below;
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  return { path: descriptorPath(handle), confirm: async () => undefined, close: () => handle.close() };
}

function descriptorPath({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

async function openDirectoryBelow(handle: FileHandle, name: string): Promise<FileHandle> {
  const path = join(descriptorPath(handle), name);
  await mkdir(path).catch(ignoreCodes("EEXIST"));
  return openDirectory(path);
}

async function openDirectory(path: string): Promise<FileHandle> {
  try {
    return await open(path, HOLD_FLAGS);
  } catch (error) {
    const link = (await lstat(path).catch(() => undefined))?.isSymbolicLink();
    throw link || errorCode(error) === "ELOOP" ? placeChangedError(path) : error;
  }
}

async function assertSameDirectory(handle: FileHandle, { path, device, inode }: PlaceAnchor): Promise<void> {
  const { dev, ino } = await handle.stat({ bigint: true });
  const same = String(dev) === device && String(ino) === inode && (await readlink(descriptorPath(handle))) === path;
  if (!same) throw placeChangedError(path);
}

/** For systems that cannot hold a directory open by path: checks it first, and again just before the end. */
async function openCheckedPlace(directory: string, anchor: PlaceAnchor): Promise<WritablePlace> {
  const confirm = async (): Promise<void> => {
    const { dev, ino } = await stat(anchor.path, { bigint: true });
    const same = String(dev) === anchor.device && String(ino) === anchor.inode && (await realpath(directory)) === directory;
    if (!same) throw placeChangedError(directory);
  };
  await mkdir(directory, { recursive: true });
  await confirm();
  return { path: directory, confirm, close: async () => undefined };
}

function placeChangedError(path: string): Error {
  return Object.assign(new Error(`${path} is no longer the same directory`), { code: "ERR_PLACE_CHANGED" });
}
