import { isHarmlessAwk } from "../awk-program.ts";
import { type CommandTable, type Modelled, withHazard } from "../command-table.ts";
import { isHarmlessJq } from "../jq-program.ts";
import type { OptionReading } from "../read-options.ts";
import { isHarmlessSed } from "../sed-script.ts";

const HELP = "--help --version";

/** Programs that sort, compare and rewrite text on its way to the output. */
export const TEXT: Readonly<Record<string, CommandTable>> = {
  sort: {
    operands: "files",
    dashValues: true,
    options: `-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g --general-numeric-sort -i --ignore-nonprinting -M --month-sort
      -h --human-numeric-sort -n --numeric-sort -R --random-sort -r --reverse --sort= -V --version-sort -c -C --check[=] --debug -k= --key= -m --merge
      -s --stable -t= --field-separator= -u --unique -z --zero-terminated ${HELP}`,
    unsafe: [
      ["writes_file", "-o= --output= -T= --temporary-directory="],
      ["runs_program", "--compress-program="],
    ],
  },
  uniq: {
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
            "a second file is written",
          ),
  },
  diff: {
    operands: "files",
    dashValues: true,
    options: `--normal -q --brief -s --report-identical-files -c -C= --context[=] -u -U= --unified[=] -e --ed -n --rcs -y --side-by-side -W= --width= --left-column
      --suppress-common-lines -p --show-c-function -F= --show-function-line= --label= -t --expand-tabs -T --initial-tab --tabsize= --suppress-blank-empty
      -r --recursive --no-dereference -N --new-file --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case -x= --exclude= -X=path
      --exclude-from=path -S= --starting-file= --from-file=path --to-file=path -i --ignore-case -E --ignore-tab-expansion -Z --ignore-trailing-space
      -b --ignore-space-change -w --ignore-all-space -B --ignore-blank-lines -I= --ignore-matching-lines= -a --text --strip-trailing-cr -d --minimal
      --horizon-lines= --speed-large-files --color[=] -v ${HELP}`,
    unsafe: [["runs_program", "-l --paginate"]],
    // Of two directories the files of the same name are compared, of a directory and a file that of the file's name: links among them are followed without -r too.
    refine: ({ found }, plain) => ({ ...plain, follows: !found.has("--no-dereference") }),
  },
  cmp: {
    operands: "files",
    dashValues: true,
    options: `-b --print-bytes -i= --ignore-initial= -l --verbose -n= --bytes= -s --quiet --silent -v ${HELP}`,
  },
  sed: {
    operands: "pattern",
    patternOptions: ["-e", "--expression", "-f", "--file"],
    dashValues: true,
    options: `-n --quiet --silent -E -r --regexp-extended -e= --expression= -s --separate -z --null-data -u --unbuffered --posix --debug --sandbox ${HELP}`,
    unsafe: [
      ["writes_file", "-i[=] --in-place[=]"],
      ["unmodelled_option", "-f= --file="],
    ],
    refine: refineSed,
  },
  awk: {
    operands: "pattern",
    dashValues: true,
    options: "-F= -v=",
    unsafe: [["unmodelled_option", "-f="]],
    refine: refineAwk,
  },
  jq: {
    operands: "pattern",
    dashValues: true,
    options: `-r --raw-output -c --compact-output -s --slurp -e --exit-status -S --sort-keys -n --null-input -j --join-output -a --ascii-output -C --color-output
      -M --monochrome-output -R --raw-input --tab --indent= --arg== --argjson== --seq --stream`,
    unsafe: [["unmodelled_option", "-f --from-file -L= --rawfile== --slurpfile=="]],
    refine: ({ operands: [program] }, plain) =>
      program === undefined || !isHarmlessJq(program)
        ? withHazard(plain, "unmodelled_option", "the program may do more than read its input")
        : plain,
  },
};

/** Without `-n` every line is written anyway: only looking at some of them is modelled. */
function refineSed({ found, operands }: OptionReading, plain: Modelled): Modelled {
  const given = [...(found.get("-e") ?? []), ...(found.get("--expression") ?? [])];
  const scripts = given.length > 0 ? given : operands.slice(0, 1);
  const inPlace = found.has("-i") || found.has("--in-place");
  const files: Modelled = inPlace ? { ...plain, class: "write", reads: [], writes: plain.reads } : plain;
  const quiet = found.has("-n") || found.has("--quiet") || found.has("--silent");
  if (!quiet) return withHazard(files, "unmodelled_option", "sed is known to Assent only with -n");
  return scripts.length > 0 && isHarmlessSed(scripts.join("\n"))
    ? files
    : withHazard(files, "unmodelled_option", "the script may do more than print lines");
}

function refineAwk({ found, operands: [program, ...files] }: OptionReading, plain: Modelled): Modelled {
  const values = found.get("-v") ?? [];
  const harmless = program !== undefined && isHarmlessAwk(program) && values.every((value) => /^[A-Za-z_]\w*=/.test(value));
  const reads = files.filter((file) => !/^[A-Za-z_]\w*=/.test(file));
  return harmless
    ? { ...plain, reads }
    : withHazard({ ...plain, reads }, "unmodelled_option", "the program may do more than read its input");
}
