import { readFileSync } from "node:fs";

/** What every model is told first. It stays the same through a session, so that providers can keep it. */
export function systemPrompt({ cwd }: { readonly cwd: string }): string {
  return readFileSync(new URL("../../src/prompts/system.md", import.meta.url), "utf8")
    .trim()
    .replaceAll("{{cwd}}", cwd);
}
