import { readFileSync } from "node:fs";

/** What a model is told that is to summarise a conversation; `more` is what hooks want it to heed. */
export function compactionPrompt(more?: string): string {
  const prompt = readFileSync(new URL("../../src/prompts/compaction.md", import.meta.url), "utf8").trim();
  return more === undefined ? prompt : `${prompt}\n\n${more}`;
}
