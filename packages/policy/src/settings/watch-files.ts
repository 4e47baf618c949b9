import { existsSync, type FSWatcher, realpathSync, watch } from "node:fs";
import { basename, dirname, relative, sep } from "node:path";
import { errorCode } from "@assent/core";

/** Calls `changed` when a file may have changed. Waits for missing directories in their nearest parent and follows links. Does not keep the process alive. */
export function watchFiles(files: readonly string[], changed: () => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let wanted = namesToWatch(files);
  const arm = (): void => {
    wanted = namesToWatch(files);
    for (const directory of [...watchers.keys()].filter((known) => !wanted.has(known))) forget(directory);
    for (const directory of [...wanted.keys()].filter((name) => !watchers.has(name))) begin(directory);
  };
  const begin = (directory: string): void => {
    const watcher = tryWatch(directory, (name) => onEvent(directory, name));
    watcher?.on("error", () => forget(directory));
    if (watcher) watchers.set(directory, watcher);
  };
  const forget = (directory: string): void => {
    watchers.get(directory)?.close();
    watchers.delete(directory);
  };
  const onEvent = (directory: string, name: string | null): void => {
    const isItself = name === null || name === basename(directory); // the directory itself was moved or removed
    if (!isItself && !wanted.get(directory)?.has(name)) return;
    if (isItself) forget(directory);
    arm();
    changed();
  };
  arm();
  return () => {
    for (const directory of [...watchers.keys()]) forget(directory);
  };
}

/** The names to watch, by directory. */
function namesToWatch(files: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const wanted = new Map<string, Set<string>>();
  for (const file of files.flatMap((path) => [path, ...linkTargets(path)])) {
    const directory = nearestExisting(dirname(file));
    const [name = ""] = relative(directory, file).split(sep);
    wanted.set(directory, (wanted.get(directory) ?? new Set()).add(name));
  }
  return wanted;
}

function linkTargets(file: string): readonly string[] {
  try {
    const real = realpathSync.native(file);
    return real === file ? [] : [real];
  } catch {
    return []; // missing; the directory's watch reports when it appears
  }
}

function nearestExisting(directory: string): string {
  let at = directory;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

function tryWatch(directory: string, onEvent: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(directory, { persistent: false }, (_event, name) => onEvent(name));
  } catch (error) {
    if (errorCode(error) !== undefined) return undefined;
    throw error;
  }
}
