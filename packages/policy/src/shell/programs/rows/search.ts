import { isSensitive } from "../../../paths/sensitive.ts";
import type { HazardId } from "../../plan/plan.ts";
import { optionsOf, readTokens } from "../options.ts";
import { type Program, sameRow } from "../program.ts";
import {
  type CommandEffects,
  type FoundRun,
  NO_EFFECTS,
  type OptionReading,
  type ReadTable,
  readOptions,
  unsafeText,
  withHazard,
} from "../reads.ts";

const GREP: Program = {
  reads: {
    operands: "pattern",
    patternOptions: "-e --regexp -f --file",
    dashValues: true,
    options: `-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -e= --regexp= -f=path --file=path -i -y --ignore-case --no-ignore-case
      -w --word-regexp -x --line-regexp -z --null-data -s --no-messages -v --invert-match -V --version --help -m= --max-count= -b --byte-offset -n --line-number
      --line-buffered -H --with-filename -h --no-filename --label= -o --only-matching -q --quiet --silent --binary-files= -a --text -I -d= --directories=
      -r --recursive -R --dereference-recursive --include= --exclude= --exclude-from=path --exclude-dir= -L --files-without-match -l --files-with-matches
      -c --count -T --initial-tab -Z --null -B= --before-context= -A= --after-context= -C= --context= --group-separator= --no-group-separator --color[=] --colour[=]
      -U --binary -NUMBER -0 -1 -2 -3 -4 -5 -6 -7 -8 -9`,
    refine: (reading, plain) => {
      const { found } = reading;
      const follows = found.has("-R") || found.has("--dereference-recursive");
      const recursive =
        follows || found.has("-r") || found.has("--recursive") || directoryActions(reading).some((action) => "recurse".startsWith(action));
      const searched: CommandEffects = recursive ? { ...addWorkingDirectory(reading, plain), skips: "grep" } : plain;
      return addWantedSecrets(reading, { ...searched, follows });
    },
  },
};

