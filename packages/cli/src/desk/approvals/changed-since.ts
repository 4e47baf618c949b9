import { statSync } from "node:fs";
import { join } from "node:path";
import { type ApprovalRow, isObject, type Ledger } from "@assent/core";
import type { Io } from "../../io/io.ts";
import { configDirectory } from "../../store/location.ts";

/** Compares only file times and the record, because loading all settings would slow down every `approve`. */
export async function mayHaveChangedSince(ledger: Ledger, row: ApprovalRow, env: Io["env"]): Promise<boolean> {
  const since = Date.parse(row.requestedAt);
  const { session } = row;
  for await (const { body } of ledger.read({ session, seq: 0 }, { session })) {
    if (settingsFiles(body, env).some((file) => wasWrittenSince(file, since))) return true;
    break; // the first event is `session.created`
  }
  for await (const changed of ledger.read({ pos: 0 }, { types: ["mode.changed"] })) {
    if (changed.session === session && Date.parse(changed.at) >= since) return true;
  }
  return false;
}

/** A test compares this list with `@assent/policy`, which is not loaded here. */
export function settingsFiles(created: Readonly<Record<string, unknown>>, env: Io["env"]): readonly string[] {
  const { options, workspace } = created;
  if (isObject(options) && typeof options["policy"] === "string") return [options["policy"]];
  return [join(configDirectory(env), "settings.json"), "/etc/assent/settings.json", join(String(workspace), ".assent", "settings.json")];
}

function wasWrittenSince(file: string, since: number): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= since;
}
