import { type ChangeEnd, type ChangeSet, errorCode, type FileChanges } from "@assent/core";
import { exchangeFiles, type FileStep, isDirectory, writeTemporaries } from "./exchange.ts";
import { CallerError, callCaller, failureText, namingFile } from "./failure.ts";
import { inLanes } from "./lanes.ts";
import { type LaidOutFile, layOut, parentsOf } from "./layout.ts";
import { type FoundFile, inspectFile, isUntouched, leadsTo } from "./look.ts";
import { openPlaces, syncDirectories } from "./places.ts";
import { type ChangeJob, recoverChanges, restoreFiles, withdrawChanges } from "./restore.ts";
import { keepDirectories, makeDirectories, removeTemporaries } from "./traces.ts";

/** Changes files as one set, compared by content. Keeps mode and owner, or replaces nothing. Hard links keep the old bytes. */
export function createHostFileChanges(): FileChanges {
  return {
    apply: (set, options) => withJob(set, (job) => applyChanges(job, options)),
    recover: (set) => withJob(set, recoverChanges),
  };
}

async function withJob<T>(set: ChangeSet, work: (job: ChangeJob) => Promise<T>): Promise<T> {
  const job = { layout: layOut(set), places: openPlaces() };
  try {
    return await work(job);
  } finally {
    await job.places.close();
  }
}

type ApplyOptions = Parameters<FileChanges["apply"]>[1];

/** A failure withdraws before the commit point and restores after it. */
async function applyChanges(job: ChangeJob, options: ApplyOptions): Promise<ChangeEnd> {
  let found: readonly FoundFile[];
  try {
    found = await inspectAll(job, options.signal);
    const stale = found.filter(({ at }) => at !== "before" && at !== "both");
    if (stale.length > 0) return { state: "stale", files: sortedPaths(stale) };
    refuseAliases(found);
    const late = await prepareChanges(job, found, options);
    if (late.length > 0) return (await withdrawChanges(job)) ?? { state: "stale", files: sortedPaths(late) };
  } catch (error) {
    return (await withdrawChanges(job)) ?? describeWithdrawal(error, options.signal);
  }
  return commitChanges(job, found);
}

function describeWithdrawal(error: unknown, { aborted }: AbortSignal): ChangeEnd {
  if (error instanceof CallerError) throw error.cause;
  return aborted ? { state: "cancelled" } : { state: "failed", code: errorCode(error), message: failureText(error), restored: 0 };
}

/** Does everything that is possible before the first file changes. Returns files that changed meanwhile; if none did, the commit point is passed. */
async function prepareChanges(
  { layout, places }: ChangeJob,
  found: readonly FoundFile[],
  { signal, committing }: ApplyOptions,
): Promise<readonly FoundFile[]> {
  await makeDirectories(layout, places);
  await writeTemporaries(found.flatMap(createStep), places, signal);
  const late: FoundFile[] = [];
  await inLanes(found, async (before) => {
    signal.throwIfAborted();
    if (isMade(before) || (await isUntouched(before, places))) return;
    const now = await inspectFile(before.file, places);
    if (now.at !== before.at) late.push(now);
  });
  signal.throwIfAborted();
  if (late.length === 0) await callCaller(() => committing?.());
  return late;
}

async function commitChanges(job: ChangeJob, found: readonly FoundFile[]): Promise<ChangeEnd> {
  const { layout, places } = job;
  const done = new Set<LaidOutFile>();
  try {
    await exchangeFiles(found.flatMap(createStep), places, (file) => done.add(file));
    const made = layout.files.filter(({ before }) => before === null);
    await removeTemporaries({ files: made }, places).catch(() => undefined); // a leftover file does not justify a rollback
    await syncDirectories(parentsOf(done), places);
    await keepDirectories(layout, places).catch(() => undefined); // nor is this
    return { state: "changed" };
  } catch (error) {
    const end = await restoreFiles(job, { found, done });
    const message = failureText(error);
    return "state" in end
      ? { ...end, message: `${message}; ${end.message}` }
      : { state: "failed", code: errorCode(error), message, ...end };
  }
}

/** A new directory is made before the commit point, with its marker. */
function isMade({ file }: FoundFile): boolean {
  return file.before === null && isDirectory(file.after);
}

function createStep(found: FoundFile): readonly FileStep[] {
  const { file, at, stats } = found;
  return at === "both" || isMade(found)
    ? []
    : [{ file, image: file.after, replaces: file.before !== null, old: stats?.isFile() ? stats : undefined }];
}

async function inspectAll({ layout, places }: ChangeJob, signal: AbortSignal): Promise<readonly FoundFile[]> {
  const found = new Map<LaidOutFile, FoundFile>();
  await inLanes(layout.files, async (file) => {
    signal.throwIfAborted();
    const led = file.via === undefined || (await leadsTo(file.via, file.path));
    found.set(file, led ? await namingFile(file.path, inspectFile(file, places)) : { file, at: "other", stats: undefined });
  });
  signal.throwIfAborted();
  return layout.files.flatMap((file) => found.get(file) ?? []);
}

/** Two paths that are one file to the file system cannot both change. */
function refuseAliases(found: readonly FoundFile[]): void {
  const names = new Map<string, string>();
  for (const { file, stats } of found) {
    if (stats === undefined) continue;
    const key = `${stats.dev}:${stats.ino}:${file.path.normalize("NFC").toLowerCase()}`;
    const other = names.get(key);
    if (other !== undefined) throw new Error(`${other} and ${file.path} are one file`);
    names.set(key, file.path);
  }
}

function sortedPaths(found: readonly FoundFile[]): readonly string[] {
  return found.map(({ file }) => file.path).toSorted();
}
