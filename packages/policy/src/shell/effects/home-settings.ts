import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { readRegularFile } from "../../paths/read-regular-file.ts";
import { isAbsent, resolveHome } from "../../paths/resolve.ts";
import type { Hazard } from "../plan/plan.ts";
import type { CommandEffects } from "../programs/reads.ts";
import { followGitFile } from "./git-repository.ts";
import type { CommandPlace } from "./look-at.ts";

/** Hazards that the settings of git, docker and kubectl decide: passwords in addresses, and programs that they would start. */
export function homeHazards({ addresses, client }: CommandEffects, place: CommandPlace): readonly Hazard[] {
  if (!(addresses || client)) return NONE;
  const home = resolveHome(place.home);
  if (addresses && gitSettings(home, place).some(mayHoldPassword))
    return [{ id: "sensitive_file", text: "Git's settings contain an address with a name or password" }];
  const steered = client === "docker" ? steersDocker(home) : client === "kubectl" && steersKubectl(home);
  return steered
    ? [{ id: "runs_program", text: `The settings of ${client} in your home directory name another server, or programs to start` }]
    : NONE;
}

const NONE: readonly Hazard[] = [];

/** Undefined: not readable. */
function readText(file: string): string | undefined {
  try {
    return String(readRegularFile(file));
  } catch (error) {
    return isAbsent(error) ? "" : undefined;
  }
}

/** Of the repository around the directory, and of the user. */
function gitSettings(home: string, { cwd }: CommandPlace): readonly (string | undefined)[] {
  const files = [join(home, ".gitconfig"), join(home, ".config/git/config")];
  for (let top = cwd; ; top = dirname(top)) {
    files.push(...gitDirectories(join(top, ".git")).flatMap((data) => [join(data, "config"), join(data, "config.worktree")]));
    if (top === dirname(top)) return files.map(readText);
  }
}

function gitDirectories(data: string): readonly string[] {
  try {
    return lstatSync(data, { throwIfNoEntry: false })?.isFile() ? (followGitFile(data) ?? []) : [data];
  } catch {
    return [data]; // git can't follow it either
  }
}

/** What comes before `@` in a web address may be a token; elsewhere it is a name unless a password follows. */
function mayHoldPassword(text: string | undefined): boolean {
  return text === undefined || /(?:https?|ftps?):\/\/[^\s/@"]+@|:\/\/[^\s/@":]+:[^\s/@"]+@/i.test(text);
}

/** A context may be reached by ssh; plugins and their hooks are programs. */
function steersDocker(home: string): boolean {
  const text = readText(join(home, ".docker/config.json"));
  if (text === "") return false;
  try {
    const { currentContext = "", ...others } = JSON.parse(text ?? "") as Readonly<Record<string, unknown>>;
    return (
      !["", "default"].includes(String(currentContext)) ||
      ["plugins", "features", "aliases", "cliPluginsExtraDirs"].some((key) => key in others)
    );
  } catch {
    return true;
  }
}

/** A user may be known by a program's answer; a proxy or kuberc changes what is asked. */
function steersKubectl(home: string): boolean {
  const settings = readText(join(home, ".kube/config"));
  return settings === undefined || /exec|auth-provider|proxy-url|cmd-path/.test(settings) || readText(join(home, ".kube/kuberc")) !== "";
}
