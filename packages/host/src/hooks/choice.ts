import { isObject, type JsonObject, KINDS } from "@assent/core";
import { HOOK_EVENTS, type HookEntry, type HookPoint, type HookSubject } from "@assent/core/parts";

/** The hooks of one event in configuration order; of equal definitions the first. */
export function selectHooks(entries: readonly HookEntry[], event: HookPoint): readonly HookEntry[] {
  const seen = new Set<string>();
  return entries.filter((entry) => {
    if (entry.event !== event || seen.has(entry.definition)) return false;
    seen.add(entry.definition);
    return true;
  });
}

/** Whether this input is one the hook was configured for. A guard is never dropped by doubt: a value that is missing, a test that throws is a yes. */
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

/** Whether any of the names a thing goes by is one the hook's matcher is for. */
export function matchesAny({ matches }: HookEntry, values: readonly string[]): boolean {
  return !matches || values.length === 0 || values.some(matches);
}

function createSubject(input: JsonObject): HookSubject {
  const { tool, tool_kind, cwd } = input;
  const kind = KINDS.find((known) => known === tool_kind) ?? "other";
  return { tool: String(tool), kind, input: getToolInput(input), cwd: String(cwd) };
}

/** The input of the call that an event is about; empty where there is none. */
export function getToolInput({ tool_input: given }: JsonObject): JsonObject {
  return isInput(given) ? given : {};
}

function isInput(value: unknown): value is JsonObject {
  return isObject(value);
}
