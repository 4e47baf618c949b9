import { statSync } from "node:fs";
import type { Clock } from "@assent/core";
import { understand } from "./load-policy.ts";
import type { LayerSource } from "./policy-places.ts";
import { type FileReading, readSettingsFile } from "./read-file.ts";
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

/** Looks whether a file says something else than when it was last seen. It is parsed only then. */
export function notice(file: FollowedFile, clock: Clock): void {
  const { source, latest } = file;
  const stamp = stampOf(source.file);
  if (stamp === latest.stamp && (stamp === ABSENT || clock.now() >= latest.sureFrom)) return;
  const reading = readSettingsFile(source.file, source.owner);
  if (contentOf(reading) === latest.content) {
    file.latest = { ...latest, stamp };
    return;
  }
  file.latest = sightOf({ source, reading, stamp, clock });
  file.state = "new";
}

/** The stamp is taken first: what is written after it is seen next time. */
function seeFile(source: LayerSource, clock: Clock): Sight {
  const stamp = stampOf(source.file);
  return sightOf({ source, reading: readSettingsFile(source.file, source.owner), stamp, clock });
}

type Seeing = { readonly source: LayerSource; readonly reading: FileReading; readonly stamp: string; readonly clock: Clock };

function sightOf({ source, reading, stamp, clock }: Seeing): Sight {
  const sureFrom = clock.now() + COARSEST_MS;
  return { written: understand(source, reading), content: contentOf(reading), isGone: "absent" in reading, stamp, sureFrom };
}

/** No text begins with NUL: it would not be JSONC. */
function contentOf(reading: FileReading): string {
  if ("text" in reading) return reading.text;
  return "absent" in reading ? "\0absent" : `\0${reading.fault.type}`;
}

const ABSENT = "absent";

/** Changes whenever the file's content, owner or mode may have. */
function stampOf(file: string): string {
  try {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (!stats) return ABSENT;
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    return String(error);
  }
}
