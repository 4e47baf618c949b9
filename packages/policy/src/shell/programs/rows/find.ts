import type { HazardId } from "../../plan/plan.ts";
import { type CommandEffects, NO_EFFECTS, type ReadModel, unsafeText, withHazard } from "../reads.ts";

/** Tests, operators and actions that look at files only. */
const ALONE = new Set(
  (
    "! ( ) , -a -and -daystart -depth -empty -executable -false -ignore_readdir_race -ls -mount -nogroup -noignore_readdir_race -noleaf -not -nouser -nowarn -o " +
    "-or -print -print0 -prune -quit -readable -true -warn -writable -xdev"
  ).split(" "),
);

/** Those that take the next word, whatever it is. */
const WITH_WORD = new Set(
  (
    "-amin -atime -cmin -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -path -perm " +
    "-printf -regex -regextype -size -type -uid -used -user -wholename -xtype"
  ).split(" "),
);

/** The next word is a file that is looked at. */
const WITH_FILE = new Set(["-newer", "-anewer", "-cnewer", "-samefile"]);

const UNSAFE: readonly (readonly [form: RegExp, does: HazardId])[] = [
  [/^-(?:exec|ok)(?:dir)?$/, "runs_program"],
  [/^-(?:delete|fprint0?|fprintf|fls)$/, "writes_file"],
  [/^-(?:L|follow|files0-from)$/, "outside_workspace"],
];

/** `find`: starting points, then an expression that must do no more than look. */
export const FIND_READS: ReadModel = (args) => {
  const start = args.findIndex((word) => word !== "-H" && word !== "-P");
  const words = start < 0 ? [] : args.slice(start);
  const expression = words.findIndex((word) => word.startsWith("-") || /^[!(),]$/.test(word));
  const starts = expression < 0 ? words : words.slice(0, expression);
  const plain: CommandEffects = { ...NO_EFFECTS, reads: starts.length > 0 ? starts : ["."] };
  return expression < 0 ? plain : readExpression(plain, words.slice(expression));
};

function readExpression(plain: CommandEffects, words: readonly string[]): CommandEffects {
  const files: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (ALONE.has(word)) continue;
    const value = words[++i];
    if (value === undefined || !(WITH_WORD.has(word) || WITH_FILE.has(word) || isNewerThanTime(word))) return refused(plain, word);
    if (WITH_FILE.has(word)) files.push(value);
  }
  return { ...plain, reads: [...plain.reads, ...files] };
}

/** `-newermt '2 days ago'`: the word is a time, not a file. */
function isNewerThanTime(word: string): boolean {
  return /^-newer[acm]t$/.test(word);
}

function refused(plain: CommandEffects, word: string): CommandEffects {
  const [, does = "unmodelled_option"] = UNSAFE.find(([form]) => form.test(word)) ?? [];
  return withHazard(plain, does, unsafeText(word, does));
}
