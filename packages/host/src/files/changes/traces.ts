import { lstat, mkdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../system/error-code.ts";
import { openNew } from "../open.ts";
import type { Place } from "../open-place.ts";
import { naming } from "./failure.ts";
import { inLanes } from "./lanes.ts";
import type { LaidOutDirectory, Layout } from "./layout.ts";
import { type Places, syncDirectories } from "./places.ts";

/** Makes the directories that new files need and that are not there, each with its marker first. */
export async function makeDirectories({ files, directories }: Layout, places: Places): Promise<void> {
  const needed = new Set(files.filter(({ before, after }) => before === null && after !== null).map(({ directory }) => directory));
  const missing = new Set<string>();
  await inLanes([...needed], async (directory) => {
    if (!(await isThere(directory, places))) missing.add(directory);
  });
  if (missing.size === 0) return;
  const known = new Map(directories.map((directory) => [directory.path, directory]));
  const making: Making = { known, places, changed: new Set() };
  for (const path of missing) await makeWithParents(path, making);
  await syncDirectories(making.changed, places);
}

type Making = { readonly known: ReadonlyMap<string, LaidOutDirectory>; readonly places: Places; readonly changed: Set<string> };

async function makeWithParents(path: string, making: Making): Promise<void> {
  const directory = making.known.get(path);
  if (directory === undefined || (await isThere(path, making.places))) return;
  await makeWithParents(directory.parent, making);
  await naming(path, make(directory, making.places));
  making.changed.add(directory.parent);
}

async function isThere(directory: string, places: Places): Promise<boolean> {
  try {
    return await naming(
      directory,
      places.use(directory, async () => true),
    );
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function make({ parent, name, marker }: LaidOutDirectory, places: Places): Promise<void> {
  await places.use(parent, async ({ path }) => {
    await unlink(join(path, marker)).catch(ignore("ENOENT")); // of this very set: a crash may have left it
    await (await openNew(join(path, marker))).close();
    await mkdir(join(path, name));
  });
}

/** Removes the temporary files of a set, whoever wrote them. */
export async function removeTemporaries({ files }: Pick<Layout, "files">, places: Places): Promise<void> {
  await inLanes(files, ({ directory, temporary }) => inPlace(directory, places, ({ path }) => unlink(join(path, temporary))));
}

/** Removes the directories that were made for a set, unless somebody has come to use them. */
export function removeDirectories(layout: Layout, places: Places): Promise<void> {
  return removeMarkers(layout, places, async ({ path }, inParent) => {
    await places.forget(path);
    await rmdir(inParent).catch(ignore("ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR"));
  });
}

/** Keeps the directories that were made for a set. */
export function keepDirectories(layout: Layout, places: Places): Promise<void> {
  return removeMarkers(layout, places, async () => undefined);
}

type First = (directory: LaidOutDirectory, inParent: string) => Promise<void>;

async function removeMarkers({ directories }: Layout, places: Places, first: First): Promise<void> {
  const changed = new Set<string>();
  for (const directory of directories.toReversed()) {
    const { parent, name, marker } = directory;
    await inPlace(parent, places, async ({ path }) => {
      await lstat(join(path, marker));
      await first(directory, join(path, name));
      await unlink(join(path, marker));
      changed.add(parent);
    });
  }
  await syncDirectories(changed, places);
}

/** What is not there, or can no longer be reached without links, holds nothing to remove. */
async function inPlace(directory: string, places: Places, work: (place: Place) => Promise<void>): Promise<void> {
  await naming(directory, places.use(directory, work)).catch(ignore("ENOENT", "ENOTDIR", "ERR_PLACE_CHANGED"));
}

function ignore(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(errorCode(error) ?? "")) throw error;
  };
}
