import { dirname, join } from "node:path";
import { isObject } from "@assent/core";
import { contentDigest } from "../../facts/digest.ts";
import { readRegularFile } from "../../paths/read-regular-file.ts";
import { isInside } from "../../paths/resolve.ts";

export type PackagePlace = { readonly cwd: string; readonly workspace: string };

/** The text of a package script and its package's directory, if that is inside the workspace. */
export type PackageScript = { readonly text: string; readonly directory: string | undefined };

/** What `npm test`, `pnpm test`, `yarn test` or `npm run NAME` would run, as text: the three scripts of the nearest package in the workspace and a digest of its `.npmrc`. */
export function findPackageScript(words: readonly string[], place: PackagePlace): PackageScript | undefined {
  const name = scriptName(words);
  if (name === undefined) return undefined;
  const directory = packageDirectory(place);
  return { directory, text: scriptText(name, readPackageFiles(directory)) };
}

/** A package's `package.json` and `.npmrc`; undefined if npm can't read it either. */
type PackageFiles = { readonly manifest: Buffer | undefined; readonly settings: Buffer | undefined };

function readPackageFiles(directory: string | undefined): PackageFiles {
  return { manifest: bytesOf(directory, "package.json"), settings: bytesOf(directory, ".npmrc") };
}

function scriptText(name: string, { manifest, settings }: PackageFiles): string {
  const scripts = scriptsOf(manifest);
  const steps = [`pre${name}`, name, `post${name}`].map((step) => `${step}: ${JSON.stringify(scripts(step))}`);
  return [...steps, `.npmrc: ${settingsOf(settings)}`].join("\n");
}

function scriptName([program, verb, name, ...more]: readonly string[]): string | undefined {
  if (verb === "test" && name === undefined && ["npm", "pnpm", "yarn"].includes(program ?? "")) return verb;
  return program === "npm" && verb === "run" && more.length === 0 && name !== undefined && !name.startsWith("-") ? name : undefined;
}

function packageDirectory({ cwd, workspace }: PackagePlace): string | undefined {
  for (let at = cwd; isInside(workspace, at); at = dirname(at)) {
    if (bytesOf(at, "package.json")) return at;
    if (at === dirname(at)) break;
  }
  return undefined;
}

function bytesOf(directory: string | undefined, file: string): Buffer | undefined {
  try {
    return directory === undefined ? undefined : readRegularFile(join(directory, file));
  } catch {
    return undefined; // npm can't read it either
  }
}

/** A missing script is empty. If the package is not valid JSON, every script carries its digest. */
function scriptsOf(bytes: Buffer | undefined): (step: string) => unknown {
  if (!bytes) return () => "";
  const scripts = parseScripts(bytes);
  return scripts ? (step) => (Object.hasOwn(scripts, step) ? scripts[step] : "") : () => ({ broken: contentDigest(bytes) });
}

/** Undefined: not valid JSON. */
function parseScripts(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
    return isObject(parsed) && isObject(parsed["scripts"]) ? parsed["scripts"] : {};
  } catch {
    return undefined;
  }
}

/** Only a digest: the file may contain a token, and this text is shown. */
function settingsOf(bytes: Buffer | undefined): string {
  return bytes && bytes.length > 0 ? contentDigest(bytes) : "empty";
}

/** Remembers the workspace's package scripts as they are now. A rule that is not bound to a script applies only to these. */
export function rememberPackageScripts(workspace: string): (words: readonly string[]) => string | undefined {
  const files = readPackageFiles(packageDirectory({ cwd: workspace, workspace })); // read now, and digested when a rule needs it
  return (words) => {
    const name = scriptName(words);
    if (name === undefined) return undefined;
    const isDeclared = files.manifest !== undefined && Object.hasOwn(parseScripts(files.manifest) ?? {}, name);
    return isDeclared || words[1] === "test" ? contentDigest(scriptText(name, files)) : undefined;
  };
}
