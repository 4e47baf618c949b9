import { type Stats, statSync } from "node:fs";
import { errorCode } from "@assent/core";
import type { Hazard, HazardId } from "../shell/plan/plan.ts";
import type { ResolvedPath } from "./resolve.ts";

export type PathHazards = {
  readonly hazards: readonly Hazard[];
  /** `hazards`, plus those that matter only for writing. */
  readonly writeHazards: readonly Hazard[];
  /** The file, if it has several hard links. */
  readonly linked?: Stats;
};

const NONE: PathHazards = Object.freeze({ hazards: Object.freeze([]), writeHazards: Object.freeze([]) });

export function findPathHazards(path: string, { real }: ResolvedPath): PathHazards {
  const file = real === null || real === NULL_DEVICE ? undefined : statFile(real);
  const hazards: Hazard[] = [];
  if (real === null || file === "unknown") hazards.push(createHazard("path_unresolved", path, "Assent can't tell where it leads"));
  if (BREAKS.test(path)) hazards.push(createHazard("control_character", path, "it contains a line break or another control character"));
  if (isForeignPath(path)) hazards.push(createHazard("other_system_path", path, "it is written for another operating system"));
  if (isSpecial(file)) hazards.push(createHazard("path_unresolved", path, "it is a FIFO, socket or device"));
  if (isLinked(file)) return { hazards, writeHazards: [...hazards, createHazard("hard_link", path, HARD_LINK)], linked: file };
  return hazards.length === 0 ? NONE : { hazards, writeHazards: hazards };
}

const NULL_DEVICE = "/dev/null";
const BREAKS = /[\p{Cc}\u2028\u2029]/u;
const HARD_LINK = "the file has other hard links, which keep the old content when it is replaced";

function createHazard(id: HazardId, path: string, text: string): Hazard {
  return { id, text: `${JSON.stringify(path)}: ${text}` };
}

/** A backslash, a drive (`C:x`), or a stream (`x:stream`). */
function isForeignPath(path: string): boolean {
  return path.includes("\\") || /^[A-Za-z]:/.test(path) || /[^/]:[^/]*$/.test(path);
}

/** Undefined: no such file. */
function statFile(real: string): Stats | "unknown" | undefined {
  try {
    return statSync(real, { throwIfNoEntry: false });
  } catch (error) {
    return errorCode(error) === "ENOTDIR" ? undefined : "unknown";
  }
}

function isSpecial(file: ReturnType<typeof statFile>): boolean {
  return typeof file === "object" && !file.isFile() && !file.isDirectory();
}

function isLinked(file: ReturnType<typeof statFile>): file is Stats {
  return typeof file === "object" && file.isFile() && file.nlink > 1;
}
