import type { JudgedCommand } from "@assent/policy";
import { shellWord } from "../../command-line/shell-word.ts";

export type TreeRow = {
  readonly command: JudgedCommand;
  readonly depth: number;
  /** The operator before it or the command around it: `&&[1]`, `sh -c`. */
  readonly joined: string;
};

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
