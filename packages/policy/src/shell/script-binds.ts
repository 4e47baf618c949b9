import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "./plan.ts";

/** Larger files are no scripts of anybody's. */
const LARGEST = 16 * 1024 * 1024;

/** Programs whose first operand is the program text they run. */
const INTERPRETERS =
  /^(?:sh|bash|dash|ash|zsh|ksh|fish|source|\.|python[0-9.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|lua[0-9.]*|Rscript|osascript|tclsh|awk|gawk|mawk|pwsh)$/;

/** To them `-e` is no code but a mode. */
const SHELLS = /^(?:sh|bash|dash|ash|zsh|ksh|fish|source|\.)$/;

/** A script that a command would run, by its name as written, with the digest of its bytes. */
export type ScriptBind = { readonly file: string; readonly digest: string };

/**
 * The scripts a line's commands would run: an interpreter's operand, or a program named by its path. What they say is part of what a person approves,
 * so their digests go into the fingerprint. A file that is absent counts as such: its appearing is a change too.
 */
export function scriptBinds(commands: readonly Command[]): readonly ScriptBind[] {
  return commands.flatMap(({ argv, cwd }) => {
    if (cwd === null || argv.some(({ dynamic }, i) => dynamic && i < 2)) return [];
    const file = scriptOf(argv.map(({ text }) => text));
    return file === undefined ? [] : [{ file, digest: digestOf(resolve(cwd, file)) }];
  });
}

function scriptOf([name = "", ...args]: readonly string[]): string | undefined {
  if (name.includes("/") && !INTERPRETERS.test(baseName(name))) return name;
  if (!INTERPRETERS.test(baseName(name))) return undefined;
  const skipped = args[0] === "run" ? args.slice(1) : args;
  const code = SHELLS.test(baseName(name)) ? /^-[a-zA-Z]*c$/ : /^-[a-zA-Z]*[ce]$|^--eval$|^--print$/;
  const inline = skipped.findIndex((word) => code.test(word));
  const operand = skipped.findIndex((word) => !word.startsWith("-") && word !== "");
  return inline !== -1 && (operand === -1 || inline < operand) ? undefined : skipped[operand];
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function digestOf(path: string): string {
  try {
    const { size } = statSync(path);
    if (!statSync(path).isFile()) return "no regular file";
    if (size > LARGEST) return `too large to read: ${size} bytes`;
    return `sha256:${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
  } catch {
    return "absent";
  }
}
