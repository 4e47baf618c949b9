import { type Program, type Runs, sameRow } from "../program.ts";
import { lookUpPrograms } from "./system.ts";

/** `-c` is a flag: the script is the first operand, and more options may come before it. */
const SHELL: Runs = {
  how: "shell",
  options: `-o= -O= --rcfile= --init-file= - -a -b -d -D -e -E -f -g -G -h -H -i -I -k -l -m -n -N -p -P -r -s -t -T -u -v -V -w -x -X -B -C
      --login --norc --noprofile --noediting --posix --restricted --verbose --debugger --private --no-config --interactive --no-rcs --emulate
      --command=script --init-command=script`,
  scriptFlags: "-c",
  inert: "--version --help --dump-strings --dump-po-strings",
  plus: true,
  rest: "nothing",
  byOption: true,
};

/** Shells and their builtins. */
export const SHELLS: Readonly<Record<string, Program>> = {
  ...sameRow("sh dash ash zsh ksh ksh93 mksh rbash yash fish csh tcsh", { runs: SHELL, interprets: "shell", opaque: true }),
  bash: { version: "--version", runs: SHELL, interprets: "shell", opaque: true },
  pwsh: { runs: { how: "words" }, interprets: "code", opaque: true },
  ...sameRow("powershell cmd wsl nu xonsh elvish", { runs: { how: "words" }, opaque: true }),
  ...sameRow("osh ysh coproc", { opaque: true }),
  busybox: { runs: { how: "prefix", inert: "--list --list-full --help --install" }, opaque: true },
  toybox: { runs: { how: "prefix", inert: "--help --long --list" }, opaque: true },
  ...sameRow("source .", { runs: { how: "source" }, interprets: "shell" }),
  eval: { runs: { how: "eval" }, opaque: true },
  alias: { runs: { how: "alias" } },
  bind: {
    runs: { how: "prefix", options: "-f= -m= -q= -r= -u= -l -p -P -s -S -v -V -X -x=script", rest: "nothing", loose: true, afterKey: true },
  },
  jobs: { reads: { operands: "none" }, runs: { how: "jobs" } },
  trap: { runs: { how: "prefix", inert: "- -l -p -P", rest: "text", loose: true }, opaque: true },
  ...sameRow("mapfile readarray", {
    runs: { how: "prefix", options: "-c= -d= -n= -O= -s= -u= -t -C=script", rest: "nothing", loose: true },
    subscripts: true,
  }),
  complete: {
    runs: {
      how: "prefix",
      options: "-A= -G= -o= -P= -S= -W= -X= -a -b -c -d -e -f -g -j -k -p -r -s -u -v -D -E -I -C=script -F=script",
      rest: "nothing",
      loose: true,
    },
  },
  compgen: {
    runs: {
      how: "prefix",
      options: "-A= -G= -o= -P= -S= -V= -W= -X= -a -b -c -d -e -f -g -j -k -s -u -v -C=script -F=script",
      rest: "nothing",
      loose: true,
    },
  },
  hash: { runs: { how: "prefix", options: "-d -l -r -t -p=script", rest: "nothing", loose: true } },
  fc: { runs: { how: "prefix", options: "-l -n -r -s -e=script", rest: "nothing", loose: true } },
  ...sameRow("let read unset wait getopts", { subscripts: true }),
  ...sameRow("declare typeset local export readonly", { subscripts: true, sets: true }),
  command: { reads: (args) => lookUpPrograms(args, ["-v"]), runs: { how: "prefix", options: "-p", inert: "-v -V" }, opaque: true },
  builtin: { runs: { how: "prefix" }, opaque: true },
  exec: { runs: { how: "prefix", options: "-a= -c -l" }, opaque: true },
};
