import type { PlanWord } from "../plan/plan.ts";
import { PROGRAMS } from "../programs/table.ts";
import type { SeenCommand } from "../walk/seen-command.ts";

/** The same command with its sub-command in every other spelling. Which word is the sub-command and which an option's value is not known: each may be. */
export function otherSubcommands(seen: SeenCommand, program: string): readonly SeenCommand[] {
  const groups = PROGRAMS.get(program)?.match?.subcommandSynonyms?.map((group) => group.split(", "));
  if (!groups) return [];
  const free = seen.argv.flatMap(({ text, dynamic }, i) => (i > 0 && !dynamic && !text.startsWith("-") ? [i] : []));
  const places = free.filter((_, i) => i === 0 || seen.argv[(free[i - 1] ?? 0) - 1]?.text.startsWith("-")); // the first, or behind what may be a value
  return places.flatMap((first) => groups.flatMap((group) => respelled(seen, group, [first, free[free.indexOf(first) + 1]])));
}

function respelled(
  seen: SeenCommand,
  group: readonly string[],
  [first, second]: readonly [number, number | undefined],
): readonly SeenCommand[] {
  const one = seen.argv[first]?.text ?? "";
  const both = second === undefined ? undefined : `${one} ${seen.argv[second]?.text ?? ""}`;
  const written = both !== undefined && group.includes(both) ? [first, second] : group.includes(one) ? [first] : undefined;
  if (!written) return [];
  const spelled = written.length === 2 ? both : one;
  return group.filter((other) => other !== spelled).map((other) => ({ ...seen, argv: replaced(seen.argv, written, other) }));
}

function replaced(argv: readonly PlanWord[], places: readonly (number | undefined)[], words: string): readonly PlanWord[] {
  const [first] = places;
  return argv.flatMap((word, i) => {
    if (i === first) return words.split(" ").map((text) => ({ text, dynamic: false }));
    return places.includes(i) ? [] : [word];
  });
}
