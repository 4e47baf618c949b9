import { dynamicWord, isOneWord, literalWord, type ShellWord } from "../read/bash-tree.ts";

/** How a wrapper takes its options; options are separated by blanks. What is in no list is unknown, and then every later word may be the command. */
export type WrapperSpec = {
  /** Take a value: attached, or the next word. */
  readonly values?: string;
  readonly flags?: string;
  /** Take a value only when it is attached. */
  readonly attached?: string;
  /** Their value is a script. */
  readonly scripts?: string;
  /** Their value is split into words that stand before what follows. */
  readonly splits?: string;
  /** With one of these nothing is run. */
  readonly inert?: string;
  /** With one of these the first operand is the text of a script. */
  readonly scriptFlags?: string;
  /** Those of the options above that choose the directory in which it runs. */
  readonly moves?: string;
  /** It always runs in another directory. */
  readonly away?: true;
  /** How many operands of its own stand before the command. */
  readonly operands?: number;
  /** `NAME=value` words may stand before the command. */
  readonly assignments?: true;
  /** `-5` is an option. */
  readonly numbers?: true;
  /** `+x` is an option. */
  readonly plus?: true;
  /** Without a command it starts a shell. */
  readonly shell?: true;
  /** Options count after operands too. */
  readonly permuted?: true;
  /** What stands at the first operand: a command (where nothing is said), words that make a script, the text of one, or nothing that is run. */
  readonly rest?: "command" | "script" | "text" | "nothing";
};

type Kind = "value" | "flag" | "attached" | "script" | "split" | "inert" | "scriptFlag";

/** A spec whose options can be looked up. */
export type OptionTable = {
  readonly spec: WrapperSpec;
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly longs: readonly string[];
  readonly moves: ReadonlySet<string>;
};

/** Makes a spec ready for scanning. */
export function optionTable(spec: WrapperSpec): OptionTable {
  const kinds = new Map<string, Kind>();
  const lists: readonly (readonly [string | undefined, Kind])[] = [
    [spec.values, "value"],
    [spec.flags, "flag"],
    [spec.attached, "attached"],
    [spec.scripts, "script"],
    [spec.splits, "split"],
    [spec.inert, "inert"],
    [spec.scriptFlags, "scriptFlag"],
  ];
  for (const [list, kind] of lists) for (const option of list?.split(" ") ?? []) kinds.set(option, kind);
  const longs = [...kinds.keys()].filter((option) => option.startsWith("--"));
  return { spec, kinds, longs, moves: new Set(spec.moves?.split(" ")) };
}

/** An option that was found, by its name in the table. */
type Found = { readonly option: string; readonly kind: Kind; readonly value: ShellWord | undefined; readonly next: number };

/** What stands before the command that a wrapper runs. */
export type OptionScan = {
  readonly found: readonly Found[];
  /** Where the command may begin: one place, or every place behind something unknown. */
  readonly starts: readonly number[];
};

/** Goes over a wrapper's own words, from `from` on. */
export function scanOptions(table: OptionTable, words: readonly ShellWord[], from: number): OptionScan {
  const scan: Scanning = {
    table,
    words,
    found: [],
    operands: table.spec.operands ?? 0,
    ended: false,
    start: undefined,
    unknown: undefined,
  };
  let i = from;
  while (i < words.length) {
    const next = step(scan, i);
    if (next === undefined) break;
    i = next;
  }
  const { found, start, unknown } = scan;
  const first = Math.min(start ?? words.length, unknown ?? words.length);
  const starts = unknown === undefined ? (start === undefined ? [] : [start]) : rangeOf(first, words.length);
  return { found, starts };
}

type Scanning = {
  readonly table: OptionTable;
  readonly words: readonly ShellWord[];
  readonly found: Found[];
  operands: number;
  ended: boolean;
  start: number | undefined;
  /** Behind this place nothing is certain. */
  unknown: number | undefined;
};

