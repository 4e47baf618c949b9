import { chmod, lstat, mkdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { ignoreCodes } from "../../system/ignore-codes.ts";
import { openNew } from "../open.ts";
import type { WritablePlace } from "../open-place.ts";
import { namingFile } from "./failure.ts";
import { inLanes } from "./lanes.ts";
import type { LaidOutDirectory, Layout } from "./layout.ts";
import { type Places, syncDirectories } from "./places.ts";

/** Creates missing directories for new files, each with its marker first. */
export async function makeDirectories({ files, directories }: Layout, places: Places): Promise<void> {
  const own = directories.flatMap(({ path, image }) => (image ? [path] : []));
  const needed = new Set([
    ...files.filter(({ before, after }) => before === null && after !== null).map(({ directory }) => directory),
    ...own,
  ]);
  const missing = new Set<string>();
  await inLanes([...needed], async (directory) => {
    if (!(await exists(directory, places))) missing.add(directory);
  });
  if (missing.size === 0) return;
  const known = new Map(directories.map((directory) => [directory.path, directory]));
  const making: DirectoryCreation = { known, places, changed: new Set() };
  for (const path of missing) await makeWithParents(path, making);
  await syncDirectories(making.changed, places);
}

type DirectoryCreation = { readonly known: ReadonlyMap<string, LaidOutDirectory>; readonly places: Places; readonly changed: Set<string> };

async function makeWithParents(path: string, making: DirectoryCreation): Promise<void> {
  const directory = making.known.get(path);
  if (directory === undefined || (await exists(path, making.places))) return;
  await makeWithParents(directory.parent, making);
  await namingFile(path, makeDirectory(directory, making.places));
  making.changed.add(directory.parent);
}

async function exists(directory: string, places: Places): Promise<boolean> {
  const used = places.use(directory, async () => true);
  return (await namingFile(directory, used).catch(ignoreCodes("ENOENT"))) ?? false;
}

async function makeDirectory({ parent, name, marker, image }: LaidOutDirectory, places: Places): Promise<void> {
  await places.use(parent, async ({ path }) => {
    await unlink(join(path, marker)).catch(ignoreCodes("ENOENT")); // left by a crash of this set
    await (await openNew(join(path, marker))).close();
    await mkdir(join(path, name));
    if (image?.mode !== undefined) await chmod(join(path, name), image.mode);
  });
}

export async function removeTemporaries({ files }: Pick<Layout, "files">, places: Places): Promise<void> {
  await inLanes(files, ({ directory, temporary }) => usePlace(directory, places, ({ path }) => unlink(join(path, temporary))));
}

/** Removes directories created for a set, unless they are in use by now. */
export function removeDirectories(layout: Layout, places: Places): Promise<void> {
  return removeMarkers(layout, places, async ({ path }, inParent) => {
    await places.forget(path);
    await rmdir(inParent).catch(ignoreCodes("ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR"));
  });
}

export function keepDirectories(layout: Layout, places: Places): Promise<void> {
  return removeMarkers(layout, places, async () => undefined);
}

type MarkerAction = (directory: LaidOutDirectory, inParent: string) => Promise<void>;

async function removeMarkers({ directories }: Layout, places: Places, first: MarkerAction): Promise<void> {
  const changed = new Set<string>();
  for (const directory of directories.toReversed()) {
    const { parent, name, marker } = directory;
    await usePlace(parent, places, async ({ path }) => {
      await lstat(join(path, marker));
      await first(directory, join(path, name));
      await unlink(join(path, marker));
      changed.add(parent);
    });
  }
  await syncDirectories(changed, places);
}

/** Ignores places that are missing or no longer reachable without links. */
async function usePlace(directory: string, places: Places, work: (place: WritablePlace) => Promise<void>): Promise<void> {
  await namingFile(directory, places.use(directory, work)).catch(ignoreCodes("ENOENT", "ENOTDIR", "ERR_PLACE_CHANGED"));
}
