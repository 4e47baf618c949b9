// "Ask before this tool, remember, resume tomorrow from another process": runs each program in four processes (start, answer, resume, and resume again) and prints its lines
// and effects. Needs `npm run build` and `npm run bench:peers -- --install`. Run: node bench/peers/resume.mjs
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

for (const name of ["ai-sdk", "openai-agents", "langgraph", "assent"]) {
  const folder = mkdtempSync(join(tmpdir(), "resume-"));
  const program = join(import.meta.dirname, name, "resume.mjs");
  const [ours = ""] = readFileSync(program, "utf8").split("// The model, which");
  const isOurs = (line) => line.trim() !== "" && !line.trim().startsWith("//") && !/BaseChatModel|AIMessage/.test(line); // those are for the model
  const lines = ours.split("\n").filter(isOurs).length;
  const said = ["start", "answer", "resume", "resume"].map((step) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, step, folder], { encoding: "utf8" });
    return status === 0 ? stdout.trim() : `failed: ${stderr.match(/^.*Error.*$/m)?.[0] ?? stderr.slice(0, 300)}`;
  });
  const sent = existsSync(join(folder, "sent.txt")) ? readFileSync(join(folder, "sent.txt"), "utf8").trim().split("\n").length : 0;
  console.log(`${name}: ${lines} lines; resumed: ${said.slice(2).join(" | ")}; effects: ${sent} ${said.slice(0, 2).join("")}`);
  rmSync(folder, { recursive: true });
}
