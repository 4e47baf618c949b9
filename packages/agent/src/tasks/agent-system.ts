import { readFileSync } from "node:fs";

/** What an agent with a definition is told first: who it is, then where it works. */
export function agentSystem({ prompt, cwd }: { readonly prompt: string; readonly cwd: string }): string {
  const place = readFileSync(new URL("../../src/tasks/agent-system.md", import.meta.url), "utf8")
    .trim()
    .replaceAll("{{cwd}}", () => cwd);
  return prompt === "" ? place : `${prompt}\n\n${place}`;
}
