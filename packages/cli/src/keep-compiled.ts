import { lstatSync, type Stats } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import type { Context } from "./command-spec.ts";
import { locate } from "./store-location.ts";

/**
 * Lets Node keep the program as it was compiled, so that the next start need not compile it again. Whoever can write there could run what they like, so it is kept
 * in the state directory, which no tool may touch, and only where there is one that belongs to this user alone. Sources that somebody edits are not kept.
 */
export function keepCompiled(context: Pick<Context, "io" | "options">): void {
  if (import.meta.url.endsWith(".ts")) return;
  const directory = locate(context);
  const kept = join(directory, "compiled");
  if (seen(join(directory, "ledger.db"))?.isFile() && isPrivate(seen(directory)) && (seen(kept)?.isDirectory() ?? true))
    enableCompileCache(kept);
}

function seen(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isPrivate(stats: Stats | undefined): boolean {
  return stats?.isDirectory() === true && (stats.mode & 0o077) === 0 && stats.uid === process.getuid?.();
}
