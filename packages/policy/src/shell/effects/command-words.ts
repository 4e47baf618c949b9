import type { PlanWord } from "../plan/plan.ts";

/** An option of a command, in its short form or by its whole name. */
export type GivenOption = { readonly name: string; readonly value?: PlanWord };

/** The words of a command after its name, told apart as broadly as a guard needs it. */
export type CommandWords = { readonly operands: readonly PlanWord[]; readonly options: readonly GivenOption[] };

/** Tells options from operands. `takers` are the options that take a value; clusters, abbreviations and attached values are understood. */
export function commandWords(words: readonly PlanWord[], takers: readonly string[]): CommandWords {
  const operands: PlanWord[] = [];
  const options: GivenOption[] = [];
  for (let i = 0; i < words.length; ) i += take(words, i, { operands, options, takers });
  return { operands, options };
}

/** The same for a command that runs another: only the words up to its first operand are its own. */
export function leadingWords(words: readonly PlanWord[], takers: readonly string[]): CommandWords {
  const operands: PlanWord[] = [];
  const options: GivenOption[] = [];
  for (let i = 0; i < words.length && operands.length === 0; ) i += take(words, i, { operands, options, takers });
  return { operands, options };
}

type Taking = { readonly operands: PlanWord[]; readonly options: GivenOption[]; readonly takers: readonly string[] };

/** How many words were taken. */
function take(words: readonly PlanWord[], at: number, { operands, options, takers }: Taking): number {
  const word = words[at];
  if (word === undefined || word.text === "--") {
    operands.push(...words.slice(at + 1));
    return words.length;
  }
  if (!word.text.startsWith("-") || word.text === "-") {
    operands.push(word);
    return 1;
  }
  const { given, takesNext } = readOption(word, takers);
  const value = takesNext ? words[at + 1] : undefined;
  const last = given.at(-1);
  options.push(...(value && last ? [...given.slice(0, -1), { ...last, value }] : given));
  return value ? 2 : 1;
}

/** True when one of the names was given, in any of its spellings; one without a dash is the first operand, or an option's value. */
export function isGiven({ operands, options }: CommandWords, names: readonly string[]): boolean {
  return names.some((name) =>
    name.startsWith("-")
      ? options.some((option) => option.name === name || isShortened(option.name, name))
      : operands[0]?.text === name || options.some(({ value }) => value?.text === name),
  );
}

/** The values of the options of these names. */
export function valuesOf({ options }: CommandWords, names: readonly string[]): readonly PlanWord[] {
  return options.flatMap(({ name, value }) => (value && names.includes(name) ? [value] : []));
}

type Read = { readonly given: readonly GivenOption[]; readonly takesNext: boolean };

function readOption(word: PlanWord, takers: readonly string[]): Read {
  if (word.text.startsWith("--")) return readLong(word, takers);
  if (takers.includes(word.text)) return { given: [{ name: word.text }], takesNext: true };
  return readCluster(word, takers);
}

function readLong({ text, dynamic }: PlanWord, takers: readonly string[]): Read {
  const [written = text] = text.split("=", 1);
  const name = takers.find((taker) => taker === written || isShortened(written, taker)) ?? written;
  if (written.length < text.length)
    return { given: [{ name, value: { text: text.slice(written.length + 1), dynamic } }], takesNext: false };
  return { given: [{ name }], takesNext: takers.includes(name) };
}

/** `-rf`, `-uo FILE`, `-oFILE`. The whole word is an option too: `-delete`. */
function readCluster({ text, dynamic }: PlanWord, takers: readonly string[]): Read {
  const given: GivenOption[] = [{ name: text }];
  for (let i = 1; i < text.length; i++) {
    const name = `-${text[i]}`;
    const rest = text.slice(i + 1);
    if (!takers.includes(name)) given.push({ name });
    else if (rest === "") return { given: [...given, { name }], takesNext: true };
    else return { given: [...given, { name, value: { text: rest.replace(/^=/, ""), dynamic } }], takesNext: false };
  }
  return { given, takesNext: false };
}

function isShortened(written: string, name: string): boolean {
  return written.length > 2 && written.startsWith("--") && name.startsWith(written);
}
