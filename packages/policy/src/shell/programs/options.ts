import type { HazardId } from "../plan/plan.ts";

/**
 * A program's options, separated by blanks, each with what it takes:
 * - `-a`, `--all`: nothing
 * - `-n=`, `--lines=`: a value, attached or in the next word
 * - `-I[=]`, `--color[=]`: a value only if it is attached
 * - `--merged=?`: the next word, if there is one
 * - `--arg==`: two words
 * - `-NUMBER`: digits, as in `head -5`
 *
 * A word after the sign says what the value is:
 * - `=path`: a file that is read
 * - `=file`: a file that is written
 * - `=place`: a directory in which something new is created
 * - `=into`: the directory that is written to
 * - `=script`: a command line that is run
 * - `=words`: text that is split into words and put before the rest (`env -S`)
 */
export type Notation = string;

type Arity = "none" | "value" | "attached" | "last" | "two";

/** What an option's value is used for. */
export type ValueRole = "path" | "file" | "place" | "into" | "script" | "words";

export type Option = { readonly name: string; readonly arity: Arity; readonly role?: ValueRole; readonly hazard?: HazardId };

/** Options by name, in listed order. */
export type OptionSet = ReadonlyMap<string, Option>;

export type OptionLists = {
  readonly options?: Notation;
  readonly unsafe?: Readonly<Partial<Record<HazardId, Notation>>>;
  /** With one of these nothing is run. */
  readonly inert?: Notation;
  /** With one of these the first operand is a script. */
  readonly scriptFlags?: Notation;
};

const COMPILED = new WeakMap<OptionLists, OptionSet>();

export function optionsOf(lists: OptionLists): OptionSet {
  const known = COMPILED.get(lists);
  if (known) return known;
  const unsafe = (Object.keys(lists.unsafe ?? {}) as HazardId[]).flatMap((hazard) =>
    parseNotation(lists.unsafe?.[hazard]).map((option) => ({ ...option, hazard })),
  );
  const listed = [lists.options, lists.inert, lists.scriptFlags].flatMap(parseNotation);
  const compiled = new Map([...listed, ...unsafe].map((option) => [option.name, option]));
  COMPILED.set(lists, compiled);
  return compiled;
}

function parseNotation(notation: Notation = ""): readonly Option[] {
  return splitNames(notation).map((token) => {
    const [, name = token, sign = "", role] = /^(-[^=[]*)(\[=\]|==?\??)?([a-z]+)?$/.exec(token) ?? [];
    const arity = name === "-NUMBER" ? "attached" : ARITIES[sign];
    if (arity === undefined) throw new Error(`"${token}" is not an option notation`);
    return { name, arity, ...(isRole(role) && { role }) };
  });
}

const ARITIES: Readonly<Record<string, Arity>> = { "": "none", "=": "value", "[=]": "attached", "=?": "last", "==": "two" };
const ROLES: readonly string[] = ["path", "file", "place", "into", "script", "words"] satisfies readonly ValueRole[];

function isRole(text: string | undefined): text is ValueRole {
  return text !== undefined && ROLES.includes(text);
}

export function splitNames(list = ""): readonly string[] {
  return list.split(/\s+/).filter((name) => name !== "");
}

export type Token =
  | OptionToken
  | { readonly kind: "operand"; readonly at: number }
  /** `--`: every later word is an operand. */
  | { readonly kind: "end"; readonly at: number };

/** An option that was found. `-xvf` gives three. */
export type OptionToken = {
  readonly kind: "option";
  readonly at: number;
  /** As the table spells it, or as written if it isn't listed. */
  readonly name: string;
  readonly option: Option | undefined;
  readonly attached: string | undefined;
  /** Where the words after its values begin. */
  readonly next: number;
  /** The word is one option, not a cluster of letters. */
  readonly whole: boolean;
};

export type ReadManner = {
  /** Nothing may be abbreviated, and an unknown letter makes the whole word unknown. */
  readonly exact?: boolean | undefined;
  /** `+x` is an option. */
  readonly plus?: boolean | undefined;
  /** `--` does not end the options. */
  readonly endless?: boolean | undefined;
  /** The first operand ends the options. */
  readonly leads?: boolean | undefined;
};

/** Separates options from operands, for all parts of the table. */
export function* readTokens(words: readonly string[], options: OptionSet, manner: ReadManner = {}): Generator<Token> {
  let ended = false;
  for (let at = 0; at < words.length; ) {
    const word = words[at] ?? "";
    if (!ended && word === "--") {
      ended = !manner.endless;
      if (ended) yield { kind: "end", at };
      at++;
    } else if (ended || !isOption(word, options, manner)) {
      ended ||= manner.leads === true;
      yield { kind: "operand", at: at++ };
    } else {
      let next = at + 1;
      for (const part of optionsIn(word, options, manner)) {
        next = at + 1 + (part.attached === undefined ? WORDS[part.option?.arity ?? "none"] : 0);
        yield { kind: "option", at, ...part, next };
      }
      at = next;
    }
  }
}

const WORDS: Readonly<Record<Arity, number>> = { none: 0, value: 1, attached: 0, last: 1, two: 2 };

function isOption(word: string, options: OptionSet, { plus }: ReadManner): boolean {
  if (word === "-") return options.has("-");
  return word.startsWith("-") || (plus === true && word.startsWith("+"));
}

type OptionPart = Pick<OptionToken, "name" | "option" | "attached" | "whole">;

function optionsIn(word: string, options: OptionSet, { exact }: ReadManner): readonly OptionPart[] {
  if (word.startsWith("--") || (!exact && options.has(word))) return [wholeOption(word, options, exact)];
  const digits = /^-\d+$/.test(word) ? options.get("-NUMBER") : undefined;
  if (digits) return [{ name: digits.name, option: digits, attached: word.slice(1), whole: false }];
  const parts: OptionPart[] = [];
  for (let i = 1; i < word.length; i++) {
    const name = `-${word[i]}`;
    const option = options.get(name);
    if (exact && !option) return [...parts, { name: word, option, attached: undefined, whole: false }];
    parts.push({ name, option, attached: word.slice(i + 1) || undefined, whole: false });
    if (option && option.arity !== "none") break;
  }
  return parts;
}

function wholeOption(word: string, options: OptionSet, exact: boolean | undefined): OptionPart {
  const sign = word.startsWith("--") ? word.indexOf("=") : -1;
  const written = sign === -1 ? word : word.slice(0, sign);
  const option = options.get(written) ?? (exact ? undefined : abbreviated(written, options));
  return { name: option?.name ?? written, option, attached: sign === -1 ? undefined : word.slice(sign + 1), whole: true };
}

/** `--rec` for `--recursive`. */
function abbreviated(written: string, options: OptionSet): Option | undefined {
  if (written.length < 3 || !written.startsWith("--")) return undefined;
  for (const option of options.values()) if (option.name.startsWith(written)) return option;
  return undefined;
}

/** Whether an option takes the next word; `maybe`: it isn't listed. */
export function takesNext(word: string, options: OptionSet): "yes" | "no" | "maybe" {
  const whole = options.get(word);
  if (whole) return whole.arity === "value" ? "yes" : "no";
  if (word.includes("=")) return "no";
  if (word.startsWith("--")) return "maybe";
  for (let i = 1; i < word.length; i++) {
    const letter = options.get(`-${word[i]}`);
    if (!letter) return "maybe";
    if (letter.arity === "value") return i === word.length - 1 ? "yes" : "no";
  }
  return "no";
}
