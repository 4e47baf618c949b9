import type { Registry, Tool } from "@assent/core";
import type { LoadedTools, ReloadedTools } from "@assent/tools";
import { createToolRegistry } from "./tool-registry.ts";

/** A session's tools; custom ones may be reloaded between turns. */
export type LiveTools = {
  /** Sets the fixed tools and returns a registry that always has the current ones. */
  readonly beside: (fixed: readonly Tool[]) => Registry;
  /** A snapshot for a turn or an agent. */
  readonly now: () => Registry;
  readonly renew: () => Promise<ReloadedTools>;
  /** Reloads if a file changed since the last load; undefined if none did. */
  readonly renewChanged: () => Promise<ReloadedTools> | undefined;
};

export type ReloadParts = {
  readonly custom: LoadedTools;
  /** A stamp of the files before loading, and a function that computes the current one. */
  readonly loadedAt: string;
  readonly stamp: () => string;
  readonly reload: (before: LoadedTools) => Promise<ReloadedTools>;
};

/** Combines custom tools with fixed ones. */
export function createLiveTools({ custom, loadedAt, stamp, reload }: ReloadParts): LiveTools {
  let fixed: readonly Tool[] = [];
  let loaded = custom;
  let present = createToolRegistry([]);
  let seen = loadedAt;
  const enter = (): void => {
    present = createToolRegistry([...fixed, ...loaded.tools.map(({ tool }) => tool)]);
  };
  const renew = async (): Promise<ReloadedTools> => {
    seen = stamp(); // changes made while loading are picked up next time
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
