// Installs other agents at the versions that their tests were measured with, and MCP's conformance tests, outside the lock file.
//
//   npm run agents              all of them (1.4 GB)
//   npm run agents -- claude    some of them
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VERSIONS = {
  claude: "@anthropic-ai/claude-code@2.1.325",
  codex: "@openai/codex@0.166.0",
  gemini: "@google/gemini-cli@0.61.0",
  qwen: "@qwen-code/qwen-code@0.24.4",
  opencode: "opencode-ai@1.18.33",
  conformance: "@modelcontextprotocol/conformance@0.1.16",
};

const names = process.argv.slice(2);
const unknown = names.find((name) => !Object.hasOwn(VERSIONS, name));
if (unknown !== undefined) {
  console.error(`There is no agent named ${unknown}. Agents: ${Object.keys(VERSIONS).join(", ")}.`);
  process.exit(2);
}

for (const [name, version] of Object.entries(VERSIONS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const folder = join(import.meta.dirname, "../node_modules/.cache/agents", name);
  if (existsSync(join(folder, version.replaceAll("/", "+")))) continue;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}\n");
  const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--save-exact", version], { cwd: folder, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(join(folder, version.replaceAll("/", "+")), "");
}
