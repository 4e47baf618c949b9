import type { Join, PlainCommand } from "../read/strict-reader.ts";

/** Where `cd DIR` leads from a directory; null: nobody can tell, or it may not lead there. */
export type MoveTo = (target: string, from: string) => string | null;

/**
 * The working directory of each command of a plain line, null where it depends on something unknown. A `cd` moves what follows it by `&&`, `;` or a newline;
 * one that may not run (after `&&`) moves only what runs after it alone, and one before or after `||` or in a pipeline leaves nothing certain.
 */
export function findWorkingDirectories(commands: readonly PlainCommand[], start: string, move: MoveTo): readonly (string | null)[] {
  if (!commands.some(isCd)) return commands.map(() => start);
  let at: DirectoryState = { cwd: start, conditional: false };
  return commands.map((command, i) => {
    at = stateBefore(at, commands, i);
    const { cwd } = at;
    if (isCd(command)) at = stateAfterCd(at, { command, next: commands[i + 1]?.join, move });
    return cwd;
  });
}

function isCd({ words }: PlainCommand): boolean {
  return words[0].text === "cd";
}

/** `conditional`: the last move may not have happened. */
type DirectoryState = { readonly cwd: string | null; readonly conditional: boolean };

function stateBefore(at: DirectoryState, commands: readonly PlainCommand[], i: number): DirectoryState {
  const join = commands[i]?.join;
  const uncertain = join === "||" ? hasMoved(commands, i) : join === ";" && at.conditional;
  return uncertain ? { cwd: null, conditional: false } : at;
}

type CdStep = { readonly command: PlainCommand; readonly next: Join | undefined; readonly move: MoveTo };

function stateAfterCd(at: DirectoryState, { command: { join, words }, next, move }: CdStep): DirectoryState {
  if (join === "|" || next === "|") return at; // a subshell of its own: nothing moves
  const [, target, ...more] = words;
  if (at.cwd === null || target === undefined || more.length > 0 || join === "||" || next === "||")
    return { cwd: null, conditional: false };
  return { cwd: move(target.text, at.cwd), conditional: join === "&&" };
}

/** Whether a `cd` stands before this command in the same and-or list. */
function hasMoved(commands: readonly PlainCommand[], at: number): boolean {
  for (let i = at - 1; i >= 0; i--) {
    if (commands[i]?.words[0].text === "cd") return true;
    if (commands[i]?.join === ";") return false;
  }
  return false;
}
