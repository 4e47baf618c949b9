import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PromotionOptions, settingsLocations, storeSetting } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";

/** The offer to stop asking about confined commands, which is made once. */
export type ConfinedOffer = {
  /** The settings file that accepting changes; undefined if the offer was made before. */
  readonly take: () => string | undefined;
  /** Writes the setting. Throws if the file is broken. */
  readonly accept: () => Promise<void>;
};

/** A file in the state directory remembers that the offer was made. */
export function createConfinedOffer({ io }: Pick<Context, "io">, directory: string, ports: PromotionOptions): ConfinedOffer {
  const { userFile } = settingsLocations(io.env);
  return {
    take: () => {
      try {
        writeFileSync(join(directory, "confined-offered"), "", { flag: "wx", mode: 0o600 });
        return userFile;
      } catch {
        return undefined; // offered before, or it could not be remembered
      }
    },
    accept: () => storeSetting(userFile, "allowConfined", true, ports),
  };
}
