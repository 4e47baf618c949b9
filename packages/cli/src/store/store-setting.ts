import { readUserSettings } from "@assent/policy";
import type { Io } from "../io/io.ts";

/** The setting `store` counts where ASSENT_STORE is not set. Only the user and the team can choose it, never a project. */
export function withStoreSetting(env: Io["env"]): Io["env"] {
  const { store } = readUserSettings(env);
  return store === undefined ? env : { ...env, ASSENT_STORE: store };
}
