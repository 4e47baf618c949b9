import { type JsonObject, KINDS } from "@assent/core";
import { HOOK_EVENTS, type HookEntry, type HookPoint, type HookSubject, isJsonObject } from "@assent/core/parts";

/** Hooks of one event in configuration order, without duplicates. */
export function selectHooks(entries: readonly HookEntry[], event: HookPoint): readonly HookEntry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => {
    if (entry.event !== event || seen.has(entry.definition)) return false;
    seen.add(entry.definition);
    return true;
  });
}

/** True if the hook applies to this input. In doubt it does: a missing value or a throwing test counts as a match. */
export async function matchesInput(entry: HookEntry, input: JsonObject): Promise<boolean> {
  const values = HOOK_EVENTS[entry.event].matchesOn.map((field) => input[field]).filter((value) => typeof value === "string");
  if (!matchesAny(entry, values)) return false;
  if (!entry.test) return true;
  try {
    return (await entry.test(createSubject(input))) !== false;
  } catch {
    return true;
  }
}

export function matchesAny({ matches }: HookEntry, values: readonly string[]): boolean {
  return !matches || values.length === 0 || values.some(matches);
}

function createSubject(input: JsonObject): HookSubject {
  const { tool, tool_kind, cwd } = input;
  const kind = KINDS.find((known) => known === tool_kind) ?? "other";
  return { tool: String(tool), kind, input: getToolInput(input), cwd: String(cwd) };
}

export function getToolInput({ tool_input: given }: JsonObject): JsonObject {
  return isJsonObject(given) ? given : {};
}
