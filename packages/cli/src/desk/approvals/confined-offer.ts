import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@assent/core";
import { type PromotionOptions, settingsLocations, storeSetting } from "@assent/policy";
import type { Context } from "../../command-line/spec.ts";
import { oneLine } from "../../io/visible-text.ts";

export type ConfinedOffer = {
  /** The settings file that accepting changes; undefined if the offer was made before. */
  readonly take: () => string | undefined;
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
    accept: () => storeSetting(userFile, ["allowConfined"], true, ports),
  };
}

export async function acceptOffer(offer: ConfinedOffer | undefined): Promise<string | undefined> {
  try {
    await offer?.accept();
    return undefined;
  } catch (error) {
    return oneLine(`The setting was not written, and nothing was answered: ${messageOf(error)}`);
  }
}

export function acceptedOfferText(file: string | undefined): string {
  return `Also set "allowConfined": true in ${file}.`;
}

export const ALLOW_CONFINED = "Allow all confined commands: they change only the workspace, no network";
