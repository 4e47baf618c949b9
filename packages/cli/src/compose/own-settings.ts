import { loadSettings, type Settings, settingsLocations } from "@assent/policy";
import type { Io } from "../io/io.ts";

/** The settings of the user and the team, with what every project may add, trusted or not. For work outside a session. */
export function readOwnSettings({ env }: Pick<Io, "env">, workspace: string): Settings {
  const session = { allow: [], ask: [], deny: [] };
  return loadSettings({ ...settingsLocations(env), workspace, session, trusted: false });
}
