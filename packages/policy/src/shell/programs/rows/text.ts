import { FORMATTER, type Program, sameRow, TO_OUTPUT, type Writes } from "../program.ts";
import { type CommandEffects, NO_EFFECTS, type OptionReading, withHazard } from "../reads.ts";
import { isHarmlessSed } from "../sed-script.ts";

const HELP = "--help --version";

const SED_FILES: Writes = {
  operands: "all",
  options: "-e= -f= -l=",
  only: "-i --in-place --inplace",
  script: /(?:^|[;{}\s\d/$gpiIemM])[wW]\s*([^\s;}]+)/g,
};

const AWK_FILES: Writes = { operands: "all", options: "-i= -F= -v= -f=", only: "inplace", script: />>?\s*"([^"]+)"/g };

/** Programs that sort, compare, convert and rewrite text. */
export const TEXT: Readonly<Record<string, Program>> = {
  sort: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort -i --ignore-nonprinting -M --month-sort
      -h --human-numeric-sort -n --numeric-sort -R --random-sort -r --reverse --sort= -V --version-sort -c -C --check[=] --debug -k= --key= -m --merge
      -s --stable -t= --field-separator= -u --unique -z --zero-terminated ${HELP}`,
      unsafe: { writes_file: "-o= --output= -T= --temporary-directory=", runs_program: "--compress-program=" },
    },
    writes: TO_OUTPUT,
    runs: {
      how: "options",
      options: `-k= --key= -t= --field-separator= -o= --output= -S= --buffer-size= -T= --temporary-directory= --compress-program=script`,
    },
  },
  uniq: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-c --count -d --repeated -D --all-repeated[=] -f= --skip-fields= --group[=] -i --ignore-case -s= --skip-chars= -u --unique -z --zero-terminated
      -w= --check-chars= ${HELP}`,
      refine: ({ operands: [input, ...outputs] }, plain) =>
        outputs.length === 0
          ? plain
          : withHazard(
              { ...plain, class: "write", reads: input === undefined ? [] : [input], writes: outputs },
              "writes_file",
              "uniq overwrites its second file",
            ),
    },
    writes: { operands: "second", options: "-f= -s= -w=" },
  },
  diff: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `--normal -q --brief -s --report-identical-files -c -C= --context[=] -u -U= --unified[=] -e --ed -n --rcs -y --side-by-side -W= --width= --left-column
      --suppress-common-lines -p --show-c-function -F= --show-function-line= --label= -t --expand-tabs -T --initial-tab --tabsize= --suppress-blank-empty
      -r --recursive --no-dereference -N --new-file --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case -x= --exclude= -X=path
      --exclude-from=path -S= --starting-file= --from-file=path --to-file=path -i --ignore-case -E --ignore-tab-expansion -Z --ignore-trailing-space
      -b --ignore-space-change -w --ignore-all-space -B --ignore-blank-lines -I= --ignore-matching-lines= -a --text --strip-trailing-cr -d --minimal
      --horizon-lines= --speed-large-files --color[=] -v ${HELP}`,
      unsafe: { runs_program: "-l --paginate" },
      // diff follows links among the files of a directory even without -r.
      refine: ({ found }, plain) => ({ ...plain, follows: !found.has("--no-dereference"), skips: "diff" }),
    },
  },
  cmp: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-b --print-bytes -i= --ignore-initial= -l --verbose -n= --bytes= -s --quiet --silent -v ${HELP}`,
    },
  },
  ...sameRow("sdiff iconv shuf uudecode xmllint xsltproc pandoc", { writes: TO_OUTPUT }),
  sed: {
    reads: {
      operands: "pattern",
      patternOptions: "-e --expression -f --file",
      dashValues: true,
      options: `-n --quiet --silent -E -r --regexp-extended -e= --expression= -s --separate -z --null-data -u --unbuffered --posix --debug --sandbox ${HELP}`,
      unsafe: { writes_file: "-i[=] --in-place[=]", unmodelled_option: "-f= --file=" },
      refine: refineSed,
    },
    writes: SED_FILES,
    runs: { how: "code", languages: ["sed"] },
    match: {
      options: "-e= --expression= -f= --file= -l= --line-length=",
      synonyms: ["-i --in-place", "-n --quiet --silent", "-e --expression", "-E -r --regexp-extended", "-f --file"],
    },
  },
  gsed: { writes: SED_FILES, runs: { how: "code", languages: ["sed"] } },
  ssed: { runs: { how: "code", languages: ["sed"] } },
  awk: {
    reads: {
      operands: "pattern",
      dashValues: true,
      leads: true,
      options: "-F= -v=",
      unsafe: { unmodelled_option: "-f=" },
      refine: refineAwk,
    },
    writes: AWK_FILES,
    runs: { how: "code", languages: ["awk"] },
    interprets: "file",
  },
  ...sameRow("gawk mawk", { writes: AWK_FILES, runs: { how: "code", languages: ["awk"] }, interprets: "file" }),
  nawk: { writes: AWK_FILES, runs: { how: "code", languages: ["awk"] } },
  "original-awk": { runs: { how: "code", languages: ["awk"] } },
  jq: {
    version: "--version -V",
    reads: {
      operands: "pattern",
      dashValues: true,
      options: `-r --raw-output -c --compact-output -s --slurp -e --exit-status -S --sort-keys -n --null-input -j --join-output -a --ascii-output -C --color-output
      -M --monochrome-output -R --raw-input --tab --indent= --arg== --argjson== --seq --stream`,
      unsafe: { unmodelled_option: "-f --from-file -L= --rawfile== --slurpfile==" },
      refine: ({ operands: [program] }, plain) =>
        program === undefined || !isHarmlessJq(program)
          ? withHazard(plain, "unmodelled_option", "The program may do more than read its input")
          : plain,
    },
    writes: FORMATTER,
  },
  yq: { writes: FORMATTER },
  split: {
    writes: { operands: "second", options: "-b= -l= -n= -a= -C=" },
    runs: { how: "options", options: "-a= -b= -C= -l= -n= -t= --filter=script" },
  },
  csplit: { writes: { options: "-f=file --prefix=file" } },
  xxd: { reads: xxdReads, writes: { operands: "second", options: "-s= -l= -c=" } },
  od: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-A= --address-radix= -j= --skip-bytes= -N= --read-bytes= -S= --strings= -t= --format= -v --output-duplicates -w[=] --width[=] -a -b -c -d -f -i
      -l -o -s -x ${HELP}`,
      refine: onlyPlainNames,
    },
  },
  ...sameRow("base64 base32", { reads: { operands: "files", options: `-d --decode -i --ignore-garbage -w= --wrap= ${HELP}` } }),
  strings: {
    reads: {
      operands: "files",
      options: `-a --all -d --data -f --print-file-name -n= --bytes= -t= --radix= -e= --encoding= -o -w --include-all-whitespace -NUMBER ${HELP}`,
      refine: onlyPlainNames,
    },
  },
  hexdump: { reads: { operands: "files", options: "-b -c -C -d -o -x -v -n= -s= -h -V" } },
  cksum: { reads: { operands: "files", options: HELP } },
  ...sameRow("expand unexpand", { reads: { operands: "files", options: `-a --all -i --initial -t= --tabs= ${HELP}` } }),
  join: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-a= -e= -i --ignore-case -j= -o= -t= -v= -1= -2= --check-order --nocheck-order --header -z --zero-terminated ${HELP}`,
    },
  },
  ...sameRow("dos2unix unix2dos", { writes: { operands: "all", keeps: true } }),
};

function refineSed({ found, operands }: OptionReading, plain: CommandEffects): CommandEffects {
  const given = [...(found.get("-e") ?? []), ...(found.get("--expression") ?? [])];
  const scripts = given.length > 0 ? given : operands.slice(0, 1);
  const inPlace = found.has("-i") || found.has("--in-place");
  const files: CommandEffects = inPlace ? { ...plain, class: "write", reads: [], writes: plain.reads } : plain;
  return scripts.length > 0 && isHarmlessSed(scripts.join("\n"))
    ? files
    : withHazard(files, "unmodelled_option", "The sed script may do more than print lines");
}

/** Some programs read a file named `x==y`. */
const ASSIGNMENT = /^[A-Za-z_]\w*=(?!=)/;

function refineAwk({ found, operands: [program, ...files] }: OptionReading, plain: CommandEffects): CommandEffects {
  const values = found.get("-v") ?? [];
  const harmless = program !== undefined && isHarmlessAwk(program) && values.every((value) => ASSIGNMENT.test(value));
  const reads = files.filter((file) => !ASSIGNMENT.test(file));
  return harmless
    ? { ...plain, reads }
    : withHazard({ ...plain, reads }, "unmodelled_option", "The program may do more than read its input");
}

/** Ways for awk to read other files, write, run programs, read the environment or load code. Only after `print` do `>` and `|` write. */
const MORE_THAN_READING = /system|getline|@|ENVIRON|close|-f|ARG[CV]|SYMTAB|FUNCTAB|PROCINFO|print[\s\S]*[|>]|\|&/;

function isHarmlessAwk(program: string): boolean {
  return !MORE_THAN_READING.test(program);
}

/** Refuses `+5`, an old option, and `@FILE`, a list of words, also as an option's value. */
export function onlyPlainNames({ found, operands }: OptionReading, plain: CommandEffects): CommandEffects {
  const strange = operands.find((word) => /^[+@]/.test(word)) ?? [...found.values()].flat().find((value) => value.startsWith("@"));
  return strange === undefined ? plain : withHazard(plain, "unmodelled_option", `Assent doesn't know what ${strange} means here`);
}

