import type { PlanWord } from "../plan/plan.ts";
import type { SeenCommand } from "../walk/seen-command.ts";

const CONTAINER_VERBS =
  "attach commit cp create diff exec export inspect kill logs pause port rename restart rm run start stats stop top unpause update wait";
const IMAGE_VERBS = "build history import inspect load pull push save tag";

/** Spellings of the same sub-command, separated by commas; a spelling may have two words. */
const CONTAINERS: readonly string[] = [
  ...CONTAINER_VERBS.split(" ").map((verb) => `${verb}, container ${verb}`),
  ...IMAGE_VERBS.split(" ").map((verb) => `${verb}, image ${verb}`),
  "rm, container rm, container remove",
  "rmi, image rm, image remove",
  "ps, container ps, container ls, container list",
  "images, image ls, image list",
  "build, image build, buildx build, builder build",
  "info, system info",
  "events, system events",
];
const NPM: readonly string[] = [
  "install, i, add, in, ins, inst, insta, instal, isnt, isnta, isntal, isntall",
  "uninstall, un, unlink, remove, rm, r",
  "update, up, upgrade, udpate",
  "run, run-script, rum, urn",
  "test, t, tst",
  "exec, x",
  "ci, clean-install, ic, install-clean, isntall-clean",
  "config, c",
  "install-test, it",
  "install-ci-test, cit, clean-install-test, sit",
];
const SYNONYMS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map(
  Object.entries({
    docker: CONTAINERS,
    podman: CONTAINERS,
    nerdctl: CONTAINERS,
    npm: NPM,
    pnpm: ["install, i", "remove, rm, uninstall, un", "update, up, upgrade", "exec, x", "run, run-script"],
    git: ["remote remove, remote rm", "stash, stash push, stash save", "submodule, submodule status", "worktree remove, worktree rm"],
    cargo: ["run, r", "build, b", "test, t", "check, c", "remove, rm", "doc, d"],
    helm: ["uninstall, delete, del, un", "list, ls", "repo remove, repo rm"],
    brew: ["uninstall, remove, rm", "install, instal"],
    gh: ["pr create, pr new", "repo create, repo new", "repo delete, repo rm", "issue create, issue new"],
    kubectl: ["delete, del"],
  }).map(([name, groups]) => [name, groups.map((group) => group.split(", "))]),
);

/** The same command with its sub-command in every other spelling. Which word is the sub-command and which an option's value is not known: each may be. */
export function otherSubcommands(seen: SeenCommand, program: string): readonly SeenCommand[] {
  const groups = SYNONYMS.get(program);
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
