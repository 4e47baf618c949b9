import type { Stats } from "node:fs";
import { link, lstat, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, type FileImage } from "@assent/core";
import { nodeDigest } from "../../system/digest.ts";
import { ignoreCodes } from "../../system/ignore-codes.ts";
import { openNew } from "../open.ts";
import type { WritablePlace } from "../open-place.ts";
import { writeNewFile } from "../replace.ts";
import { CallerError, callCaller, namingFile } from "./failure.ts";
import { inLanes } from "./lanes.ts";
import type { LaidOutFile } from "./layout.ts";
import type { Places } from "./places.ts";

export type FileStep = {
  readonly file: LaidOutFile;
  /** Null: delete the file. */
  readonly image: FileImage | null;
  /** A file exists there now. */
  readonly replaces: boolean;
  /** The file whose owner and mode are kept. */
  readonly old: Stats | undefined;
};

/** Writes and syncs the new bytes beside their targets, a few files at a time. */
export async function writeTemporaries(steps: readonly FileStep[], places: Places, signal?: AbortSignal): Promise<void> {
  await inLanes(steps, async (step) => {
    signal?.throwIfAborted();
    if (step.image === null) return;
    const bytes = await readContent(step.image, step.file);
    await namingFile(
      step.file.path,
      places.use(step.file.directory, (place) => writeTemporary(step, bytes, place)),
    );
  });
}

async function readContent(image: FileImage, { path }: LaidOutFile): Promise<Uint8Array> {
  const bytes = await callCaller(image.bytes);
  const digest = `sha256:${nodeDigest.sha256Bytes(bytes)}`;
  if (digest === image.digest) return bytes;
  throw new CallerError("bytes and digest differ", { cause: new Error(`The bytes for ${path} are not those of ${image.digest}.`) });
}

async function writeTemporary({ file, old }: FileStep, bytes: Uint8Array, { path }: WritablePlace): Promise<void> {
  const temporary = join(path, file.temporary);
  const handle = await openNew(temporary).catch(async (error: unknown) => {
    if (errorCode(error) !== "EEXIST") throw error;
    await unlink(temporary); // of this set: a power cut can bring back removed files
    return openNew(temporary);
  });
  await writeNewFile(handle, bytes, { old, mode: old ? undefined : (file.mode ?? undefined) });
}

/** Puts the new bytes in place in path order, then deletes. Calls `done` after each change. */
export async function exchangeFiles(steps: readonly FileStep[], places: Places, done: (file: LaidOutFile) => void): Promise<void> {
  const inOrder = [...steps.filter(({ image }) => image !== null), ...steps.filter(({ image }) => image === null)];
  for (const step of inOrder) {
    await namingFile(
      step.file.path,
      places.use(step.file.directory, (place) => changeFile(step, place)),
    );
    done(step.file);
  }
}

async function changeFile({ file, image, replaces }: FileStep, { path }: WritablePlace): Promise<void> {
  const target = join(path, file.name);
  const temporary = join(path, file.temporary);
  if (image === null) await unlink(target);
  else if (replaces) await rename(temporary, target);
  else await putInPlace(temporary, target);
}

/** Never overwrites a file that appeared meanwhile. The temporary name is removed later. */
async function putInPlace(temporary: string, target: string): Promise<void> {
  try {
    await link(temporary, target);
  } catch (error) {
    if (!CANNOT_LINK.includes(errorCode(error))) throw error;
    await refuseExisting(target);
    await rename(temporary, target);
  }
}

/** Error codes of file systems without hard links. */
const CANNOT_LINK: readonly (string | undefined)[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

async function refuseExisting(target: string): Promise<void> {
  const there = await lstat(target).catch(ignoreCodes("ENOENT"));
  if (there) throw Object.assign(new Error("a file of this name was created meanwhile"), { code: "EEXIST" });
}
