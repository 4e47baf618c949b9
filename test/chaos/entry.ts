import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { defineTool } from "@assent/core";
import { main, processIo } from "assent";
import { appendLine } from "../crash/world-tools.ts";
import { CODE_FLAGS } from "../support/code-flags.ts";

/** Arguments for Node that run `assent` with the tool `effect`, which appends one line to the world file. */
export const ENTRY: readonly string[] = [...CODE_FLAGS, fileURLToPath(import.meta.url)];

/** Time before and after the effect, in which a process can be killed or stopped. */
const EACH_MS = 15;

if (import.meta.main) {
  const { ASSENT_TEST_WORLD: world = "" } = process.env;
  const effect = defineTool({
    name: "effect",
    description: "Writes a line.",
    kind: "other",
    input: { type: "object", properties: { note: { type: "string" } }, required: ["note"], additionalProperties: false },
    run: async (_input, { callId: call, sessionId: session, attempt, idempotencyKey: key }) => {
      await wait(EACH_MS);
      appendLine(world, { call, session, attempt, key });
      await wait(EACH_MS);
      return "done";
    },
  });
  process.exit(await main(process.argv.slice(2), processIo(), { tools: [effect] }));
}
