import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineTool } from "@assent/core";
import { main, processIo } from "assent";
import { CODE_FLAGS } from "../../../../test/support/code-flags.ts";

/** Node arguments that run `assent` with the tool `mark`, described by TEST_TOOL. */
export const ENTRY: readonly string[] = [...CODE_FLAGS, fileURLToPath(import.meta.url)];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const mark = defineTool({
    name: "mark",
    description: process.env["TEST_TOOL"] ?? "marks",
    kind: "edit",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run: ({ text }, { cwd }) => {
      appendFileSync(join(cwd, "marks"), `${text}\n`);
      return "marked";
    },
  });
  process.exit(await main(process.argv.slice(2), processIo(), { tools: [mark] }));
}
