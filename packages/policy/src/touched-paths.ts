import { resolve } from "node:path";
import { foldPath } from "./fold-path.ts";
import type { SeenCommand } from "./shell/seen-command.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import type { Reach } from "./write-commands.ts";
import { programName, type WriteTarget, writeTargets } from "./write-targets.ts";

/** A place that a command would change, or would read whole, in the spelling in which denies compare. */
export type TouchedPath = {
  /** As it was written. */
  readonly path: string;
  readonly use: WriteTarget["use"];
  readonly reach: Reach;
  /** Every spelling of the place; of a place known in part only, of the directory it lies in. */
  readonly places: readonly string[];
  /** Known in part: what the next name begins with. A glob does not begin with a dot. */
  readonly open?: { readonly start: string; readonly dotless: boolean };
  /** False: the command may run in another directory. */
  readonly certain: boolean;
  /** Nobody can tell where it leads. */
  readonly lost: boolean;
};

/** Where both spellings of a path come from; without a look at the disk there is only one. */
export type Look = (path: string, cwd: string) => { readonly lexical: string; readonly real: string | null };

/** What is known beside the command. */
export type Surroundings = { readonly home: string; readonly look?: Look };

/** What a command of a line would touch. */
export function touchedPaths(unit: ShellUnit, around: Surroundings): readonly TouchedPath[] {
  const { seen } = unit;
  if (!seen) return [];
  const targets = writeTargets(seen);
  if (targets.length === 0) return [];
  const cwds = possibleDirectories(unit, around.home);
  return targets.map((target) => touched(target, cwds, around));
}

/** The directories a command may run in: one where that is known, else every one that the line goes to. Empty: a shell has to say. */
export function possibleDirectories({ line, command }: ShellUnit, home: string): readonly string[] {
  if (command && command.cwd !== null) return [command.cwd];
  const found = new Set([line.plan.cwd]);
  for (const seen of line.seen) {
    const target = movesTo(seen, home);
    if (target === null || found.size > MOST_DIRECTORIES) return [];
    if (target !== undefined) for (const from of [...found]) found.add(resolve(from, target));
  }
  return [...found];
}

const MOST_DIRECTORIES = 32;

/** Undefined: it does not move, or only back. Null: nobody can tell where to. */
function movesTo(seen: SeenCommand, home: string): string | null | undefined {
  const name = programName(seen);
  if (name !== "cd" && name !== "pushd") return undefined;
  const [operand] = seen.argv.slice(1).filter(({ text }) => !/^-[LPe@]+$|^--$/.test(text));
  if (!operand) return name === "cd" ? home : undefined;
  if (operand.text === "-") return undefined;
  const { known, rest } = knownPart(expandHome(operand.text, home), operand.dynamic);
  return rest === "" ? known : null;
}

function touched(
  { path, dynamic, use, reach }: WriteTarget,
  cwds: readonly string[],
  { home, look = lexically }: Surroundings,
): TouchedPath {
  const { known, rest } = knownPart(expandHome(path, home), dynamic);
  const place = rest === "" ? known : known.slice(0, known.lastIndexOf("/") + 1);
  const from = place.startsWith("/") ? ["/"] : cwds;
  if (from.length === 0 || (rest !== "" && known === "" && !isGlob(rest)))
    return { path, use, reach, places: [], certain: false, lost: true };
  const facts = from.map((cwd) => look(place === "" ? "." : place, cwd));
  const places = new Set(facts.flatMap(({ lexical, real }) => [lexical, real ?? lexical]).map(foldPath));
  const start = foldPath(known.slice(place.length));
  const where = { places: [...places], certain: from.length === 1, lost: facts.some(({ real }) => real === null) };
  return { path, use, reach, ...where, ...(rest !== "" && { open: { start, dotless: start === "" && isGlob(rest) } }) };
}

function lexically(path: string, cwd: string): { readonly lexical: string; readonly real: string } {
  const lexical = resolve(cwd, path).normalize("NFC");
  return { lexical, real: lexical };
}

/** The text before the first sign that only a shell can read. */
function knownPart(text: string, dynamic: boolean): { readonly known: string; readonly rest: string } {
  if (!dynamic) return { known: text, rest: "" };
  const end = text.search(/[$`*?[{("'\\<>]/);
  if (end === -1) return text.startsWith("~") ? { known: "", rest: text } : { known: text, rest: "" };
  return { known: text.slice(0, end), rest: text.slice(end) };
}

function isGlob(rest: string): boolean {
  return /^[*?[]/.test(rest);
}

/** The spellings of the home directory and of the working directory that need no shell to be understood. */
export function expandHome(text: string, home: string): string {
  const found = /^(?:~|\$HOME|\$\{HOME\}|"\$HOME"|"\$\{HOME\}")(?=\/|$)/.exec(text);
  if (found) return `${home}${text.slice(found[0].length)}`;
  return text.replace(/^(?:\$PWD|\$\{PWD\})(?=\/|$)/, ".");
}
