import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { locate } from "../store/location.ts";
import type { Context } from "./spec.ts";

/**
 * Lets Node keep the program as it was compiled, so that the next start need not compile it again. Whoever can write there could run what they like, so it is kept
 * in the user's own state directory, which no tool may touch, where it is there and closed to others; never in a store that was named, which may be somebody else's.
 * Sources that somebody edits are not kept.
 */
export function keepCompiled({ io, options }: Pick<Context, "io" | "options">): void {
  if (import.meta.url.endsWith(".ts") || options.text("store") !== undefined || io.env["ASSENT_STORE"] !== undefined) return;
  const directory = locate({ io, options });
  const kept = join(directory, "compiled");
  if (!seen(join(directory, "ledger.db"))?.isFile() || !isPrivate(seen(directory))) return;
  if (seen(kept) === undefined) mkdirSync(kept, { mode: 0o700 });
  if (isPrivate(seen(kept))) enableCompileCache(kept);
}

function seen(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isPrivate(stats: Stats | undefined): boolean {
  return stats?.isDirectory() === true && (stats.mode & 0o077) === 0 && stats.uid === process.getuid?.();
}
