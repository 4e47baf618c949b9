// Drive `assent` from your own program: you say the prompt, answer what asks, and read what happens.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { query, type ToolAnswer, type ToolRequest } from "@assent/sdk";

const workspace = mkdtempSync(join(tmpdir(), "assent-example-"));
const script = join(workspace, "script.yaml");
writeFileSync(
  script,
  `turns:
  - say: I clean up.
    calls:
      - { tool: shell, id: c1, input: { command: rm -r build } }
      - { tool: shell, id: c2, input: { command: touch notes.txt } }
  - say: The build stays; the notes are there.
`,
);

// Called for every call that asks. `fingerprint` ties the answer to exactly this request; the SDK sends it along.
function canUseTool({ title, input }: ToolRequest): ToolAnswer {
  const command = String(input["command"]);
  console.log(`asked: ${title}: ${command}`);
  if (command.startsWith("rm")) return { behavior: "deny", message: "Nothing is deleted here." };
  return { behavior: "allow", updatedInput: { command: "echo remember > notes.txt" } }; // an edit: this is what runs
}

const run = query({
  prompt: "Clean up.",
  executable: fileURLToPath(new URL("../packages/cli/bin/assent.js", import.meta.url)), // default: `assent` in PATH
  model: `script:${script}`,
  cwd: workspace,
  store: join(workspace, "store"),
  canUseTool,
});

const outcomes: string[] = [];
for await (const message of run) {
  if (message.type === "user" && typeof message.message.content !== "string") {
    for (const block of message.message.content) if (block.type === "tool_result") outcomes.push(`${block.tool_use_id} ${block.outcome}`);
  }
  if (message.type === "result") console.log(`${message.subtype}: ${message.result} (${outcomes.join(", ")})`);
}

rmSync(workspace, { recursive: true });
