import { type Program, sameRow } from "../program.ts";
import { type CommandEffects, NO_EFFECTS, withHazard } from "../reads.ts";

const HELP = "--help --version";

/** Small programs that show files, text and the system. */
export const COREUTILS: Readonly<Record<string, Program>> = {
  ls: {
    reads: {
      operands: "here",
      dashValues: true,
      options: `-a --all -A --almost-all --author -b --escape --block-size= -B --ignore-backups -c -C --color[=] -d --directory -D --dired -f -F --classify[=]
      --file-type --format= --full-time -g --group-directories-first -G --no-group -h --human-readable --si -H --dereference-command-line
      --dereference-command-line-symlink-to-dir --hide= --hyperlink[=] --indicator-style= -i --inode -I= --ignore= -k --kibibytes -l -L --dereference -m -n
      --numeric-uid-gid -N --literal -o -p -q --hide-control-chars --show-control-chars -Q --quote-name --quoting-style= -r --reverse -R --recursive -s --size -S
      --sort= --time= --time-style= -t -T= --tabsize= -u -U -v -w= --width= -x -X -Z --context --zero -1 ${HELP}`,
      refine: ({ found }, plain) => ({
        ...plain,
        follows: found.has("-L") || found.has("--dereference"),
      }),
    },
  },
  cat: {
    reads: {
      operands: "files",
      options: `-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s --squeeze-blank -t -T --show-tabs -u -v --show-nonprinting ${HELP}`,
    },
  },
  head: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-c= --bytes= -n= --lines= -q --quiet --silent -v --verbose -z --zero-terminated -NUMBER ${HELP}`,
    },
  },
  tail: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-c= --bytes= -n= --lines= -q --quiet --silent -v --verbose -z --zero-terminated -NUMBER ${HELP}`,
      refine: ({ operands }, plain) =>
        operands.some((word) => word.startsWith("+"))
          ? withHazard(plain, "unmodelled_option", "+N is an old option syntax that Assent doesn't support")
          : plain,
    },
  },
  wc: {
    reads: { operands: "files", options: `-c --bytes -m --chars -l --lines -L --max-line-length -w --words --total= ${HELP}` },
  },
  cut: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-b= --bytes= -c= --characters= -d= --delimiter= -f= --fields= -n --complement -s --only-delimited --output-delimiter= -z --zero-terminated ${HELP}`,
    },
  },
  tr: { reads: { operands: "data", options: `-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1 ${HELP}` } },
  nl: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-b= --body-numbering= -d= --section-delimiter= -f= --footer-numbering= -h= --header-numbering= -i= --line-increment= -l= --join-blank-lines=
      -n= --number-format= -p --no-renumber -s= --number-separator= -v= --starting-line-number= -w= --number-width= ${HELP}`,
    },
  },
  rev: { reads: { operands: "files", options: `-h -V ${HELP}` } },
  tac: { reads: { operands: "files", dashValues: true, options: `-b --before -r --regex -s= --separator= ${HELP}` } },
  fold: { reads: { operands: "files", options: `-b --bytes -s --spaces -w= --width= -NUMBER ${HELP}` } },
  column: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-t --table --table-name= -O= --table-order= -N= --table-columns= -l= --table-columns-limit= -E= --table-noextreme= -d --table-noheadings
      -e --table-header-repeat -H= --table-hide= -R= --table-right= -T= --table-truncate= -W= --table-wrap= -L --keep-empty-lines -J --json -r= --tree= -i= --tree-id=
      -p= --tree-parent= -c= --output-width= -o= --output-separator= -s= --separator= -x --fillrows -h -V ${HELP}`,
    },
  },
  comm: {
    reads: {
      operands: "files",
      options: `-1 -2 -3 --check-order --nocheck-order --output-delimiter= --total -z --zero-terminated ${HELP}`,
    },
  },
  paste: { reads: { operands: "files", dashValues: true, options: `-d= --delimiters= -s --serial -z --zero-terminated ${HELP}` } },
  basename: { reads: { operands: "data", dashValues: true, options: `-a --multiple -s= --suffix= -z --zero ${HELP}` } },
  dirname: { reads: { operands: "data", options: `-z --zero ${HELP}` } },
  seq: {
    reads: {
      operands: "data",
      dashValues: true,
      options: `-f= --format= -s= --separator= -w --equal-width -NUMBER ${HELP}`,
      refine: ({ operands }, plain) =>
        operands.every((operand) => /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(operand))
          ? plain
          : withHazard(plain, "unmodelled_option", "The sequence may never end"),
    },
  },
  pwd: { reads: { operands: "none", options: `-L --logical -P --physical ${HELP}` } },
  ...sameRow("true false", { reads: { operands: "data" } }),
  whoami: { reads: { operands: "none", options: HELP } },
  id: { reads: { operands: "none", options: `-a -Z --context -g --group -G --groups -n --name -r --real -u --user -z --zero ${HELP}` } },
  uname: {
    reads: {
      operands: "none",
      options: `-a --all -s --kernel-name -n --nodename -r --kernel-release -v --kernel-version -m --machine -p --processor -i --hardware-platform -o --operating-system ${HELP}`,
    },
  },
  date: {
    reads: {
      operands: "data",
      options: `-u --utc --universal -I[=] --iso-8601[=] ${HELP}`,
      unsafe: { writes_file: "-s= --set=" },
      refine: ({ operands }, plain) =>
        operands.every((operand) => operand.startsWith("+")) ? plain : withHazard(plain, "writes_file", "This sets the system clock"),
    },
  },
  which: { reads: { operands: "data", options: "-a" } },
  echo: { reads: () => NO_EFFECTS },
  cd: {
    reads: (args) => {
      const plain = args.filter((word) => word !== "-L" && word !== "-P" && word !== "--");
      const [directory, ...more] = plain;
      const known = directory !== undefined && directory !== "" && !directory.startsWith("-") && more.length === 0;
      return known
        ? { ...NO_EFFECTS, reads: [directory] }
        : withHazard(NO_EFFECTS, "cwd_unknown", "Assent can't tell which directory cd leads to");
    },
  },
  test: { reads: oneCondition, subscripts: true },
  "[": { reads: bracketCondition, subscripts: true },
  printf: {
    reads: printfReads,
    subscripts: true,
  },
};

/** `%n` sets a variable such as `PATH`, also in bash. */
const SETS_VARIABLE = /%[-+ #\d.*$']*[hlLjzt]*n|\\(?:0*45|[xuU]0*25)/;
const ONLY_TEXTS = /^(?:[^%]|%%|%[-\d.]*[sbqQc])*$/s;
const EXPRESSION = /[=[\]()`$]|\+\+|--/;

