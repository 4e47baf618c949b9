import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { classify } from "../../../src/shell/effects/classify.ts";
import type { CommandClass } from "../../../src/shell/plan/plan.ts";
import type { ReadTable } from "../../../src/shell/programs/reads.ts";
import { PROGRAMS, ROW_FILES } from "../../../src/shell/programs/table.ts";
import { sampleWorkspace } from "../sample-workspace.ts";

const HISTORY = `-p|-u|-s|-5|-n5|-n 5|-z|-w|-b|-M|-C|-B|-R|-a|-W|-U3|-U 3|-Sx|-S x|-Gx|-G x|-L1,2:a.txt|-L 1,2:a.txt|-i|-E|-F|-g|-c|-m|--cc|--oneline|--graph|--all|--branches|--tags|--remotes|--stat|
  --stat=9|--shortstat|--numstat|--dirstat|--summary|--name-only|--name-status|--patch|--no-patch|--raw|--format=%H|--pretty|--pretty=oneline|--abbrev-commit|--abbrev=7|--date=iso|
  --since=x|--until=x|--after=x|--before=x|--author=x|--committer=x|--grep=x|--max-count=3|--skip=2|--merges|--no-merges|--first-parent|--reverse|--follow|--decorate|--decorate=short|
  --no-decorate|--cached|--staged|--merge-base|--word-diff|--word-diff=color|--color|--color=never|--no-color|--unified=3|--diff-filter=A|--find-renames|--ignore-all-space|
  --ignore-space-change|--ignore-blank-lines|--minimal|--patience|--histogram|--exit-code|--quiet|--no-ext-diff|--no-textconv|--topo-order|--date-order|--left-right|--cherry-pick|--relative|
  --check|--function-context|--grep x|--author x|--since x|--until x|--format %H|--skip 2|--max-count 3`;

/** Options separated by `|`, and where in the command they go. */
const ROWS: readonly (readonly [command: string, options: string, proven?: CommandClass])[] = [
  ["echo … x", "-n|-e|-E"],
  ["pwd …", "-L|-P"],
  ["tail … a.txt", "-n 5|-n5|-c 5|-q|-v|-20|--lines=5|--bytes=5"],
  [
    "grep … x a.txt",
    `-r|-R|-n|-i|-v|-w|-x|-c|-l|-L|-o|-h|-H|-s|-q|-E|-F|-G|-P|-A 5|-B 5|-C 5|-m 5|-e y|-a|-I|-b|-z|-3|--include=x|--exclude=x|--exclude-dir=x|--color|--color=never|--recursive|--line-number|
      --ignore-case|--invert-match|--word-regexp|--count|--files-with-matches|--only-matching|--quiet|--extended-regexp|--fixed-strings|--perl-regexp|--after-context=1|--context=1|--max-count=1|-f b.txt`,
  ],
  [
    "rg … x",
    `-n|-i|-S|-s|-w|-x|-v|-c|-l|-o|-F|-P|-U|-H|-I|-N|-A 1|-B 1|-C 1|-m 1|-e y|-g G|-t T|-T T|-j 1|-M 1|--hidden|--no-ignore|--json|--sort=path|--type=ts|--glob=y|--stats|--count-matches|
      --max-depth=1|--color=never|--heading|--no-heading|--line-number|--files-with-matches|--multiline|--trim`,
  ],
  ["rg …", "--files"],
  [
    "find . …",
    `-name x|-iname x|-path x|-ipath x|-type f|-maxdepth 1|-mindepth 1|-size 1|-mtime 1|-mmin 1|-newer a.txt|-empty|-not -empty|! -empty|-empty -a -empty|-empty -o -empty|-empty -and -empty|
      -empty -or -empty|( -empty )|-print|-print0|-prune|-perm 644|-user x|-group x|-xdev|-depth|-regex x|-iregex x|-regextype x`,
  ],
  ["find … .", "-H|-P"],
  [
    "sort … a.txt",
    "-r|-n|-u|-f|-b|-d|-g|-h|-i|-M|-V|-s|-z|-c|-C|-m|-k 1|-t ,|--reverse|--numeric-sort|--unique|--key=1|--field-separator=,",
  ],
  ["uniq … a.txt", "-c|-d|-u|-i|-f 1|-s 1|-w 1|-z"],
  [
    "diff … a.txt b.txt",
    "-u|-U 3|-r|-q|-s|-i|-w|-b|-B|-y|-N|-a|--color|--color=never|--brief|--unified|--unified=3|--to-file=a.txt|--from-file=a.txt",
  ],
  ...["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"].map(
    (name) => [`${name} … a.txt`, "-b|-t|-z|--tag|--binary|--text|--zero"] as const,
  ),
  ["test …", "-f a.txt|-d src|-e none|-x src|-n x|-z x|a = b|a != b|1 -eq 1|1 -ge 2|a.txt -nt b.txt|a.txt -ef b.txt"],
  ["date …", "+%F|-u|-I|-u +%F"],
  ["sed … a.txt", "-n p|-nE p|-nr p|-n -e p|-n -s p|-n -z p|-n -u p"],
  ["awk … a.txt", "-F : {print}|-F: {print}|-v n=1 {print}"],
  ["jq … a.txt", "-r .|-c .|-s .|-e .|-S .|-n .|-j .|-a .|--arg n v .|--argjson n 1 .|--tab .|--indent 2 ."],
  ["git … log", "--no-pager|--no-optional-locks|--literal-pathspecs|--no-replace-objects"],
  ...["log", "show", "diff"].map((verb) => [`git ${verb} …`, HISTORY] as const),
  ["git stash show …", HISTORY.replace("|-u|", "|")], // shows files that were not tracked
  [
    "git status …",
    "-s|-b|-sb|-u|-uno|-z|-v|--short|--branch|--porcelain|--porcelain=v2|--long|--untracked-files|--untracked-files=no|--ignored|--ignored=matching|--show-stash|--ahead-behind|--no-ahead-behind|--renames|--no-renames",
  ],
  [
    "git branch …",
    "--list x|-l x|-a|-r|-v|-vv|--all|--remotes|--verbose|--show-current|--contains HEAD|--merged|--merged HEAD|--no-merged|--no-merged HEAD|--sort=x|--format=%(refname)|--color|--color=never",
  ],
  ["git tag …", "-l|--list|-l x|-n|-n5|--sort=x|--contains HEAD|--format=%(refname)"],
  ["git remote …", "-v|get-url origin"],
  [
    "git …",
    "rev-parse HEAD|describe|ls-files|ls-tree HEAD|cat-file -p HEAD|merge-base a b|rev-list HEAD|shortlog HEAD|blame a.txt|reflog show|stash list|worktree list|config --get user.name|config --list --name-only",
  ],
  [
    "…",
    `bash --version|clang --version|cmake --version|deno --version|deno -V|g++ --version|gcc --version|make --version|make -v|node --version|node -v|perl --version|perl -v|
      php --version|php -v|python --version|python -V|python3 --version|python3 -V|ruby --version|tsc --version|tsc -v|npm --version|npm -v|npm ls`,
  ],
  ["git add …", "-A|-u|-n|-v|-f|--all|--update|--dry-run|--verbose|--intent-to-add|a.txt", "write"],
  ["git fetch …", "-p|-t|-v|-q|-a|--all|--prune|--tags|--no-tags|--depth=1|--dry-run|origin", "write"],
];

