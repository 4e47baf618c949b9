import type { WrapperSpec } from "../../programs/option-scan.ts";

/** Shells that take a script with `-c`, from a file, or from their input. */
export const SHELLS: readonly string[] = [
  "sh",
  "bash",
  "dash",
  "ash",
  "zsh",
  "ksh",
  "ksh93",
  "mksh",
  "rbash",
  "yash",
  "fish",
  "csh",
  "tcsh",
];

/** In all of them `-c` is a flag: the script is the first operand, so more options may stand between. */
export const SHELL_OPTIONS: WrapperSpec = {
  values: "-o -O --rcfile --init-file",
  flags:
    "- -a -b -d -D -e -E -f -g -G -h -H -i -I -k -l -m -n -N -p -P -r -s -t -T -u -v -V -w -x -X -B -C --login --norc --noprofile --noediting --posix --restricted --verbose --debugger --private --no-config --interactive --no-rcs --emulate",
  scriptFlags: "-c",
  scripts: "--command --init-command",
  inert: "--version --help --dump-strings --dump-po-strings",
  plus: true,
  rest: "nothing",
};

/** Commands that run a file's text in the shell that is there. */
export const READERS: readonly string[] = ["source", "."];
