import { commandName } from "../read/command-name.ts";
import type { MatchAnswer, SeenCommand } from "../walk/seen-command.ts";

/** Whether a command is a recursive `rm` of the root directory or of everything in it. */
export function matchRootDelete({ argv, openEnd }: SeenCommand): MatchAnswer {
  const [name] = argv;
  if (!name) return "no";
  if (name.dynamic) return "doubt";
  if (commandName(name.text) !== "rm") return "no";
  const args = argv.slice(1);
  const end = args.findIndex(({ text, dynamic }) => !dynamic && text === "--");
  const before = end === -1 ? args : args.slice(0, end);
  const isRecursive = before.some(({ text }) => isRecursiveOption(text));
  const isRoot = args.some(({ text }) => isRootPath(text));
  const unsure = args.filter(({ dynamic }) => dynamic);
  const isUnsure = openEnd || unsure.length > 0;
  if (isRecursive && isRoot) return "yes";
  const mayBeRecursive = isRecursive || (before.some(({ text, dynamic }) => dynamic && text.startsWith("-")) && unsure.length > 1);
  return isUnsure && (mayBeRecursive || isRoot) ? "doubt" : "no";
}

function isRecursiveOption(text: string): boolean {
  return /^-[a-zA-Z]*[rR]/.test(text) || (text.length > 2 && "--recursive".startsWith(text));
}

/** Whether a path is `/` or `/*` in any spelling, without looking at the disk. */
export function isRootPath(text: string): boolean {
  if (!text.startsWith("/")) return false;
  const parts: string[] = [];
  for (const part of text.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.length === 0 || (parts.length === 1 && /^\*+$/.test(parts[0] ?? ""));
}
