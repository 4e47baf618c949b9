import type { JsonObject, Scope } from "@assent/core";
import { isJsonObject } from "@assent/core/parts";
import { findNodeAtLocation, getNodeValue, type Node } from "jsonc-parser";
import { LONGEST_RULE } from "../rules/parse.ts";
import { nearestKey } from "./nearest-key.ts";
import type { SettingsProblem } from "./problem.ts";
import { type RuleObject, readRuleObject } from "./rule-entry.ts";
import { describeValue, type ValueFault, wrongValue } from "./setting-values.ts";
import { type RuleKey, type RuleRow, SETTINGS, type SettingKey, type ValueRow } from "./settings.ts";
import {
  addProblem,
  isForbidden,
  isFull,
  keyPath,
  memberPath,
  objectMembers,
  openPage,
  type SettingsPage,
  unknownKey,
} from "./settings-page.ts";
import type { TextPlace } from "./text-place.ts";

export type WrittenValue<T = unknown> = { readonly value: T; readonly at: TextPlace; readonly itemAt?: (index: number) => TextPlace };

export type RuleEntry = RuleObject & {
  readonly list: RuleKey;
  /** The flag it comes from. */
  readonly flag?: string;
  readonly key: string;
  readonly at: TextPlace;
  readonly placeOf: (field: "match" | "notMatch", index: number) => TextPlace;
};

export type WrittenHooks = {
  readonly value: JsonObject;
  readonly placeOf: (path: readonly (string | number)[], part?: "key") => TextPlace;
};

export type LayerHooks = WrittenHooks & { readonly scope: Scope; readonly file: string };

export type WrittenSettings = {
  readonly values: ReadonlyMap<SettingKey, WrittenValue>;
  readonly rules: readonly RuleEntry[];
  readonly hooks?: WrittenValue<WrittenHooks>;
  readonly problems: readonly SettingsProblem[];
};

export function readSettings(file: string, text: string): WrittenSettings {
  const { page, root } = openPage(file, text);
  const draft: SettingsDraft = { page, values: new Map(), rules: [], entries: 0 };
  if (root?.type === "object") readGroup(draft, root, "");
  else if (root) reportFaults(draft, { node: root, key: "" }, wrongValue("an object", getNodeValue(root)).faults);
  const { values, rules, hooks } = draft;
  return { values, rules, problems: page.problems, ...(hooks && { hooks }) };
}

type SettingsDraft = {
  readonly page: SettingsPage;
  readonly values: Map<SettingKey, WrittenValue>;
  readonly rules: RuleEntry[];
  entries: number;
  hooks?: WrittenValue<WrittenHooks>;
};

type ValueSlot = { readonly node: Node; readonly key: string; readonly inAllow?: boolean };

const KEYS: readonly string[] = Object.keys(SETTINGS);
const GROUPS: ReadonlySet<string> = new Set(KEYS.flatMap((key) => (key.includes(".") ? [key.slice(0, key.indexOf("."))] : [])));

function readGroup(draft: SettingsDraft, group: Node, prefix: string): void {
  for (const [name, node] of objectMembers(group)) {
    if (isForbidden(name.value) || isFull(draft.page)) continue;
    const key = memberPath(prefix, name.value);
    if (isNested(name) && isKey(key)) readKey(draft, { node, key }, key);
    else if (isNested(name) && GROUPS.has(key)) readNamedGroup(draft, { node, key });
    else addProblem(draft.page, unknownKey(name, key, describeUnknownKey(key)));
  }
}

/** Keys must be nested: `{"permissions": {"deny": []}}`. */
function isNested(name: Node): boolean {
  return !String(name.value).includes(".");
}

function isKey(key: string): key is keyof typeof SETTINGS {
  return Object.hasOwn(SETTINGS, key);
}

function readNamedGroup(draft: SettingsDraft, { node, key }: ValueSlot): void {
  if (node.type === "object") readGroup(draft, node, key);
  else reportFaults(draft, { node, key }, wrongValue("an object", getNodeValue(node)).faults);
}

const RENAMED: Readonly<Record<string, keyof typeof SETTINGS>> = { "ask.notify": "notify.terminal" };

function describeUnknownKey(key: string): { readonly message: string; readonly hint: string } {
  const renamed = Object.hasOwn(RENAMED, key) ? RENAMED[key] : undefined;
  if (renamed) return { message: `The key ${key} is now called ${renamed}.`, hint: `Write: ${nestedForm(renamed)}` };
  if (isKey(key))
    return { message: `The key ${key} is written with a dot, but keys are nested.`, hint: `Write it nested: ${nestedForm(key)}` };
  const nearest = nearestKey(key, keysNear(key));
  if (nearest === undefined) return { message: `Unknown key ${key}.`, hint: `Remove it. ${knownKeysHint(key)}` };
  const hint = isKey(nearest) && nearest.includes(".") ? `Keys are nested: ${nestedForm(nearest)}` : `Write "${nearest}", or remove it.`;
  return { message: `Unknown key ${key}. Did you mean ${nearest}?`, hint };
}

function keysNear(key: string): readonly string[] {
  const inside = keysOfGroup(key);
  return inside.length > 0 ? inside : [...KEYS, ...GROUPS];
}

function keysOfGroup(key: string): readonly string[] {
  const group = key.slice(0, key.indexOf(".") + 1);
  return group === "" ? [] : KEYS.filter((known) => known.startsWith(group));
}

