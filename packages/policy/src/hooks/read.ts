import { canonicalJson, isObject, messageOf } from "@assent/core";
import { HOOK_EVENTS, type HookBody, type HookEntry, type HookPoint, hookPointNamed, sharedToolName } from "@assent/core/parts";
import { nearestKey } from "../settings/nearest-key.ts";
import type { SettingsProblem } from "../settings/problem.ts";
import type { LayerHooks } from "../settings/read-settings.ts";
import { keyPath } from "../settings/settings-page.ts";
import type { HookCondition } from "./condition.ts";
import { type FieldFault, findContradictions, HOOK_FIELDS, readHookFields, type WrittenHook } from "./fields.ts";

/** What hooks refer to. */
export type HookOptions = {
  readonly functions: readonly string[];
  readonly compileRule: (text: string) => HookCondition;
  /** Known tools; without them matchers are not checked. */
  readonly tools?: () => readonly string[];
};

/** Valid hooks of one layer in file order, and all problems. */
export type LoadedHooks = { readonly entries: readonly HookEntry[]; readonly problems: readonly SettingsProblem[] };

/** Reads the `hooks` of one settings file. */
export function readHooks(layer: LayerHooks, parts: HookOptions): LoadedHooks {
  const reading: HookReading = { layer, parts, entries: [], problems: [] };
  for (const [name, groups] of Object.entries(layer.value)) {
    const event = hookPointNamed(name);
    if (event) readGroups(reading, event, { path: [name], value: groups });
    else reportUnknown(reading, { path: [], name, known: EVENT_NAMES, what: "event" });
  }
  return { entries: reading.entries, problems: reading.problems };
}

const EVENT_NAMES: readonly string[] = Object.entries(HOOK_EVENTS).map(([ours, { shared }]) => shared ?? ours);

type HookPath = readonly (string | number)[];
type HookReading = {
  readonly layer: LayerHooks;
  readonly parts: HookOptions;
  readonly entries: HookEntry[];
  readonly problems: SettingsProblem[];
};
type PlacedValue = { readonly path: HookPath; readonly value: unknown };

function readGroups(reading: HookReading, event: HookPoint, { path, value }: PlacedValue): void {
  if (!Array.isArray(value)) {
    reportWrong(reading, path, "must be a list of objects with 'hooks' and, optionally, 'matcher'");
    return;
  }
  for (const [at, group] of value.entries()) readGroup(reading, event, { path: [...path, at], value: group });
}

const GROUP_FIELDS = ["matcher", "hooks"];

function readGroup(reading: HookReading, event: HookPoint, { path, value }: PlacedValue): void {
  if (!isObject(value)) {
    reportWrong(reading, path, "must be an object with 'hooks' and, optionally, 'matcher'");
    return;
  }
  for (const name of Object.keys(value))
    if (!GROUP_FIELDS.includes(name)) reportUnknown(reading, { path, name, known: GROUP_FIELDS, what: "field" });
  const { matcher = "", hooks } = value;
  const matches = readMatcher(reading, event, { path: [...path, "matcher"], value: matcher });
  if (!Array.isArray(hooks)) {
    reportWrong(reading, [...path, "hooks"], "must be a list of hooks");
    return;
  }
  const group = { event, matcher: typeof matcher === "string" && !matchesEverything(matcher) ? matcher : "", matches };
  for (const [at, hook] of hooks.entries()) readHook(reading, group, { path: [...path, "hooks", at], value: hook });
}

function readMatcher(reading: HookReading, event: HookPoint, { path, value }: PlacedValue): HookEntry["matches"] {
  if (typeof value !== "string") {
    reportWrong(reading, path, "must be a string");
    return undefined;
  }
  const compiled = compileMatcher(value);
  if ("problem" in compiled) {
    reportWrong(reading, path, `is not a valid regular expression: ${compiled.problem}`);
    return undefined;
  }
  if (!compiled.matches) return undefined;
  if (HOOK_EVENTS[event].matchesOn.length > 0) {
    if (HOOK_EVENTS[event].matchesOn.includes("tool_name")) warnUnmatchedTool(reading, { path, value }, compiled.matches);
    return compiled.matches;
  }
  const message = "has no effect: this event has nothing to match on";
  report(reading, path, { type: "settings_type", message, hint: "Remove the matcher.", effect: "warning" });
  return undefined;
}

/** A compiled matcher (undefined: matches everything), or its error. */
type Matcher = { readonly matches: ((value: string) => boolean) | undefined } | { readonly problem: string };

