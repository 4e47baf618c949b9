import { dirname } from "node:path";
import { ignoreCodes } from "../../system/ignore-codes.ts";
import { openRealPlace, type WritablePlace } from "../open-place.ts";
import { syncDirectory } from "../replace.ts";
import { namingFile } from "./failure.ts";
import { inLanes } from "./lanes.ts";

/** Directories kept open while unused. */
const MAX_IDLE = 64;

/** Open directories by real path. */
export type Places = {
  /** Rejects with `ERR_PLACE_CHANGED` if a link leads there. */
  readonly use: <T>(directory: string, work: (place: WritablePlace) => Promise<T>) => Promise<T>;
  /** Rejects unless the nearest existing parent is reached without links. */
  readonly confirmAbsent: (directory: string) => Promise<void>;
  /** Call it before removing a directory. */
  readonly forget: (directory: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

type OpenPlace = { readonly place: Promise<WritablePlace>; users: number };

/** Opens directories on demand and keeps a bounded number of them open. */
export function openPlaces(): Places {
  const entries = new Map<string, OpenPlace>();

  const enter = (directory: string): OpenPlace => {
    const entry = entries.get(directory) ?? { place: openRealPlace(directory), users: 0 };
    entries.delete(directory); // most recently used last
    entries.set(directory, entry);
    entry.users++;
    return entry;
  };
  const trim = async (most: number): Promise<void> => {
    for (const [directory, { place, users }] of entries) {
      if (entries.size <= most) return;
      if (users > 0) continue;
      entries.delete(directory);
      await (await place).close();
    }
  };
  const use: Places["use"] = async (directory, work) => {
    const entry = enter(directory);
    try {
      return await work(await open(directory, entry));
    } finally {
      entry.users--;
      await trim(MAX_IDLE);
    }
  };
  const open = (directory: string, entry: OpenPlace): Promise<WritablePlace> =>
    entry.place.catch((error: unknown) => {
      if (entries.get(directory) === entry) entries.delete(directory);
      throw error;
    });
  const confirmAbsent = async (directory: string): Promise<void> => {
    const there = await use(directory, async () => true).catch(ignoreCodes("ENOENT"));
    if (!there && directory !== dirname(directory)) await confirmAbsent(dirname(directory));
  };
  const forget = async (directory: string): Promise<void> => {
    const entry = entries.get(directory);
    entries.delete(directory);
    await (await entry?.place)?.close();
  };
  return { use, confirmAbsent, forget, close: () => trim(0) };
}

/** Syncs each directory once; a missing one is skipped. */
export async function syncDirectories(directories: Iterable<string>, places: Places): Promise<void> {
  await inLanes([...new Set(directories)], async (directory) => {
    const synced = places.use(directory, ({ path }) => syncDirectory(path));
    await namingFile(directory, synced).catch(ignoreCodes("ENOENT"));
  });
}
