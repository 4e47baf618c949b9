import type { PlanWord } from "./plan.ts";
import type { SeenCommand } from "./seen-command.ts";

const CONTAINER_VERBS =
  "attach commit cp create diff exec export inspect kill logs pause port rename restart rm run start stats stop top unpause update wait";
const IMAGE_VERBS = "build history import inspect load pull push save tag";

/** Sub-commands that are the same; words of one are separated by blanks, spellings by commas. */
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

/** The same command with its sub-command in every other spelling. */
export function otherSubcommands(seen: SeenCommand, program: string): readonly SeenCommand[] {
  const groups = SYNONYMS.get(program);
  if (!groups) return [];
  const [first, second] = subcommandPlaces(seen.argv);
  if (first === undefined) return [];
  const one = seen.argv[first]?.text ?? "";
  const both = second === undefined ? undefined : `${one} ${seen.argv[second]?.text ?? ""}`;
  return groups.flatMap((group) => {
    const written = both !== undefined && group.includes(both) ? [first, second] : group.includes(one) ? [first] : undefined;
    if (!written) return [];
    const spelled = written.length === 2 ? both : one;
    return group.filter((other) => other !== spelled).map((other) => ({ ...seen, argv: replaced(seen.argv, written, other) }));
  });
}

/** Where the first two words stand that are neither an option nor directly behind one; without such words, the first two that are no options. */
function subcommandPlaces(argv: readonly PlanWord[]): readonly (number | undefined)[] {
  const free = argv.flatMap(({ text, dynamic }, i) => (i > 0 && !dynamic && !text.startsWith("-") ? [i] : []));
  const known = free.findIndex((at) => SUBCOMMAND_WORDS.has(argv[at]?.text ?? ""));
  return known === -1 ? [] : free.slice(known, known + 2);
}

const SUBCOMMAND_WORDS: ReadonlySet<string> = new Set([...SYNONYMS.values()].flat(2).map((spelling) => spelling.split(" ")[0] ?? ""));

function replaced(argv: readonly PlanWord[], places: readonly (number | undefined)[], words: string): readonly PlanWord[] {
  const [first] = places;
  return argv.flatMap((word, i) => {
    if (i === first) return words.split(" ").map((text) => ({ text, dynamic: false }));
    return places.includes(i) ? [] : [word];
  });
}
