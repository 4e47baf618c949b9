import type { JudgedCommand } from "@assent/policy";
import { shellWord } from "../../command-line/shell-word.ts";

export type TreeRow = {
  readonly command: JudgedCommand;
  readonly depth: number;
  /** Its number, the command around it, and how it follows the one before: `2. on success: `, `sh -c: `. */
  readonly label: string;
};

export function commandTree(commands: readonly JudgedCommand[]): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  const listed = new Map<TreeRow | undefined, number>();
  for (const command of commands) {
    const parent = rows.filter((row) => continues(command.path, row.command.path)).at(-1);
    const steps = command.path.slice(parent?.command.path.length ?? 0).map(readStep);
    const isListed = steps.some(({ operator }) => operator !== undefined);
    if (isListed) listed.set(parent, (listed.get(parent) ?? 0) + 1);
    const number = isListed ? `${listed.get(parent)}. ` : "";
    rows.push({ command, depth: parent ? parent.depth + 1 : 0, label: number + stepWords(steps) });
  }
  return rows;
}

type PathStep = { readonly label: string; readonly operator?: string; readonly index: number };

/** Reads a step of a path, such as `&&[1]` or `sh -c`. */
function readStep(label: string): PathStep {
  const [, operator, index] = /^(&&|\|\||\|&?|;)\[(\d+)\]$/.exec(label) ?? [];
  return operator === undefined ? { label, index: 0 } : { label, operator, index: Number(index) };
}

function stepWords(steps: readonly PathStep[]): string {
  const around = steps.filter(({ operator }) => operator === undefined).map(({ label }) => label);
  const joining = steps.findLast(({ index }) => index > 0)?.operator;
  const words = [...around, ...(joining === undefined ? [] : [OPERATORS[joining] ?? joining])];
  return words.length === 0 ? "" : `${words.join(" ")}: `;
}

const OPERATORS: Readonly<Record<string, string>> = {
  "&&": "on success",
  "||": "on failure",
  "|": "piped into",
  "|&": "piped into, with errors",
  ";": "then",
};

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
