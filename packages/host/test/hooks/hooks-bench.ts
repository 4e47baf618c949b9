import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { EventBodies, JsonObject } from "@assent/core";
import type { HookBody, HookEntry, HookFunction } from "@assent/core/parts";
import { createHookRunner, type HookRunner, type HookRunnerOptions } from "../../src/hooks/runner.ts";
import { createSystemClock } from "../../src/system/clock.ts";
import { nodeDigest } from "../../src/system/digest.ts";

/** A hook as the settings' reader would give it: a shell line, or another body. */
export function hook(event: HookEntry["event"], body: string | HookBody, over: Partial<HookEntry> = {}): HookEntry {
  const made: HookBody = typeof body === "string" ? { type: "command", command: body } : body;
  const name = over.name ?? (made.type === "command" ? made.command : made.function);
  const definition = over.definition ?? JSON.stringify([event, made, name]);
  return { event, name, source: "user", body: made, timeoutMs: 10_000, onFailure: "warn", async: false, ...over, definition };
}

/** A runner with what it told whom. */
export type HookBench = HookRunner & {
  readonly warnings: string[];
  readonly shown: string[];
  readonly records: EventBodies["hook.ran"][];
};

export function hookBench(entries: HookRunnerOptions["entries"], over: Partial<HookRunnerOptions> = {}): HookBench {
  const warnings: string[] = [];
  const shown: string[] = [];
  const records: EventBodies["hook.ran"][] = [];
  const runner = createHookRunner({
    entries,
    clock: createSystemClock(),
    digest: nodeDigest,
    environment: { PATH: process.env["PATH"], HOME: "/home/someone" },
    cwd: "/",
    projectDir: "/project",
    sessionId: "s_1",
    record: (ran) => void records.push(ran),
    warn: (message) => void warnings.push(message),
    show: (message) => void shown.push(message),
    graceMs: 200,
    lingerMs: 200,
    ...over,
  });
  return { ...runner, warnings, shown, records };
}

/** Function hooks of one event, named f1, f2, … in order. */
export function functionHooks(
  event: HookEntry["event"],
  ...calls: readonly HookFunction[]
): Pick<HookRunnerOptions, "entries" | "functions"> {
  const names = calls.map((_, at) => `f${at + 1}`);
  return {
    entries: names.map((name) => hook(event, { type: "function", function: name })),
    functions: Object.fromEntries(names.map((name, at) => [name, calls[at]!])),
  };
}

export function live(): AbortSignal {
  return new AbortController().signal;
}

/** What the runtime tells hooks about a call of the shell tool. */
export function shellCall(command = "ls", more: JsonObject = {}): JsonObject {
  return { tool: "shell", tool_name: "Bash", tool_kind: "execute", tool_use_id: "c1", tool_input: { command }, ...more };
}

/** Waits for something in another process. */
export async function until(condition: () => boolean, what = "the condition"): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) assert.fail(`${what} did not come about`);
    await pause(5);
  }
}
