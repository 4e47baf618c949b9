import type { Registry, Tool } from "@assent/core";
import type { LoadedTools, ReloadedTools } from "@assent/tools";
import { createToolRegistry } from "./tool-registry.ts";

/** The tools of a session, of which custom ones may be loaded again between two turns. */
export type LiveTools = {
  /** Says which tools are always there, and gives a registry that has the present ones at any time. */
  readonly beside: (fixed: readonly Tool[]) => Registry;
  /** The present ones for good: for a turn, and for an agent, which keeps those it began with. */
  readonly now: () => Registry;
  /** Loads them again. */
  readonly renew: () => Promise<ReloadedTools>;
  /** The same where a file of theirs changed since they were last loaded. Undefined: none did. */
  readonly renewChanged: () => Promise<ReloadedTools> | undefined;
};

/** What custom tools came from. */
export type ReloadParts = {
  readonly custom: LoadedTools;
  /** Their files' stamp before they were loaded, and as it is now. */
  readonly loadedAt: string;
  readonly stamp: () => string;
  readonly reload: (before: LoadedTools) => Promise<ReloadedTools>;
};

/** Custom tools beside those that are always there. */
export function createLiveTools({ custom, loadedAt, stamp, reload }: ReloadParts): LiveTools {
  let fixed: readonly Tool[] = [];
  let loaded = custom;
  let present = createToolRegistry([]);
  let seen = loadedAt;
  const enter = (): void => {
    present = createToolRegistry([...fixed, ...loaded.tools.map(({ tool }) => tool)]);
  };
  const renew = async (): Promise<ReloadedTools> => {
    seen = stamp(); // what is written while they load is loaded the next time
    const reloaded = await reload(loaded);
    loaded = reloaded;
    enter();
    return reloaded;
  };
  return {
    beside: (tools) => {
      fixed = tools;
      enter();
      return registryView(() => present);
    },
    now: () => present,
    renew,
    renewChanged: () => (stamp() === seen ? undefined : renew()),
  };
}

/** A registry that is another one from time to time. */
function registryView(now: () => Registry): Registry {
  return {
    add: (tool) => now().add(tool),
    alias: (name, canonical) => now().alias(name, canonical),
    get: (name) => now().get(name),
    list: () => now().list(),
    visible: () => now().visible(),
    suggest: (name) => now().suggest(name),
  };
}