function printfReads(args: readonly string[]): CommandEffects {
  const [first = ""] = args;
  const [format = "", ...values] = first === "--" ? args.slice(1) : args;
  if (first.startsWith("-") && first !== "--")
    return withHazard(NO_EFFECTS, "unmodelled_option", `printf would read ${first} as an option, not as a format`);
  return SETS_VARIABLE.test(format) || (!ONLY_TEXTS.test(format) && values.some((value) => EXPRESSION.test(value)))
    ? withHazard(NO_EFFECTS, "unmodelled_option", "A shell's own printf may set a variable or evaluate an expression")
    : NO_EFFECTS;
}

const OF_FILE = /^-[bcdefgGhkLNOprsSuwx]$/;
const OF_TEXT = /^-[nz]$/;
const BETWEEN_TEXTS = /^(?:={1,2}|!=)$/;
const BETWEEN_NUMBERS = /^-(?:eq|ne|lt|le|gt|ge)$/;
/** Some shells evaluate anything else as an expression, which may set a variable. */
const NUMBER = /^[+-]?\d+$/;
const BETWEEN_FILES = /^-(?:nt|ot|ef)$/;

/** Assent runs the program `test`, which evaluates no subscripts, not the builtin. */
function oneCondition(args: readonly string[]): CommandEffects {
  const [first = "", second = "", third = ""] = args;
  if (first === "!" && args.length > 1) return oneCondition(args.slice(1));
  const count = args.length;
  if (count === 2 && OF_FILE.test(first)) return { ...NO_EFFECTS, reads: [second] };
  if (count === 2 && OF_TEXT.test(first)) return NO_EFFECTS;
  if (count === 3 && BETWEEN_TEXTS.test(second)) return NO_EFFECTS;
  if (count === 3 && BETWEEN_NUMBERS.test(second) && NUMBER.test(first) && NUMBER.test(third)) return NO_EFFECTS;
  if (count === 3 && BETWEEN_FILES.test(second)) return { ...NO_EFFECTS, reads: [first, third] };
  return withHazard(NO_EFFECTS, "unmodelled_option", "Assent only understands test with one condition");
}

/** `[ … ]` is `test …`. */
function bracketCondition(args: readonly string[]): CommandEffects {
  return args.at(-1) === "]" ? oneCondition(args.slice(0, -1)) : withHazard(NO_EFFECTS, "unmodelled_option", "The closing ] is missing");
}
