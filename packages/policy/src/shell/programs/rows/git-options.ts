import type { ReadTable } from "../reads.ts";

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
export const WALK = `-NUMBER -n= --max-count= --skip= --since= --after= --until= --before= --since-as-filter= --author= --committer= --grep= --grep-reflog= --all-match
  --invert-grep -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp --basic-regexp --merges --no-merges --min-parents[=]
  --max-parents[=] --no-min-parents --no-max-parents --first-parent --exclude-first-parent-only --not --all --branches[=] --tags[=] --remotes[=] --glob[=]
  --exclude[=] --reflog --single-worktree --ignore-missing --cherry-mark --cherry-pick --left-only --right-only --cherry -g --walk-reflogs --merge --boundary
  --simplify-by-decoration --show-pulls --full-history --dense --sparse --simplify-merges --ancestry-path[=] --date-order --author-date-order --topo-order --reverse
  --no-walk[=] --do-walk --parents --children --left-right --graph --no-graph --abbrev-commit --no-abbrev-commit --abbrev[=] --no-abbrev --oneline --encoding=
  --date= --relative-date --pretty[=] --format[=]`;

/** How commits are shown. */
export const SHOW = `--expand-tabs[=] --no-expand-tabs --notes[=] --show-notes[=] --no-notes --decorate[=] --no-decorate --decorate-refs= --decorate-refs-exclude=
  --clear-decorations --source --mailmap --no-mailmap --use-mailmap --no-use-mailmap --log-size -c --cc -m -t --no-diff-merges --combined-all-paths
  --follow -L=`;

/** Options of git that are known to do harm wherever history is shown. */
export const UNSAFE: NonNullable<ReadTable["unsafe"]> = {
  writes_file: "--output=",
  runs_program: "--ext-diff --textconv --show-signature --open-files-in-pager[=]",
  outside_workspace: "--no-index",
  unmodelled_option: "-O[=] --stdin --ignore-revs-file= --submodule[=] --remerge-diff",
};

/** `git log` and those that take the same options. */
export const HISTORY: ReadTable = { operands: "revisions", options: `${DIFF} ${WALK} ${SHOW}`, unsafe: UNSAFE };

/** How branches and tags are listed. */
export const LISTING =
  "-l --list --contains=? --no-contains=? --merged=? --no-merged=? --points-at=? --sort= --format= --color[=] --no-color --no-column -i --ignore-case";
