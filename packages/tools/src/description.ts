import { readFileSync } from "node:fs";

/**
 * The text beside a tool's source that describes it to models. The package ships it in `src/`, so source and build find it at the same
 * place.
 */
export function description(tool: string): string {
  return readFileSync(new URL(`../src/builtin/${tool}.md`, import.meta.url), "utf8").trim();
}
