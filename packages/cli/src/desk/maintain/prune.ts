import { hasStore, type PruneReport, pruneStore } from "@assent/store";
import type { Context } from "../../command-line/spec.ts";
import { usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { counted } from "../../io/visible-text.ts";
import { stateDirectory, storeUrl } from "../../store/location.ts";

export async function pruneSessions(context: Context): Promise<number> {
  const { io, options } = context;
  const olderThan = options.duration("older-than");
  if (olderThan === undefined) throw usageError("prune", "'--older-than' is required, e.g. --older-than 30d.");
  const dryRun = options.flag("dry-run");
  const { sessions, bytes, kept } = await prune(context, { olderThan, dryRun });
  if (options.flag("json")) await printJson(io, { sessions, bytes });
  else await io.stdout.write(`${dryRun ? "Would remove" : "Removed"} ${counted(sessions, "session")}, ${bytes} bytes.\n`);
  for (const [why, text] of REASONS) if (kept[why] > 0) await io.stderr.write(`Kept ${counted(kept[why], "session")}: ${text}\n`);
  return 0;
}

const NOTHING: PruneReport = { sessions: 0, bytes: 0, kept: { fork: 0, task: 0, person: 0, unended: 0 } };

const REASONS: readonly (readonly [keyof PruneReport["kept"], string])[] = [
  ["fork", "a fork still uses its conversation."],
  ["task", "a background agent it started has not ended. See: assent tasks"],
  ["person", "something in it waits for a person. See: assent approvals, assent proposals"],
  ["unended", "still running, parked or interrupted. See: assent sessions. Continue one with: assent resume"],
];

async function prune(context: Context, what: { olderThan: number; dryRun: boolean }): Promise<PruneReport> {
  const directory = await stateDirectory(context);
  const url = storeUrl(context);
  if (url !== undefined) return (await import("@assent/store-postgres")).prunePostgres({ url, directory, ...what });
  if (!hasStore(directory)) return NOTHING;
  const { clock, openDatabase } = context.overrides;
  return pruneStore({ directory, ...what, ...(clock && { clock }), ...(openDatabase && { openDatabase }) });
}
