import { commandName } from "../read/command-name.ts";
import type { Program, Runs } from "./program.ts";
import { type CommandEffects, effectsByTable, NO_EFFECTS } from "./reads.ts";
import { ARCHIVES } from "./rows/archives.ts";
import { CLOUD } from "./rows/cloud.ts";
import { COREUTILS } from "./rows/coreutils.ts";
import { FILES } from "./rows/files.ts";
import { GIT } from "./rows/git.ts";
import { LANGUAGES } from "./rows/languages.ts";
import { NETWORK } from "./rows/network.ts";
import { PACKAGES } from "./rows/packages.ts";
import { SEARCH } from "./rows/search.ts";
import { SHELLS } from "./rows/shells.ts";
import { SYSTEM } from "./rows/system.ts";
import { TEXT } from "./rows/text.ts";
import { TOOLS } from "./rows/tools.ts";
import { WRAPPERS } from "./rows/wrappers.ts";

/** Each program is in one of them. */
export const ROW_FILES: readonly Readonly<Record<string, Program>>[] = [
  COREUTILS,
  SYSTEM,
  FILES,
  TEXT,
  SEARCH,
  GIT,
  PACKAGES,
  SHELLS,
  WRAPPERS,
  LANGUAGES,
  ARCHIVES,
  NETWORK,
  CLOUD,
  TOOLS,
];

/** All programs by name. To add one, add a row to a file above. */
export const PROGRAMS: ReadonlyMap<string, Program> = new Map(ROW_FILES.flatMap((rows) => Object.entries(rows)));

/** A command's effects; undefined: the table doesn't describe them. */
export function effectsOf(name: string, args: readonly string[]): CommandEffects | undefined {
  const { version, reads } = PROGRAMS.get(name) ?? {};
  const [word = ""] = args;
  if (args.length === 1 && version?.split(" ").includes(word)) return { ...NO_EFFECTS, located: true };
  if (!reads) return undefined;
  return typeof reads === "function" ? reads(args) : effectsByTable(args, reads);
}

/** How a program runs commands; undefined: none that Assent knows of. */
export function runsOf(name: string): Runs | undefined {
  return PROGRAMS.get(name)?.runs ?? (LOADER.test(name) ? PROGRAMS.get("ld.so") : unversioned(name))?.runs;
}

/** How a program runs scripts, by its name or path; undefined: it is not an interpreter. */
export function interpreterKind(program: string): Program["interprets"] {
  const name = program.slice(program.lastIndexOf("/") + 1).toLowerCase();
  return PROGRAMS.get(name)?.interprets ?? unversioned(name)?.interprets;
}

function unversioned(name: string): Program | undefined {
  return PROGRAMS.get(VERSIONED.exec(name)?.[1] ?? "");
}

/** The dynamic loader starts any program. */
const LOADER = /^ld(?:-linux|-musl|64)?[\w.-]*\.so(?:\.\d+)*$/;
/** `python3.12`. */
const VERSIONED = /^(python|pypy|perl|ruby|lua|php)[\d.]+$/;

/** Whether these words run code that Assent doesn't inspect. An allow rule for them must name all words. */
export function isOpaque(words: readonly string[]): boolean {
  const [name = "", verb = ""] = words;
  const base = commandName(name);
  const opaque = PROGRAMS.get(base)?.opaque;
  if (typeof opaque === "object") {
    return "only" in opaque ? opaque.only.split(" ").includes(verb) : !opaque.except.split(" ").includes(verb);
  }
  return opaque === true || base.startsWith("python") || isAlwaysOpaque(base.replace(/[-0-9.]+$/, ""));
}

/** `node20`. */
function isAlwaysOpaque(name: string): boolean {
  const opaque = PROGRAMS.get(name)?.opaque;
  return opaque !== undefined && !(typeof opaque === "object" && "only" in opaque);
}
