import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { messageOf } from "@assent/core";
import { type ChosenKeys, chosenKeys } from "./keys.ts";

/** The person's own keys: `assent/keys.json` in their configuration directory, actions with one key or a list of them. */
export async function readKeys(env: Readonly<Record<string, string | undefined>>): Promise<ChosenKeys> {
  const { XDG_CONFIG_HOME: config, HOME: home } = env;
  const directory = config && isAbsolute(config) ? config : join(home && isAbsolute(home) ? home : homedir(), ".config");
  const file = join(directory, "assent", "keys.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return chosenKeys(undefined, file);
  try {
    return chosenKeys(JSON.parse(text), file);
  } catch (error) {
    return { ...chosenKeys(undefined, file), warnings: [`${file}: ${messageOf(error)}`] };
  }
}