/** Programs that search for files and text. */
export const SEARCH: Readonly<Record<string, Program>> = {
  ...sameRow("grep egrep fgrep", GREP),
  rg: {
    reads: {
      operands: "pattern",
      patternOptions: "-e --regexp --files --type-list --version -V -h --help",
      options: `-e= --regexp= -A= --after-context= -B= --before-context= -C= --context= -b --byte-offset -s --case-sensitive --color= --column --no-column
      --context-separator= -c --count --count-matches --crlf -E= --encoding= --engine= --files -l --files-with-matches --files-without-match -F --fixed-strings
      -g= --glob= --glob-case-insensitive --iglob= --heading --no-heading --hidden -. --no-hidden -i --ignore-case --include-zero -v --invert-match --json
      -n --line-number -N --no-line-number -x --line-regexp -M= --max-columns= --max-columns-preview -m= --max-count= -d= --max-depth= --maxdepth= --max-filesize=
      -U --multiline --multiline-dotall --no-config --no-follow --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global
      --no-ignore-messages --no-ignore-parent --no-ignore-vcs --no-messages --no-mmap --mmap --no-unicode --null -0 --one-file-system -o --only-matching
      --passthru --path-separator= -P --pcre2 --no-pcre2 -p --pretty -q --quiet -r= --replace= -S --smart-case --sort= --sortr= --stats --stop-on-nonmatch -a --text
      --binary -j= --threads= --trim --no-trim -t= --type= -T= --type-not= --type-list --type-add= --type-clear= -u --unrestricted --vimgrep
      -H --with-filename -I --no-filename -w --word-regexp -V --version -h --help`,
      unsafe: {
        runs_program: "--pre= --pre-glob= --hostname-bin= -z --search-zip",
        outside_workspace: "-L --follow",
        unmodelled_option: "-f= --file= --ignore-file=",
      },
      refine: (reading, plain) => ({ ...addWantedSecrets(reading, addWorkingDirectory(reading, plain)), skips: "rg" }),
    },
    runs: {
      how: "options",
      options: "-e= --regexp= -f= --file= -g= --glob= -t= --type= -A= -B= -C= -m= --pre=script --hostname-bin=script",
    },
  },
  ...sameRow("ag ack", { runs: { how: "options", options: "--pager=script" } }),
  find: {
    reads: findReads,
    writes: { operands: "starts", options: "-fprint=file -fprint0=file -fprintf=file -fls=file", only: "-delete" },
    runs: { how: "find" },
  },
  ...sameRow("fd fdfind", { runs: { how: "find" } }),
  fzf: {
    runs: {
      how: "options",
      options: "-q= --query= -f= --filter= --prompt= --header= --preview=script",
      text: /(?:execute(?:-silent)?|become|reload|transform)[([{:]([^)\]}]*)/,
    },
  },
  xargs: {
    reads: xargsReads,
    runs: {
      how: "xargs",
      options: `-a= --arg-file= -d= --delimiter= -E= -I= -J= -L= -n= --max-args= -P= --max-procs= -R= -s= --max-chars= -S= --process-slot-var= -0
      --null -o --open-tty -p --interactive -r --no-run-if-empty -t --verbose -x --exit --show-limits -e[=] --eof[=] -i[=] --replace[=] -l[=]
      --max-lines[=]`,
      byOption: true,
    },
    opaque: true,
  },
  parallel: {
    writes: { options: "--joblog=file --results=place --tmpdir=place" },
    runs: {
      how: "parallel",
      options: `-a= --arg-file= --colsep= -C= -d= --delimiter= -E= -I= -j= --jobs= -P= --max-procs= -L= -n= --max-args= -N= -s= --max-chars= -S=
      --sshlogin= --delay= --timeout= --joblog= --results= --tmpdir= --tagstring= --retries= --load= --memfree= --nice= --shellquote=
      --basefile= --return= --env= --workdir= --wd= --block= --recstart= --recend= -U= -0 --null -k --keep-order -m -X -q --quote -r
      --no-run-if-empty -t --verbose -u --ungroup -v --bar --eta --progress --dry-run --tag --line-buffer --lb --pipe --pipepart --will-cite
      --group -x --exit --halt-on-error --round-robin --linebuffer -i[=] --replace[=] -l[=] --max-lines[=] --halt[=] --header[=] --cat[=]
      --fifo[=]`,
      moves: "--workdir --wd -S --sshlogin",
      byOption: true,
    },
    opaque: true,
  },
};

/** Without files it searches the working directory. */
function addWorkingDirectory({ paths }: OptionReading, plain: CommandEffects): CommandEffects {
  return plain.reads.length > paths.length ? plain : { ...plain, reads: [...plain.reads, "."] };
}

const WANTED = ["--include", "-g", "--glob", "--iglob"];

/** A glob for a file with secrets counts as an operand. */
function addWantedSecrets({ found }: OptionReading, plain: CommandEffects): CommandEffects {
  const names = WANTED.flatMap((option) => found.get(option) ?? []).map((glob) => glob.replaceAll(/[*?]/g, ""));
  const secret = names.find((name) => !name.startsWith("!") && isSensitive(`/${name}`));
  return secret === undefined ? plain : withHazard(plain, "sensitive_file", `${secret} may contain secrets`);
}

/** grep takes abbreviations of them. */
function directoryActions({ found }: OptionReading): readonly string[] {
  return [...(found.get("-d") ?? []), ...(found.get("--directories") ?? [])];
}

const ALONE = new Set(
  (
    "! ( ) , -a -and -daystart -depth -empty -executable -false -ignore_readdir_race -ls -mount -nogroup -noignore_readdir_race -noleaf -not -nouser -nowarn -o " +
    "-or -print -print0 -prune -quit -readable -true -warn -writable -xdev"
  ).split(" "),
);

const WITH_WORD = new Set(
  (
    "-amin -atime -cmin -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -path -perm " +
    "-printf -regex -regextype -size -type -uid -used -user -wholename -xtype"
  ).split(" "),
);

const WITH_FILE = new Set(["-newer", "-anewer", "-cnewer", "-samefile"]);

