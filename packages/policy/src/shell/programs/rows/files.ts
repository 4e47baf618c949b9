import { type Program, sameRow, type Writes } from "../program.ts";
import type { ReadTable } from "../reads.ts";

const HELP = "--help --version";

/** `--check` reads the files that a list names. */
const DIGEST: ReadTable = {
  operands: "files",
  options: `-b --binary -t --text --tag -z --zero ${HELP}`,
  unsafe: { unmodelled_option: "-c --check --ignore-missing --quiet --status --strict -w --warn" },
};

const INTO = "-t=into --target-directory=into -S= --suffix=";

const COPIES: Writes = {
  operands: "to",
  options: INTO,
  deep: "-r -R -a --recursive --archive",
  exact: "-T --no-target-directory",
  whole: "--parents",
};

const MOVES: Writes = {
  operands: "from-to",
  options: INTO,
  deep: "*",
  exact: "-T --no-target-directory",
};

const LINKS: Writes = {
  operands: "from-to",
  options: INTO,
  exact: "-T --no-target-directory -n -h --no-dereference",
  alone: true,
};

const DELETES: Writes = { operands: "all", deep: "-r -R --recursive" };

/** Programs that describe, create, change and delete files. */
export const FILES: Readonly<Record<string, Program>> = {
  stat: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-L --dereference -f --file-system --cached= -c= --format= --printf= -t --terse ${HELP}`,
    },
  },
  file: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-b --brief -c --checking-printout -e= --exclude= --exclude-quiet= -F= --separator= -i --mime --apple --extension --mime-type --mime-encoding
      -k --keep-going -L --dereference -h --no-dereference -n --no-buffer -N --no-pad -0 --print0 -r --raw -v ${HELP}`,
      unsafe: { writes_file: "-C --compile -p --preserve-date", runs_program: "-z --uncompress -Z --uncompress-noreport -S --no-sandbox" },
    },
  },
  du: {
    reads: {
      operands: "here",
      dashValues: true,
      options: `-0 --null -a --all --apparent-size -B= --block-size= -b --bytes -c --total -D --dereference-args -d= --max-depth= -H -h --human-readable --inodes -k
      -l --count-links -m -P --no-dereference -S --separate-dirs --si -s --summarize -t= --threshold= --time[=] --time-style= -X=path --exclude-from=path
      --exclude= -x --one-file-system -L --dereference ${HELP}`,
      refine: ({ found }, plain) => ({ ...plain, follows: found.has("-L") || found.has("--dereference") }),
    },
  },
  df: {
    reads: {
      operands: "files",
      dashValues: true,
      options: `-a --all -B= --block-size= -h --human-readable -H --si -i --inodes -k -l --local --no-sync --output[=] -P --portability --total -t= --type=
      -T --print-type -x= --exclude-type= -v ${HELP}`,
    },
  },
  tree: {
    reads: {
      operands: "here",
      looseLetters: true,
      options: `-a -d -f -x -L= -P= -I= -p -s -h -u -g -D -F -q -N -Q -r -t -c -U -v -i -A -S -n -C -X -J -H= -T= --noreport --charset= --filelimit= --si --du --timefmt=
      --matchdirs --prune --ignore-case --dirsfirst --filesfirst --sort= --inodes --device --gitignore --metafirst ${HELP}`,
      unsafe: { writes_file: "-o= -R", outside_workspace: "-l --fromfile --fromtabfile" },
    },
    writes: { options: "-o=file" },
  },
  realpath: {
    reads: {
      operands: "files",
      options: `-e --canonicalize-existing -m --canonicalize-missing -L --logical -P --physical -q --quiet --relative-to=path --relative-base=path -s --strip --no-symlinks
      -z --zero ${HELP}`,
    },
  },
  readlink: {
    reads: {
      operands: "files",
      options: `-f --canonicalize -e --canonicalize-existing -m --canonicalize-missing -n --no-newline -q --quiet -s --silent -v --verbose -z --zero ${HELP}`,
    },
  },
  ...sameRow("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum", { reads: DIGEST }),
  ...sameRow("tee rmdir unlink link rename sponge", { writes: { operands: "all" } }),
  touch: { writes: { operands: "all", options: "-d= --date= -r= --reference= -t=", keeps: true } },
  truncate: { writes: { operands: "all", options: "-s= --size= -r= --reference=" } },
  rm: { writes: DELETES, match: { synonyms: ["-r -R --recursive", "-f --force", "-i --interactive", "-d --dir", "-v --verbose"] } },
  grm: { writes: DELETES },
  shred: { writes: { operands: "all", options: "-n= --iterations= -s= --size=" } },
  mkdir: { writes: { operands: "all", options: "-m= --mode=", keeps: true } },
  mkfifo: { writes: { operands: "all", options: "-m= --mode=" } },
  mknod: { writes: { operands: "first", options: "-m= --mode=" } },
  ...sameRow("chmod chown chgrp", {
    writes: { operands: "all", deep: "-R --recursive", keeps: true },
    match: { synonyms: ["-R --recursive"] },
  }),
  ...sameRow("chattr setfacl", { writes: { operands: "all", deep: "-R --recursive", keeps: true } }),
  cp: { writes: COPIES, match: { synonyms: ["-r -R --recursive", "-f --force", "-a --archive", "-i --interactive"] } },
  gcp: { writes: COPIES },
  ...sameRow("install ginstall", {
    writes: {
      operands: "to",
      options: "-t=into --target-directory=into -m= --mode= -o= --owner= -g= --group= -S= --suffix=",
      exact: "-T --no-target-directory",
      modes: [{ given: "-d --directory", does: { operands: "all", keeps: true } }],
    },
  }),
  mv: {
    writes: MOVES,
    match: { options: "-t= --target-directory= -S= --suffix=", synonyms: ["-f --force", "-i --interactive", "-n --no-clobber"] },
  },
  gmv: { writes: MOVES },
  ln: { writes: LINKS, match: { options: "-t= --target-directory= -S= --suffix=", synonyms: ["-s --symbolic", "-f --force"] } },
  gln: { writes: LINKS },
  ditto: { writes: { operands: "to" } },
  dd: { writes: { assigned: "of" } },
  fallocate: { writes: { operands: "all", options: "-l= --length= -o= --offset=" } },
  mktemp: { writes: { operands: "all", options: "-p=place --tmpdir=place --suffix=", keeps: true } },
  crontab: { writes: { never: "-l", fixed: ["/var/spool/cron"] }, match: { options: "-u=", synonyms: ["-r --remove", "-e --edit"] } },
};
