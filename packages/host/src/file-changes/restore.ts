import type { FileStanding, RecoveredChange } from "@assent/core";
import { exchange, type Step, syncParents, writeTemporaries } from "./exchange.ts";
import { messageOf } from "./file-failure.ts";
import { inLanes } from "./lanes.ts";
import type { LaidOutFile, Layout } from "./layout.ts";
import { type Found, look } from "./look.ts";
import type { Places } from "./places.ts";
import { keepDirectories, removeDirectories, removeTemporaries } from "./traces.ts";

/** A set that is worked on. */
export type Job = { readonly layout: Layout; readonly places: Places };

type Unknown = Extract<RecoveredChange, { readonly state: "unknown" }>;

/** Settles what a killed process left: whole sets stay, halves are brought back. */
export async function recover(job: Job): Promise<RecoveredChange> {
  try {
    const found = await standings(job);
    await removeTemporaries(job.layout, job.places);
    if (found.some(({ at }) => at === "other")) return unknown(found, "A file is neither what it was nor what it was to become.");
    const changed = found.filter(({ at }) => at === "after");
    if (changed.length > 0 && found.every(({ at }) => at !== "before")) {
      await keepDirectories(job.layout, job.places);
      await syncParents(job.layout.files, job.places);
      return { state: "after" };
    }
    await bringBack(job, changed);
    return { state: "before", restored: changed.length };
  } catch (error) {
    return stranded(job, messageOf(error));
  }
}

/** What was known of a set before this process began to change it. */
export type Begun = { readonly found: readonly Found[]; readonly done: ReadonlySet<LaidOutFile> };

/** Brings back what this process changed. A file that it did not come to is nobody's concern. */
export async function restore(job: Job, { found: originals, done }: Begun): Promise<{ readonly restored: number } | Unknown> {
  try {
    const found = await standings(job);
    await removeTemporaries(job.layout, job.places);
    if (found.some(({ file, at }) => at === "other" && done.has(file))) return unknown(found, "A file was changed again meanwhile.");
    const known = new Map(originals.map(({ file, stats }) => [file, stats]));
    const changed = found.filter(({ at }) => at === "after");
    await bringBack(
      job,
      changed.map((one) => ({ ...one, stats: one.stats ?? known.get(one.file) })),
    );
    return { restored: changed.length };
  } catch (error) {
    return stranded(job, `restoring failed: ${messageOf(error)}`);
  }
}

async function bringBack({ layout, places }: Job, changed: readonly Found[]): Promise<void> {
  const files = changed.map(({ file }) => file);
  const steps = changed.map(({ file, stats }): Step => ({ file, image: file.before, replaces: file.after !== null, old: stats }));
  await writeTemporaries(steps, places);
  await exchange(steps, places, () => undefined);
  await removeTemporaries({ files }, places);
  await syncParents(files, places);
  await removeDirectories(layout, places);
}

/** Settles a set whose files stand as they were. */
export async function withdraw(job: Job): Promise<Unknown | undefined> {
  try {
    await removeTemporaries(job.layout, job.places);
    await removeDirectories(job.layout, job.places);
    return undefined;
  } catch (error) {
    return unknown(await standings(job), `temporary files are left: ${messageOf(error)}`);
  }
}

async function stranded(job: Job, message: string): Promise<Unknown> {
  const left = await removeTemporaries(job.layout, job.places).then(
    () => "",
    (error: unknown) => `; temporary files are left: ${messageOf(error)}`,
  );
  return unknown(await standings(job), `${message}${left}`);
}

/** The end of a set of which nobody can say what it is. */
function unknown(found: readonly Found[], message: string): Unknown {
  return {
    state: "unknown",
    message,
    files: found.map(({ file: { path }, at }): FileStanding => ({ path, at: at === "both" ? "before" : at })),
  };
}

/** How every file stands; one that cannot be read is neither. In the order of the paths. */
async function standings({ layout, places }: Job): Promise<readonly Found[]> {
  const found = new Map<LaidOutFile, Found>();
  await inLanes(layout.files, async (file) => {
    found.set(file, await look(file, places).catch((): Found => ({ file, at: "other", stats: undefined })));
  });
  return layout.files.flatMap((file) => found.get(file) ?? []);
}
