import type { Stats } from "node:fs";
import { chmod, link, lstat, mkdir, rename, rmdir, symlink, unlink } from "node:fs/promises";
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
    const { image, file } = step;
    if (image === null || isDirectory(image)) return;
    const target = linkTarget(image);
    const bytes = target === undefined ? await readContent(image, file) : undefined;
    const work = (place: WritablePlace): Promise<void> =>
      bytes ? writeTemporary({ ...step, image }, bytes, place) : makeTemporaryLink(file, target ?? "", place);
    await namingFile(file.path, places.use(file.directory, work));
  });
}

export function isDirectory(image: FileImage | null): boolean {
  return image?.digest === "directory";
}

function linkTarget({ digest }: FileImage): string | undefined {
  return digest.startsWith("link:") ? digest.slice("link:".length) : undefined;
}

async function makeTemporaryLink({ temporary }: LaidOutFile, target: string, { path }: WritablePlace): Promise<void> {
  await unlink(join(path, temporary)).catch(ignoreCodes("ENOENT")); // of this set
  await symlink(target, join(path, temporary));
}

async function readContent(image: FileImage, { path }: LaidOutFile): Promise<Uint8Array> {
  const bytes = await callCaller(image.bytes);
  const digest = `sha256:${nodeDigest.sha256Bytes(bytes)}`;
  if (digest === image.digest) return bytes;
  throw new CallerError("bytes and digest differ", { cause: new Error(`The bytes for ${path} are not those of ${image.digest}.`) });
}

async function writeTemporary(
  { file, image, old }: FileStep & { readonly image: FileImage },
  bytes: Uint8Array,
  { path }: WritablePlace,
): Promise<void> {
  const temporary = join(path, file.temporary);
  const handle = await openNew(temporary).catch(async (error: unknown) => {
    if (errorCode(error) !== "EEXIST") throw error;
    await unlink(temporary); // of this set: a power cut can bring back removed files
    return openNew(temporary);
  });
  await writeNewFile(handle, bytes, { old, mode: image.mode ?? (old ? undefined : (file.mode ?? undefined)) });
}

/** Puts the new bytes in place in path order, git's pointers last, then deletes, directories last. Calls `done` after each change. */
export async function exchangeFiles(steps: readonly FileStep[], places: Places, done: (file: LaidOutFile) => void): Promise<void> {
  const removesDirectory = ({ image, file }: FileStep): boolean => image === null && (isDirectory(file.before) || isDirectory(file.after));
  const rank = (step: FileStep): number => (step.image !== null ? Number(isGitPointer(step.file.path)) : removesDirectory(step) ? 3 : 2);
  const forward = steps.filter((step) => !removesDirectory(step)).toSorted((a, b) => rank(a) - rank(b));
  const inOrder = [...forward, ...steps.filter(removesDirectory).toReversed()];
  for (const step of inOrder) {
    if (removesDirectory(step)) await places.forget(step.file.path);
    await namingFile(
      step.file.path,
      places.use(step.file.directory, (place) => changeFile(step, place)),
    );
    done(step.file);
  }
}

/** Git reads these first, so they change after what they name. */
function isGitPointer(path: string): boolean {
  return /\/\.git\/(?:.*\/)?(?:refs\/|packed-refs$|index$|[A-Z_]*HEAD$)/.test(path);
}

async function changeFile({ file, image, replaces }: FileStep, { path }: WritablePlace): Promise<void> {
  const target = join(path, file.name);
  const temporary = join(path, file.temporary);
  if (image === null) await (isDirectory(file.before) || isDirectory(file.after) ? rmdir(target) : unlink(target));
  else if (isDirectory(image)) await putDirectory(target, image);
  else if (replaces) await rename(temporary, target);
  else await putInPlace(temporary, target);
}

/** Makes a removed directory again, or changes the mode of one. */
export async function putDirectory(target: string, { mode }: FileImage): Promise<void> {
  await mkdir(target).catch(ignoreCodes("EEXIST"));
  if (mode !== undefined) await chmod(target, mode);
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
