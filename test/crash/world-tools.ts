import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { defineTool, type RunContext, type Tool, type ToolDefinition } from "@assent/core";
import type { Failpoints } from "./failpoints.ts";

/** One effect, as it stands in the world file: the checker reads the same form. */
export type WorldLine = { readonly call: string; readonly session: string; readonly attempt: number; readonly key: string | null };

/** Tools whose only effect is a line in a file outside the store. They differ in what a crash makes of them. */
export function worldTools(world: string, { hit, isArmed }: Failpoints): readonly Tool[] {
  const run = (
    _input: unknown,
    { callId: call, sessionId: session, attempt, idempotencyKey: key }: RunContext,
  ): string | Promise<string> => {
    hit("effect.before");
    appendLine(world, { call, session, attempt, key });
    hit("effect.mid");
    hit("batch.under_way");
    return isArmed("batch.under_way") ? new Promise(() => undefined) : "done";
  };
  const make = (name: string, rest: Pick<ToolDefinition, "kind" | "probe" | "idempotencyKey">): Tool =>
    defineTool({
      name,
      description: "Writes a line.",
      input: { type: "object", properties: { note: { type: "string" } }, additionalProperties: false },
      run,
      ...rest,
    });
  return [
    make("world", { kind: "other" }),
    make("look", { kind: "read" }),
    make("probed", {
      kind: "other",
      probe: (_input, { callId, sessionId }) => {
        const applied = worldLines(world).some(({ call, session }) => call === callId && session === sessionId);
        return { state: applied ? "applied" : "not_applied" };
      },
    }),
    make("keyed", { kind: "other", idempotencyKey: (_input, { callKey }) => callKey }),
  ];
}

/** The effects so far. */
export function worldLines(world: string): readonly WorldLine[] {
  if (!existsSync(world)) return [];
  const lines = readFileSync(world, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as WorldLine);
}

/** One more effect. */
export function appendLine(world: string, line: WorldLine): void {
  const file = openSync(world, "a");
  writeSync(file, `${JSON.stringify(line)}\n`);
  closeSync(file);
}
