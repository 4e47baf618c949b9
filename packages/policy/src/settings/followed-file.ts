import { statSync } from "node:fs";
import type { Clock } from "@assent/core";
import { readSource } from "./load-policy.ts";
import type { LayerSource } from "./policy-places.ts";
import type { WrittenSettings } from "./read-settings.ts";

/** One settings file that is followed: what of it is in force, and how it was last seen. */
export type FollowedFile = {
  readonly source: LayerSource;
  /** In force. */
  written: WrittenSettings;
  latest: Sight;
  /** `new`: nobody has looked into the latest yet. `doubtful`: it is gone or broken, and may only be so for a moment. `settled`: it was acted on. */
  state: "new" | "doubtful" | "settled";
};

/** A file as it was seen. */
export type Sight = {
  readonly written: WrittenSettings;
  /** The text, or why there is none. */
  readonly content: string;
  readonly isGone: boolean;
  readonly stamp: string;
  /** Until then an equal stamp proves nothing. */
  readonly sureFrom: number;
};

/** How coarse a file system may count time. */
const COARSEST_MS = 2_000;

/** Reads a file for the first time. */
export function followFile(source: LayerSource, clock: Clock): FollowedFile {
  const latest = seeFile(source, clock);
  return { source, written: latest.written, latest, state: "settled" };
}

/** Looks whether a file says something else than when it was last seen. */
export function notice(file: FollowedFile, clock: Clock): void {
  const { source, latest } = file;
  if (clock.now() >= latest.sureFrom && stampOf(source.file) === latest.stamp) return;
  const sight = seeFile(source, clock);
  if (sight.content === latest.content) {
    file.latest = { ...latest, stamp: sight.stamp };
    return;
  }
  file.latest = sight;
  file.state = "new";
}

/** The stamp is taken first: what is written after it is seen next time. */
function seeFile(source: LayerSource, clock: Clock): Sight {
  const stamp = stampOf(source.file);
  const { written, text } = readSource(source);
  const [problem] = written.problems;
  const content = text ?? `\0${problem?.type ?? "absent"}`;
  return { written, content, isGone: text === undefined && !problem, stamp, sureFrom: clock.now() + COARSEST_MS };
}

/** Changes whenever the file's content, owner or mode may have. */
function stampOf(file: string): string {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (!stats) return "absent";
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    return String(error);
  }
}
