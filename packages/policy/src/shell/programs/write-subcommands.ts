import { TO_OUTPUT, table, type WritingCommand } from "./writing-command.ts";

const CONFIG_ACTIONS = ["set", "unset", "edit", "rename-section", "remove-section"];
const DIFFERENCE: WritingCommand = { files: ["--output"] };
/** A template's hooks are copied into the new repository and run there. */
export const TEMPLATE_HOOKS = ".git/hooks/template";

const REPOSITORY: WritingCommand = {
  keeps: true,
  modes: [{ given: ["--template"], does: { fixed: [TEMPLATE_HOOKS] } }],
  places: ["--separate-git-dir"],
  values: ["-b", "--branch", "--initial-branch", "--template", "-o", "--origin", "--depth", "--reference", "-c", "--config"],
};

/** Programs below another, by both names. */
export const WRITING_SUBCOMMANDS: ReadonlyMap<string, ReadonlyMap<string, WritingCommand>> = table({
  git: table<WritingCommand>({
    config: {
      fixed: [".git/config"],
      files: ["-f", "--file"],
      least: 2,
      only: ["--unset", "--unset-all", "--add", "--replace-all", "-e", "--edit", "--rename-section", "--remove-section", ...CONFIG_ACTIONS],
      never: ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "get", "list"],
    },
    // A remote's address may name a program (`ext::`), so who sets one writes what `git config` would. What git notes of its own accord is not meant: the branch that
    // `checkout -b` or `push -u` follows, and the submodules of `.gitmodules`, which asks when it is written.
    remote: { fixed: [".git/config"], only: ["add", "set-url", "set-branches", "rename", "remove", "rm"] },
    branch: { fixed: [".git/config"], only: ["-u", "--set-upstream-to", "--unset-upstream", "--edit-description"] },
    apply: { spreads: true, never: ["--check", "--stat", "--numstat", "--summary"] },
    am: { spreads: true },
    clean: { operands: "all", keeps: true, spreads: true, never: ["-n", "--dry-run"] },
    checkout: { operands: "all", keeps: true, values: ["-b", "-B"] },
    restore: { operands: "all", keeps: true },
    "checkout-index": { places: ["--prefix"] },
    "read-tree": { places: ["--prefix"] },
    subtree: { places: ["-P", "--prefix"] },
    rm: { operands: "all", keeps: true, deep: ["-r"], never: ["--cached", "-n", "--dry-run"] },
    mv: { operands: "from-to", deep: ["*"] },
    submodule: { operands: "after-first", keeps: true, fixed: [".gitmodules"], only: ["add", "set-url", "set-branch"] },
    worktree: { operands: "after-first", only: ["add", "move", "remove"] },
    // Both make a repository of their own with settings of git's making: no control file that is there changes, so only the place counts.
    clone: { ...REPOSITORY, operands: "cloned" },
    init: { ...REPOSITORY, operands: "all", makes: true },
    "merge-file": { operands: "first", never: ["-p", "--stdout"] },
    "interpret-trailers": { operands: "all", only: ["--in-place"] },
    "fast-export": { files: ["--export-marks"] },
    "fast-import": { files: ["--export-marks", "--export-pack-edges"] },
    "credential-store": { files: ["--file"] },
    "credential-cache": { files: ["--socket"] },
    "index-pack": { files: ["-o"] },
    "pack-objects": { operands: "all" },
    mailsplit: { places: ["-o"], spreads: true, into: ["-o"] },
    mailinfo: { operands: "all" },
    daemon: { files: ["--pid-file", "--log-file"] },
    "commit-graph": { places: ["--object-dir"] },
    "multi-pack-index": { places: ["--object-dir"] },
    // Both write the user's own settings; `start` writes timers as well.
    maintenance: { fixed: ["~/.gitconfig"], files: ["--config-file"], only: ["register", "unregister", "start", "stop"] },
    lfs: { fixed: ["~/.gitconfig", TEMPLATE_HOOKS], only: ["install", "uninstall"] },
    bugreport: { places: ["-o", "--output-directory"] },
    diagnose: { places: ["-o", "--output-directory"] },
    archive: TO_OUTPUT,
    "format-patch": {
      files: ["--output"],
      into: ["-o", "--output-directory"],
      spreads: true,
      only: ["-o", "--output-directory"],
    },
    bundle: { operands: "after-first", only: ["create"] },
    diff: DIFFERENCE,
    log: DIFFERENCE,
    show: DIFFERENCE,
    stash: DIFFERENCE,
    shortlog: DIFFERENCE,
    reflog: DIFFERENCE,
    whatchanged: DIFFERENCE,
    "diff-tree": DIFFERENCE,
    "diff-index": DIFFERENCE,
    "diff-files": DIFFERENCE,
    "range-diff": DIFFERENCE,
  }),
  scalar: table<WritingCommand>({
    register: { fixed: ["~/.gitconfig", ".git/config"] },
    unregister: { fixed: ["~/.gitconfig"] },
    clone: { fixed: ["~/.gitconfig"], operands: "cloned" },
  }),
  npm: table<WritingCommand>({
    config: { fixed: ["~/.npmrc"], only: ["set", "delete", "edit", "fix"] },
    set: { fixed: ["~/.npmrc"] },
    pack: { places: ["--pack-destination"] },
    ...installing("install", "i", "ci", "add", "update", "init", "uninstall"),
  }),
  pnpm: table<WritingCommand>({
    config: { fixed: ["~/.npmrc"], only: ["set", "delete"] },
    pack: { places: ["--pack-destination"], files: ["--out"] },
    deploy: { operands: "all" },
    ...installing("install", "i", "add", "update", "init", "remove"),
  }),
  yarn: table<WritingCommand>({
    config: { fixed: [".yarnrc.yml"], only: ["set", "unset"] },
    pack: { files: ["-o", "--out", "--filename", "-f"] },
    ...installing("install", "add", "init", "remove"),
  }),
  bun: table<WritingCommand>({ build: { files: ["--outfile"], places: ["--outdir"] }, ...installing("install", "i", "add", "init") }),
  pip: table<WritingCommand>({
    install: { places: ["-t", "--target", "--prefix", "--root", "--src"], files: ["--log", "--report"] },
    download: { places: ["-d", "--dest"] },
    wheel: { places: ["-w", "--wheel-dir"] },
  }),
  cargo: table<WritingCommand>({
    new: { operands: "all" },
    init: { operands: "all", keeps: true, makes: true },
    install: { places: ["--root", "--target-dir"] },
    build: { places: ["--target-dir", "--out-dir", "--artifact-dir"] },
    test: { places: ["--target-dir"] },
  }),
  go: table<WritingCommand>({
    build: { files: ["-o"] },
    test: { files: ["-o", "-coverprofile", "-cpuprofile", "-memprofile"], places: ["-outputdir"] },
  }),
  docker: table<WritingCommand>({
    cp: { operands: "to" },
    save: { files: ["-o", "--output"] },
    export: { files: ["-o", "--output"] },
    build: { files: ["-o", "--output", "--iidfile"] },
  }),
  kubectl: table<WritingCommand>({ cp: { operands: "to" } }),
  rclone: table<WritingCommand>({
    copy: { operands: "last" },
    sync: { operands: "last" },
    copyto: { operands: "last" },
  }),
});

/** Packages are installed in the working directory, or in one given before or after. */
function installing(...names: readonly string[]): Readonly<Record<string, WritingCommand>> {
  return Object.fromEntries(names.map((name) => [name, { makes: true, places: ["--prefix", "-C", "--dir", "--cwd"] }]));
}