/** Reads one word and gives the next place to read; undefined: the rest is the command's. */
function step(scan: Scanning, i: number): number | undefined {
  const word = scan.words[i] ?? literalWord("");
  const { spec } = scan.table;
  if (scan.start === undefined && spec.assignments && isAssignment(word) && (scan.ended || !word.value.startsWith("-"))) return i + 1;
  if (!scan.ended && word.value === "--") {
    scan.ended = !spec.permuted;
    return i + 1;
  }
  if (!scan.ended && isOption(scan.table, word.value)) return readOption(scan, i, word);
  return takeOperand(scan, i, word);
}

/** What is expanded before the sign may be words of its own, and the first of them the command: only a plain name is one for certain. */
function isAssignment({ word, value }: ShellWord): boolean {
  return word.dynamic ? /^\w+\+?=/.test(value) : value.includes("=");
}

function isOption({ spec, kinds }: OptionTable, text: string): boolean {
  if (text === "-") return kinds.has("-");
  return text.startsWith("-") || (spec.plus === true && text.startsWith("+"));
}

function takeOperand(scan: Scanning, i: number, { word }: ShellWord): number | undefined {
  const isUnsure = word.dynamic && !isOneWord(word.text);
  if (scan.operands > 0 && scan.start === undefined) {
    scan.operands--;
    if (isUnsure) scan.unknown ??= i + 1;
    return i + 1;
  }
  scan.start ??= i;
  if (word.dynamic) scan.unknown ??= i;
  return scan.table.spec.permuted ? i + 1 : undefined;
}

function readOption(scan: Scanning, i: number, word: ShellWord): number {
  const isLong = word.value.startsWith("--") || scan.table.kinds.has(word.value);
  const next = isLong ? longOption(scan, i, word) : cluster(scan, i, word);
  const value = scan.found.at(-1)?.value;
  if (word.word.dynamic && !(isLong && isOneWord(word.word.text))) scan.unknown ??= i + 1;
  if (next > i + 1 && value?.word.dynamic && !isOneWord(value.word.text)) scan.unknown ??= next;
  return next;
}

function longOption(scan: Scanning, i: number, { value: text, word }: ShellWord): number {
  const equals = text.startsWith("--") ? text.indexOf("=") : -1;
  const name = equals === -1 ? text : text.slice(0, equals);
  const { kinds, longs } = scan.table;
  const option = kinds.has(name) ? name : (longs.find((long) => long.startsWith(name)) ?? name);
  return note(scan, i, { option, attached: equals === -1 ? undefined : partOf(word.dynamic, text.slice(equals + 1)) });
}

/** The letters of a word like `-xvf`, each an option, the last one with its value. */
function cluster(scan: Scanning, i: number, { value: text, word }: ShellWord): number {
  if (scan.table.spec.numbers && /^-\d+$/.test(text)) return i + 1;
  for (let at = 1; at < text.length; at++) {
    const option = `-${text[at]}`;
    const kind = scan.table.kinds.get(option);
    const rest = text.slice(at + 1);
    const next = note(scan, i, { option, attached: rest === "" ? undefined : partOf(word.dynamic, rest) });
    if (kind === "attached" || takesNext(kind)) return next;
  }
  return i + 1;
}

/** Notes an option, with the value that is attached or stands behind it, and gives the next place to read. */
function note(
  scan: Scanning,
  i: number,
  { option, attached }: { readonly option: string; readonly attached: ShellWord | undefined },
): number {
  const kind = scan.table.kinds.get(option);
  if (kind === undefined) {
    scan.unknown ??= i + 1;
    return i + 1;
  }
  const next = attached === undefined && takesNext(kind) ? i + 2 : i + 1;
  scan.found.push({ option, kind, value: next === i + 2 ? scan.words[i + 1] : attached, next });
  return next;
}

function takesNext(kind: Kind | undefined): boolean {
  return kind === "value" || kind === "script" || kind === "split";
}

function partOf(dynamic: boolean, text: string): ShellWord {
  return dynamic ? dynamicWord(text) : literalWord(text);
}

function rangeOf(from: number, end: number): readonly number[] {
  return Array.from({ length: Math.max(0, end - from) }, (_, i) => from + i);
}
