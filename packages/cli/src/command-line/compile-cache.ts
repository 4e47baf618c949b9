import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { locate } from "../store/location.ts";
import type { Context } from "./spec.ts";

/**
 * Enables Node's compile cache in the user's state directory, if that is private. A cache that others can write could run their code, so
 * a store named by the user is never used for it.
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
