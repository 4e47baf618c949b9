import { gitReads } from "../git-reads.ts";
import { type Program, type Subcommand, sameRow, TEMPLATE_HOOKS, TO_OUTPUT, type Writes } from "../program.ts";
import { type CommandEffects, type OptionReading, withHazard } from "../reads.ts";
import { HISTORY, LISTING, SHOW, UNSAFE, WALK } from "./git-options.ts";

const DIFFERENCE: Writes = { options: "--output=file" };

/** Both create a repository with git's own settings. No existing control file changes, so only the directory matters. */
const REPOSITORY: Writes = {
  keeps: true,
  options: `--separate-git-dir=place -b= --branch= --initial-branch= --template= -o= --origin= --depth= --reference= -c= --config=`,
  modes: [{ given: "--template", does: { fixed: [TEMPLATE_HOOKS] } }],
};

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  log: {
    reads: HISTORY,
    writes: DIFFERENCE,
    match: {
      options: `-n= --max-count= --author= --committer= --grep= --since= --until= --after= --before= --format= --skip= -S= -G= -L=`,
    },
  },
  ...sameRow("show diff", { reads: HISTORY, writes: DIFFERENCE }),
  "stash show": {
    reads: {
      ...HISTORY,
      options: `${HISTORY.options?.replace(" -u ", " ")} --no-include-untracked`, // `-u` is not `-p` here
      unsafe: { ...UNSAFE, sensitive_file: "-u --include-untracked --only-untracked" },
    },
  },
  "stash list": { reads: { operands: "revisions", options: `${WALK} ${SHOW} --color[=] --no-color -z`, unsafe: UNSAFE } },
  "reflog show": { reads: { operands: "revisions", options: `${WALK} ${SHOW} --color[=] --no-color -z`, unsafe: UNSAFE } },
  "rev-list": {
    reads: {
      operands: "revisions",
      options: `${WALK} --count --objects --no-object-names --timestamp --header --disk-usage[=] --quiet --no-commit-header --commit-header`,
      unsafe: UNSAFE,
    },
  },
  shortlog: {
    reads: {
      operands: "revisions",
      options: `${WALK} -n --numbered -s --summary -e --email -c --committer --group= -w[=]`,
      unsafe: UNSAFE,
      refine: ({ found, before }, plain) =>
        before > 0 || ["--all", "--branches", "--tags", "--remotes"].some((name) => found.has(name))
          ? plain
          : withHazard(plain, "unmodelled_option", "Without a revision, git shortlog reads its input"),
    },
    writes: DIFFERENCE,
  },
  blame: {
    reads: {
      operands: "revisions",
      options: `-b -l -t -f -n -s -e -w -c -L= -M[=] -C[=] -p --root --show-stats --show-name --show-number --show-email --porcelain --line-porcelain --minimal --abbrev[=]
      --color-lines --color-by-age --date= --since= --reverse --first-parent --encoding= --score-debug --ignore-rev= --incremental --progress --no-progress
      --no-textconv --no-ext-diff`,
      unsafe: { unmodelled_option: "--contents= -S= --ignore-revs-file=", runs_program: "--textconv" },
    },
  },
  grep: {
    reads: {
      operands: "pattern",
      patternOptions: "-e",
      options: `-NUMBER -a --text -i --ignore-case -I --max-depth= -r --recursive --no-recursive -w --word-regexp -v --invert-match -h -H --full-name -E --extended-regexp
      -G --basic-regexp -F --fixed-strings -P --perl-regexp -n --line-number --column -l --files-with-matches --name-only -L --files-without-match -z --null
      -o --only-matching -c --count --color[=] --no-color --break --heading -p --show-function -W --function-context -A= --after-context= -B= --before-context=
      -C= --context= -m= --max-count= --threads= -e= --and --or --not --all-match -q --quiet --cached --exclude-standard --no-textconv`,
      unsafe: {
        runs_program: "-O[=] --open-files-in-pager[=] --textconv",
        outside_workspace: "--no-index",
        sensitive_file: "--untracked --no-exclude-standard",
        unmodelled_option: "-f= --recurse-submodules",
      },
    },
    runs: "-O= --open-files-in-pager=",
  },
  status: {
    reads: {
      operands: "files",
      options: `-s --short -b --branch -u[=] --untracked-files[=] -z --null -v --verbose --porcelain[=] --long --ignored[=] --show-stash --no-show-stash --ahead-behind
      --no-ahead-behind --renames --no-renames --find-renames[=] --no-column --ignore-submodules[=]`,
    },
  },
  branch: {
    reads: {
      operands: "data",
      options: `${LISTING} -a --all -r --remotes -v --verbose --show-current --abbrev[=] --no-abbrev`,
      refine: onlyListing,
    },
    // Branch settings that git records by itself (`push -u`) do not count.
    writes: { only: "-u --set-upstream-to --unset-upstream --edit-description", fixed: [".git/config"] },
    match: {
      options: `-u= --set-upstream-to= --sort= --format= --contains= --points-at= -d -D -m -M -c -C -f --force -a --all -r --remotes --delete --move
      --copy --list -l`,
      synonyms: ["-d --delete -D", "-f --force", "-m --move -M", "-c --copy -C"],
    },
  },
  tag: {
    reads: { operands: "data", options: `${LISTING} -n[=]`, refine: onlyListing },
    match: {
      options: `-m= --message= -F= --file= -u= --local-user= --sort= --format= -a -s -f --force -d --delete -l --list`,
      synonyms: ["-f --force", "-d --delete", "-a --annotate", "-s --sign"],
    },
  },
  remote: {
    reads: {
      operands: "data",
      options: "-v --verbose --all --push",
      refine: ({ operands: [verb, name, ...more] }, plain) =>
        verb === undefined || (verb === "get-url" && name !== undefined && more.length === 0)
          ? { ...plain, addresses: true }
          : withHazard({ ...plain, class: "unknown" }, "opaque_program", `Assent doesn't know what git remote ${verb} does`),
    },
    // An address may name a program (`ext::`), so setting one writes what `git config` would.
    writes: { only: "add set-url set-branches rename remove rm", fixed: [".git/config"] },
    match: { synonyms: ["-v --verbose"] },
  },
  "rev-parse": {
    reads: {
      operands: "revisions",
      options: `--show-toplevel --abbrev-ref[=] --short[=] --verify --quiet -q --git-dir --absolute-git-dir --git-common-dir --git-path= --is-inside-git-dir
      --is-inside-work-tree --is-bare-repository --is-shallow-repository --show-prefix --show-cdup --show-object-format[=]
      --show-ref-format --path-format= --symbolic --symbolic-full-name --all --branches[=] --tags[=] --remotes[=] --glob[=] --not --revs-only --no-revs --flags --no-flags
      --sq --since= --after= --until= --before= --local-env-vars`,
    },
  },
  describe: {
    reads: {
      operands: "revisions",
      options: "--all --tags --contains --abbrev[=] --candidates= --exact-match --long --match= --exclude= --always --first-parent --debug",
      unsafe: { writes_file: "--dirty[=] --broken[=]" },
    },
  },
  "ls-files": {
    reads: {
      operands: "files",
      options: `-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -k --killed --directory --no-empty-directory -z -t -v -f
      -x= --exclude= --exclude-standard --error-unmatch --full-name --abbrev[=] --debug --eol --deduplicate --sparse --format= --with-tree= --resolve-undo`,
    },
  },
  "ls-tree": {
    reads: {
      operands: "revisions",
      options: "-d -r -t -l --long -z --name-only --name-status --object-only --full-name --full-tree --abbrev[=] --format=",
    },
  },
  "cat-file": {
    reads: {
      operands: "revisions",
      options: "-t -s -e -p --allow-unknown-type",
      unsafe: { runs_program: "--textconv --filters" },
    },
  },
  "for-each-ref": {
    reads: {
      operands: "data",
      options: `--count= --sort= --format= --color[=] --points-at=? --merged=? --no-merged=? --contains=? --no-contains=? --ignore-case --omit-empty --exclude=
      -s --shell -p --perl --python --tcl`,
    },
  },
  "show-ref": {
    reads: {
      operands: "data",
      options: "--head --heads --branches --tags -d --dereference -s --hash[=] --verify --abbrev[=] -q --quiet --exists",
    },
  },
  "check-ignore": { reads: { operands: "files", options: "-q --quiet -v --verbose -n --non-matching -z --no-index" } },
  "check-attr": {
    reads: { operands: "data", options: "-a --all --cached -z", refine: ({ operands }, plain) => ({ ...plain, perhaps: operands }) },
  },
  "count-objects": { reads: { operands: "none", options: "-v --verbose -H --human-readable" } },
  "name-rev": { reads: { operands: "revisions", options: "--tags --refs= --exclude= --name-only --no-undefined --always" } },
  cherry: { reads: { operands: "revisions", options: "-v --verbose --abbrev[=]" } },
  version: { reads: { operands: "none", options: "--build-options" } },
  "symbolic-ref": {
    reads: {
      operands: "data",
      options: "-q --quiet --short --no-recurse",
      refine: ({ operands }, plain) =>
        operands.length === 1 ? plain : withHazard({ ...plain, class: "write" }, "writes_file", "This changes what a name refers to"),
    },
  },
  "merge-base": { reads: { operands: "revisions", options: "-a --all --octopus --independent --is-ancestor --fork-point" } },
  "worktree list": { reads: { operands: "none", options: "-v --verbose --porcelain -z --expire=" } },
  config: {
    reads: {
      operands: "data",
      leads: true,
      options: `--get --get-all -l --list --local --global --system --worktree --type= --bool --int --bool-or-int --path --expiry-date --no-type -z --null --name-only
      --show-origin --show-scope --includes --no-includes --default=`,
      refine: onlyAsking,
    },
    writes: {
      options: "-f=file --file=file",
      only: `--unset --unset-all --add --replace-all -e --edit --rename-section --remove-section set unset edit rename-section remove-section`,
      least: 2,
      never: "--get --get-all --get-regexp --get-urlmatch -l --list get list",
      leads: "set unset get list edit rename-section remove-section",
      fixed: [".git/config"],
    },
  },
  add: {
    reads: {
      class: "write",
      operands: "files",
      options: "-A --all -u --update -n --dry-run -v --verbose -f --force -N --intent-to-add",
    },
    match: {
      options: "-A --all -u --update -f --force -n --dry-run -v --verbose -p --patch -i -e",
      synonyms: ["-A --all", "-f --force", "-u --update"],
    },
  },
  fetch: {
    reads: {
      class: "write",
      operands: "data",
      options: "-p --prune -t --tags -n --no-tags -v --verbose -q --quiet -a --append --all --depth= --dry-run",
      unsafe: { runs_program: "--upload-pack=" },
      refine: onlyKnownRemotes,
    },
    runs: "--upload-pack=",
    match: {
      options: "--depth= --deepen= --shallow-since= -o= --server-option= -j= --jobs= --upload-pack=",
      synonyms: ["-f --force", "-p --prune", "-t --tags", "-a --append"],
    },
  },
  apply: { writes: { spreads: true, never: "--check --stat --numstat --summary" } },
  am: { writes: { spreads: true } },
  clean: {
    writes: { operands: "all", spreads: true, never: "-n --dry-run", keeps: true },
    match: {
      options: "-e= --exclude= -d -f --force -i --interactive -n --dry-run -q --quiet -x -X",
      synonyms: ["-f --force", "-n --dry-run", "-i --interactive"],
    },
  },
  checkout: {
    writes: { operands: "all", options: "-b= -B=", keeps: true },
    match: {
      options: `-b= -B= --orphan= --conflict= -f --force -q --quiet -m --merge --ours --theirs -d --detach -p --patch`,
      synonyms: ["-f --force", "-p --patch"],
    },
    hooks: true,
  },
  restore: { writes: { operands: "all", keeps: true }, hooks: true },
  ...sameRow("checkout-index read-tree", { writes: { options: "--prefix=place" } }),
  subtree: { writes: { options: "-P=place --prefix=place" } },
  rm: {
    writes: { operands: "all", never: "--cached -n --dry-run", deep: "-r", keeps: true },
    match: { options: "-f --force -r -n --dry-run --cached -q --quiet", synonyms: ["-f --force", "-n --dry-run"] },
    hooks: true,
  },
  mv: {
    writes: { operands: "from-to", deep: "*" },
    match: { options: "-f --force -k -n --dry-run -v --verbose", synonyms: ["-f --force"] },
    hooks: true,
  },
  submodule: { writes: { operands: "after-first", only: "add set-url set-branch", keeps: true, fixed: [".gitmodules"] } },
  worktree: {
    writes: { operands: "after-first", only: "add move remove" },
    match: { options: "-b= -B= --reason=", synonyms: ["-f --force"] },
  },
  clone: { writes: { ...REPOSITORY, operands: "cloned" }, runs: "-u= --upload-pack=" },
  init: { writes: { ...REPOSITORY, operands: "all", makes: true } },
  "merge-file": { writes: { operands: "first", never: "-p --stdout" } },
  "interpret-trailers": { writes: { operands: "all", only: "--in-place" } },
  "fast-export": { writes: { options: "--export-marks=file" } },
  "fast-import": { writes: { options: "--export-marks=file --export-pack-edges=file" } },
  "credential-store": { writes: { options: "--file=file" } },
  "credential-cache": { writes: { options: "--socket=file" } },
  "index-pack": { writes: { options: "-o=file" } },
  "pack-objects": { writes: { operands: "all" } },
  mailsplit: { writes: { options: "-o=into", spreads: true } },
  mailinfo: { writes: { operands: "all" } },
  daemon: { writes: { options: "--pid-file=file --log-file=file" }, runs: "--access-hook=" },
  ...sameRow("commit-graph multi-pack-index", { writes: { options: "--object-dir=place" } }),
  // Both write the user's own settings; `start` writes timers as well.
  maintenance: { writes: { options: "--config-file=file", only: "register unregister start stop", fixed: ["~/.gitconfig"] } },
  lfs: { writes: { only: "install uninstall", fixed: ["~/.gitconfig", TEMPLATE_HOOKS] } },
  ...sameRow("bugreport diagnose", { writes: { options: "-o=place --output-directory=place" } }),
  archive: { writes: TO_OUTPUT, runs: "--exec=" },
  "format-patch": { writes: { options: "--output=file -o=into --output-directory=into", spreads: true, only: "-o --output-directory" } },
  bundle: { writes: { operands: "after-first", only: "create" } },
  stash: { writes: DIFFERENCE, match: { options: "-m= --message=", synonyms: ["-u --include-untracked", "-a --all"] }, hooks: true },
  "stash push": { hooks: true },
  "stash pop": { hooks: true },
  "stash apply": { hooks: true },
  ...sameRow("reflog whatchanged diff-tree diff-index diff-files range-diff", { writes: DIFFERENCE }),
  push: {
    runs: "--receive-pack= --exec=",
    match: {
      options: `-o= --push-option= --repo= --receive-pack= --exec= -f --force -u --set-upstream -d --delete -n --dry-run -q --quiet -v --verbose --all
      --mirror --tags --follow-tags --atomic --prune --no-verify --force-with-lease --force-if-includes --thin --no-thin --porcelain
      --progress -4 -6`,
      synonyms: ["-f --force", "-d --delete", "-u --set-upstream", "-n --dry-run", "-o --push-option", "-q --quiet", "-v --verbose"],
    },
  },
  commit: {
    match: {
      options: `-m= --message= -F= --file= -C= --reuse-message= -c= --reedit-message= --author= --date= -t= --template= --fixup= --squash= --trailer=
      --cleanup= --pathspec-from-file= -a --all -p --patch -n --no-verify --verify --amend -q --quiet -v --verbose -s --signoff --allow-empty
      --allow-empty-message --no-edit -e --edit --dry-run`,
      synonyms: ["-a --all", "-n --no-verify", "-m --message", "-F --file", "-s --signoff", "-p --patch", "-S --gpg-sign"],
    },
    hooks: true,
  },
  reset: { match: { options: "--hard --soft --mixed --keep --merge -q --quiet -p --patch -N", synonyms: ["-q --quiet", "-p --patch"] } },
  switch: {
    match: {
      options: "-c= -C= --create= --force-create= --orphan= -f --force --discard-changes -d --detach",
      synonyms: ["-f --force --discard-changes", "-c --create", "-C --force-create"],
    },
    hooks: true,
  },
  pull: {
    runs: "--upload-pack=",
    match: {
      options: "-s= --strategy= -X= --strategy-option= --depth= --upload-pack=",
      synonyms: ["-r --rebase", "-f --force", "-n --no-stat"],
    },
  },
  merge: { match: { options: "-m= -F= -s= --strategy= -X= --strategy-option=", synonyms: ["-s --strategy"] }, hooks: true },
  rebase: {
    runs: "-x= --exec=",
    match: { options: "-x= --exec= --onto= -s= --strategy= -X= --strategy-option=", synonyms: ["-i --interactive", "-x --exec"] },
  },
  difftool: { runs: "-x= --extcmd=" },
  "filter-branch": { runs: "--*-filter=" },
  ...sameRow("ls-remote fetch-pack", { runs: "--upload-pack= --exec=" }),
  "send-pack": { runs: "--receive-pack= --exec=" },
  "send-email": { runs: "--sendmail-cmd= --to-cmd= --cc-cmd= --header-cmd= --smtp-server=" },
  instaweb: { runs: "-d= --httpd= -b= --browser=" },
};

