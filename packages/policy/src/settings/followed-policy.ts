import { statSync } from "node:fs";
import type { Clock } from "@assent/core";
import { assemblePolicy, interpretFile, type LoadedPolicy, listSettingsFiles, type PolicyOptions } from "./load-policy.ts";
import type { LayerSource, PolicyLocations } from "./locations.ts";
import { SettingsError, type SettingsProblem } from "./problem.ts";
import { type FileReading, readSettingsFile } from "./read-file.ts";
import type { WrittenSettings } from "./read-settings.ts";

export type FollowOptions = {
  readonly clock: Clock;
  readonly warn: (problem: SettingsProblem) => void;
  /** Current trust; absent: trusted until the project's file changes. */
  readonly trusted?: () => boolean;
};

/** `unsettled`: a file is missing or broken; a final check decides. */
export type FileCheck = { readonly reloaded: boolean; readonly unsettled: boolean };

/** A loaded policy that can be compared with its files. */
export type FollowedPolicy = {
  readonly loaded: () => LoadedPolicy;
  /** Applies valid changes. Missing and broken files count only in a final check, because an editor may be saving. */
  readonly look: (isFinal: boolean) => FileCheck;
  /** Compiles again after tools changed. If that fails, everything stays as it was. */
  readonly compile: () => void;
};

/** Loads a policy that can follow its files. Throws `SettingsError` if a problem refuses. */
export function followPolicy(places: PolicyLocations, parts: PolicyOptions, options: FollowOptions): FollowedPolicy {
  const files = listSettingsFiles(places, parts).map((source) => followFile(source, options.clock));
  const assemble = (trusted: boolean, chosen: ReadonlySet<FollowedFile> = new Set()): ReturnType<typeof assemblePolicy> =>
    assemblePolicy(
      files.map((file) => ({ source: file.source, written: chosen.has(file) ? file.latest.written : file.written })),
      { ...places, trusted },
      parts,
    );
  const { loaded: first, problems } = assemble(places.trusted);
  if (problems.some(refuses)) throw new SettingsError(problems);
  let loaded = first;
  let trusted = places.trusted;
  const trustNow = options.trusted ?? trustWhileEqual(places, files);

  const look = (isFinal: boolean): FileCheck => {
    for (const file of files) checkFile(file, options.clock);
    const open = new Set(files.filter(({ state }) => state === "new" || (isFinal && state === "doubtful")));
    const isTrusted = open.size > 0 || isFinal ? trustNow() : trusted;
    const reloaded = isTrusted !== trusted || open.size > 0 ? act(open, isTrusted, isFinal) : false;
    return { reloaded, unsettled: files.some(({ state }) => state === "doubtful") };
  };

  const act = (open: ReadonlySet<FollowedFile>, isTrusted: boolean, isFinal: boolean): boolean => {
    const tried = assemble(isTrusted, open);
    const taken = [...open].filter((file) => settle(file, { broken: problemsOf(file, tried.problems), isFinal, warn: options.warn }));
    if (taken.length === 0 && isTrusted === trusted) return false;
    trusted = isTrusted;
    const final = taken.length === open.size ? tried : assemble(trusted);
    loaded = final.loaded;
    warnAbout(final.problems, taken, options.warn);
    return true;
  };
  const compile = (): void => {
    const again = assemble(trusted);
    const broken = again.problems.filter(refuses);
    if (broken.length === 0) loaded = again.loaded;
    for (const problem of broken) options.warn(keepPrevious(problem));
  };
  return { loaded: () => loaded, look, compile };
}

function refuses({ effect }: SettingsProblem): boolean {
  return effect === "refuse";
}

function trustWhileEqual({ trusted }: PolicyLocations, files: readonly FollowedFile[]): () => boolean {
  const project = files.find(({ source }) => source.scope === "project");
  const first = project?.latest.content;
  return () => trusted && project?.latest.content === first;
}

function problemsOf({ source }: FollowedFile, problems: readonly SettingsProblem[]): readonly SettingsProblem[] {
  return problems.filter((problem) => refuses(problem) && problem.file === source.file);
}

type SettleOptions = {
  readonly broken: readonly SettingsProblem[];
  readonly isFinal: boolean;
  readonly warn: (problem: SettingsProblem) => void;
};

/** True if the latest content is now in effect. */
function settle(file: FollowedFile, { broken, isFinal, warn }: SettleOptions): boolean {
  const isDoubtful = broken.length > 0 || file.latest.isGone;
  file.state = isDoubtful && !isFinal ? "doubtful" : "settled";
  if (file.state === "doubtful") return false;
  for (const problem of broken) warn(keepPrevious(problem));
  if (broken.length > 0) return false;
  file.written = file.latest.written;
  return true;
}

function keepPrevious(problem: SettingsProblem): SettingsProblem {
  return { ...problem, message: `${problem.message} (the previous content of this file stays in effect)`, effect: "warning" };
}

/** Warns of new problems, and of refusals no changed file causes. */
function warnAbout(problems: readonly SettingsProblem[], taken: readonly FollowedFile[], warn: (problem: SettingsProblem) => void): void {
  for (const problem of problems) {
    const isNew = taken.some(({ source }) => source.file === problem.file);
    if (isNew || refuses(problem)) warn({ ...problem, effect: "warning" });
  }
}

/** A followed settings file: its effective and its latest content. */
type FollowedFile = {
  readonly source: LayerSource;
  written: WrittenSettings;
  latest: FileSnapshot;
  /** `new`: not examined yet. `doubtful`: missing or broken, maybe briefly. `settled`: handled. */
  state: "new" | "doubtful" | "settled";
};

type FileSnapshot = {
  readonly written: WrittenSettings;
  readonly content: string;
  readonly isGone: boolean;
  readonly stamp: string;
  /** Until then, an equal stamp proves nothing. */
  readonly sureFrom: number;
};

/** Time resolution of coarse file systems. */
const COARSEST_CLOCK_MS = 2_000;

function followFile(source: LayerSource, clock: Clock): FollowedFile {
  const latest = snapshotFile(source, clock);
  return { source, written: latest.written, latest, state: "settled" };
}

/** Parses a file again only if its content changed. */
function checkFile(file: FollowedFile, clock: Clock): void {
  const { source, latest } = file;
  const stamp = stampOf(source.file);
  if (stamp === latest.stamp && (stamp === ABSENT || clock.now() >= latest.sureFrom)) return;
  const reading = readSettingsFile(source.file, source.owner);
  if (contentOf(reading) === latest.content) {
    file.latest = { ...latest, stamp };
    return;
  }
  file.latest = createSnapshot(source, reading, stamp, clock);
  file.state = "new";
}

/** The stamp is taken first, so that later writes are noticed. */
function snapshotFile(source: LayerSource, clock: Clock): FileSnapshot {
  const stamp = stampOf(source.file);
  return createSnapshot(source, readSettingsFile(source.file, source.owner), stamp, clock);
}

function createSnapshot(source: LayerSource, reading: FileReading, stamp: string, clock: Clock): FileSnapshot {
  const sureFrom = clock.now() + COARSEST_CLOCK_MS;
  return { written: interpretFile(source, reading), content: contentOf(reading), isGone: "absent" in reading, stamp, sureFrom };
}

/** NUL cannot start a settings text. */
function contentOf(reading: FileReading): string {
  if ("text" in reading) return reading.text;
  return "absent" in reading ? "\0absent" : `\0${reading.fault.type}`;
}

const ABSENT = "absent";

/** Changes with content, owner or mode. */
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
