import { createHash } from "node:crypto";
import type { ChangeEnd, FileChange, FileChanges, FileState, RecoveredChange } from "@assent/core";

/** Files that are nowhere, changed together as a host changes real ones. */
export type MemoryFiles = FileChanges & {
  /** Text by path. */
  readonly texts: Map<string, string>;
  readonly modes: Map<string, number>;
  /** What happens at the next steps, in order; an empty list: nothing goes wrong. */
  readonly faults: Fault[];
  /** The sets that were applied or looked at, by name of the operation. */
  readonly log: string[];
  /** How often the commit point was passed, and how often a process ended in the middle. */
  readonly reached: { committed: number; crashed: number };
  /** Holds the next apply before it looks at anything, until the returned function is called. */
  readonly hold: (where: "before" | "committed") => () => void;
};

/** `write`: a temporary file cannot be written. `rename`: the second file cannot be replaced. `restore`: nor can the first be restored. `crash`: the process ends after the first file. */
export type Fault = "write" | "rename" | "restore" | "crash" | "crash-before" | "crash-after";

export function digestOf(bytes: Uint8Array | string): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

type Held = { readonly texts: Map<string, string>; readonly modes: Map<string, number> };

export function memoryFiles(initial: Readonly<Record<string, string>> = {}): MemoryFiles {
  const held: Held = { texts: new Map(Object.entries(initial)), modes: new Map() };
  const faults: Fault[] = [];
  const log: string[] = [];
  const gates = new Map<string, Promise<void>>();
  const reached = { committed: 0, crashed: 0 };
  const crash = (): Promise<never> => {
    reached.crashed += 1;
    return new Promise(() => undefined); // a process that is gone never answers
  };
  return {
    ...held,
    faults,
    log,
    reached,
    apply: async ({ id, changes }, { signal, committing }) => {
      log.push(`apply ${id}`);
      await gates.get("before");
      const stale = changes.filter((change) => !["before", "both"].includes(standing(held, change))).map(({ path }) => path);
      if (stale.length > 0) return { state: "stale", files: stale };
      for (const { after } of changes) await after?.bytes();
      const fault = faults.shift();
      if (fault === "write") return { state: "failed", code: "ENOSPC", message: "no space left", restored: 0 };
      if (signal.aborted) return { state: "cancelled" };
      if (fault === "crash-before") return await crash();
      committing?.();
      reached.committed += 1;
      await gates.get("committed");
      return (await commit(held, changes, fault)) ?? (await crash());
    },
    recover: async ({ id, changes }) => {
      log.push(`recover ${id}`);
      return await recover(held, changes);
    },
    hold: (where) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gates.set(where, promise);
      return () => {
        gates.delete(where);
        resolve();
      };
    },
  };
}

function standing({ texts }: Held, { path, before, after }: FileChange): FileState["at"] | "both" {
  const text = texts.get(path);
  const now = text === undefined ? undefined : digestOf(text);
  if (now === before?.digest) return now === after?.digest ? "both" : "before";
  return now === after?.digest ? "after" : "other";
}

async function put({ texts, modes }: Held, { path, mode }: FileChange, image: FileChange["after"]): Promise<void> {
  if (!image) {
    texts.delete(path);
    return;
  }
  texts.set(path, Buffer.from(await image.bytes()).toString());
  if (mode !== null && !modes.has(path)) modes.set(path, mode);
}

/** Undefined: the process ends here. */
async function commit(held: Held, changes: readonly FileChange[], fault: Fault | undefined): Promise<ChangeEnd | undefined> {
  const [first] = changes;
  if (fault === undefined || fault === "crash-after" || !first) {
    for (const change of changes) await put(held, change, change.after);
    return fault ? undefined : { state: "changed" };
  }
  await put(held, first, first.after);
  if (fault === "crash") return undefined;
  if (fault === "restore") return { state: "unknown", message: "cannot replace, cannot restore", files: standings(held, changes) };
  await put(held, first, first.before);
  return { state: "failed", code: "EIO", message: "cannot replace", restored: 1 };
}

async function recover(held: Held, changes: readonly FileChange[]): Promise<RecoveredChange> {
  const at = changes.map((change) => standing(held, change));
  if (at.includes("other")) return { state: "unknown", message: "changed otherwise", files: standings(held, changes) };
  if (at.every((each) => each === "after" || each === "both")) return { state: "after" };
  const restored = changes.filter((change) => standing(held, change) === "after");
  for (const change of restored) await put(held, change, change.before);
  return { state: "before", restored: restored.length };
}

function standings(held: Held, changes: readonly FileChange[]): readonly FileState[] {
  return changes.map((change) => {
    const at = standing(held, change);
    return { path: change.path, at: at === "both" ? "after" : at };
  });
}
