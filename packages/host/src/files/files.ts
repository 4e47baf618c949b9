import { join } from "node:path";
import type { Files } from "@assent/core";
import { replaceFile } from "./replace.ts";
import { openSpillFile, readSessionAllowance, type SpillAllowance, type SpillLimits, safeName } from "./spill.ts";

const DEFAULT_LIMITS: SpillLimits = { perFile: 50_000_000, perSession: 500_000_000 };

/** File port of this machine. Full outputs go to `outputDirectory/SESSION/`. */
export function createHostFiles({
  outputDirectory,
  limits = DEFAULT_LIMITS,
}: {
  readonly outputDirectory: string;
  readonly limits?: SpillLimits;
}): Files {
  const allowances = new Map<string, Promise<SpillAllowance>>();
  const allowance = (directory: string): Promise<SpillAllowance> => {
    const known = allowances.get(directory) ?? readSessionAllowance(directory, limits.perSession);
    allowances.set(directory, known);
    known.catch(() => allowances.delete(directory)); // try again at the next call
    return known;
  };
  return {
    async spill(sessionId, callId) {
      const directory = sessionOutputDirectory(outputDirectory, sessionId);
      return openSpillFile(directory, callId, { perFile: limits.perFile, session: await allowance(directory) });
    },
    replace: replaceFile,
  };
}

/** The directory of a session's full outputs; reading it needs no approval. */
export function sessionOutputDirectory(outputDirectory: string, sessionId: string): string {
  return join(outputDirectory, safeName(sessionId));
}