/** A name without a request for a list makes a branch or tag. */
function onlyListing({ found, operands: [name] }: OptionReading, plain: CommandEffects): CommandEffects {
  if (name === undefined || found.has("-l") || found.has("--list")) return plain;
  return withHazard({ ...plain, class: "write" }, "runs_hooks", `This creates ${name} and runs hooks`);
}

const SECRET_KEY = /credential|token|pass|pwd|\.pw$|secret|header|cookie|proxy|auth|\.pat$|api-?key|\.key$/i;
/** Without a dot it may be a verb: `git config list`. */
const KEY = /^[^.]+\..+$/s;

/** One value, or all names: values may be secrets. */
function onlyAsking({ found, operands: [key, ...more] }: OptionReading, plain: CommandEffects): CommandEffects {
  const lists = found.has("-l") || found.has("--list");
  const gets = found.has("--get") || found.has("--get-all") || (!lists && key !== undefined);
  if (lists === gets || more.length > 0 || (lists ? key !== undefined : !KEY.test(key ?? "")))
    return withHazard({ ...plain, class: "unknown" }, "unmodelled_option", "Assent only understands git config when it reads a value");
  const secret = lists ? !found.has("--name-only") : SECRET_KEY.test(key ?? "");
  return secret ? withHazard(plain, "sensitive_file", "Git settings may contain credentials") : { ...plain, addresses: true };
}

