import { readFileSync } from "node:fs";

/** The text beside a tool's source that describes it to models. Packages ship it in `src/`, so source and build find it. */
export function description(tool: string): string {
  return readFileSync(new URL(`../src/builtin/${tool}.md`, import.meta.url), "utf8").trim();
}
