import { isObject, type JsonObject } from "@assent/core";
import { type HookEntry, type HookFunction, hookPointNamed } from "@assent/core/parts";
import { readHooks } from "@assent/policy";
import type { FrontEndHooks } from "../../compose/front-end.ts";
import type { HostLink } from "./link.ts";

export type HostHooks = FrontEndHooks & {
  /** Registers the hooks a host names when it joins. Returns what is wrong with them, if anything; then none counts. */
  readonly take: (hooks: unknown) => string | undefined;
};

const DEFAULT_MS = 60_000;
const LONGEST_MS = 24 * 3_600_000;

export function hostHooks(link: HostLink): HostHooks {
  const functions: Record<string, HookFunction> = {};
  let entries: readonly HookEntry[] = [];
  return {
    functions,
    entries: () => entries,
    take: (hooks) => {
      if (hooks === undefined || hooks === null) return undefined;
      const read = isObject(hooks) ? Object.entries(hooks).map(([event, groups]) => readEvent(event, groups)) : ["hooks must be an object"];
      const fault = read.find((each) => typeof each === "string");
      if (fault !== undefined) return fault;
      entries = read.filter((each) => typeof each !== "string").flat();
      for (const { body } of entries) if (body.type === "function") functions[body.function] = callback(link, body.function);
      return undefined;
    },
  };
}

const PREFIX = "host:";

function callback(link: HostLink, name: string): HookFunction {
  return async (input, { signal }) => {
    const { hook_event_name, tool_use_id } = input;
    const id = name.slice(PREFIX.length);
    const about = { callback_id: id, hook_event: hook_event_name ?? null, input, ...(typeof tool_use_id === "string" && { tool_use_id }) };
    const replied = await link.request({ subtype: "hook_callback", ...about }, signal);
    if ("value" in replied) return replied.value ?? undefined;
    throw new Error("error" in replied ? replied.error : "the host is gone");
  };
}

function readEvent(name: string, groups: unknown): readonly HookEntry[] | string {
  const event = hookPointNamed(name);
  if (!event) return `there is no hook event '${name}'`;
  if (!Array.isArray(groups)) return `the hooks of ${name} must be a list`;
  const entries: HookEntry[] = [];
  for (const group of groups) {
    const read = readGroup(name, group);
    if (typeof read === "string") return read;
    entries.push(...read);
  }
  return entries;
}

function readGroup(name: string, group: unknown): readonly HookEntry[] | string {
  if (!isObject(group)) return `the hooks of ${name} must be objects`;
  const { matcher, callback_ids, hookCallbackIds, onFailure } = group;
  const ids: unknown = callback_ids ?? hookCallbackIds;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string")) return `a hook of ${name} has no callback_ids`;
  const timeoutMs = timeoutOf(group);
  if (timeoutMs === undefined) return `the timeout of a hook of ${name} must be more than 0 and at most 24 h`;
  const hooks = ids.map((id) => ({
    type: "function",
    function: `${PREFIX}${id}`,
    ...(typeof onFailure === "string" && { onFailure }),
  }));
  const value: JsonObject = { [name]: [{ matcher: typeof matcher === "string" ? matcher : "", hooks }] };
  const layer = { scope: "session", file: "initialize", value, placeOf: () => ({ line: 0, column: 0 }) } as const;
  const compileRule = (): never => {
    throw new Error("a host's hooks have no rules");
  };
  const { entries, problems } = readHooks(layer, { functions: hooks.map((hook) => hook.function), compileRule });
  const problem = problems.find(({ effect }) => effect === "refuse");
  return problem ? `${problem.key} ${problem.message}` : entries.map((entry) => ({ ...entry, timeoutMs }));
}

/** `timeout_ms`, or `timeout` in seconds as other clients send it. */
function timeoutOf({ timeout_ms, timeout }: Readonly<Record<string, unknown>>): number | undefined {
  const ms = timeout_ms ?? (typeof timeout === "number" ? timeout * 1_000 : undefined) ?? DEFAULT_MS;
  return typeof ms === "number" && ms > 0 && ms <= LONGEST_MS ? ms : undefined;
}
