/** How far a write reaches: the thing itself; everything below it too; or things below it that nobody can name. */
export type Reach = "self" | "all" | "some";

/** What a program writes, as far as its words tell. Deny reads broadly: an operand too many only matters when it is a protected file. */
export type WritingCommand = {
  /**
   * Which operands are written. `to`: the last one, and what the others are called in it. `from-to`: those others as well. `names`: what each is called, in `into`.
   * `starts`: those before the first option.
   */
  readonly operands?: "all" | "to" | "from-to" | "names" | "first" | "second" | "after-first" | "starts";
  /** Options whose value is written, always. */
  readonly files?: readonly string[];
  /** Options whose value is the directory written into; the working directory where `operands` names none. */
  readonly into?: readonly string[];
  /** Things nobody can name are written below `into`, or below the working directory. */
  readonly spreads?: true;
  /** No operand is written without one of these options, or words in the first place. */
  readonly only?: readonly string[];
  /** So many operands count as one of `only`. */
  readonly least?: number;
  /** No operand is written with one of these options, or words in the first place. */
  readonly never?: readonly string[];
  /** With one of these, everything below the operands (those read, where they are copied) is meant. `*`: always. */
  readonly deep?: readonly string[];
  /** Further options that take a value, which is no operand. */
  readonly values?: readonly string[];
  /** Words like `of=FILE`. */
  readonly assigned?: readonly string[];
  /** Files that are written whatever the words are. */
  readonly fixed?: readonly string[];
  /** The first word may be options without a dash. */
  readonly bare?: true;
  /** Texts of the words that name files: `w FILE` of sed, `> "FILE"` of awk. */
  readonly script?: RegExp;
};

const MODE: WritingCommand = { operands: "all", deep: ["-R", "--recursive"] };
const COPY = {
  values: ["-S", "--suffix"],
  into: ["-t", "--target-directory"],
  deep: ["-r", "-R", "-a", "--recursive", "--archive"],
} as const;
const PACKED: WritingCommand = { operands: "all", never: ["-c", "--stdout", "-t", "--test", "-l", "--list"] };
const EDITOR: WritingCommand = { operands: "all" };
const IN_PLACE = ["-i", "--in-place", "--inplace"];
const FORMATTER: WritingCommand = { operands: "all", only: ["-w", "--write", "--fix", "-i"] };
const TO_OUTPUT: WritingCommand = { files: ["-o", "--output", "--out", "-out"] };
const CONFIG_ACTIONS = ["set", "unset", "edit", "rename-section", "remove-section"];
const DOWNLOAD_OPTIONS = ["-H", "--header", "-X", "--request", "-d", "--data", "-u", "--user", "-A", "--user-agent", "-e", "-b"];