const NUMBER = /^[+-]?(?:0x[\da-f]+|\d+)$/i;

/** xxd takes whole words as options: `-ps` is not `-p -s`. After a file come no options, and a second file is written, also one named `-p`. */
function xxdReads(args: readonly string[]): CommandEffects {
  const files: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? "";
    const attached = /^-[cglos](.+)$/.exec(word)?.[1];
    if (files.length > 0 || !word.startsWith("-") || word === "-") files.push(word);
    else if (/^-[cglos]$/.test(word) && NUMBER.test(args[i + 1] ?? "")) i++;
    else if (!(/^-(?:[abCdeEipuv]|ps)$/.test(word) || (attached !== undefined && NUMBER.test(attached))))
      return withHazard(NO_EFFECTS, "unmodelled_option", `Assent doesn't know whether ${word} is safe`);
  }
  const [input, ...outputs] = files;
  const plain: CommandEffects = { ...NO_EFFECTS, reads: input === undefined ? [] : [input] };
  return outputs.length === 0
    ? plain
    : withHazard({ ...plain, class: "write", writes: outputs }, "writes_file", "xxd overwrites its second file");
}

/** As fields (`.env`) these are only names. */
const MORE_THAN_INPUT =
  /(?<![\w.])(?:env|import|include|input_filename|modulemeta|get_search_list)\b|\.\.(?:env|import|include|input_filename|modulemeta|get_search_list)\b|\$(?:[\s#]|ENV|__prog)/;

/** Whether a jq program only reads its input. */
export function isHarmlessJq(program: string): boolean {
  return !MORE_THAN_INPUT.test(program);
}
