import type { Clock } from "@assent/core";
import { type FollowedFile, followFile, notice } from "./followed-file.ts";
import { assemblePolicy, type LoadedPolicy, type PolicyParts, settingsFilesOf } from "./load-policy.ts";
import type { PolicyPlaces } from "./policy-places.ts";
import { type Problem, SettingsError } from "./problem.ts";

/** What following a policy's files needs. */
export type FollowOptions = {
  readonly clock: Clock;
  readonly warn: (problem: Problem) => void;
  /** Whether the workspace is trusted as it is now. Absent: as it was at the start, until the project's file says something else. */
  readonly trusted?: () => boolean;
};

/** What came of a look at the files. `unsettled`: one of them is gone or broken, and a final look shall act on it. */
export type Looked = { readonly reloaded: boolean; readonly unsettled: boolean };

/** A loaded policy that can be compared with its files. */
export type FollowedPolicy = {
  readonly loaded: () => LoadedPolicy;
  /** Takes over what changed and is good. A file that is gone or broken is believed at a final look only: an editor may be halfway through saving it. */
  readonly look: (isFinal: boolean) => Looked;
  /** Understands anew what was read, because the tools that rules name are others now. What no longer can be understood leaves all of it as it was. */
  readonly compile: () => void;
};

/** Loads a policy so that it can be compared with its files later. Throws `SettingsError` when a problem refuses. */
export function followPolicy(places: PolicyPlaces, parts: PolicyParts, options: FollowOptions): FollowedPolicy {
  const files = settingsFilesOf(places, parts).map((source) => followFile(source, options.clock));
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

  const look = (isFinal: boolean): Looked => {
    for (const file of files) notice(file, options.clock);
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
    tell(final.problems, taken, options.warn);
    return true;
  };
  const compile = (): void => {
    const again = assemble(trusted);
    const broken = again.problems.filter(refuses);
    if (broken.length === 0) loaded = again.loaded;
    for (const problem of broken) options.warn(staysInForce(problem));
  };
  return { loaded: () => loaded, look, compile };
}

function refuses({ effect }: Problem): boolean {
  return effect === "refuse";
}

/** Trust is bound to what the project's file said when it was given. */
function trustWhileEqual({ trusted }: PolicyPlaces, files: readonly FollowedFile[]): () => boolean {
  const project = files.find(({ source }) => source.scope === "project");
  const first = project?.latest.content;
  return () => trusted && project?.latest.content === first;
}

function problemsOf({ source }: FollowedFile, problems: readonly Problem[]): readonly Problem[] {
  return problems.filter((problem) => refuses(problem) && problem.file === source.file);
}

type Settling = { readonly broken: readonly Problem[]; readonly isFinal: boolean; readonly warn: (problem: Problem) => void };

/** Whether the latest is now in force. What is broken leaves the last good content in force. */
function settle(file: FollowedFile, { broken, isFinal, warn }: Settling): boolean {
  const isDoubtful = broken.length > 0 || file.latest.isGone;
  file.state = isDoubtful && !isFinal ? "doubtful" : "settled";
  if (file.state === "doubtful") return false;
  for (const problem of broken) warn(staysInForce(problem));
  if (broken.length > 0) return false;
  file.written = file.latest.written;
  return true;
}

function staysInForce(problem: Problem): Problem {
  return { ...problem, message: `${problem.message} (what this file said before stays in force)`, effect: "warning" };
}

/** New warnings, and refusals that no file of this change is to blame for: a mode that was locked meanwhile. */
function tell(problems: readonly Problem[], taken: readonly FollowedFile[], warn: (problem: Problem) => void): void {
  for (const problem of problems) {
    const isNew = taken.some(({ source }) => source.file === problem.file);
    if (isNew || refuses(problem)) warn({ ...problem, effect: "warning" });
  }
}
