import { readFileSync } from "node:fs";
import { planPrompt } from "./plan-prompt.ts";

/** What a system prompt is made from. */
export type SystemPromptParts = {
  readonly cwd: string;
  /** Tools to prefer over `shell`, named in the built-in prompt. */
  readonly preferredTools?: readonly string[];
  /** Where a session begins in plan mode. */
  readonly planFile?: string | undefined;
  /** Replaces the built-in prompt. */
  readonly prompt?: string | undefined;
  /** What the workspace asks of agents that work in it. */
  readonly instructions?: string | undefined;
};

/** What every model is told first. It stays the same through a session, so that providers can keep it. */
export function systemPrompt({ cwd, preferredTools = [], planFile, prompt, instructions = "" }: SystemPromptParts): string {
  const plan = planFile === undefined ? "" : planPrompt({ planFile });
  return [prompt ?? builtInPrompt(cwd, preferredTools), instructions, plan].filter((part) => part !== "").join("\n\n");
}

function builtInPrompt(cwd: string, preferredTools: readonly string[]): string {
  const names = preferredTools.map((name) => `\`${name}\``).join(", ");
  return readFileSync(new URL("../../src/prompts/system.md", import.meta.url), "utf8")
    .trim()
    .replace("{{preferredTools}}", () => (names === "" ? "" : `: ${names}`))
    .replaceAll("{{cwd}}", () => cwd);
}