function knownKeysHint(key: string): string {
  const inside = keysOfGroup(key);
  return inside.length > 0 ? `Keys here: ${inside.join(", ")}.` : "docs/settings.md lists all keys.";
}

function nestedForm(key: keyof typeof SETTINGS): string {
  const value = isRuleKey(key) ? "[...]" : "…";
  return `{ "${key.replace(".", '": { "')}": ${value} } }`;
}

function readKey(draft: SettingsDraft, slot: ValueSlot, key: keyof typeof SETTINGS): void {
  if (isRuleKey(key)) readRules(draft, slot, { list: key, row: SETTINGS[key] });
  else if (key === "hooks") readHooksValue(draft, slot);
  else if (key === "version") readVersion(draft, slot);
  else readValue(draft, slot, { key, row: SETTINGS[key] });
}

function isRuleKey(key: keyof typeof SETTINGS): key is RuleKey {
  return SETTINGS[key].merge === "rules";
}

function readVersion(draft: SettingsDraft, slot: ValueSlot): void {
  const value: unknown = getNodeValue(slot.node);
  if (value === 1) return;
  const message = `version is ${describeValue(value)}; this program supports only version 1.`;
  const hint = "Write 1, or use a newer version of Assent.";
  addProblem(draft.page, { type: "settings_version", offset: slot.node.offset, key: slot.key, message, hint });
}

function readValue(draft: SettingsDraft, slot: ValueSlot, { key, row }: { readonly key: SettingKey; readonly row: ValueRow }): void {
  const { node } = slot;
  const { placeAt } = draft.page;
  const reading = row.read(getNodeValue(node));
  const itemAt = (index: number): TextPlace => placeAt((nodeAt(node, [index]) ?? node).offset);
  if ("faults" in reading) reportFaults(draft, slot, reading.faults);
  else if (!draft.values.has(key)) draft.values.set(key, { value: reading.value, at: placeAt(node.offset), itemAt });
}

function readHooksValue(draft: SettingsDraft, slot: ValueSlot): void {
  const value: unknown = getNodeValue(slot.node);
  const { placeAt } = draft.page;
  const placeOf: WrittenHooks["placeOf"] = (path, part) => {
    const found = nodeAt(slot.node, path) ?? slot.node;
    return placeAt((part === "key" ? keyNode(found) : found).offset);
  };
  if (isJsonObject(value)) draft.hooks = { value: { value, placeOf }, at: placeAt(slot.node.offset) };
  else reportFaults(draft, slot, wrongValue("an object", value).faults);
}

const MAX_RULES = 10_000;

function readRules(draft: SettingsDraft, { node, key }: ValueSlot, { list, row }: { readonly list: RuleKey; readonly row: RuleRow }): void {
  const inAllow = row.verdict === "allow";
  if (node.type !== "array") {
    reportFaults(draft, { node, key, inAllow }, wrongValue("a list", getNodeValue(node)).faults);
    return;
  }
  for (const [index, item] of (node.children ?? []).entries()) {
    draft.entries += 1;
    if (draft.entries > MAX_RULES) {
      const message = `More than ${MAX_RULES} rules in one file.`;
      const hint = "Combine rules with globs, or spread them over several settings files.";
      addProblem(draft.page, { type: "settings_type", offset: item.offset, key: `${key}[${index}]`, message, hint });
      return;
    }
    readRule(draft, { node: item, key: `${key}[${index}]`, inAllow }, list);
  }
}

function readRule(draft: SettingsDraft, slot: ValueSlot, list: RuleKey): void {
  const { node, key, inAllow = false } = slot;
  const reading = readRuleObject(getNodeValue(node));
  if ("faults" in reading) {
    reportFaults(draft, slot, reading.faults);
    return;
  }
  const { placeAt } = draft.page;
  const { offset } = nodeAt(node, ["rule"]) ?? node;
  const { length } = reading.value.rule;
  if (length > LONGEST_RULE) {
    const message = `A rule has at most ${LONGEST_RULE} characters; this one has ${length}.`;
    addProblem(draft.page, { type: "rule_syntax", offset, key, message, hint: "Split it into several rules.", inAllow });
    return;
  }
  const placeOf: RuleEntry["placeOf"] = (field, index) => placeAt((nodeAt(node, [field, index]) ?? node).offset);
  draft.rules.push({ ...reading.value, list, key, at: placeAt(offset), placeOf });
}

function nodeAt(node: Node, path: readonly (string | number)[]): Node | undefined {
  return findNodeAtLocation(node, [...path]);
}

/** The key of a value; list items have none. */
function keyNode(value: Node): Node {
  return (value.parent?.type === "property" && value.parent.children?.[0]) || value;
}

function reportFaults(draft: SettingsDraft, { node, key, inAllow = false }: ValueSlot, faults: readonly ValueFault[]): void {
  for (const { path, message, unknownKey: isUnknown } of faults) {
    const found = nodeAt(node, path) ?? node;
    const { offset } = isUnknown ? keyNode(found) : found;
    const where = keyPath(key, path);
    const words = { offset, key: where, message: `${where || "A settings file"} ${message}.`, hint: "Fix or remove the value." };
    addProblem(draft.page, { ...words, ...(isUnknown ? { type: "settings_unknown_key" } : { type: "settings_type", inAllow }) });
  }
}
