import { errorCode } from "../../system/error-code.ts";
import { syncDirectory } from "../replace.ts";
import { naming } from "./failure.ts";
import { inLanes } from "./lanes.ts";
import type { Places } from "./places.ts";

/** Makes names last that came or went: every directory is synced once. One that is gone is gone with all that was in it. */
export async function syncDirectories(directories: Iterable<string>, places: Places): Promise<void> {
  await inLanes([...new Set(directories)], async (directory) => {
    try {
      await naming(
        directory,
        places.use(directory, ({ path }) => syncDirectory(path)),
      );
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  });
}
