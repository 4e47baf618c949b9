import type { Json, JsonObject } from "@assent/core";
import { isObject } from "@assent/core";
import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";

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
      const config = readConfig(before);
      refuseOtherForms(config, event);
      const path = ["hooks", event, hookGroups(config, event).length];
      return applyEdits(before, modify(before, path, entry, { ...FORMAT, isArrayInsertion: true }));
    },
    cleaned.trim() === "" ? "{}\n" : cleaned,
  );
}

/** Programs differ in which of two equal keys counts. */
export function refuseDuplicates(node: Node | undefined, key: string): void {
  const same = node?.children?.filter(({ children }) => children?.[0]?.value === key) ?? [];
  if (same.length > 1) throw new AgentConfigError(`it has the key ${JSON.stringify(key)} more than once. Fix it first.`);
}

function refuseOtherForms({ hooks }: JsonObject, event: string): void {
  if (hooks === undefined) return;
  if (!isObject(hooks)) throw new AgentConfigError('"hooks" is not an object. Fix it first.');
  const { [event]: groups } = hooks;
  if (groups !== undefined && !Array.isArray(groups)) throw new AgentConfigError(`"hooks.${event}" is not a list. Fix it first.`);
}

/** Removes our entries, and lists that become empty by that. */
export function removeHooks(text: string): string {
  if (text.trim() === "") return text;
  let changed = text;
  const { hooks } = readConfig(text);
  const root = parseTree(text, [], { allowTrailingComma: true });
  refuseDuplicates(root, "hooks");
  if (!isObject(hooks)) return text;
  for (const event of Object.keys(hooks)) refuseDuplicates(root && findNodeAtLocation(root, ["hooks"]), event);
  for (const event of Object.keys(hooks))
    for (let path = findOurs(changed, event); path !== undefined; path = findOurs(changed, event)) changed = removeAt(changed, path);
  const left = readConfig(changed)["hooks"];
  const isEmpty = isObject(left) && Object.keys(left).length === 0;
  return isEmpty && changed !== text ? removeAt(changed, ["hooks"]) : changed;
}

/** Where the first entry of ours is, without other entries in the same group. */
function findOurs(text: string, event: string): JSONPath | undefined {
  const groups = hookGroups(readConfig(text), event);
  const at = groups.findIndex(isOurs);
  const group = groups[at];
  if (group === undefined) return undefined;
  const inside = isObject(group) && Array.isArray(group["hooks"]) ? group["hooks"] : [];
  if (inside.some((hook) => !isOurs(hook))) return ["hooks", event, at, "hooks", inside.findIndex(isOurs)];
  return groups.length === 1 ? ["hooks", event] : ["hooks", event, at];
}

/** Removes a value. An element of a list goes with one comma and nothing else, so that comments around it stay. */
function removeAt(text: string, path: JSONPath): string {
  const at = path.at(-1);
  if (typeof at !== "number") return applyEdits(text, modify(text, path, undefined, FORMAT));
  const root = parseTree(text, [], { allowTrailingComma: true });
  const elements = (root && findNodeAtLocation(root, path.slice(0, -1)))?.children ?? [];
  const [previous, element, next] = [elements[at - 1], elements[at], elements[at + 1]];
  if (!element) return text;
  const start = previous ? previous.offset + previous.length : element.offset;
  const end = previous || !next ? element.offset + element.length : next.offset;
  return `${text.slice(0, start)}${text.slice(end)}`;
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

export function hookGroups({ hooks }: JsonObject, event: string): readonly Json[] {
  const groups = isObject(hooks) ? hooks[event] : undefined;
  return Array.isArray(groups) ? groups : [];
}

function isOurs(group: Json): boolean {
  return JSON.stringify(group).includes(WRAPPER_NAME);
}
