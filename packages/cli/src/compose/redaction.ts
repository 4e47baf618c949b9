import { loadSettings, type Settings, settingsLocations } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";

/** Additional secrets to hide, from all settings that apply here. A project can only add patterns, so it need not be trusted. */
export function redactionPatterns({ io }: Pick<Context, "io">): Settings["redaction.patterns"] {
  const session = { allow: [], ask: [], deny: [] };
  return loadSettings({ ...settingsLocations(io.env), workspace: io.cwd, session, trusted: false })["redaction.patterns"];
}
