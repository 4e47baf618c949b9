import { type Modelled, withHazard } from "../command-table.ts";
import type { OptionReading } from "../read-options.ts";
import type { GitTable } from "./git-table.ts";

const LISTING =
  "-l --list --contains=? --no-contains=? --merged=? --no-merged=? --points-at=? --sort= --format= --color[=] --no-color --no-column -i --ignore-case";

/** Sub-commands of git that tell about names, files and settings, and the two writing ones that start no hook. */
export const GIT_REFS: Readonly<Record<string, GitTable>> = {
  status: {
    operands: "files",
    options: `-s --short -b --branch -u[=] --untracked-files[=] -z --null -v --verbose --porcelain[=] --long --ignored[=] --show-stash --no-show-stash --ahead-behind
      --no-ahead-behind --renames --no-renames --find-renames[=] --no-column --ignore-submodules[=]`,
  },
  branch: {
    operands: "data",
    options: `${LISTING} -a --all -r --remotes -v --verbose --show-current --abbrev[=] --no-abbrev`,
    refine: onlyListing,
  },
  tag: { operands: "data", options: `${LISTING} -n[=]`, refine: onlyListing },
  remote: {
    operands: "data",
    options: "-v --verbose --all --push",
    refine: ({ operands: [verb, name, ...more] }, plain) =>
      verb === undefined || (verb === "get-url" && name !== undefined && more.length === 0)
        ? plain
        : withHazard({ ...plain, class: "unknown" }, "unmodelled_option", `what git remote ${verb} does is not known to Assent`),
  },
  "rev-parse": {
    operands: "revisions",
    options: `--show-toplevel --abbrev-ref[=] --short[=] --verify --quiet -q --git-dir --absolute-git-dir --git-common-dir --git-path= --is-inside-git-dir
      --is-inside-work-tree --is-bare-repository --is-shallow-repository --show-prefix --show-cdup --show-object-format[=]
      --show-ref-format --path-format= --symbolic --symbolic-full-name --all --branches[=] --tags[=] --remotes[=] --glob[=] --not --revs-only --no-revs --flags --no-flags
      --sq --since= --after= --until= --before= --local-env-vars`,
  },
  describe: {
    operands: "revisions",
    options: "--all --tags --contains --abbrev= --candidates= --exact-match --long --match= --exclude= --always --first-parent --debug",
    unsafe: [["writes_file", "--dirty[=] --broken[=]"]],
  },
  "ls-files": {
    operands: "files",
    options: `-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -u --unmerged -k --killed --directory --no-empty-directory -z -t -v -f
      -x= --exclude= --exclude-standard --error-unmatch --full-name --abbrev[=] --debug --eol --deduplicate --sparse --format= --with-tree= --resolve-undo`,
  },
  "ls-tree": {
    operands: "revisions",
    options: "-d -r -t -l --long -z --name-only --name-status --object-only --full-name --full-tree --abbrev[=] --format=",
  },
  "cat-file": {
    operands: "revisions",
    options: "-t -s -e -p --allow-unknown-type",
    unsafe: [["runs_program", "--textconv --filters"]],
  },
  "merge-base": { operands: "revisions", options: "-a --all --octopus --independent --is-ancestor --fork-point" },
  "worktree list": { operands: "none", options: "-v --verbose --porcelain -z --expire=" },
  config: {
    operands: "data",
    options: `--get --get-all -l --list --local --global --system --worktree --type= --bool --int --bool-or-int --path --expiry-date --no-type -z --null --name-only
      --show-origin --show-scope --includes --no-includes --default=`,
    refine: onlyAsking,
  },
  add: {
    class: "write",
    operands: "files",
    options: "-A --all -u --update -n --dry-run -v --verbose -f --force -N --intent-to-add",
  },
  fetch: {
    class: "write",
    operands: "data",
    options: "-p --prune -t --tags -n --no-tags -v --verbose -q --quiet -a --append --all --depth= --dry-run",
    unsafe: [["runs_program", "--upload-pack="]],
    refine: onlyKnownRemotes,
  },
};

/** A name without a request for a list makes a branch or tag. */
function onlyListing({ found, operands: [name] }: OptionReading, plain: Modelled): Modelled {
  if (name === undefined || found.has("-l") || found.has("--list")) return plain;
  return withHazard({ ...plain, class: "write" }, "runs_hooks", `${name} would be made, and hooks would run`);
}

/** Settings that hold secrets by their name. */
const SECRET_KEY = /credential|token|passw|secret|extraheader|cookie|proxy|oauth|apikey/i;

/** One setting by its name, or the names of all: their values may hold secrets. */
function onlyAsking({ found, operands: [key, ...more] }: OptionReading, plain: Modelled): Modelled {
  const lists = found.has("-l") || found.has("--list");
  const gets = found.has("--get") || found.has("--get-all");
  if (lists === gets || more.length > 0 || (key === undefined) !== lists)
    return withHazard({ ...plain, class: "unknown" }, "unmodelled_option", "git config is known to Assent only where it asks for a value");
  const secret = lists ? !found.has("--name-only") : SECRET_KEY.test(key ?? "");
  return secret ? withHazard(plain, "sensitive_file", "settings may hold credentials") : plain;
}

/** A remote by its name, then branches by theirs: no address, no directory, no refspec. Where a file has the remote's name it is that file that is read: no rule allows this. */
function onlyKnownRemotes({ operands }: OptionReading, model: Modelled): Modelled {
  const [remote, ...branches] = operands;
  const plain = { ...model, perhaps: operands.slice(0, 1) };
  const named = remote === undefined || /^\w[\w.-]*$/.test(remote);
  return named && branches.every((branch) => /^\w[\w./-]*$/.test(branch))
    ? plain
    : withHazard(plain, "unmodelled_option", "a remote is fetched by its name only");
}
