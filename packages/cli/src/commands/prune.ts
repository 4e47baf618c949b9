import type { Context } from "../command-spec.ts";
import { usageError } from "../failure.ts";
import { hasStore } from "../open-store.ts";
import { printJson } from "../output.ts";
import { stateDirectory } from "../store-location.ts";

/** Removes what ended long ago, or says what would go. */
export async function run(context: Context): Promise<number> {
  const { io, options } = context;
  const olderThan = options.duration("older-than");
  if (olderThan === undefined) throw usageError("prune", "say how old with '--older-than', e.g. --older-than 30d.");
  const dryRun = options.flag("dry-run");
  const { sessions, bytes } = await prune(context, { olderThan, dryRun });
  if (options.flag("json")) await printJson(io, { sessions, bytes });
  else await io.stdout.write(`${dryRun ? "Would remove" : "Removed"} ${sessions} sessions, ${bytes} bytes.\n`);
  return 0;
}

async function prune(context: Context, what: { olderThan: number; dryRun: boolean }): Promise<{ sessions: number; bytes: number }> {
  const directory = await stateDirectory(context);
  if (!hasStore(directory)) return { sessions: 0, bytes: 0 };
  const { pruneStore } = await import("@assent/store");
  const { clock, openDatabase } = context.overrides;
  return pruneStore({ directory, ...what, ...(clock && { clock }), ...(openDatabase && { openDatabase }) });
}