describe("every option of the table is known", () => {
  for (const [command, options, proven = "read"] of ROWS) {
    test(command, (t) => {
      const place = sampleWorkspace(t);
      for (const option of options.split("|").map((one) => one.trim())) {
        const argv = command.replace("…", option).split(" ");
        const { class: found, hazards } = classify(argv, place);
        assert.deepEqual([argv.join(" "), found, hazards], [argv.join(" "), proven, []]);
      }
    });
  }
});

test("any other word is more than a request for the version", (t) => {
  const place = sampleWorkspace(t);
  const more = `bash -v|clang -v|cmake -v|deno -v|gcc -v|make -V|node -V|perl -V|php -V|python -v|python3 -v|ruby -v|tsc -V|yarn --version|cargo --version|npm -V|npm ls --global|node --version x|
    node|npm`;
  const proven = more.split("|").filter((line) => classify(line.trim().split(" "), place).class === "read");
  assert.deepEqual(proven, []);
});

const TABLES: readonly (readonly [name: string, table: ReadTable])[] = [...PROGRAMS].flatMap(([program, { reads, subcommands = {} }]) => [
  ...(typeof reads === "object" ? [[program, reads] as const] : []),
  ...Object.entries(subcommands).flatMap(([name, sub]) => (sub.reads ? [[name, sub.reads] as const] : [])),
]);

test("no program has two rows", () => {
  const names = ROW_FILES.flatMap((rows) => Object.keys(rows));
  assert.deepEqual(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  );
});

test("every option follows the notation, and none is both safe and unsafe", () => {
  assert.ok(TABLES.length > 60);
  for (const [name, { options = "", unsafe = {} }] of TABLES) {
    const harmless = options.split(/\s+/).filter(Boolean);
    const harmful = Object.values(unsafe).flatMap((notation) => notation.split(" "));
    for (const token of [...harmless, ...harmful])
      assert.match(token, /^(?:-NUMBER|(?:-[^-\s=[]|--[a-z0-9][\w-]*)(?:=|=path|\[=\]|=\?|==)?)$/i, `${name}: ${token}`);
    const names = new Set(harmless.map(optionName));
    assert.deepEqual([name, harmful.map(optionName).filter((option) => names.has(option))], [name, []]);
  }
});

test("an option takes a value everywhere in one table, or nowhere", () => {
  const overridden = ["shortlog: -n", "shortlog: --committer"];
  for (const [name, { options = "" }] of TABLES) {
    const seen = new Map<string, string>();
    for (const token of options.split(/\s+/).filter(Boolean)) {
      const option = optionName(token);
      const before = seen.get(option);
      assert.ok(before === undefined || before === token || overridden.includes(`${name}: ${option}`), `${name}: ${before} and ${token}`);
      seen.set(option, token);
    }
  }
});

function optionName(token: string): string {
  return /^--?[^=[]+/.exec(token)?.[0] ?? token;
}
