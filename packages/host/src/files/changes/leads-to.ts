import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../system/error-code.ts";

/** True when a path as it was written leads to this place, links resolved; what is not there yet counts from the nearest directory that is. */
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
