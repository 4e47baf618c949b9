import { createLineRedactor, createRedactor, createValueRedactor, findWorkspace, type Settings } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { cut } from "../io/display-width.ts";
import type { Io } from "../io/io.ts";
import { oneLine } from "../io/visible-text.ts";
import { readOwnSettings } from "./own-settings.ts";

/** Additional secrets to hide, from all settings that apply here. A project can only add patterns, so it need not be trusted. */
export function redactionPatterns({ io }: Pick<Context, "io">): Settings["redaction.patterns"] {
  return readOwnSettings(io, io.cwd)["redaction.patterns"];
}

/** Hides secrets in what a directory's sessions did. */
export type Redaction = {
  readonly value: <T>(value: T) => T;
  /** The number of lines stays the same. */
  readonly lines: (lines: readonly string[]) => readonly string[];
};

/** Hides secrets with the patterns of the directory that a text is about, which are read once. Fields in `kept` stay as they are. */
export function createRedactions(io: Pick<Io, "env">, kept?: ReadonlySet<string>): (directory: string) => Redaction {
  const known = new Map<string, Redaction>();
  return (directory) => {
    const found = known.get(directory);
    if (found) return found;
    const patterns = readOwnSettings(io, workspaceOf(directory))["redaction.patterns"];
    const redaction = { value: createValueRedactor(patterns, kept), lines: createLineRedactor(patterns) };
    known.set(directory, redaction);
    return redaction;
  };
}

/** The directory itself if it is gone. */
function workspaceOf(cwd: string): string {
  try {
    return findWorkspace(cwd, undefined);
  } catch {
    return cwd;
  }
}

const LONGEST_TITLE = 80;

/** The title of a session. Secrets are hidden before it is cut, because half a secret is not recognized. */
export function titleFrom(text: string, settings: Pick<Settings, "redaction.patterns">): string {
  const start = text.trim().slice(0, 4_000);
  return cut(oneLine(createRedactor(settings["redaction.patterns"])(start)), LONGEST_TITLE);
}
