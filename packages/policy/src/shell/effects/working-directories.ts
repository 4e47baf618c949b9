import type { Join, PlainCommand } from "../read/strict-reader.ts";

/** Where `cd DIR` leads from a directory; null: unknown or not allowed. */
export type MoveTo = (target: string, from: string) => string | null;

/** The working directory of each plain command, null if unknown. A `cd` applies to what follows after `&&`, `;` or a newline. After `&&` it may not run, so it applies only to what depends on it. Around `||` and in pipelines nothing is certain. */
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
  if (join === "|" || next === "|") return at; // a pipeline stage is a subshell
  const [, target, ...more] = words;
  if (at.cwd === null || target === undefined || more.length > 0 || join === "||" || next === "||")
    return { cwd: null, conditional: false };
  return { cwd: move(target.text, at.cwd), conditional: join === "&&" };
}

function hasMoved(commands: readonly PlainCommand[], at: number): boolean {
  for (let i = at - 1; i >= 0; i--) {
    if (commands[i]?.words[0].text === "cd") return true;
    if (commands[i]?.join === ";") return false;
  }
  return false;
}
