import { isDeepStrictEqual } from "node:util";
import type { Tool } from "@assent/core";
import type { AdaptedTool } from "./adapt-tool.ts";
import { type CustomToolOptions, type LoadedTools, loadCustomTools } from "./load-custom-tools.ts";

/** Tools that were loaded anew, and what became of those that were there, by name. */
export type ReloadedTools = LoadedTools & {
  /** Another definition or another file's text under the same name. Only of another definition waiting calls end as `tool_changed`. */
  readonly changed: readonly string[];
  /** Gone, or no longer loading: their waiting calls end so too. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
};

/** Loads everything again, between two turns. What runs goes on with the old code; a module that fails now has no tools, whatever it had before. */
export async function reloadCustomTools(before: LoadedTools, options: CustomToolOptions): Promise<ReloadedTools> {
  const now = await loadCustomTools(options);
  const old = new Map(before.tools.map((adapted) => [adapted.tool.name, adapted]));
  const present = new Map(now.tools.map((adapted) => [adapted.tool.name, adapted]));
  const names = [...present.keys()];
  return {
    ...now,
    changed: names.filter((name) => old.has(name) && !isSame(old.get(name), present.get(name))),
    removed: [...old.keys()].filter((name) => !present.has(name)),
    added: names.filter((name) => !old.has(name)),
  };
}

function isSame(one: AdaptedTool | undefined, other: AdaptedTool | undefined): boolean {
  return one?.code === other?.code && isDeepStrictEqual(one && dataOf(one.tool), other && dataOf(other.tool));
}

/** The parts that make up a definition's digest: all that is data. Functions have none. */
function dataOf({ title, inputSchema, definition: { input: _, ...definition } }: Tool): object {
  return { title, inputSchema, ...Object.fromEntries(Object.entries(definition).filter(([, value]) => typeof value !== "function")) };
}
