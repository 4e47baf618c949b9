import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "@assent/core";
import { contentDigest } from "../../facts/digest.ts";
import { isInside } from "../../paths/resolve.ts";

/** Where the command would run. */
export type PackagePlace = { readonly cwd: string; readonly workspace: string };

/** The text of a script, and the directory of its package; undefined: none inside the workspace. */
export type PackageScript = { readonly text: string; readonly directory: string | undefined };

/**
 * What a package command (`npm test`, `pnpm test`, `yarn test`, `npm run NAME`) would run, as text: the three scripts of the nearest package inside the workspace
 * and which settings npm finds beside it. Two texts are the same only if all of these are. Undefined: another command.
 */
export function findPackageScript(words: readonly string[], place: PackagePlace): PackageScript | undefined {
  const name = scriptName(words);
  if (name === undefined) return undefined;
  const directory = packageDirectory(place);
  const scripts = scriptsOf(bytesOf(directory, "package.json"));
  const steps = [`pre${name}`, name, `post${name}`].map((step) => `${step}: ${JSON.stringify(scripts(step))}`);
  return { text: [...steps, `.npmrc: ${settingsOf(bytesOf(directory, ".npmrc"))}`].join("\n"), directory };
}

function scriptName([program, verb, name, ...more]: readonly string[]): string | undefined {
  if (verb === "test" && name === undefined && ["npm", "pnpm", "yarn"].includes(program ?? "")) return verb;
  return program === "npm" && verb === "run" && more.length === 0 && name !== undefined && !name.startsWith("-") ? name : undefined;
}

/** The nearest directory upward that holds a package; undefined: none inside the workspace. */
function packageDirectory({ cwd, workspace }: PackagePlace): string | undefined {
  for (let at = cwd; isInside(workspace, at); at = dirname(at)) {
    if (bytesOf(at, "package.json")) return at;
    if (at === dirname(at)) break;
  }
  return undefined;
}

function bytesOf(directory: string | undefined, file: string): Buffer | undefined {
  try {
    return directory === undefined ? undefined : readFileSync(join(directory, file));
  } catch {
    return undefined; // absent, or nothing anybody can read: npm cannot either
  }
}

/** The scripts by their names; an absent one is empty. A package that is no JSON has none, and says so in each. */
function scriptsOf(bytes: Buffer | undefined): (step: string) => unknown {
  if (!bytes) return () => "";
  try {
    const parsed: unknown = JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
    const scripts = isObject(parsed) && isObject(parsed["scripts"]) ? parsed["scripts"] : {};
    return (step) => (Object.hasOwn(scripts, step) ? scripts[step] : "");
  } catch {
    return () => ({ broken: contentDigest(bytes) });
  }
}

/** Only their digest: they may hold a token, and this text is shown. */
function settingsOf(bytes: Buffer | undefined): string {
  return bytes && bytes.length > 0 ? contentDigest(bytes) : "empty";
}

/** The scripts that package commands run in the workspace itself, as they are now: a rule that binds nothing itself holds for these only. */
export function rememberPackageScripts(workspace: string): (words: readonly string[]) => string | undefined {
  const known = new Map<string, string>();
  for (const words of packageCommands(workspace)) {
    const script = findPackageScript(words, { cwd: workspace, workspace });
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