const UNSAFE: readonly (readonly [form: RegExp, does: HazardId])[] = [
  [/^-(?:exec|ok)(?:dir)?$/, "runs_program"],
  [/^-(?:delete|fprint0?|fprintf|fls)$/, "writes_file"],
  [/^-(?:L|follow|files0-from)$/, "outside_workspace"],
];

/** Starting points, then an expression that may only look. */
function findReads(args: readonly string[]): CommandEffects {
  const start = args.findIndex((word) => word !== "-H" && word !== "-P");
  const words = start < 0 ? [] : args.slice(start);
  const expression = words.findIndex((word) => word.startsWith("-") || word === "!" || word === "("); // `)` and `,` are paths
  const starts = expression < 0 ? words : words.slice(0, expression);
  const plain: CommandEffects = { ...NO_EFFECTS, reads: starts.length > 0 ? starts : ["."] };
  return expression < 0 ? plain : readExpression(plain, words.slice(expression));
}

function readExpression(plain: CommandEffects, words: readonly string[]): CommandEffects {
  const files: string[] = [];
  const runs: FoundRun[] = [];
  let depth = 0;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (word === "(") depth++;
    if (word === ")" && --depth < 0) return refuseWord(plain, word); // `) -o (` would come out of the tests that `skipSecrets` adds
    if (ALONE.has(word) || !word.startsWith("-")) continue; // find stops at a path after the expression
    const run = word === "-exec" ? readRun(words, i + 1) : undefined;
    if (run) {
      runs.push(run);
      i += 1 + run.words.length;
      continue;
    }
    const value = words[++i];
    if (value === undefined || !(WITH_WORD.has(word) || WITH_FILE.has(word) || isNewerThanTime(word))) return refuseWord(plain, word);
    if (WITH_FILE.has(word)) files.push(value);
  }
  if (depth > 0) return refuseWord(plain, "(");
  const found = { ...plain, reads: [...plain.reads, ...files] };
  if (runs.length === 0) return found;
  const link = words.find((word, i) => /^-(?:i?lname|xtype)$/.test(word) || (word === "-type" && words[i + 1]?.includes("l")));
  return link === undefined ? { ...found, runs, skips: "find" } : refuseWord(found, "-exec");
}

/** The words between `-exec` and `;`, or `+` after `{}`. */
function readRun(words: readonly string[], from: number): FoundRun | undefined {
  const end = words.findIndex((word, at) => at > from && (word === ";" || (word === "+" && words[at - 1] === "{}")));
  return end === -1 ? undefined : { words: words.slice(from, end), many: words[end] === "+" };
}

const XARGS: ReadTable = { operands: "data", options: "-0 --null -r --no-run-if-empty -t --verbose -n= --max-args= -P= --max-procs= -I=" };

/** The command after the options gets names from the input, at its end or in place of a mark. */
function xargsReads(args: readonly string[]): CommandEffects {
  const tokens = [...readTokens(args, optionsOf(XARGS), { exact: true })];
  const start = tokens.find(({ kind }) => kind !== "option")?.at ?? args.length;
  const { found, hazards } = readOptions(args.slice(0, start), XARGS);
  const words = start < args.length ? args.slice(start) : ["echo"];
  const mark = found.get("-I")?.at(-1);
  const isStrange = words[0] === "--" || (mark !== undefined && mark !== "{}" && words.some((word) => word.includes("{}")));
  const given =
    mark === undefined ? [...words, "{}"] : words.map((word) => (word === mark ? "{}" : word.includes(mark) ? `${word}{}` : word));
  const plain: CommandEffects = { ...NO_EFFECTS, hazards, fed: true, runs: [{ words: given, many: mark === undefined }] };
  return isStrange || mark === "" ? withHazard(plain, "runs_program", "Assent can't tell what xargs runs") : plain;
}

/** `-newermt '2 days ago'` takes a time. */
function isNewerThanTime(word: string): boolean {
  return /^-newer[acm]t$/.test(word);
}

function refuseWord(plain: CommandEffects, word: string): CommandEffects {
  const [, does = "unmodelled_option"] = UNSAFE.find(([form]) => form.test(word)) ?? [];
  return withHazard(plain, does, unsafeText(word, does));
}
