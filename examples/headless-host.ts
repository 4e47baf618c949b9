// Steer `assent run` by its stdin and stdout, without any library: one JSON object per line, in both directions.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const workspace = mkdtempSync(join(tmpdir(), "assent-example-"));
const script = {
  turns: [
    { say: "I make a note.", calls: [{ tool: "write", id: "c1", input: { file_path: "note.txt", content: "hello\n" } }] },
    { say: "The note is there." },
  ],
};
writeFileSync(join(workspace, "script.json"), JSON.stringify(script));

const assent = fileURLToPath(new URL("../packages/cli/bin/assent.js", import.meta.url)); // `assent` in PATH, once it is installed
const formats = ["--input-format", "stream-json", "--output-format", "stream-json"];
const flags = ["--model", "script:script.json", "--store", join(workspace, "store")];
const child = spawn(process.execPath, [assent, "run", ...formats, ...flags], { cwd: workspace, stdio: ["pipe", "pipe", "inherit"] });
const send = (line: object): void => void child.stdin.write(`${JSON.stringify(line)}\n`);

send({ type: "control_request", request_id: "1", request: { subtype: "initialize", protocol: 1, can_use_tool: true } });
send({ type: "user", message: { role: "user", content: "Make a note." } });

for await (const line of createInterface({ input: child.stdout })) {
  const message = JSON.parse(line);
  if (message.type === "control_request") {
    const { tool_name, input, fingerprint } = message.request;
    console.log(`asked: ${tool_name} ${input.file_path}?`);
    // The fingerprint limits the approval to exactly this request.
    const response = { behavior: "allow", fingerprint };
    send({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response } });
  }
  if (message.type === "assistant") for (const { text } of message.message.content) if (text) console.log(`said: ${text}`);
  if (message.subtype === "decision") console.log(`decided: ${message.tool_name} ${message.decision} (${message.source})`);
  if (message.type === "result") {
    console.log(`${message.subtype}: ${message.num_turns} turns, ${message.num_tool_calls} call`);
    child.stdin.end(); // no more messages, so the run ends
  }
}

rmSync(workspace, { recursive: true });
