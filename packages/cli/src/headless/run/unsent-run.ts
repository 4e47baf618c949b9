import { readScheduleEntry } from "@assent/agent";
import type { Ledger, SessionState } from "@assent/core";
import { detachedRun, readCreated } from "../../worker/requirements.ts";
import type { ScheduleEntry } from "./schedule-file.ts";

/** A detached run whose prompt was not sent to the model yet. Schedules whose time has passed fire soon. */
export async function unsentRun(ledger: Ledger, id: string, state: SessionState, now: number): Promise<UnsentRun | undefined> {
  const { options, forked } = state.created ?? {};
  if (forked || !options || !("detached" in options)) return undefined; // a fork has the prompt in its history
  for await (const _ of ledger.read({ session: id, seq: 0 }, { session: id, types: ["message.user"] })) return undefined;
  const run = detachedRun(await readCreated(ledger, id));
  if (!run) return undefined;
  const entries = Array.isArray(run["schedules"]) ? run["schedules"] : [];
  const schedules = entries.map((entry) => readScheduleEntry(entry, 0)).filter((entry) => typeof entry !== "string");
  const soon = new Date(now + SOON_MS).toISOString();
  return {
    prompt: run.prompt,
    schedules: schedules.map((entry) => (entry.at !== undefined && Date.parse(entry.at) < now + SOON_MS ? { ...entry, at: soon } : entry)),
  };
}

const SOON_MS = 5_000;

type UnsentRun = { readonly prompt: string; readonly schedules: readonly ScheduleEntry[] };
