import { withHazard } from "../command-table.ts";
import type { GitTable } from "./git-table.ts";

/** How differences are shown. */
const DIFF = `-p -u --patch -s --no-patch -U[=] --unified[=] -W --function-context --raw --patch-with-raw --patch-with-stat --numstat --shortstat --dirstat[=]
  --cumulative --dirstat-by-file[=] --check --summary --name-only --name-status --stat[=] --stat-width= --stat-name-width= --stat-graph-width= --stat-count=
  --compact-summary --binary --full-index --color[=] --no-color --ws-error-highlight= -z --abbrev[=] --no-abbrev --src-prefix= --dst-prefix= --line-prefix= --no-prefix
  --inter-hunk-context= --output-indicator-new= --output-indicator-old= --output-indicator-context= -B[=] --break-rewrites[=] -M[=] --find-renames[=]
  -D --irreversible-delete -C[=] --find-copies[=] --find-copies-harder --renames --no-renames --rename-empty --no-rename-empty -l= --minimal -w --ignore-all-space
  -b --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines -I= --ignore-matching-lines= --indent-heuristic --no-indent-heuristic
  --patience --histogram --diff-algorithm= --anchored= --word-diff[=] --word-diff-regex= --color-words[=] --color-moved[=] --no-color-moved --color-moved-ws=
  --no-color-moved-ws --relative[=] --no-relative -a --text -R --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules[=] --ita-invisible-in-index
  --ita-visible-in-index -S= -G= --pickaxe-all --pickaxe-regex --rotate-to= --skip-to= --find-object= --diff-filter= --cached --staged --merge-base --base --ours
  --theirs`;

/** Which commits are taken, and in which order. */
const WALK = `-NUMBER -n= --max-count= --skip= --since= --after= --until= --before= --since-as-filter= --author= --committer= --grep= --grep-reflog= --all-match
  --invert-grep -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp --basic-regexp --merges --no-merges --min-parents[=]
  --max-parents[=] --no-min-parents --no-max-parents --first-parent --exclude-first-parent-only --not --all --branches[=] --tags[=] --remotes[=] --glob[=]
  --exclude[=] --reflog --single-worktree --ignore-missing --cherry-mark --cherry-pick --left-only --right-only --cherry -g --walk-reflogs --merge --boundary
  --simplify-by-decoration --show-pulls --full-history --dense --sparse --simplify-merges --ancestry-path[=] --date-order --author-date-order --topo-order --reverse
  --no-walk[=] --do-walk --parents --children --left-right --graph --no-graph --abbrev-commit --no-abbrev-commit --abbrev[=] --no-abbrev --oneline --encoding=
  --date= --relative-date --pretty[=] --format[=]`;

/** How commits are shown. */
const SHOW = `--expand-tabs[=] --no-expand-tabs --notes[=] --show-notes[=] --no-notes --decorate[=] --no-decorate --decorate-refs= --decorate-refs-exclude=
  --clear-decorations --source --mailmap --no-mailmap --use-mailmap --no-use-mailmap --log-size -c --cc -m -t --no-diff-merges --combined-all-paths
  --follow -L=`;

const UNSAFE: GitTable["unsafe"] = [
  ["writes_file", "--output="],
  ["runs_program", "--ext-diff --textconv --show-signature --open-files-in-pager[=]"],
  ["outside_workspace", "--no-index"],
  ["unmodelled_option", "-O[=] --stdin --ignore-revs-file= --submodule[=] --remerge-diff"],
];

const HISTORY: GitTable = { operands: "revisions", options: `${DIFF} ${WALK} ${SHOW}`, unsafe: UNSAFE };

/** Sub-commands of git that tell what was and what differs. */
export const GIT_HISTORY: Readonly<Record<string, GitTable>> = {
  log: HISTORY,
  show: HISTORY,
  diff: HISTORY,
  "stash show": { ...HISTORY, options: `${HISTORY.options} --include-untracked --no-include-untracked --only-untracked` },
  "stash list": { operands: "revisions", options: `${WALK} ${SHOW} --color[=] --no-color -z`, unsafe: UNSAFE },
  "reflog show": { operands: "revisions", options: `${WALK} ${SHOW} --color[=] --no-color -z`, unsafe: UNSAFE },
  "rev-list": {
    operands: "revisions",
    options: `${WALK} --count --objects --no-object-names --timestamp --header --disk-usage[=] --quiet --no-commit-header --commit-header`,
    unsafe: UNSAFE,
  },
  shortlog: {
    operands: "revisions",
    options: `${WALK} -n --numbered -s --summary -e --email -c --committer --group= -w[=]`,
    unsafe: UNSAFE,
    refine: ({ found, before }, plain) =>
      before > 0 || ["--all", "--branches", "--tags", "--remotes"].some((name) => found.has(name))
        ? plain
        : withHazard(plain, "unmodelled_option", "without a revision it reads its input"),
  },
  blame: {
    operands: "revisions",
    options: `-b -l -t -f -n -s -e -w -c -L= -M[=] -C[=] -p --root --show-stats --show-name --show-number --show-email --porcelain --line-porcelain --minimal --abbrev=
      --color-lines --color-by-age --date= --since= --reverse --first-parent --encoding= --score-debug --ignore-rev= --incremental --progress --no-progress
      --no-textconv --no-ext-diff`,
    unsafe: [
      ["unmodelled_option", "--contents= -S= --ignore-revs-file="],
      ["runs_program", "--textconv"],
    ],
  },
  grep: {
    operands: "pattern",
    patternOptions: ["-e"],
    options: `-NUMBER -a --text -i --ignore-case -I --max-depth= -r --recursive --no-recursive -w --word-regexp -v --invert-match -h -H --full-name -E --extended-regexp
      -G --basic-regexp -F --fixed-strings -P --perl-regexp -n --line-number --column -l --files-with-matches --name-only -L --files-without-match -z --null
      -o --only-matching -c --count --color[=] --no-color --break --heading -p --show-function -W --function-context -A= --after-context= -B= --before-context=
      -C= --context= -m= --max-count= --threads= -e= --and --or --not --all-match -q --quiet --cached --untracked --exclude-standard --no-exclude-standard
      --no-textconv`,
    unsafe: [
      ["runs_program", "-O[=] --open-files-in-pager[=] --textconv"],
      ["outside_workspace", "--no-index"],
      ["unmodelled_option", "-f= --recurse-submodules"],
    ],
  },
};
