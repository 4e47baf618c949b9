import { callOf, SHARED } from "@assent/core";
import { callKey, type PreparedEvent } from "@assent/store/parts";
import type { LoadedValues, RowKeys } from "./loaded-rows.ts";

/** Most decisions read only rows that their events name, so they are loaded together. A decision that needs more runs again. */
export function rowsNamedBy(session: string, events: readonly { readonly body: object; readonly lent?: PreparedEvent["lent"] }[]): RowKeys {
  const keys = {
    calls: [] as string[],
    approvals: [] as string[],
    grants: [] as string[],
    proposals: [] as string[],
    questions: [] as string[],
  };
  const sessions = new Set([SHARED, session]);
  const contents: string[] = [];
  for (const { body, lent = [] } of events) {
    const owner = session === SHARED ? (textOf(body, "session") ?? session) : session;
    sessions.add(owner);
    const call = callOf({ body }) ?? textOf(body, "callId");
    if (call !== undefined) keys.calls.push(callKey(owner, call));
    push(keys.approvals, textOf(body, "approval"));
    push(keys.grants, textOf(body, "grant"));
    push(keys.proposals, textOf(body, "proposal"));
    push(keys.questions, textOf(body, "question"));
    contents.push(...lent);
  }
  return { ...keys, chains: [...sessions], contents };
}

function textOf(body: object, key: string): string | undefined {
  const value: unknown = Reflect.get(body, key);
  return typeof value === "string" ? value : undefined;
}

function push(keys: string[], key: string | undefined): void {
  if (key !== undefined) keys.push(key);
}

/** The keys of all, each once. */
export function joinKeys(all: readonly RowKeys[]): RowKeys {
  const joined: { -readonly [K in keyof LoadedValues]?: string[] } = {};
  for (const keys of all) {
    for (const table of Object.keys(keys) as (keyof LoadedValues)[]) {
      const wanted = joined[table] ?? [];
      joined[table] = wanted;
      for (const key of keys[table] ?? []) if (!wanted.includes(key)) wanted.push(key);
    }
  }
  return joined;
}
