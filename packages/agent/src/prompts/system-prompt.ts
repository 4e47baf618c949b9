import { readFileSync } from "node:fs";
import { planPrompt } from "./plan-prompt.ts";

/** What every model is told first; `planFile` where it begins in plan mode. It stays the same through a session, so that providers can keep it. */
export function systemPrompt({ cwd, planFile }: { readonly cwd: string; readonly planFile?: string | undefined }): string {
  const system = readFileSync(new URL("../../src/prompts/system.md", import.meta.url), "utf8")
    .trim()
    .replaceAll("{{cwd}}", () => cwd);
  return planFile === undefined ? system : `${system}\n\n${planPrompt({ planFile })}`;
}
