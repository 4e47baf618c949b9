import { readFileSync } from "node:fs";
import { planPrompt } from "./plan-prompt.ts";

/** What a system prompt is made from. */
export type SystemPromptParts = {
  readonly cwd: string;
  /** Where a session begins in plan mode. */
  readonly planFile?: string | undefined;
  /** Replaces the built-in prompt. */
  readonly prompt?: string | undefined;
  /** What the workspace asks of agents that work in it. */
  readonly instructions?: string | undefined;
};

/** What every model is told first. It stays the same through a session, so that providers can keep it. */
export function systemPrompt({ cwd, planFile, prompt, instructions = "" }: SystemPromptParts): string {
  const plan = planFile === undefined ? "" : planPrompt({ planFile });
  return [prompt ?? builtInPrompt(cwd), instructions, plan].filter((part) => part !== "").join("\n\n");
}

function builtInPrompt(cwd: string): string {
  return readFileSync(new URL("../../src/prompts/system.md", import.meta.url), "utf8")
    .trim()
    .replaceAll("{{cwd}}", () => cwd);
}
