import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@assent/core";
import { contentDigest } from "../../facts/digest.ts";
import { packageScript } from "./package-script.ts";

/** The scripts that package commands run in the workspace itself, as they are now: a rule that binds nothing itself holds for these only. */
export function packageScripts(workspace: string): (words: readonly string[]) => string | undefined {
  const known = new Map<string, string>();
  for (const words of packageCommands(workspace)) {
    const script = packageScript(words, { cwd: workspace, workspace });
    if (script) known.set(words.join(" "), contentDigest(script.text));
  }
  return (words) => known.get(words.join(" "));
}

/** Every command of this shape that the workspace's package could mean. */
function packageCommands(workspace: string): readonly (readonly string[])[] {
  const names = scriptNames(join(workspace, "package.json"));
  return [["npm", "test"], ["pnpm", "test"], ["yarn", "test"], ...names.map((name) => ["npm", "run", name])];
}

function scriptNames(file: string): readonly string[] {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(parsed) && isObject(parsed["scripts"]) ? Object.keys(parsed["scripts"]).slice(0, 1_000) : [];
  } catch {
    return []; // no package here, or none anybody can read
  }
}
