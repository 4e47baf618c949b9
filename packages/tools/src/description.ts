import { readFileSync } from "node:fs";

/** What the model is told about a tool: the text beside its source. It is found from the sources and from the build alike, because the package carries it where it lies. */
export function description(tool: string): string {
  return readFileSync(new URL(`../src/builtin/${tool}.md`, import.meta.url), "utf8").trim();
}
