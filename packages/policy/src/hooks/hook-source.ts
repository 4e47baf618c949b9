import type { HookEntry } from "@assent/core";
import type { LayerHooks } from "../settings/load-policy.ts";
import { type Problem, SettingsError, sortProblems } from "../settings/problem.ts";
import { type HookParts, readHooks } from "./read-hooks.ts";

/** The hooks in force, over reloads. */
export type HookSource = {
  readonly entries: () => readonly HookEntry[];
  /** Takes a new configuration; one with a fault leaves the last good one in force. Answers what is wrong with it. */
  readonly reload: (layers: readonly LayerHooks[]) => readonly Problem[];
};

/** Understands the hooks of all layers, in the order in which they run. Throws `SettingsError` where a fault must stop the start. */
export function hookSource(layers: readonly LayerHooks[], parts: HookParts): HookSource {
  let entries: readonly HookEntry[] = [];
  const reload = (changed: readonly LayerHooks[]): readonly Problem[] => {
    const read = changed.map((layer) => readHooks(layer, parts));
    const problems = sortProblems(read.flatMap((layer) => layer.problems));
    if (problems.every(({ effect }) => effect === "warning")) entries = read.flatMap((layer) => layer.entries);
    return problems;
  };
  const problems = reload(layers);
  if (problems.some(({ effect }) => effect === "refuse")) throw new SettingsError(problems);
  return { entries: () => entries, reload };
}
