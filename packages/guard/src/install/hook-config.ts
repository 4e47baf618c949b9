import type { Json, JsonObject } from "@assent/core";
import { isObject } from "@assent/core";
import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from "jsonc-parser";

/** Every command of ours contains this name. */
export const WRAPPER_NAME = "assent-hook";

/** Our entries by event, in the form of the agent's configuration. */
export type HookEntries = Readonly<Record<string, JsonObject>>;

/** The configuration of an agent cannot be changed without losing something. */
export class AgentConfigError extends Error {
  readonly type = "agent_config_invalid";
  constructor(message: string) {
    super(message);
    this.name = "AgentConfigError";
  }
}

const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2 } };

/** Adds our entries to a settings file and removes older ones of ours. Other settings, hooks and comments stay. */
export function addHooks(text: string, entries: HookEntries): string {
  const cleaned = removeHooks(text);
  return Object.entries(entries).reduce(
    (before, [event, entry]) => {
      const present = hookGroups(readConfig(before), event);
      return applyEdits(before, modify(before, ["hooks", event], [...present, entry], FORMAT));
    },
    cleaned.trim() === "" ? "{}\n" : cleaned,
  );
}

/** Removes our entries, and lists that become empty by that. */
export function removeHooks(text: string): string {
  if (text.trim() === "") return text;
  let changed = text;
  const { hooks } = readConfig(text);
  if (!isObject(hooks)) return text;
  for (const event of Object.keys(hooks)) {
    const groups = hookGroups(readConfig(changed), event);
    const others = groups.filter((group) => !isOurs(group));
    if (others.length === groups.length) continue;
    changed = applyEdits(changed, modify(changed, ["hooks", event], others.length > 0 ? others : undefined, FORMAT));
  }
  const left = readConfig(changed)["hooks"];
  const isEmpty = isObject(left) && Object.keys(left).length === 0;
  return isEmpty ? applyEdits(changed, modify(changed, ["hooks"], undefined, FORMAT)) : changed;
}

/** The events for which the file has an entry of ours. */
export function hookedEvents(text: string): readonly string[] {
  const { hooks } = readConfig(text);
  return isObject(hooks) ? Object.keys(hooks).filter((event) => hookGroups(readConfig(text), event).some(isOurs)) : [];
}

/** True if there is a hook for the event that is not ours. */
export function hasOtherHooks(config: JsonObject, event: string): boolean {
  return hookGroups(config, event).some((group) => !isOurs(group));
}

/** Reads JSON with comments. */
export function readConfig(text: string): JsonObject {
  if (text.trim() === "") return {};
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error)
    throw new AgentConfigError(`it is not valid JSON (${printParseErrorCode(error.error)} at character ${error.offset}). Fix it first.`);
  if (!isObject(value)) throw new AgentConfigError("it is not a JSON object. Fix it first.");
  return value as JsonObject;
}

function hookGroups({ hooks }: JsonObject, event: string): readonly Json[] {
  const groups = isObject(hooks) ? hooks[event] : undefined;
  return Array.isArray(groups) ? groups : [];
}

function isOurs(group: Json): boolean {
  return JSON.stringify(group).includes(WRAPPER_NAME);
}
