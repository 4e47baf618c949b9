import type { Redirection } from "../plan/plan.ts";
import type { SeenCommand, WalkResult } from "../walk/seen-command.ts";
import type { PlainCommand, PlainRedirection } from "./strict-reader.ts";

/** The top-level commands of the walk if both readers agree on commands, words, redirections and operators. Undefined: they differ. */
export function matchReaders(plain: readonly PlainCommand[], walk: WalkResult): readonly SeenCommand[] | undefined {
  if (!walk.parsed || walk.limited) return undefined;
  const top = walk.commands.filter((seen) => seen.top !== undefined);
  return top.length === plain.length && plain.every((command, i) => isSame(command, top[i])) ? top : undefined;
}

function isSame(plain: PlainCommand, seen: SeenCommand | undefined): boolean {
  if (seen === undefined || seen.join !== plain.join || seen.assignments.length > 0 || seen.argv.length !== plain.words.length)
    return false;
  return (
    plain.words.every(({ text, glob }, i) => seen.argv[i]?.text === text && seen.argv[i]?.dynamic === glob) &&
    seen.redirections.length === plain.redirections.length &&
    plain.redirections.every((redirection, i) => isSameRedirection(REDIRECTIONS[redirection], seen.redirections[i]))
  );
}

const REDIRECTIONS: Readonly<Record<PlainRedirection, readonly [fd: string, op: string, target: string]>> = {
  "2>&1": ["2", ">&", "1"],
  "1>&2": ["1", ">&", "2"],
  ">/dev/null": ["1", ">", "/dev/null"],
  "2>/dev/null": ["2", ">", "/dev/null"],
  "</dev/null": ["0", "<", "/dev/null"],
};

function isSameRedirection([fd, op, target]: readonly [string, string, string], seen: Redirection | undefined): boolean {
  return seen !== undefined && !seen.dynamic && seen.fd === fd && seen.op === op && seen.target === target;
}
