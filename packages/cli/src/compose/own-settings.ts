import { loadSettings, readUserSettings, type Settings, SettingsError, settingsLocations } from "@assent/policy";
import type { Io } from "../io/io.ts";
import { warnInLines } from "../io/output.ts";

/** The settings of the user and the team, with what every project may add, trusted or not. For work outside a session. */
export function readOwnSettings({ env }: Pick<Io, "env">, workspace: string): Settings {
  const session = { allow: [], ask: [], deny: [] };
  return loadSettings({ ...settingsLocations(env), workspace, session, trusted: false });
}

/** Why the settings of the user and the team cannot be used; undefined if they can. */
export function settingsFault({ env }: Pick<Io, "env">): SettingsError | undefined {
  try {
    readUserSettings(env);
    return undefined;
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
}

/** For programs that serve several directories and therefore start with settings that no session could use. */
export async function warnOfSettingsFault(io: Io): Promise<void> {
  const fault = settingsFault(io);
  if (fault) await warnInLines(io, `The settings cannot be used. Nothing is streamed, and receivers may not be told:\n${fault.message}`);
}
