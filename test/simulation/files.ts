import type { ChangeEnd, ChangeSet, FileChange, FileChanges, FileImage, FileState } from "@assent/core";
import { digest, type Things, type Workshop } from "./tools.ts";

/** A file was replaced for a proposal: what was there and what is there now, by digest; null: nothing. */
export type Write = {
  readonly proposal: string;
  readonly path: string;
  readonly from: string | null;
  readonly to: string | null;
};

/** How a process changes files. `blind`: a bug to be found, it does not look what it replaces. */
export type FileWork = Workshop & { readonly blind?: boolean | undefined };

type Put = {
  readonly id: string;
  readonly change: FileChange;
  readonly image: FileImage | null;
  readonly over: FileImage | null;
};

/** Files that are changed one after the other, so that a process can end between two of them, and somebody else can write. */
export function changesOf(work: FileWork): FileChanges {
  const { on, actor, things } = work;
  return {
    apply: async (set, { signal, committing }): Promise<ChangeEnd> => {
      await on.step(actor, "compares files");
      const stale = work.blind ? [] : set.changes.filter((change) => standing(things, change) !== "before");
      if (stale.length > 0) return { state: "stale", files: stale.map(({ path }) => path) };
      for (const { after } of set.changes) await after?.bytes();
      if (signal.aborted) return { state: "cancelled" };
      await committing?.();
      return await replaceAll(work, set);
    },
    recover: async ({ id, changes }) => {
      await on.step(actor, "looks at files");
      const files = standings(things, changes);
      if (files.some(({ at }) => at === "other")) return { state: "unknown", message: "changed otherwise", files };
      if (files.every(({ at }) => at === "after")) return { state: "after" };
      const replaced = changes.filter((change) => standing(things, change) === "after");
      const end = await restored(work, id, replaced);
      return end.state === "failed" ? { state: "before", restored: replaced.length } : { ...end, files: standings(things, changes) };
    },
  };
}

async function replaceAll(work: FileWork, { id, changes }: ChangeSet): Promise<ChangeEnd> {
  const done: FileChange[] = [];
  for (const change of changes) {
    if (!(await put(work, { id, change, image: change.after, over: change.before }))) return await restored(work, id, done);
    done.push(change);
  }
  return { state: "changed" };
}

/** Replaces a file that is still what it is to be replaced as: false if it is not. Whatever time there is between looking and replacing is the system's. */
async function put({ on, actor, things, blind }: FileWork, { id, change, image, over }: Put): Promise<boolean> {
  const { path } = change;
  const bytes = await image?.bytes();
  await on.step(actor, `replaces ${path}`);
  const from = digestAt(things, path);
  if (from !== (over?.digest ?? null) && !blind) return false;
  if (bytes) things.files.set(path, Buffer.from(bytes).toString());
  else things.files.delete(path);
  things.writes.push({ proposal: id, path, from, to: digestAt(things, path) });
  return true;
}

/** What was replaced is put back; where that is something else by now, nobody can tell. */
async function restored(
  work: FileWork,
  id: string,
  done: readonly FileChange[],
): Promise<Extract<ChangeEnd, { state: "failed" | "unknown" }>> {
  for (const change of done)
    if (!(await put(work, { id, change, image: change.before, over: change.after })))
      return { state: "unknown", message: "changed meanwhile", files: standings(work.things, done) };
  return { state: "failed", code: undefined, message: "changed meanwhile", restored: done.length };
}

function standings(things: Things, changes: readonly FileChange[]): readonly FileState[] {
  return changes.map((change) => ({ path: change.path, at: standing(things, change) }));
}

function standing(things: Things, { path, before, after }: FileChange): FileState["at"] {
  const now = digestAt(things, path);
  if (now === (before?.digest ?? null)) return "before";
  return now === (after?.digest ?? null) ? "after" : "other";
}

function digestAt({ files }: Things, path: string): string | null {
  const text = files.get(path);
  return text === undefined ? null : `sha256:${digest.sha256(text)}`;
}
