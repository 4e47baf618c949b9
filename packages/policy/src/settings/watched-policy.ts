import type { PolicySource } from "@assent/core";
import { type FollowOptions, followPolicy } from "./followed-policy.ts";
import { type LoadedPolicy, listSettingsFiles, type PolicyOptions } from "./load-policy.ts";
import type { PolicyLocations } from "./locations.ts";
import type { Settings } from "./settings.ts";
import { watchFiles } from "./watch-files.ts";

/** A policy that follows its files. */
export type WatchedPolicy = PolicySource & {
  readonly settings: () => Settings;
  readonly loaded: () => LoadedPolicy;
  /** Applies changes now, even of missing or broken files. */
  readonly refresh: () => void;
  readonly compile: () => void;
  readonly close: () => void;
};

export type WatchOptions = FollowOptions & {
  readonly changed: (loaded: LoadedPolicy) => void;
};

/** How long files must be quiet before a missing or broken one counts. */
const SETTLE_MS = 200;

/** Loads and follows a policy. `current()` compares file stamps, because a deny must apply before the system reports it. */
export function watchPolicy(places: PolicyLocations, parts: PolicyOptions, options: WatchOptions): WatchedPolicy {
  const { clock, changed } = options;
  const { loaded, look, compile } = followPolicy(places, parts, options);
  const subscribers = new Set<() => void>();
  let waiting: (() => void) | undefined;
  const settleLater = (): void => {
    waiting ??= clock.timer(SETTLE_MS, () => {
      waiting = undefined;
      update(true);
    });
  };
  const notifyIfChanged = (revision: string): void => {
    if (loaded().policy.revision !== revision) for (const subscriber of [...subscribers]) subscriber();
  };
  const update = (isFinal: boolean): void => {
    const { revision } = loaded().policy;
    const { reloaded, unsettled } = look(isFinal);
    if (unsettled) settleLater();
    if (!reloaded) return;
    changed(loaded());
    notifyIfChanged(revision);
  };
  const files = listSettingsFiles(places, parts).map(({ file }) => file);
  const stop = watchFiles(files, () => {
    waiting?.();
    waiting = undefined;
    settleLater();
  });
  return {
    current: () => {
      update(false);
      return loaded().policy;
    },
    subscribe: (subscriber) => {
      subscribers.add(subscriber);
      return () => void subscribers.delete(subscriber);
    },
    settings: () => loaded().settings,
    loaded,
    refresh: () => update(true),
    compile: () => {
      const { revision } = loaded().policy;
      compile();
      notifyIfChanged(revision);
    },
    close: () => {
      stop();
      waiting?.();
      waiting = undefined;
    },
  };
}