/** Compiles a regular expression for a whole value. Empty and `*` match everything. */
export function compileMatcher(text: string): Matcher {
  if (matchesEverything(text)) return { matches: undefined };
  try {
    new RegExp(text); // alone first: `a)|(b` is valid only inside our parentheses
    const whole = new RegExp(`^(?:${text})$`, "s");
    return { matches: (value) => whole.test(value) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function matchesEverything(text: string): boolean {
  return text === "" || text === "*";
}

/** A matcher that matches no tool protects nothing. MCP tools come and go, so they are skipped. */
function warnUnmatchedTool(reading: HookReading, { path, value }: PlacedValue, matches: (name: string) => boolean): void {
  const names = [...new Set(reading.parts.tools?.().flatMap((name) => [sharedToolName(name), name]))];
  const text = String(value);
  if (names.length === 0 || text.includes("mcp_") || names.some(matches)) return;
  const near = nearestKey(/[A-Za-z_][\w-]*/.exec(text)?.[0] ?? text, names);
  report(reading, path, {
    type: "settings_type",
    message: "matches no tool, so its hooks never run",
    hint: `${near === undefined ? "" : `Did you mean ${near}? `}A matcher must match the whole tool name. Tools: ${names.join(", ")}.`,
    effect: "warning",
    kept: true,
  });
}

type HookGroup = { readonly event: HookPoint; readonly matcher: string; readonly matches: HookEntry["matches"] };

function readHook(reading: HookReading, group: HookGroup, { path, value }: PlacedValue): void {
  if (!isObject(value)) {
    reportWrong(reading, path, "must be an object with 'type'");
    return;
  }
  const read = readHookFields(value);
  if ("faults" in read) {
    for (const fault of read.faults) reportFieldFault(reading, path, fault);
    return;
  }
  const { hook } = read;
  const faults = findContradictions({ event: group.event, hook, functions: reading.parts.functions });
  for (const { field, message } of faults) reportWrong(reading, field === undefined ? path : [...path, field], message);
  const test = readCondition(reading, [...path, "if"], hook.if);
  if (faults.length === 0 && test !== "broken") reading.entries.push(createEntry(reading.layer, group, { hook, test }));
}

function reportFieldFault(reading: HookReading, path: HookPath, { field, expected }: FieldFault): void {
  if (Object.hasOwn(HOOK_FIELDS, field) && expected === undefined) reportMisplaced(reading, [...path, field]);
  else if (expected === undefined) reportUnknown(reading, { path, name: field, known: Object.keys(HOOK_FIELDS), what: "field" });
  else reportWrong(reading, [...path, field], `must be ${expected}`);
}

function readCondition(reading: HookReading, path: HookPath, text: string | undefined): HookEntry["test"] | "broken" {
  if (text === undefined) return undefined;
  const rule = reading.parts.compileRule(text);
  if ("test" in rule) return rule.test;
  const { type, message, hint } = rule.fault;
  report(reading, path, { type, message: `is not a valid rule: ${message}`, hint, effect: "refuse" });
  return "broken";
}

const DEFAULT_SECONDS = 60;
const LONGEST_NAME = 200;

function createEntry(
  { scope }: LayerHooks,
  { event, matcher, matches }: HookGroup,
  { hook, test }: { readonly hook: WrittenHook; readonly test: HookEntry["test"] },
): HookEntry {
  const { timeout = 0, onFailure, async = false, name } = hook;
  const body = createBody(hook);
  const timeoutMs = (timeout > 0 ? timeout : DEFAULT_SECONDS) * 1_000;
  const failing = onFailure ?? (HOOK_EVENTS[event].failsClosed === "no" ? "warn" : "block");
  return {
    event,
    name: (name ?? (body.type === "command" ? body.command : body.function)).slice(0, LONGEST_NAME),
    source: scope,
    body,
    ...(matches && { matches }),
    ...(test && { test }),
    timeoutMs,
    onFailure: failing,
    async,
    definition: canonicalJson({ event, matcher, if: hook.if ?? "", body, timeoutMs, onFailure: failing, async }),
  };
}

function createBody({ type, command = "", args, env, passEnv, function: name = "" }: WrittenHook): HookBody {
  if (type === "function") return { type, function: name };
  return { type, command, ...(args && { args }), ...(env && { env: { ...env } }), ...(passEnv && { passEnv }) };
}

type UnknownName = { readonly path: HookPath; readonly name: string; readonly known: readonly string[]; readonly what: string };

function reportUnknown(reading: HookReading, { path, name, known, what }: UnknownName): void {
  const nearest = nearestKey(name, known);
  report(reading, [...path, name], {
    type: "settings_unknown_key",
    message: `is not a known ${what}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`,
    hint: nearest === undefined ? `Remove it. Known are: ${known.join(", ")}.` : `Write "${nearest}", or remove it.`,
    effect: "refuse",
    part: "key",
  });
}

function reportMisplaced(reading: HookReading, path: HookPath): void {
  const message = "does not apply to this type of hook";
  report(reading, path, { type: "settings_unknown_key", message, hint: "Remove it, or change the type.", effect: "refuse", part: "key" });
}

function reportWrong(reading: HookReading, path: HookPath, message: string): void {
  report(reading, path, { type: "settings_type", message, hint: "Fix or remove this hook.", effect: "refuse" });
}

type HookComplaint = Pick<SettingsProblem, "type" | "message" | "hint" | "effect" | "kept"> & { readonly part?: "key" };

function report({ layer, problems }: HookReading, path: HookPath, { part, ...what }: HookComplaint): void {
  const key = keyPath("hooks", path);
  const place = layer.placeOf(writtenPath(layer.value, path), part);
  problems.push({ file: layer.file, ...place, key, ...what, message: `${key} ${what.message}` });
}

/** The existing part of a path, to place a problem about something missing. */
function writtenPath(value: unknown, [first, ...rest]: HookPath): HookPath {
  if (first === undefined || typeof value !== "object" || value === null || !Object.hasOwn(value, first)) return [];
  const inner: unknown = Reflect.get(value, first);
  return [first, ...writtenPath(inner, rest)];
}
