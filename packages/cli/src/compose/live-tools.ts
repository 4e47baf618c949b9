import type { Registry, Tool } from "@assent/core";
import type { LoadedTools, ReloadedTools } from "@assent/tools";
import { createToolRegistry } from "./tool-registry.ts";

export type LiveTools = {
  /** Returns a registry that always has the current tools. */
  readonly beside: (fixed: readonly Tool[]) => Registry;
  readonly now: () => Registry;
  /** Replaces the tools of MCP servers. False if they are the same. */
  readonly setServerTools: (tools: readonly Tool[]) => boolean;
  readonly renew: () => Promise<ReloadedTools>;
  /** Undefined if no file changed since the last load. */
  readonly renewChanged: () => Promise<ReloadedTools> | undefined;
};

export type ReloadParts = {
  readonly custom: LoadedTools;
  readonly loadedAt: string;
  readonly stamp: () => string;
  readonly reload: (before: LoadedTools) => Promise<ReloadedTools>;
};

export function createLiveTools({ custom, loadedAt, stamp, reload }: ReloadParts): LiveTools {
  let fixed: readonly Tool[] = [];
  let loaded = custom;
  let ofServers: readonly Tool[] = [];
  let present = createToolRegistry([]);
  let seen = loadedAt;
  const enter = (): void => {
    present = createToolRegistry([...fixed, ...loaded.tools.map(({ tool }) => tool), ...ofServers]);
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
    setServerTools: (tools) => {
      if (tools === ofServers) return false;
      ofServers = tools;
      enter();
      return true;
    },
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
