import { join } from "node:path";
import type { FileState, RecoveredChange } from "@assent/core";
import { exchangeFiles, type FileStep, isDirectory, putDirectory, writeTemporaries } from "./exchange.ts";
import { failureText } from "./failure.ts";
import { inLanes } from "./lanes.ts";
import { type LaidOutFile, type Layout, parentsOf } from "./layout.ts";
import { type FoundFile, inspectFile } from "./look.ts";
import { type Places, syncDirectories } from "./places.ts";
import { keepDirectories, removeDirectories, removeTemporaries } from "./traces.ts";

export type ChangeJob = { readonly layout: Layout; readonly places: Places };

type UnknownEnd = Extract<RecoveredChange, { readonly state: "unknown" }>;

/** Settles a set after a crash: complete sets stay, partial ones are restored. */
export async function recoverChanges(job: ChangeJob): Promise<RecoveredChange> {
  try {
    const found = await inspectFiles(job);
    await removeTemporaries(job.layout, job.places);
    if (found.some(({ at }) => at === "other")) return await endUnknown(job, "A file matches neither its old nor its new content.");
    const changed = found.filter(({ at }) => at === "after");
    if (changed.length > 0 && found.every(({ at }) => at !== "before")) {
      await keepDirectories(job.layout, job.places);
      await syncDirectories(parentsOf(job.layout.files), job.places);
      return { state: "after" };
    }
    await putBack(job, changed);
    return { state: "before", restored: changed.length };
  } catch (error) {
    return endUnknown(job, failureText(error));
  }
}

/** What was known before this process began to change the set. */
export type BegunChange = { readonly found: readonly FoundFile[]; readonly done: ReadonlySet<LaidOutFile> };

export async function restoreFiles(
  job: ChangeJob,
  { found: originals, done }: BegunChange,
): Promise<{ readonly restored: number } | UnknownEnd> {
  try {
    const found = await inspectFiles(job);
    await removeTemporaries(job.layout, job.places);
    if (found.some(({ file, at }) => at === "other" && done.has(file)))
      return await endUnknown(job, "A file was changed again by another program.");
    const known = new Map(originals.map(({ file, stats }) => [file, stats]));
    const changed = found.filter(({ at }) => at === "after");
    await putBack(
      job,
      changed.map((one) => ({ ...one, stats: one.stats ?? known.get(one.file) })),
    );
    return { restored: changed.length };
  } catch (error) {
    return endUnknown(job, `restoring failed: ${failureText(error)}`);
  }
}

async function putBack({ layout, places }: ChangeJob, all: readonly FoundFile[]): Promise<void> {
  const changed = all.filter(({ file }) => file.before !== null || !isDirectory(file.after)); // new directories go with their markers
  for (const { file } of changed) {
    const { before, directory, name } = file;
    if (before && isDirectory(before)) await places.use(directory, ({ path }) => putDirectory(join(path, name), before));
  }
  const files = changed.map(({ file }) => file);
  const steps = changed.map(
    ({ file, stats }): FileStep => ({
      file,
      image: file.before,
      replaces: file.after !== null,
      old: stats?.isFile() ? stats : undefined,
    }),
  );
  await writeTemporaries(steps, places);
  await exchangeFiles(steps, places, () => undefined);
  await removeTemporaries({ files }, places);
  await syncDirectories(parentsOf(files), places);
  await removeDirectories(layout, places);
}

/** Cleans up a set whose files are unchanged. Undefined: done. */
export async function withdrawChanges(job: ChangeJob): Promise<UnknownEnd | undefined> {
  const left = await removeTraces(job);
  return left === undefined ? undefined : describeUnknown(job, left);
}

/** Ends a set whose state is unknown: removes temporary files, leaves the files alone. */
async function endUnknown(job: ChangeJob, message: string): Promise<UnknownEnd> {
  const left = await removeTraces(job);
  return describeUnknown(job, left === undefined ? message : `${message}; ${left}`);
}

async function describeUnknown(job: ChangeJob, message: string): Promise<UnknownEnd> {
  const found = await inspectFiles(job);
  return {
    state: "unknown",
    message,
    files: found.map(({ file, at }): FileState => ({ path: file.path, at: at === "both" ? "before" : at })),
  };
}

/** Undefined: nothing is left. */
async function removeTraces({ layout, places }: ChangeJob): Promise<string | undefined> {
  try {
    await removeTemporaries(layout, places);
    await removeDirectories(layout, places);
    return undefined;
  } catch (error) {
    return `temporary files remain: ${failureText(error)}`;
  }
}

/** The state of every file in path order; unreadable files are `other`. */
async function inspectFiles({ layout, places }: ChangeJob): Promise<readonly FoundFile[]> {
  const found = new Map<LaidOutFile, FoundFile>();
  await inLanes(layout.files, async (file) => {
    found.set(file, await inspectFile(file, places).catch((): FoundFile => ({ file, at: "other", stats: undefined })));
  });
  return layout.files.flatMap((file) => found.get(file) ?? []);
}
