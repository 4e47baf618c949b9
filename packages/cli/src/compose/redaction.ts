import type { Settings } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { readOwnSettings } from "./own-settings.ts";

/** Additional secrets to hide, from all settings that apply here. A project can only add patterns, so it need not be trusted. */
export function redactionPatterns({ io }: Pick<Context, "io">): Settings["redaction.patterns"] {
  return readOwnSettings(io, io.cwd)["redaction.patterns"];
}
