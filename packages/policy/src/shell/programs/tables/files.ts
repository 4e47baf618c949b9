import type { CommandTable } from "../command-table.ts";

const HELP = "--help --version";

/** What a file is known by. `--check` reads the files that a list names. */
const DIGEST: CommandTable = {
  operands: "files",
  options: `-b --binary -t --text --tag -z --zero ${HELP}`,
  unsafe: [["unmodelled_option", "-c --check --ignore-missing --quiet --status --strict -w --warn"]],
};

/** Programs that tell about files. */
export const FILES: Readonly<Record<string, CommandTable>> = {
  stat: {
    operands: "files",
    dashValues: true,
    options: `-L --dereference -f --file-system --cached= -c= --format= --printf= -t --terse ${HELP}`,
  },
  file: {
    operands: "files",
    dashValues: true,
    options: `-b --brief -c --checking-printout -e= --exclude= --exclude-quiet= -F= --separator= -i --mime --apple --extension --mime-type --mime-encoding
      -k --keep-going -L --dereference -h --no-dereference -n --no-buffer -N --no-pad -0 --print0 -r --raw -v ${HELP}`,
    unsafe: [
      ["writes_file", "-C --compile -p --preserve-date"],
      ["runs_program", "-z --uncompress -Z --uncompress-noreport -S --no-sandbox"],
    ],
  },
  du: {
    operands: "here",
    dashValues: true,
    options: `-0 --null -a --all --apparent-size -B= --block-size= -b --bytes -c --total -D --dereference-args -d= --max-depth= -H -h --human-readable --inodes -k
      -l --count-links -m -P --no-dereference -S --separate-dirs --si -s --summarize -t= --threshold= --time[=] --time-style= -X=path --exclude-from=path
      --exclude= -x --one-file-system -L --dereference ${HELP}`,
    refine: ({ found }, plain) => ({ ...plain, follows: found.has("-L") || found.has("--dereference") }),
  },
  df: {
    operands: "files",
    dashValues: true,
    options: `-a --all -B= --block-size= -h --human-readable -H --si -i --inodes -k -l --local --no-sync --output[=] -P --portability --total -t= --type=
      -T --print-type -x= --exclude-type= -v ${HELP}`,
  },
  tree: {
    operands: "here",
    looseLetters: true,
    options: `-a -d -f -x -L= -P= -I= -p -s -h -u -g -D -F -q -N -Q -r -t -c -U -v -i -A -S -n -C -X -J -H= -T= --noreport --charset= --filelimit= --si --du --timefmt=
      --matchdirs --prune --ignore-case --dirsfirst --filesfirst --sort= --inodes --device --gitignore --metafirst ${HELP}`,
    unsafe: [
      ["writes_file", "-o= -R"],
      ["outside_workspace", "-l --fromfile --fromtabfile"],
    ],
  },
  realpath: {
    operands: "files",
    options: `-e --canonicalize-existing -m --canonicalize-missing -L --logical -P --physical -q --quiet --relative-to=path --relative-base=path -s --strip --no-symlinks
      -z --zero ${HELP}`,
  },
  ...Object.fromEntries(["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"].map((name) => [name, DIGEST])),
  readlink: {
    operands: "files",
    options: `-f --canonicalize -e --canonicalize-existing -m --canonicalize-missing -n --no-newline -q --quiet -s --silent -v --verbose -z --zero ${HELP}`,
  },
};
