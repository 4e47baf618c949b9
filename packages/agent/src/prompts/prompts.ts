import { readFileSync } from "node:fs";

/** Reads a prompt. The path is the same from the sources and from the built bundle, which ship `src/prompts` both. */
function readPrompt(name: string): string {
  return readFileSync(new URL(`../../src/prompts/${name}.md`, import.meta.url), "utf8").trim();
}

export type SystemPromptParts = {
  readonly cwd: string;
  /** Tools to prefer over `shell`, named in the built-in prompt. */
  readonly preferredTools?: readonly string[];
  /** Set when the session starts in plan mode. */
  readonly planFile?: string | undefined;
  /** Replaces the built-in prompt. */
  readonly prompt?: string | undefined;
  /** The workspace's own instructions for agents. */
  readonly instructions?: string | undefined;
};

/** Builds the system prompt. It stays the same for the whole session, so that providers can cache it. */
export function systemPrompt({ cwd, preferredTools = [], planFile, prompt, instructions = "" }: SystemPromptParts): string {
  const plan = planFile === undefined ? "" : planPrompt(planFile);
  return [prompt ?? builtInPrompt(cwd, preferredTools), instructions, plan].filter((part) => part !== "").join("\n\n");
}

function builtInPrompt(cwd: string, preferredTools: readonly string[]): string {
  const names = preferredTools.map((name) => `\`${name}\``).join(", ");
  return readPrompt("system")
    .replace("{{preferredTools}}", () => (names === "" ? "" : `: ${names}`))
    .replaceAll("{{cwd}}", () => cwd);
}

/** Builds the system prompt of an agent: its own prompt, then where it works. */
export function agentSystemPrompt({ prompt, cwd }: { readonly prompt: string; readonly cwd: string }): string {
  const place = readPrompt("agent-system").replaceAll("{{cwd}}", () => cwd);
  return prompt === "" ? place : `${prompt}\n\n${place}`;
}

/** Explains plan mode to a model. */
export function planPrompt(planFile: string): string {
  return readPrompt("plan-mode").replaceAll("{{planFile}}", () => planFile);
}

/** Asks a model to summarize the conversation; `more` is what hooks add. */
export function compactionPrompt(more?: string): string {
  const prompt = readPrompt("compaction");
  return more === undefined ? prompt : `${prompt}\n\n${more}`;
}
