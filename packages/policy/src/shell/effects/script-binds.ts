import { readFileSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { contentDigest } from "../../facts/digest.ts";
import type { Command } from "../plan/plan.ts";
import type { ShellUnit } from "../plan/shell-unit.ts";
import { interpreterKind } from "../programs/table.ts";
import { findPossibleDirectories } from "./touched-paths.ts";

/** Larger files are not bound. */
const LARGEST = 16 * 1024 * 1024;

/** A script that a command would run, with the digest of its bytes. */
export type ScriptBind = { readonly file: string; readonly digest: string };

const MOST_FILES = 64;

/** Finds the scripts that a line would run. They are part of what a person approves, so their digests go into the fingerprint. A missing file counts, because creating it is a change. */
export function findScriptBinds(
  units: readonly ShellUnit[],
  { cwd: from, home }: { readonly cwd: string; readonly home: string },
): readonly ScriptBind[] {
  const files = new Set(units.flatMap((unit) => findScriptFiles(unit, home)));
  return [...files].slice(0, MOST_FILES).map((path) => ({ file: displayPath(path, from), digest: digestOf(path) }));
}

/** The files of interpreters and the programs named by a path that a command would run. */
export function findScriptFiles(unit: ShellUnit, home: string): readonly string[] {
  const names = unit.command ? scriptsOf(unit.command) : NONE;
  if (names.length === 0) return NONE;
  return findPossibleDirectories(unit, home).flatMap((cwd) => names.map((name) => resolve(cwd, name)));
}

function displayPath(path: string, from: string): string {
  return path.startsWith(`${from}/`) ? relative(from, path) : path;
}

function scriptsOf({ argv, redirections }: Command): readonly string[] {
  const [first] = argv;
  if (!first || first.dynamic) return NONE;
  const { text: name } = first;
  const kind = interpreterKind(name);
  if (!kind) return name.includes("/") ? [name] : NONE;
  const args = argv.slice(1).map(({ text }) => text);
  const given = redirections.filter(({ op, dynamic }) => op === "<" && !dynamic).map(({ target }) => target);
  const literal = args.filter((word, i) => !word.startsWith("-") && word !== "" && !argv[i + 1]?.dynamic);
  const operands = name === "deno" || name === "bun" ? literal.filter((word) => word !== "run") : literal;
  if (runsInline(kind, args)) return given;
  return [...operands.filter((word, i) => i === 0 || LOOKS_LIKE_FILE.test(word)), ...given];
}

const NONE: readonly string[] = [];

/** Data files are not bound, but a second script is. */
const LOOKS_LIKE_FILE = /^\.{0,2}\/|\.(?:[cm]?[jt]s|py|rb|pl|php|lua|sh|bash|R|tcl)$/;

/** Code on the command line is part of the text already. For shells `-e` is a mode, not code. */
function runsInline(kind: ReturnType<typeof interpreterKind>, args: readonly string[]): boolean {
  const code = kind === "shell" ? /^-[a-zA-Z]*c$/ : /^-[a-zA-Z]*[ce]$|^--eval$|^--print$/;
  const inline = args.findIndex((word) => code.test(word));
  const operand = args.findIndex((word) => !word.startsWith("-") && word !== "");
  return inline !== -1 && (operand === -1 || inline < operand);
}

function digestOf(path: string): string {
  const read = readScript(path);
  return typeof read === "string" ? read : contentDigest(read);
}

/** The bytes of a script, or why there are none. */
export function readScript(path: string): Uint8Array | string {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return "no regular file";
    if (stats.size > LARGEST) return `too large to read: ${stats.size} bytes`;
    return readFileSync(path);
  } catch {
    return "absent";
  }
}
