import type { JudgedCommand } from "@assent/policy";
import { shellWord } from "../../command-line/shell-word.ts";

/** One command of a line at its place in the tree: below the command it was found in. */
export type TreeRow = {
  readonly command: JudgedCommand;
  readonly depth: number;
  /** How it is joined to its neighbours, or what it was found in: `&&[1]`, `sh -c`. */
  readonly joined: string;
};

/** The commands of a plan as a tree, in their order. A command whose path continues another's was found inside that one. */
export function commandTree(commands: readonly JudgedCommand[]): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  for (const command of commands) {
    const parent = rows.filter((row) => continues(command.path, row.command.path)).at(-1);
    const rest = command.path.slice(parent?.command.path.length ?? 0);
    rows.push({ command, depth: parent ? parent.depth + 1 : 0, joined: rest.join(" ") });
  }
  return rows;
}

function continues(path: readonly string[], start: readonly string[]): boolean {
  return start.length < path.length && start.every((label, index) => path[index] === label);
}

/** A command as one could type it: assignments, words, redirections. What only a shell could tell stands as it was written. */
export function commandText({ assignments, argv, redirections }: JudgedCommand): string {
  const words = [
    ...assignments.map(({ name }) => `${name}=…`),
    ...argv.map(({ text, dynamic }) => (dynamic ? text : shellWord(text))),
    ...redirections.map(
      ({ fd, op, target, dynamic }) => `${shownFd(fd, op)}${op}${dynamic || op.endsWith("&") ? target : shellWord(target)}`,
    ),
  ];
  return words.join(" ");
}

function shownFd(fd: string, op: string): string {
  return fd === (op.startsWith("<") ? "0" : "1") || op.startsWith(fd) ? "" : fd;
}
