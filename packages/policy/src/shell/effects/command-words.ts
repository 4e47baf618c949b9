import type { PlanWord } from "../plan/plan.ts";
import { type OptionLists, type OptionToken, optionsOf, readTokens, splitNames, type ValueRole } from "../programs/options.ts";

/** An option as the table, a letter or the whole word names it. */
export type GivenOption = { readonly name: string; readonly role?: ValueRole | undefined; readonly value?: PlanWord };

/** A command's words, read as broadly as a safeguard needs. */
export type CommandWords = { readonly operands: readonly PlanWord[]; readonly options: readonly GivenOption[] };

/** Separates options from operands; with `leads` the first operand ends the options. */
export function commandWords(words: readonly PlanWord[], lists: OptionLists, leads = false): CommandWords {
  const operands: PlanWord[] = [];
  const options: GivenOption[] = [];
  const texts = words.map(({ text }) => text);
  for (const token of readTokens(texts, optionsOf(lists), { leads })) {
    const word = words[token.at];
    if (word === undefined || token.kind === "end") continue;
    if (token.kind === "option") options.push(...readGiven(token, word, words));
    else operands.push(word);
  }
  return { operands, options };
}

/** `-rf`, `-uo FILE`, `-oFILE`. A whole cluster is an option too: `-delete`. */
function readGiven(
  { name, option, attached, next, at, whole }: OptionToken,
  { text, dynamic }: PlanWord,
  words: readonly PlanWord[],
): readonly GivenOption[] {
  const isFirst = !whole && name === `-${text[1]}`;
  const cluster = isFirst ? [{ name: text }] : [];
  const following = next > at + 1 ? words[at + 1] : undefined;
  const inWord = attached !== undefined && (whole || option) ? { text: whole ? attached : attached.replace(/^=/, ""), dynamic } : undefined;
  const value = following ?? inWord;
  return [...cluster, { name, role: option?.role, ...(value && { value }) }];
}

/** True if one of the names was given in any spelling. A name without a dash is the first operand or an option's value. */
export function isGiven({ operands, options }: CommandWords, names: string | undefined): boolean {
  return splitNames(names).some((name) =>
    name.startsWith("-")
      ? options.some((option) => option.name === name || isShortened(option.name, name))
      : operands[0]?.text === name || options.some(({ value }) => value?.text === name),
  );
}

export function valuesFor({ options }: CommandWords, role: ValueRole): readonly PlanWord[] {
  return options.flatMap((option) => (option.value && option.role === role ? [option.value] : []));
}

export function valuesOf({ options }: CommandWords, names: readonly string[]): readonly PlanWord[] {
  return options.flatMap(({ name, value }) => (value && names.includes(name) ? [value] : []));
}

function isShortened(written: string, name: string): boolean {
  return written.length > 2 && written.startsWith("--") && name.startsWith(written);
}
