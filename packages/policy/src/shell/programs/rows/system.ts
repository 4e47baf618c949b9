import { type Program, sameRow } from "../program.ts";
import { type CommandEffects, NO_EFFECTS, withHazard } from "../reads.ts";

const HELP = "--help --version";

/** Programs that show the state of the system. */
export const SYSTEM: Readonly<Record<string, Program>> = {
  type: { reads: (args) => lookUpPrograms(["-v", ...args], ["-v", "-a", "-p"]) },
  history: { reads: { operands: "none" } },
  nproc: { reads: { operands: "none", options: `--all --ignore= ${HELP}` } },
  uptime: { reads: { operands: "none", options: `-p --pretty -s --since -h -V ${HELP}` } },
  free: {
    reads: {
      operands: "none",
      options: `-b --bytes -k --kibi -m --mebi -g --gibi --tebi --kilo --mega --giga -h --human --si -l --lohi -t --total -w --wide -v -V ${HELP}`,
    },
  },
  hostname: { reads: { operands: "none", options: "-s --short -V --version -h --help" } },
  ...sameRow("arch tty logname users groups clear", { reads: { operands: "none", options: HELP } }),
  ...sameRow("lscpu lsblk", {
    reads: { operands: "none", options: "-a --all -e --extended -f --fs -J --json -l --list -p --parse -h --help -V --version" },
  }),
  cal: { reads: { operands: "data", options: "-1 -3 -y -m -s -j -h -V" } },
  expr: { reads: { operands: "data" } },
  sleep: {
    reads: {
      operands: "data",
      options: HELP,
      refine: ({ operands }, plain) =>
        operands.length < 2 && operands.every((operand) => /^\d{1,2}(?:\.\d+)?s?$/.test(operand))
          ? plain
          : withHazard(plain, "unmodelled_option", "It may wait for longer than 100 seconds"),
    },
  },
  ps: { reads: psReads },
  pgrep: {
    reads: {
      operands: "data",
      dashValues: true,
      options: "-a --list-full -c --count -d= -f --full -i --ignore-case -l --list-name -n --newest -o --oldest -P= -u= -U= -x --exact -v",
    },
  },
};

/** `command -v NAME`, `type NAME`; anything else is not described. */
export function lookUpPrograms([first, ...rest]: readonly string[], options: readonly string[]): CommandEffects | undefined {
  const names = rest.filter((word) => !options.includes(word));
  return first === "-v" && names.length > 0 && names.every((name) => /^[\w.+][\w.+-]*$/.test(name)) ? NO_EFFECTS : undefined;
}

/** Without a dash, `e` shows the environment of each process. */
const PROCESS_LETTERS = /^[afhjlrTuwx]+$/;
const PROCESS_OPTIONS = /^-(?:[AadefFHjlLNTwyZ]+)$|^--(?:forest|headers|no-headers|deselect|help|version|info)$/;
const PROCESS_COLUMNS = new Set(
  (
    "%cpu %mem args c cls cmd comm command cp cputime cputimes drs egid egroup etime etimes euid euser f fgid fgroup flags fname fuid fuser gid group lstart lwp " +
    "maj_flt min_flt ni nice nlwp pcpu pgid pgrp pid pmem ppid pri psr rgid rgroup rss rsz rtprio ruid ruser s sess sid size spid start start_time stat state stime sz " +
    "thcount tid time tname tpgid trs tt tty ucmd ucomm uid uname user vsize vsz wchan"
  ).split(" "),
);

/** What a word of `ps` takes: columns to show or sort by, or a choice of processes. */
const PROCESS_VALUES: readonly (readonly [option: RegExp, isKnown: (value: string) => boolean])[] = [
  [/^-[AadeLTw]*o$|^--format$/, (value) => value.split(",").every((name) => PROCESS_COLUMNS.has(name.replace(/[=:].*$/s, "")))],
  [/^--sort$/, (value) => value.split(",").every((name) => PROCESS_COLUMNS.has(name.replace(/^[+-]/, "")))],
  [/^-[CGgpqtuU]$|^--(?:pid|ppid|user|User|group|Group|quick-pid|sid|tty)$/, (value) => /^[\w,.-]+$/.test(value)],
];

/** If its options don't fit together, ps reads all of them again as if they had no dash. Then `e` shows the environment. */
function mayReadAgain(args: readonly string[]): boolean {
  if (args.includes("-aux")) return !args.every((word) => /^-?[^-e]+$|^--/.test(word));
  const has = (form: RegExp): boolean => args.some((word) => form.test(word));
  return (
    has(/^-\w*e/) &&
    (has(PROCESS_LETTERS) || has(/^-[GgpqtuU]$|^--(?:p?pid|user|group|quick|sid|tty)/i) || (has(/^-\w*[LT]/) && has(/^-\w*H|^--forest/)))
  );
}

function psReads(args: readonly string[]): CommandEffects {
  if (mayReadAgain(args))
    return withHazard(NO_EFFECTS, "unmodelled_option", "ps may read -e as e here, which shows the environment of processes");
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? "";
    const [option = "", attached] = word.split(/(?<=^--\w+)=/);
    const [, isKnown] = PROCESS_VALUES.find(([form]) => form.test(option)) ?? [];
    const value = isKnown && (attached ?? args[++i] ?? "");
    if (value === undefined ? !isShownSafely(word) : !isKnown?.(value))
      return withHazard(NO_EFFECTS, "unmodelled_option", `${word} may show the environment of processes, which contains secrets`);
  }
  return NO_EFFECTS;
}

function isShownSafely(word: string): boolean {
  return word === "-aux" || PROCESS_OPTIONS.test(word) || PROCESS_LETTERS.test(word) || /^\d+$/.test(word);
}
