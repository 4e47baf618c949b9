import type { PlanWord, Redirection } from "../plan/plan.ts";
import type { SeenCommand, WalkResult } from "../walk/seen-command.ts";
import type { PlainCommand, PlainRedirection, PlainWord } from "./strict-reader.ts";

/** The top-level commands of the walk if both readers agree on commands, words, redirections and operators. Undefined: they differ. */
export function matchReaders(plain: readonly PlainCommand[], walk: WalkResult): readonly SeenCommand[] | undefined {
  if (!walk.parsed || walk.limited) return undefined;
  const top = walk.commands.filter((seen) => seen.top !== undefined);
  return top.length === plain.length && plain.every((command, i) => isSame(command, top[i])) ? top : undefined;
}

function isSame(plain: PlainCommand, seen: SeenCommand | undefined): boolean {
  if (seen === undefined || seen.join !== plain.join || seen.assignments.length > 0 || seen.argv.length !== plain.words.length)
    return false;
  const isInput = (one: Redirection): boolean => plain.input !== undefined && isSameRedirection(["0", "<", plain.input], one);
  const inputs = seen.redirections.filter(isInput);
  const others = seen.redirections.filter((one) => !isInput(one));
  return (
    plain.words.every((word, i) => isSameWord(word, seen.argv[i])) &&
    inputs.length === (plain.input === undefined ? 0 : 1) &&
    others.length === plain.redirections.length &&
    plain.redirections.every((redirection, i) => isSameRedirection(REDIRECTIONS[redirection], others[i]))
  );
}

function isSameWord({ text, glob, raw }: PlainWord, seen: PlanWord | undefined): boolean {
  return raw === undefined ? seen?.text === text && seen.dynamic === glob : seen?.text === raw && seen.dynamic;
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
