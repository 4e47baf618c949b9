import type { MatchAnswer } from "../walk/seen-command.ts";
import type { OptionWord } from "./command-arguments.ts";
import type { RuleWord } from "./rule-words.ts";

/** Whether a command has the option that a rule names, with its value. */
export type OptionTest = (options: readonly OptionWord[]) => MatchAnswer;

export function compileOptionTest(word: RuleWord, value: RuleWord | undefined): OptionTest {
  const { text, glob } = word;
  if (glob) return (options) => (options.some((option) => glob.matches(option.text) || glob.matches(nameOf(option.text))) ? "yes" : "no");
  if (value) return (options) => strongest(options.map((option) => matchValue(option, text, value)));
  const letters = /^-[a-zA-Z0-9]{2,}$/.test(text) ? [...text.slice(1)].map((letter) => `-${letter}`) : undefined;
  return (options) => {
    if (options.some((option) => isCarried(option, text))) return "yes";
    return letters?.every((letter) => options.some((option) => isCarried(option, letter))) ? "yes" : "no";
  };
}

function strongest(all: readonly MatchAnswer[]): MatchAnswer {
  if (all.includes("yes")) return "yes";
  return all.includes("doubt") ? "doubt" : "no";
}

function isCarried(option: OptionWord, wanted: string): boolean {
  return (option.ways.synonyms.get(wanted) ?? [wanted]).some((form) => isSpelled(option, form));
}

function nameOf(text: string): string {
  const equals = text.indexOf("=");
  return equals === -1 ? text : text.slice(0, equals);
}

/** In full, with one dash or two, with `=value`, abbreviated, or in a cluster. */
function isSpelled(option: OptionWord, form: string): boolean {
  const name = nameOf(option.text);
  if (name === form || name === `-${form}` || `-${name}` === form) return true;
  if (form.startsWith("--")) return name.length > 2 && name.startsWith("--") && form.startsWith(name);
  return form.length === 2 && letterAt(option, form) !== -1;
}

/** After a letter that takes a value, the rest is the value. */
function letterAt({ text, ways }: OptionWord, letter: string): number {
  if (text.startsWith("--")) return -1;
  for (let i = 1; i < text.length; i++) {
    if (text[i] === letter[1]) return i;
    if (text[i] === "=" || ways.options.get(`-${text[i]}`)?.arity === "value") return -1;
  }
  return -1;
}

function matchValue(option: OptionWord, wanted: string, value: RuleWord): MatchAnswer {
  if (!isCarried(option, wanted)) return "no";
  const isIt = (text: string): boolean => (value.glob ? value.glob.matches(text) : value.text === text);
  if (attachedValues(option, wanted).some(isIt)) return "yes";
  if (!option.next) return "no";
  if (option.next.dynamic) return "doubt";
  return isIt(option.next.text) ? "yes" : "no";
}

function attachedValues(option: OptionWord, wanted: string): readonly string[] {
  const { text, ways } = option;
  const equals = text.indexOf("=");
  const shorts = (ways.synonyms.get(wanted) ?? [wanted]).filter((form) => form.length === 2).map((form) => letterAt(option, form));
  return [...(equals === -1 ? [] : [text.slice(equals + 1)]), ...shorts.filter((at) => at !== -1).map((at) => text.slice(at + 1))];
}