/** Remotes and branches by name only. If a file has the remote's name, git reads that file, so no rule allows it. */
function onlyKnownRemotes({ operands }: OptionReading, model: CommandEffects): CommandEffects {
  const [remote, ...branches] = operands;
  const plain = { ...model, perhaps: operands.slice(0, 1) };
  const named = remote === undefined || /^\w[\w.-]*$/.test(remote);
  return named && branches.every((branch) => /^\w[\w./-]*$/.test(branch))
    ? plain
    : withHazard(plain, "unmodelled_option", "Assent only understands fetching a remote by its name");
}

export const GIT: Readonly<Record<string, Program>> = {
  git: {
    reads: gitReads(SUBCOMMANDS),
    runs: { how: "git" },
    match: {
      options: `-C= -c= --git-dir= --work-tree= --namespace= --super-prefix= --config-env= --attr-source= --list-cmds= --exec-path= -p -P --paginate
      --no-pager --bare --no-replace-objects --no-lazy-fetch --no-optional-locks --no-advice --literal-pathspecs --glob-pathspecs
      --noglob-pathspecs --icase-pathspecs --html-path --man-path --info-path -v --version -h --help`,
      subcommands: true,
      subcommandSynonyms: [
        "remote remove, remote rm",
        "stash, stash push, stash save",
        "submodule, submodule status",
        "worktree remove, worktree rm",
      ],
      plugins: true,
    },
    subcommands: SUBCOMMANDS,
  },
  scalar: {
    subcommands: {
      register: { writes: { fixed: ["~/.gitconfig", ".git/config"] } },
      unregister: { writes: { fixed: ["~/.gitconfig"] } },
      clone: { writes: { operands: "cloned", fixed: ["~/.gitconfig"] } },
    },
  },
};
