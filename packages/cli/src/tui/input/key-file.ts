import { readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { messageOf } from "@assent/core";
import { userHome } from "../../store/location.ts";
import { type ChosenKeys, chosenKeys } from "./keys.ts";

/** The person's own keys: `assent/keys.json` in their configuration directory, actions with one key or a list of them. */
export async function readKeys(env: Readonly<Record<string, string | undefined>>): Promise<ChosenKeys> {
  const { XDG_CONFIG_HOME: config } = env;
  const directory = config && isAbsolute(config) ? config : join(userHome(env), ".config");
  const file = join(directory, "assent", "keys.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return chosenKeys(undefined, file);
  try {
    return chosenKeys(JSON.parse(text), file);
  } catch (error) {
    return { ...chosenKeys(undefined, file), warnings: [`${file}: ${messageOf(error)}`] };
  }
}
