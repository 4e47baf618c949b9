import { join } from "node:path";
import type { Files } from "@assent/core";
import { replaceFile } from "./replace.ts";
import { type Allowance, openSpillFile, type SpillLimits, safeName, sessionAllowance } from "./spill.ts";

const LIMITS: SpillLimits = { perFile: 50_000_000, perSession: 500_000_000 };

/** Files of this machine; the full output of calls goes to `outputDirectory/SESSION/`. */
export function hostFiles({
  outputDirectory,
  limits = LIMITS,
}: {
  readonly outputDirectory: string;
  readonly limits?: SpillLimits;
}): Files {
  const allowances = new Map<string, Promise<Allowance>>();
  const allowance = (directory: string): Promise<Allowance> => {
    const known = allowances.get(directory) ?? sessionAllowance(directory, limits.perSession);
    allowances.set(directory, known);
    known.catch(() => allowances.delete(directory)); // the next call looks again
    return known;
  };
  return {
    async spill(sessionId, callId) {
      const directory = sessionOutput(outputDirectory, sessionId);
      return openSpillFile(directory, callId, { perFile: limits.perFile, session: await allowance(directory) });
    },
    replace: replaceFile,
  };
}

/** Where a session's full outputs are; its files may be read without asking. */
export function sessionOutput(outputDirectory: string, sessionId: string): string {
  return join(outputDirectory, safeName(sessionId));
}
