import { readFileSync } from "node:fs";

/** What a model is told about plan mode. */
export function planPrompt({ planFile }: { readonly planFile: string }): string {
  return readFileSync(new URL("../../src/prompts/plan-mode.md", import.meta.url), "utf8")
    .trim()
    .replaceAll("{{planFile}}", () => planFile);
}