/** Programs that write what their words name, by their name without directory. */
export const WRITING_COMMANDS: ReadonlyMap<string, WritingCommand> = table({
  tee: { operands: "all" },
  touch: { operands: "all", values: ["-d", "--date", "-r", "--reference", "-t"] },
  truncate: { operands: "all", values: ["-s", "--size", "-r", "--reference"] },
  rm: { operands: "all", deep: ["-r", "-R", "--recursive"] },
  rmdir: { operands: "all" },
  unlink: { operands: "all" },
  shred: { operands: "all", values: ["-n", "--iterations", "-s", "--size"] },
  mkdir: { operands: "all", values: ["-m", "--mode"] },
  mkfifo: { operands: "all", values: ["-m", "--mode"] },
  mknod: { operands: "first", values: ["-m", "--mode"] },
  chmod: MODE,
  chown: MODE,
  chgrp: MODE,
  chattr: MODE,
  setfacl: MODE,
  cp: { operands: "to", ...COPY },
  install: { operands: "to", ...COPY, values: ["-m", "--mode", "-o", "--owner", "-g", "--group"] },
  mv: { operands: "from-to", ...COPY, deep: ["*"] },
  rename: { operands: "all" },
  ln: { operands: "from-to", ...COPY, deep: [] },
  link: { operands: "all" },
  rsync: {
    operands: "to",
    values: ["-e", "--rsh", "--exclude", "--include"],
    deep: ["-a", "-r", "--archive", "--recursive"],
    files: ["--log-file"],
  },
  scp: { operands: "to", values: ["-P", "-i", "-o", "-F"], deep: ["-r"] },
  dd: { assigned: ["of"] },
  sed: { operands: "all", only: IN_PLACE, values: ["-e", "-f", "-l"], script: /(?:^|[;{}\s\d/$gpiIemM])[wW]\s*([^\s;}]+)/g },
  awk: { operands: "all", only: ["inplace"], values: ["-i", "-F", "-v", "-f"], script: />>?\s*"([^"]+)"/g },
  perl: { operands: "all", only: ["-i"], values: ["-e", "-E"] },
  ruby: { operands: "all", only: ["-i"], values: ["-e"] },
  tar: { into: ["-C", "--directory"], files: ["-f", "--file"], spreads: true, only: ["-x", "--extract", "--get"], bare: true },
  unzip: { into: ["-d"], spreads: true, never: ["-l", "-t", "-p", "-Z", "-v"], values: ["-x"] },
  cpio: { into: ["-D", "--directory"], spreads: true, only: ["-i", "--extract", "-p", "--pass-through"] },
  zip: { operands: "first" },
  gzip: PACKED,
  gunzip: PACKED,
  bzip2: PACKED,
  bunzip2: PACKED,
  xz: PACKED,
  unxz: PACKED,
  zstd: PACKED,
  patch: {
    operands: "first",
    files: ["-o", "--output", "-r"],
    into: ["-d", "--directory"],
    spreads: true,
    values: ["-p", "-i", "--input"],
  },
  sort: TO_OUTPUT,
  uniq: { operands: "second", values: ["-f", "-s", "-w"] },
  split: { operands: "second", values: ["-b", "-l", "-n", "-a", "-C"] },
  csplit: { files: ["-f", "--prefix"] },
  xxd: { operands: "second", values: ["-s", "-l", "-c"] },
  script: { operands: "first", values: ["-c", "-t", "-T"] },
  curl: {
    files: ["-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr", "--etag-save"],
    into: ["--output-dir"],
    values: DOWNLOAD_OPTIONS,
    operands: "names",
    only: ["-O", "--remote-name", "--remote-name-all", "-J"],
  },
  wget: {
    files: ["-O", "--output-document", "-o", "--output-file", "-a", "--append-output"],
    into: ["-P", "--directory-prefix"],
    operands: "names",
  },
  ed: EDITOR,
  ex: EDITOR,
  vi: EDITOR,
  vim: EDITOR,
  nvim: EDITOR,
  nano: EDITOR,
  emacs: EDITOR,
  prettier: FORMATTER,
  gofmt: FORMATTER,
  yq: FORMATTER,
  jq: FORMATTER,
  sponge: { operands: "all" },
  openssl: TO_OUTPUT,
  gpg: TO_OUTPUT,
  gcc: TO_OUTPUT,
  cc: TO_OUTPUT,
  "ssh-keygen": { files: ["-f"] },
  sqlite3: { operands: "first" },
  find: { operands: "starts", only: ["-delete"], files: ["-fprint", "-fprint0", "-fprintf", "-fls"] },
  crontab: { fixed: ["/var/spool/cron"], never: ["-l"] },
});

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
    apply: { spreads: true, never: ["--check", "--stat", "--numstat", "--summary"] },
    am: { spreads: true },
    clean: { operands: "all", spreads: true, never: ["-n", "--dry-run"] },
    checkout: { operands: "all" },
    restore: { operands: "all" },
    rm: { operands: "all", deep: ["-r"], never: ["--cached", "-n", "--dry-run"] },
    mv: { operands: "from-to", deep: ["*"] },
    submodule: { fixed: [".gitmodules"], only: ["add", "set-url", "set-branch"] },
    worktree: { operands: "after-first", only: ["add", "move", "remove"] },
    clone: { operands: "second" },
    init: { operands: "all" },
    archive: TO_OUTPUT,
    "format-patch": { into: ["-o", "--output-directory"], spreads: true, only: ["-o", "--output-directory"] },
    bundle: { operands: "after-first", only: ["create"] },
    diff: { files: ["--output"] },
    log: { files: ["--output"] },
    show: { files: ["--output"] },
  }),
  npm: table<WritingCommand>({ config: { fixed: ["~/.npmrc"], only: ["set", "delete", "edit", "fix"] }, set: { fixed: ["~/.npmrc"] } }),
  pnpm: table<WritingCommand>({ config: { fixed: ["~/.npmrc"], only: ["set", "delete"] } }),
  yarn: table<WritingCommand>({ config: { fixed: [".yarnrc.yml"], only: ["set", "unset"] } }),
});

/** Other names of the same programs. */
export const ALSO_CALLED: ReadonlyMap<string, string> = table({
  gawk: "awk",
  mawk: "awk",
  nawk: "awk",
  gsed: "sed",
  gtar: "tar",
  bsdtar: "tar",
  gcp: "cp",
  gmv: "mv",
  grm: "rm",
  view: "vi",
  clang: "cc",
  "g++": "gcc",
});

/** No name of a program is ever found on an object's prototype. */
function table<T>(rows: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(rows));
}
